//===- MmaSyncPatterns.cpp - Matmuls of single warps ------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each warp of a warpgroup multiplies the 16 of 64 rows that it also has of a
// wgmma accumulator: of 8 columns, that is what one mma.sync holds, register by
// register (PTX ISA, "Matrix Fragments for mma.m16n8k16" and "m16n8k32"), so
// fragments are those of wgmma.
//
// An instruction takes 32 bytes of K. ldmatrix knows bytes alone: for operands
// of 8 and of 16 bits it leaves the same 4 bytes in each register.
//
//===----------------------------------------------------------------------===//

#include "Patterns.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

using namespace mlir;
using namespace mlir::moeq_gpu;

/// The rows of an instruction and its columns, the rows of a matrix that
/// ldmatrix loads, and the bytes of K.
static constexpr int64_t kRows = 16, kColumns = 8, kMatrixRows = 8,
                         kDepthBytes = 32;
/// The registers a thread of 8 columns of the accumulator, and of A.
static constexpr int64_t kAccumulators = 4, kOperands = 4;

static bool isFloat8(Type type) {
  return isa<Float8E4M3FNType, Float8E5M2Type>(type);
}

std::optional<moeq::PtxTarget> mlir::moeq_gpu::getTarget(Operation *op) {
  auto module = op->getParentOfType<gpu::GPUModuleOp>();
  if (!module)
    return std::nullopt;
  FailureOr<std::optional<moeq::PtxTarget>> target = moeq::getPtxTarget(module);
  return succeeded(target) ? *target : std::nullopt;
}

// Whether the target is known to multiply 8-bit floats.
static bool multipliesFloat8(Operation *op) {
  std::optional<moeq::PtxTarget> target = getTarget(op);
  return target && target->multipliesFloat8();
}

// The matrices at an address, in as many registers.
static SmallVector<Value> emitLoadMatrices(Emitter &e, Value address,
                                           int64_t count) {
  Type i32 = e.b.getI32Type();
  auto type = LLVM::LLVMStructType::getLiteral(e.b.getContext(),
                                               SmallVector<Type>(count, i32));
  Value loaded = NVVM::LdMatrixOp::create(
      e.b, e.loc, type, address, count, NVVM::MMALayout::row,
      NVVM::LdStMatrixShapeAttr::get(e.b.getContext(), 8, 8),
      NVVM::LdStMatrixEltType::B16);
  SmallVector<Value> registers;
  for (int64_t i = 0; i < count; ++i)
    registers.push_back(LLVM::ExtractValueOp::create(e.b, e.loc, loaded, i));
  return registers;
}

// The bytes become the upper halves: e5m2 is f16 without the low bits of its
// mantissa. The exponent of e4m3 goes where that of f16 is, which counts from 8
// less; a product sets this right for subnormal numbers, too. What it makes of
// NaN is none.
Value mlir::moeq_gpu::emitWiden(Emitter &e, Type type, Value bytes,
                                int64_t selector) {
  auto pair = VectorType::get({2}, e.b.getF16Type());
  Value halves =
      NVVM::PermuteOp::create(e.b, e.loc, e.b.getI32Type(), bytes, e.i32(0),
                              e.i32(selector), NVVM::PermuteMode::DEFAULT);
  auto toPair = [&](Value bits) -> Value {
    return LLVM::BitcastOp::create(e.b, e.loc, pair, bits);
  };
  if (isa<Float8E5M2Type>(type))
    return toPair(halves);
  auto shiftRight = [&](Value bits, int64_t by) -> Value {
    return arith::ShRUIOp::create(e.b, e.loc, bits, e.i32(by));
  };
  Value sign = e.bitAnd(halves, e.i32(int32_t(0x80008000)));
  Value magnitude = shiftRight(e.bitAnd(halves, e.i32(0x7f007f00)), 1);
  Value scale = arith::ConstantOp::create(
      e.b, e.loc,
      DenseElementsAttr::get(pair, e.b.getF16FloatAttr(256).getValue()));
  Value product = arith::MulFOp::create(
      e.b, e.loc, toPair(e.bitOr(magnitude, sign)), scale);
  // One more than the largest magnitude, of a NaN, is a power of two: it
  // becomes the bits of a NaN.
  Value isNaN =
      e.bitAnd(e.add(magnitude, e.i32(0x00800080)), e.i32(0x40004000));
  Value fill = e.sub(e.add(isNaN, isNaN), shiftRight(isNaN, 5));
  Value bits = LLVM::BitcastOp::create(e.b, e.loc, e.b.getI32Type(), product);
  return toPair(e.bitOr(bits, fill));
}

