//===- DequantPatterns.cpp - Packed weights to registers --------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Words of packed weights to pairs of 16-bit floats, as integer and float
// arithmetic on 32-bit registers that any target executes; each is exact for
// every code. Of the forms known for a format the one with the fewest
// instructions on sm_90 is here, counted for the 8 values of an m64k16 operand:
//
// | format | instructions | form |
// |---|---|---|
// | i8 | 14 | 2^k + low bits - (2^k or 2^k + sign), with 2^k as the exponent |
// | i4, ui4 | 11 | 2^k + code - (2^k + bias), with 2^k as the exponent |
// | f8E4M3FN | 18 | cvt to f16, then to f32, of which upper halves are bf16 |
// | f8E5M2 | 16 | bytes as upper ones of f16, then the same |
// | f4E2M1FN | 17 | the bits as those of a bf16 2^-126 times as large, times
// 2^126 |
//
// Zero points add 4 subtractions or none, E8M0 scales 4 products and 4
// instructions for each of two rows and each group. Where the chip does not
// convert f8E4M3FN, it is widened to f16 by arithmetic.
//
//===----------------------------------------------------------------------===//

#include "Patterns.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::moeq_gpu;

/// The rows and columns of the operand of one instruction, and of a chunk.
static constexpr int64_t kInstructionRows = 64, kInstructionColumns = 16,
                         kChunkColumns = 64;
/// The bits of the fraction of a bf16.
static constexpr int64_t kFractionBits = 7;

// Whether the target, if it is known, converts 8-bit floats.
static bool convertsFloat8(Operation *op) {
  std::optional<moeq::PtxTarget> target = getTarget(op);
  return !target || target->convertsFloat8();
}

namespace {

/// Emits the values of one chunk.
class Dequantizer {
public:
  Dequantizer(Emitter &e, DequantOp op, Value values, Value scales, Value zeros)
      : e(e), format(op.getFormat()),
        element(op.getResult().getType().getElementType()),
        widensFloat8(!convertsFloat8(op)), pairType(pairTypeOf(element)),
        values(values) {
    auto getGroups = [&](TypedValue<SharedVectorType> vector) {
      return vector.getType().getSize() / op.getResult().getType().getRows();
    };
    Value thread = e.warpgroupThread();
    threadOffset = e.mul(thread, kChunkBytes);
    Value row = e.add(e.mul(e.div(thread, 32), 16),
                      e.div(e.rem(thread, kWarpThreads), 4));
    if (scales) {
      groups = getGroups(op.getScales());
      scaleRows = e.add(scales, row);
    }
    if (zeros) {
      groups = getGroups(op.getZeros());
      zeroRows = e.add(zeros, row);
    }
  }

  /// The registers of the 64 rows of chunk `index`, by 16 columns.
  void emitChunk(int64_t index, SmallVectorImpl<Value> &registers) {
    int64_t bits = format.getIntOrFloatBitWidth();
    SmallVector<Value> words = loadWords(index, bits / 4);
    SmallVector<RowPair> codes = loadOfRows(scaleRows, index),
                         zeros = loadOfRows(zeroRows, index);
    constexpr int64_t steps = kChunkColumns / kInstructionColumns;
    SmallVector<Value> pairs;
    for (int64_t step = 0; step < steps; ++step)
      llvm::append_range(pairs, emitValues(ArrayRef<Value>(words).slice(
                                    step * bits / 4, bits / 4)));
    if (!zeros.empty())
      pairs = mapPairs<arith::SubFOp>(
          pairs, zeros, [&](Value code) { return emitZero(code); });
    if (isa<Float4E2M1FNType>(format))
      pairs = unbias(pairs);
    if (!codes.empty())
      pairs = mapPairs<arith::MulFOp>(
          pairs, codes, [&](Value code) { return emitScale(code); });
    for (Value pair : pairs)
      registers.push_back(
          LLVM::BitcastOp::create(e.b, e.loc, e.b.getI32Type(), pair));
  }

private:
  /// What the two rows of a thread have.
  using RowPair = std::array<Value, 2>;