namespace {

/// How the instructions multiply operands of two types.
class Multiplier {
public:
  Multiplier(Emitter &e, Type a, Type b, bool isWidened)
      : e(e), elementA(a), elementB(b), isWidened(isWidened) {}

  /// Operands as the instructions take them: of one instruction, or widened
  /// those of two.
  using Operand = SmallVector<SmallVector<Value, 4>, 2>;

  /// Of `registers` as ldmatrix leaves them: rows of the first 16 bytes of K,
  /// then those of the other ones.
  Operand prepare(Type type, ArrayRef<Value> registers) {
    Operand operand;
    if (!isWidened) {
      SmallVector<Value, 4> values;
      for (Value word : registers)
        values.push_back(type.isF16() ? toPair(word) : word);
      operand.push_back(std::move(values));
      return operand;
    }
    // What is 16 bytes of K becomes 32. The 4 elements of a register are apart
    // in K as the instruction sees it: those of A and of B in the same way.
    size_t half = registers.size() / 2;
    for (ArrayRef<Value> words :
         {registers.take_front(half), registers.drop_front(half)}) {
      SmallVector<Value, 4> first, second;
      for (Value word : words) {
        first.push_back(emitWiden(e, type, word, 0x1404));
        second.push_back(emitWiden(e, type, word, 0x3424));
      }
      llvm::append_range(first, second);
      operand.push_back(std::move(first));
    }
    return operand;
  }

  /// Adds the product of 16 rows and 8 columns to `sums`.
  void multiply(const Operand &a, const Operand &b,
                MutableArrayRef<Value> sums) {
    for (auto [valuesA, valuesB] : llvm::zip_equal(a, b)) {
      SmallVector<Value> results = isFloat8(elementA) && !isWidened
                                       ? multiplyFloat8(valuesA, valuesB, sums)
                                       : multiplyOthers(valuesA, valuesB, sums);
      llvm::copy(results, sums.begin());
    }
  }

private:
  Value toPair(Value word) {
    return LLVM::BitcastOp::create(
        e.b, e.loc, VectorType::get({2}, e.b.getF16Type()), word);
  }

  SmallVector<Value> multiplyOthers(ValueRange a, ValueRange b,
                                    ValueRange sums) {
    using Types = NVVM::MMATypes;
    Types type = elementA.isInteger() ? Types::s8
                 : elementA.isBF16()  ? Types::bf16
                                      : Types::f16;
    std::optional<NVVM::MMAIntOverflow> overflow;
    if (type == Types::s8)
      overflow = NVVM::MMAIntOverflow::wrapped;
    Value product = NVVM::MmaOp::create(
        e.b, e.loc, getResultType(sums), a, b, sums,
        ArrayRef<int64_t>{kRows, kColumns, type == Types::s8 ? 32 : 16},
        std::nullopt, overflow, std::array<Types, 2>{type, type},
        std::array<NVVM::MMALayout, 2>{NVVM::MMALayout::row,
                                       NVVM::MMALayout::col});
    return unpack(product);
  }

  // The upstream op has no 8-bit floats.
  SmallVector<Value> multiplyFloat8(ValueRange a, ValueRange b,
                                    ValueRange sums) {
    auto getName = [](Type type) {
      return isa<Float8E4M3FNType>(type) ? "e4m3" : "e5m2";
    };
    std::string code;
    llvm::raw_string_ostream(code)
        << "mma.sync.aligned.m16n8k32.row.col.f32." << getName(elementA) << '.'
        << getName(elementB)
        << ".f32 {$0, $1, $2, $3}, {$4, $5, $6, $7}, {$8, $9}, "
           "{$10, $11, $12, $13};";
    SmallVector<Value> operands(a);
    llvm::append_range(operands, b);
    llvm::append_range(operands, sums);
    MLIRContext *context = e.b.getContext();
    auto product = LLVM::InlineAsmOp::create(
        e.b, e.loc, getResultType(sums), operands, code,
        "=f,=f,=f,=f,r,r,r,r,r,r,f,f,f,f", /*has_side_effects=*/true,
        /*is_align_stack=*/false, LLVM::tailcallkind::TailCallKind::None,
        LLVM::AsmDialectAttr::get(context, LLVM::AsmDialect::AD_ATT),
        /*operand_attrs=*/ArrayAttr());
    return unpack(product.getResult(0));
  }