  /// The bytes of chunk `index` of the vector at `rows`, for each group; none
  /// where there is no such vector.
  SmallVector<RowPair> loadOfRows(Value rows, int64_t index) {
    SmallVector<RowPair> bytes;
    for (int64_t group = 0; rows && group < groups; ++group) {
      RowPair &ofRows = bytes.emplace_back();
      for (int64_t row : {0, 1})
        ofRows[row] = loadByte(
            e.add(rows, (index * groups + group) * kInstructionRows + 8 * row));
    }
    return bytes;
  }

  /// OpTy of each pair of values and what `convert` makes of the byte of its
  /// row and group. Register i has row i mod 2.
  template <typename OpTy>
  SmallVector<Value> mapPairs(ArrayRef<Value> pairs, ArrayRef<RowPair> bytes,
                              function_ref<Value(Value)> convert) {
    SmallVector<RowPair> converted;
    for (RowPair ofRows : bytes)
      converted.push_back({convert(ofRows[0]), convert(ofRows[1])});
    SmallVector<Value> results;
    for (auto [i, pair] : llvm::enumerate(pairs)) {
      Value other = converted[i * converted.size() / pairs.size()][i % 2];
      results.push_back(OpTy::create(e.b, e.loc, pair, other));
    }
    return results;
  }

  // Volatile, so that they stay between the waits and releases of the ring.
  Value load(Type type, Value address, int64_t alignment) {
    return LLVM::LoadOp::create(e.b, e.loc, type, e.shared(address), alignment,
                                /*isVolatile=*/true);
  }
  Value loadByte(Value address) {
    return arith::ExtUIOp::create(e.b, e.loc, e.b.getI32Type(),
                                  load(e.b.getI8Type(), address, 1));
  }
  /// The words of the thread, of a chunk with so many of them for each
  /// instruction.
  SmallVector<Value> loadWords(int64_t chunk, int64_t wordsPerStep) {
    constexpr int64_t pieceBytes = kWarpgroupThreads * kChunkBytes;
    auto type = VectorType::get({4}, e.b.getI32Type());
    SmallVector<Value> words;
    for (int64_t piece = 0; piece < wordsPerStep; ++piece) {
      int64_t offset = (chunk * wordsPerStep + piece) * pieceBytes;
      Value loaded =
          load(type, e.add(e.add(values, threadOffset), offset), kChunkBytes);
      for (int64_t i = 0; i < 4; ++i)
        words.push_back(vector::ExtractOp::create(e.b, e.loc, loaded, i));
    }
    return words;
  }

  Value shl(Value x, int64_t by) {
    return by ? Value(arith::ShLIOp::create(e.b, e.loc, x, e.i32(by))) : x;
  }
  Value shr(Value x, int64_t by) {
    return by ? Value(arith::ShRUIOp::create(e.b, e.loc, x, e.i32(by))) : x;
  }
  /// By -by to the left.
  Value shrOrShl(Value x, int64_t by) {
    return by < 0 ? shl(x, -by) : shr(x, by);
  }
  Value mask(Value x, int64_t bits) { return e.bitAnd(x, e.i32(twice(bits))); }
  /// The bits `kept` of both halves, with `flipped` ones changed. As one
  /// instruction: ptxas makes two of operations with two constants.
  Value maskAndFlip(Value x, int64_t kept, int64_t flipped) {
    std::string text = llvm::formatv("lop3.b32 $0, $1, {0}, {1}, 0x6a;",
                                     twice(kept), twice(flipped));
    return LLVM::InlineAsmOp::create(
               e.b, e.loc, e.b.getI32Type(), x, text, "=r,r",
               /*has_side_effects=*/false, /*is_align_stack=*/false,
               LLVM::tailcallkind::TailCallKind::None,
               LLVM::AsmDialectAttr::get(e.b.getContext(),
                                         LLVM::AsmDialect::AD_ATT),
               /*operand_attrs=*/ArrayAttr())
        .getResult(0);
  }
  /// The bytes of two words, the lower one's first, that `selector` names.
  Value permute(Value low, Value high, int64_t selector) {
    return NVVM::PermuteOp::create(e.b, e.loc, e.b.getI32Type(), low, high,
                                   e.i32(selector), NVVM::PermuteMode::DEFAULT);
  }
  /// 16 bits in both halves of a word.
  static int64_t twice(int64_t bits) {
    return static_cast<int32_t>(static_cast<uint32_t>(bits) * 0x10001u);
  }
  static VectorType pairTypeOf(Type type) { return VectorType::get({2}, type); }
  Value asPair(Value word) {
    return LLVM::BitcastOp::create(e.b, e.loc, pairType, word);
  }
  Value pairOf(double value) {
    return arith::ConstantOp::create(
        e.b, e.loc, DenseElementsAttr::get(pairType, [&] {
          APFloat number(value);
          bool lost;
          number.convert(cast<FloatType>(element).getFloatSemantics(),
                         APFloat::rmNearestTiesToEven, &lost);
          return number;
        }()));
  }
  Value sub(Value x, Value y) {
    return arith::SubFOp::create(e.b, e.loc, x, y);
  }

  /// The power of two whose exponent leaves the last bit of the fraction a
  /// weight of 1, and its bits.
  double getUnit() const { return element.isBF16() ? 128.0 : 1024.0; }
  int64_t getUnitBits() const { return element.isBF16() ? 0x4300 : 0x6400; }

  /// The four registers of an instruction. Register i has row i mod 2.
  SmallVector<Value, 4> emitValues(ArrayRef<Value> words) {
    SmallVector<Value, 4> pairs(4);
    if (format.getIntOrFloatBitWidth() == 4) {
      for (int64_t i = 0; i < 4; ++i)
        pairs[i] = isa<Float4E2M1FNType>(format) ? emitFloat4(words[0], i)
                                                 : emitInteger4(words[0], i);
      return pairs;
    }
    for (int64_t row = 0; row < 2; ++row)
      for (int64_t half = 0; half < 2; ++half)
        pairs[2 * half + row] = format.isInteger(8)
                                    ? emitInteger8(words[row], half)
                                    : emitFloat8(words[row], half);
    return pairs;
  }

  /// Bytes `half` and `half` + 2 of a word: low 7 bits, less 128 times the
  /// sign.
  Value emitInteger8(Value word, int64_t half) {
    Value bytes = shr(word, 8 * half);
    if (element.isBF16())
      return sub(asPair(maskAndFlip(bytes, 0x7f, getUnitBits())),
                 asPair(maskAndFlip(bytes, 0x80, getUnitBits())));
    // A byte with the sign changed is 128 more, and fits in the fraction.
    return sub(asPair(maskAndFlip(bytes, 0xff, getUnitBits() | 0x80)),
               pairOf(getUnit() + 128));
  }

  /// Nibbles i and i + 4; a signed one with its sign changed is 8 more.
  Value emitInteger4(Value word, int64_t i) {
    bool isSigned = !format.isUnsignedInteger();
    int64_t bias = isSigned ? 8 : 0;
    return sub(asPair(maskAndFlip(shr(word, 4 * i), 0xf, getUnitBits() | bias)),
               pairOf(getUnit() + bias));
  }

  /// Bytes `half` and `half` + 2, by f32, of which a bf16 is the upper half.
  /// e5m2 is the upper byte of an f16, and e4m3 one after conversion.
  Value emitFloat8(Value word, int64_t half) {
    Value pair;
    if (isa<Float8E5M2Type>(format) || widensFloat8) {
      pair = emitWiden(e, format, word, half ? 0x3414 : 0x2404);
      if (element.isF16())
        return pair;
    } else {
      Value neighbours = shr(permute(word, word, 0x3120), 16 * half);
      pair = arith::TruncIOp::create(e.b, e.loc, e.b.getI16Type(), neighbours);
      pair = LLVM::BitcastOp::create(e.b, e.loc, pairTypeOf(e.b.getI8Type()),
                                     pair);
      pair = arith::BitcastOp::create(e.b, e.loc, pairTypeOf(format), pair);
    }
    Value numbers =
        arith::ExtFOp::create(e.b, e.loc, pairTypeOf(e.b.getF32Type()), pair);
    if (!element.isBF16())
      return arith::TruncFOp::create(e.b, e.loc, pairType, numbers);
    numbers = arith::BitcastOp::create(e.b, e.loc, pairTypeOf(e.b.getI32Type()),
                                       numbers);
    auto getWord = [&](int64_t i) {
      return vector::ExtractOp::create(e.b, e.loc, numbers, i);
    };
    return asPair(permute(getWord(0), getWord(1), 0x7632));
  }