  Type getResultType(ValueRange sums) {
    return LLVM::LLVMStructType::getLiteral(e.b.getContext(),
                                            SmallVector<Type>(sums.getTypes()));
  }
  SmallVector<Value> unpack(Value product) {
    SmallVector<Value> values;
    for (int64_t i = 0; i < kAccumulators; ++i)
      values.push_back(LLVM::ExtractValueOp::create(e.b, e.loc, product, i));
    return values;
  }

  Emitter &e;
  Type elementA, elementB;
  bool isWidened;
};

struct MmaSyncLowering : KernelPattern<MmaSyncOp> {
  using KernelPattern::KernelPattern;

  // Lane l gives ldmatrix the address of row l mod 8 of matrix l div 8. Those
  // of A are the rows 0-7 and 8-15, then the same of the next 16 bytes of K;
  // those of B are both 16 bytes of 8 columns, then the same of the next 8.
  LogicalResult
  matchAndRewrite(MmaSyncOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter e(rewriter, op.getLoc());
    FragmentType type = op.getResult().getType();
    auto tileA = dyn_cast<TileType>(op.getA().getType());
    Type elementB = op.getB().getType().getElementType(),
         elementA = tileA ? tileA.getElementType() : elementB;
    Multiplier multiplier(e, elementA, elementB,
                          isFloat8(elementA) && !multipliesFloat8(op));
    Value lane = e.lane(), row = e.rem(lane, kMatrixRows),
          matrix = e.div(lane, kMatrixRows);
    Value upper = e.rem(matrix, 2), outer = e.div(matrix, 2);
    Value warp = e.div(e.warpgroupThread(), kWarpThreads);
    Value rowA =
        e.add(e.mul(warp, kRows), e.add(e.mul(upper, kMatrixRows), row));
    Value rowB = e.add(e.mul(outer, kMatrixRows), row);
    SmallVector<Value> sums = unpackFragment(e, adaptor.getAccumulator());

    constexpr int64_t steps = TileType::kPanelBytes / kDepthBytes;
    int64_t taken = steps / op.getParts(), first = op.getPart() * taken;
    for (int64_t step = first; step < first + taken; ++step) {
      int64_t chunk = step * kDepthBytes / kChunkBytes;
      auto place = [&](ValueRange tile, Value row, Value half) {
        return e.shared(
            emitChunkAddress(e, tile.front(), row, e.add(half, chunk)));
      };
      auto load = [&](Value place, int64_t row, int64_t count) {
        return emitLoadMatrices(
            e, e.at(place, e.b.getI8Type(), row * TileType::kPanelBytes),
            count);
      };
      Value placeA = tileA ? place(adaptor.getA(), rowA, outer) : Value(),
            placeB = place(adaptor.getB(), rowB, upper);
      // Those in registers are by rows, then by steps.
      auto getRegisters = [&](int64_t part) {
        if (tileA)
          return load(placeA, part, kOperands);
        int64_t first = (part / kPartRows * steps + step) * kOperands;
        return SmallVector<Value>(adaptor.getA().slice(first, kOperands));
      };
      SmallVector<Multiplier::Operand> rows;
      for (int64_t part = 0; part < type.getRows(); part += kPartRows)
        rows.push_back(multiplier.prepare(elementA, getRegisters(part)));
      for (int64_t column = 0; column < type.getColumns();
           column += 2 * kColumns) {
        int64_t blocks =
            std::min<int64_t>(2, (type.getColumns() - column) / kColumns);
        SmallVector<Value> loaded = load(placeB, column, 2 * blocks);
        for (int64_t block = 0; block < blocks; ++block) {
          auto columns = multiplier.prepare(
              elementB, ArrayRef(loaded).slice(2 * block, 2));
          for (auto [part, operand] : llvm::enumerate(rows)) {
            int64_t first = part * type.getColumns() / 2 +
                            (column / kColumns + block) * kAccumulators;
            multiplier.multiply(
                operand, columns,
                MutableArrayRef(sums).slice(first, kAccumulators));
          }
        }
      }
    }
    rewriter.replaceOpWithMultiple(op, {packFragment(e, type, sums)});
    return success();
  }
};

} // namespace

void mlir::moeq_gpu::populateMmaSyncPatterns(const TypeConverter &converter,
                                             RewritePatternSet &patterns,
                                             const KernelBudget &budget) {
  patterns.add<MmaSyncLowering>(converter, patterns.getContext(), budget);
}