  /// Nibbles i and i + 4: sign, two bits of exponent, and the fraction's first
  /// one, in the places that they have in a bf16 2^-126 times as large, or in
  /// an f16 2^-14 times.
  Value emitFloat4(Value word, int64_t i) {
    constexpr int64_t signBit = 0x8000, toSign = 12;
    int64_t lowest = element.isBF16() ? 6 : 9;
    if (element.isBF16()) {
      // A product has them in both places, which do not meet.
      int64_t at = 4 * (i % 2);
      Value nibbles = mask(shr(word, 8 * (i / 2)), 0xf << at);
      return asPair(
          mask(e.mul(nibbles, (1 << (lowest - at)) + (1 << (toSign - at))),
               signBit | 7 << lowest));
    }
    Value magnitude = mask(shrOrShl(word, 4 * i - lowest), 7 << lowest);
    Value sign = mask(shrOrShl(word, 4 * i - toSign), signBit);
    return asPair(e.bitOr(magnitude, sign));
  }

  /// The values of what emitFloat4 gives.
  SmallVector<Value> unbias(ArrayRef<Value> pairs) {
    Value factor = pairOf(element.isBF16() ? 0x1p126 : 0x1p14);
    return llvm::map_to_vector(pairs, [&](Value pair) -> Value {
      return arith::MulFOp::create(e.b, e.loc, pair, factor);
    });
  }

  /// 2^(code - 127) as a bf16 in both halves. That of 0 is the subnormal half
  /// of the least normal one; the infinity of 255, times 0, is a NaN.
  Value emitScale(Value code) {
    Value power = asPair(
        e.max(e.mul(code, twice(1 << kFractionBits)), e.i32(twice(0x40))));
    Value zero = arith::MulFOp::create(e.b, e.loc, power, pairOf(0));
    return arith::AddFOp::create(e.b, e.loc, power, zero);
  }

  /// A signed byte as a float in both halves.
  Value emitZero(Value code) {
    Value byte = arith::TruncIOp::create(e.b, e.loc, e.b.getI8Type(), code);
    Value number = arith::SIToFPOp::create(e.b, e.loc, e.b.getF32Type(), byte);
    number = arith::TruncFOp::create(e.b, e.loc, element, number);
    return vector::BroadcastOp::create(e.b, e.loc, pairType, number);
  }

  Emitter &e;
  Type format, element;
  bool widensFloat8;
  VectorType pairType;
  Value values, threadOffset, scaleRows, zeroRows;
  int64_t groups = 0;
};

struct DequantLowering : KernelPattern<DequantOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(DequantOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter e(rewriter, op.getLoc());
    Dequantizer dequantizer(e, op, adaptor.getValues(), adaptor.getScales(),
                            adaptor.getZeros());
    SmallVector<Value> registers;
    int64_t chunks = op.getResult().getType().getRows() / kInstructionRows;
    for (int64_t chunk = 0; chunk < chunks; ++chunk)
      dequantizer.emitChunk(chunk, registers);
    rewriter.replaceOpWithMultiple(op, {registers});
    return success();
  }
};

} // namespace

void mlir::moeq_gpu::populateDequantPatterns(const TypeConverter &converter,
                                             RewritePatternSet &patterns,
                                             const KernelBudget &budget) {
  patterns.add<DequantLowering>(converter, patterns.getContext(), budget);
}
