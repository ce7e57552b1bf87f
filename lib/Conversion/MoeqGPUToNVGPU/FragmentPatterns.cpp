//===- FragmentPatterns.cpp - Matmuls and maps on fragments -----*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Patterns.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::moeq_gpu;

// The columns that one register of a fragment holds.
static int64_t getPacking(FragmentType type) {
  return type.getElementType().getIntOrFloatBitWidth() < 32 &&
                 type.getColumns() > 1
             ? 2
             : 1;
}

SmallVector<Type> mlir::moeq_gpu::getRegisterTypes(FragmentType type) {
  FragmentLayout layout =
      getAccumulatorLayout(type.getRows(), type.getColumns());
  int64_t packing = getPacking(type);
  Type element = type.getElementType();
  Type reg = packing == 1 ? element : VectorType::get({packing}, element);
  return SmallVector<Type>(layout.getNumRegisters() / packing, reg);
}

void mlir::moeq_gpu::getFragmentTypes(FragmentType type,
                                      SmallVectorImpl<Type> &types) {
  int64_t parts = std::max<int64_t>(type.getRows() / kPartRows, 1);
  SmallVector<Type> registers = getRegisterTypes(type);
  registers.resize(registers.size() / parts);
  types.append(parts,
               LLVM::LLVMStructType::getLiteral(type.getContext(), registers));
}

SmallVector<Value> mlir::moeq_gpu::unpackFragment(Emitter &e,
                                                  ValueRange parts) {
  SmallVector<Value> values;
  for (Value part : parts) {
    auto type = cast<LLVM::LLVMStructType>(part.getType());
    for (int64_t i = 0, n = type.getBody().size(); i < n; ++i)
      values.push_back(LLVM::ExtractValueOp::create(e.b, e.loc, part, i));
  }
  return values;
}

SmallVector<Value> mlir::moeq_gpu::packElements(Emitter &e, FragmentType type,
                                                ArrayRef<Value> elements) {
  int64_t packing = getPacking(type);
  if (packing == 1)
    return packFragment(e, type, elements);
  SmallVector<Value> values;
  for (auto [i, reg] : llvm::enumerate(getRegisterTypes(type)))
    values.push_back(vector::FromElementsOp::create(
        e.b, e.loc, reg, elements.slice(i * packing, packing)));
  return packFragment(e, type, values);
}

SmallVector<Value> mlir::moeq_gpu::packFragment(Emitter &e, FragmentType type,
                                                ArrayRef<Value> values) {
  SmallVector<Type> types;
  getFragmentTypes(type, types);
  size_t perPart = values.size() / types.size();
  SmallVector<Value> parts;
  for (auto [i, partType] : llvm::enumerate(types)) {
    Value part = LLVM::PoisonOp::create(e.b, e.loc, partType);
    for (auto [j, value] : llvm::enumerate(values.slice(i * perPart, perPart)))
      part = LLVM::InsertValueOp::create(e.b, e.loc, part, value, j);
    parts.push_back(part);
  }
  return parts;
}

std::pair<Value, Value>
mlir::moeq_gpu::emitThreadOffset(Emitter &e, const FragmentLayout &layout) {
  Value row = e.i32(0), column = e.i32(0);
  Value thread = e.warpgroupThread();
  int64_t divisor = 1, total = layout.getNumThreads();
  for (const LayoutMode &mode : layout.thread) {
    Value digit = e.div(thread, divisor);
    divisor *= mode.extent;
    if (divisor != total)
      digit = e.rem(digit, mode.extent);
    if (mode.rowStride)
      row = e.add(row, e.mul(digit, mode.rowStride));
    if (mode.columnStride)
      column = e.add(column, e.mul(digit, mode.columnStride));
  }
  return {row, column};
}

//===----------------------------------------------------------------------===//
// Matmul
//===----------------------------------------------------------------------===//

// The wgmma type of operands of `type`.
static NVVM::WGMMATypes getOperandType(Type type) {
  if (isa<Float8E4M3FNType>(type))
    return NVVM::WGMMATypes::e4m3;
  if (isa<Float8E5M2Type>(type))
    return NVVM::WGMMATypes::e5m2;
  if (type.isBF16())
    return NVVM::WGMMATypes::bf16;
  return type.isF16() ? NVVM::WGMMATypes::f16 : NVVM::WGMMATypes::s8;
}

// PTX ISA, "wgmma: matrix descriptor": the address, the stride of panels from
// bit 16 where K is outer, that of 8 rows (1024 bytes) from bit 32, the
// 128-byte swizzle in bits 62 and 63.
Value mlir::moeq_gpu::emitMatrixDescriptor(Emitter &e, Value tile,
                                           int64_t panelUnits) {
  Value units = arith::ShRUIOp::create(e.b, e.loc, tile, e.i32(4));
  int64_t fields =
      (int64_t(1) << 62) | (int64_t(64) << 32) | (panelUnits << 16);
  return e.bitOr(e.toI64(units), e.i64(fields));
}

namespace {
/// An operand of wgmma in shared memory. Offsets are in units of 16 bytes.
struct SharedOperand {
  TileType type;
  bool isTransposed;

  static constexpr int64_t kUnit = 16, kStepBytes = 32;
  int64_t getPanelUnits() const {
    return type.getRows() * TileType::kPanelBytes / kUnit;
  }
  /// From 32 bytes of K to the next: in a row, or by as many rows as there are
  /// elements.
  int64_t getStepUnits() const {
    return isTransposed ? kStepBytes * 8 /
                              type.getElementType().getIntOrFloatBitWidth() *
                              TileType::kPanelBytes / kUnit
                        : kStepBytes / kUnit;
  }
  /// From 64 rows of the result to the next: panels, where K is outer.
  int64_t getPartUnits() const {
    return isTransposed ? getPanelUnits() : 64 * TileType::kPanelBytes / kUnit;
  }
  Value emitDescriptor(Emitter &e, Value tile) const {
    return emitMatrixDescriptor(e, tile, isTransposed ? getPanelUnits() : 1);
  }
};

struct MmaLowering : KernelPattern<MmaOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(MmaOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Emitter e(rewriter, loc);
    MLIRContext *context = getContext();
    Type elementA = op.getA().getType().getElementType();
    Type elementB = op.getB().getType().getElementType();
    // One instruction multiplies 32 bytes of K, of which there are 128.
    constexpr int64_t steps = TileType::kPanelBytes / SharedOperand::kStepBytes;
    int64_t stepColumns = op.getA().getType().getPanelColumns() / steps;
    SharedOperand left{op.getA().getType(), op.getTransposeA()},
        right{op.getB().getType(), op.getTransposeB()};
    bool isFloat = op.getResult().getType().getElementType().isF32();

    SmallVector<Type> types;
    getFragmentTypes(op.getResult().getType(), types);
    Value a = left.emitDescriptor(e, adaptor.getA().front()),
          b = right.emitDescriptor(e, adaptor.getB().front());
    SmallVector<Value> parts(adaptor.getAccumulator());
    auto scaleOut = parts.empty() || op.getOverwrite()
                        ? NVVM::WGMMAScaleOut::zero
                        : NVVM::WGMMAScaleOut::one;
    if (parts.empty())
      for (Type type : types)
        parts.push_back(LLVM::PoisonOp::create(rewriter, loc, type));
    auto shape = NVVM::MMAShapeAttr::get(
        context, kPartRows, op.getResult().getType().getColumns(), stepColumns);
    NVVM::WgmmaFenceAlignedOp::create(rewriter, loc);
    for (int64_t step = 0; step < steps; ++step) {
      for (auto [i, part] : llvm::enumerate(parts)) {
        int64_t offset = step * left.getStepUnits() + i * left.getPartUnits();
        part = NVVM::WgmmaMmaAsyncOp::create(
            rewriter, loc, part.getType(), part, e.add(a, offset),
            e.add(b, step * right.getStepUnits()), shape,
            getOperandType(elementA), getOperandType(elementB),
            isFloat ? NVVM::WGMMATypes::f32 : NVVM::WGMMATypes::s32, scaleOut,
            NVVM::WGMMAScaleIn::one, NVVM::WGMMAScaleIn::one,
            left.isTransposed ? NVVM::MMALayout::col : NVVM::MMALayout::row,
            right.isTransposed ? NVVM::MMALayout::row : NVVM::MMALayout::col,
            NVVM::MMAIntOverflowAttr());
      }
      scaleOut = NVVM::WGMMAScaleOut::one;
    }
    NVVM::WgmmaGroupSyncAlignedOp::create(rewriter, loc);
    rewriter.replaceOpWithMultiple(op, {parts});
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Parts and constants
//===----------------------------------------------------------------------===//

struct ZeroLowering : KernelPattern<ZeroOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(ZeroOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter e(rewriter, op.getLoc());
    FragmentType type = op.getResult().getType();
    SmallVector<Value> values;
    for (Type reg : getRegisterTypes(type))
      values.push_back(arith::ConstantOp::create(rewriter, op.getLoc(),
                                                 rewriter.getZeroAttr(reg)));
    rewriter.replaceOpWithMultiple(op, {packFragment(e, type, values)});
    return success();
  }
};

struct SliceLowering : KernelPattern<SliceOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(SliceOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter e(rewriter, op.getLoc());
    FragmentType source = op.getSource().getType(),
                 result = op.getResult().getType();
    FragmentLayout layout =
        getAccumulatorLayout(source.getRows(), source.getColumns());
    int64_t packing = getPacking(source);
    auto isInside = [](int64_t offset, int64_t first, int64_t extent) {
      return offset >= first && offset < first + extent;
    };
    SmallVector<Value> kept;
    for (auto [i, value] :
         llvm::enumerate(unpackFragment(e, adaptor.getSource()))) {
      Position at = layout.getRegisterOffset(i * packing);
      if (isInside(at.row, op.getRow(), result.getRows()) &&
          isInside(at.column, op.getColumn(), result.getColumns()))
        kept.push_back(value);
    }
    rewriter.replaceOpWithMultiple(op, {packFragment(e, result, kept)});
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Map
//===----------------------------------------------------------------------===//

/// Clones the body of a map for one element, or for a pair of columns at once
/// where each op of the body has a vector form.
class BodyCloner {
public:
  BodyCloner(Emitter &e, MapOp op, ConversionPatternRewriter &rewriter)
      : e(e), body(op.getBody().front()), rewriter(rewriter) {
    isVectorizable =
        llvm::all_of(body.without_terminator(), [](Operation &nested) {
          return nested.hasTrait<OpTrait::ConstantLike>() ||
                 OpTrait::hasElementwiseMappableTraits(&nested);
        });
  }

  /// The yielded values for `arguments`, each with one value an element.
  SmallVector<Value> clone(ArrayRef<SmallVector<Value, 2>> arguments) {
    int64_t width = arguments.front().size();
    if (width > 1 && isVectorizable) {
      IRMapping mapping;
      for (auto [argument, values] :
           llvm::zip_equal(body.getArguments(), arguments))
        if (!argument.use_empty())
          mapping.map(argument, join(values));
      Value result = cloneOps(mapping, width);
      SmallVector<Value> scalars;
      for (int64_t i = 0; i < width; ++i)
        scalars.push_back(vector::ExtractOp::create(e.b, e.loc, result, i));
      return scalars;
    }
    SmallVector<Value> results;
    for (int64_t i = 0; i < width; ++i) {
      IRMapping mapping;
      for (auto [argument, values] :
           llvm::zip_equal(body.getArguments(), arguments))
        mapping.map(argument, values[i]);
      results.push_back(cloneOps(mapping, 1));
    }
    return results;
  }

private:
  Value join(ValueRange values) {
    auto type = VectorType::get({static_cast<int64_t>(values.size())},
                                values.front().getType());
    if (llvm::all_equal(values))
      return vector::BroadcastOp::create(e.b, e.loc, type, values.front());
    return vector::FromElementsOp::create(e.b, e.loc, type, values);
  }

  // What stands for `value` in the clone: captured scalars are splatted.
  Value lookup(IRMapping &mapping, Value value, int64_t width) {
    if (Value mapped = mapping.lookupOrNull(value))
      return mapped;
    Value captured = rewriter.getRemappedValue(value);
    return width == 1 ? captured : join(SmallVector<Value>(width, captured));
  }

  Value cloneOps(IRMapping &mapping, int64_t width) {
    for (Operation &nested : body.without_terminator()) {
      if (width == 1 || nested.hasTrait<OpTrait::ConstantLike>()) {
        for (Value operand : nested.getOperands())
          mapping.map(operand, lookup(mapping, operand, 1));
        Operation *copy = e.b.clone(nested, mapping);
        if (width > 1)
          mapping.map(nested.getResult(0),
                      join(SmallVector<Value>(width, copy->getResult(0))));
        continue;
      }
      OperationState state(e.loc, nested.getName());
      for (Value operand : nested.getOperands())
        state.operands.push_back(lookup(mapping, operand, width));
      for (Type type : nested.getResultTypes())
        state.types.push_back(VectorType::get({width}, type));
      state.attributes = llvm::to_vector(nested.getAttrs());
      Operation *copy = e.b.create(state);
      mapping.map(nested.getResults(), copy->getResults());
    }
    return lookup(mapping, cast<YieldOp>(body.getTerminator()).getValue(),
                  width);
  }

  Emitter &e;
  Block &body;
  ConversionPatternRewriter &rewriter;
  bool isVectorizable;
};

struct MapLowering : KernelPattern<MapOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(MapOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter e(rewriter, op.getLoc());
    FragmentType type = op.getResult().getType();
    FragmentLayout layout =
        getAccumulatorLayout(type.getRows(), type.getColumns());

    // The elements of each operand by their offset; those that broadcast have 0
    // in that dimension.
    using Elements = llvm::DenseMap<std::pair<int64_t, int64_t>, Value>;
    SmallVector<Elements> operands;
    for (auto [fragment, value] :
         llvm::zip_equal(op.getFragments(), adaptor.getFragments())) {
      auto operand = cast<FragmentType>(fragment.getType());
      FragmentLayout from =
          getAccumulatorLayout(operand.getRows(), operand.getColumns());
      int64_t packing = getPacking(operand);
      Elements elements;
      SmallVector<Value> registers = unpackFragment(e, value);
      for (int64_t i = 0, n = from.getNumRegisters(); i < n; ++i) {
        Value element = registers[i / packing];
        if (packing > 1)
          element = vector::ExtractOp::create(rewriter, op.getLoc(), element,
                                              i % packing);
        Position offset = from.getRegisterOffset(i);
        elements[{offset.row, offset.column}] = element;
      }
      operands.push_back(std::move(elements));
    }

    auto [threadRow, threadColumn] = emitThreadOffset(e, layout);
    Value row = e.add(adaptor.getRow().front(), threadRow);
    Value column = e.add(adaptor.getColumn().front(), threadColumn);
    auto toIndex = [&](Value base, int64_t offset) -> Value {
      return arith::IndexCastUIOp::create(
          rewriter, op.getLoc(), rewriter.getIndexType(), e.add(base, offset));
    };
    Block &body = op.getBody().front();
    size_t count = op.getFragments().size();
    bool usesRow = !body.getArgument(count).use_empty();
    bool usesColumn = !body.getArgument(count + 1).use_empty();
    Value unused =
        usesRow && usesColumn
            ? Value()
            : arith::ConstantIndexOp::create(rewriter, op.getLoc(), 0);

    BodyCloner cloner(e, op, rewriter);
    int64_t width = type.getColumns() > 1 ? 2 : 1;
    SmallVector<Value> results;
    for (int64_t i = 0, n = layout.getNumRegisters(); i < n; i += width) {
      SmallVector<SmallVector<Value, 2>> arguments(count + 2);
      for (int64_t j = 0; j < width; ++j) {
        Position at = layout.getRegisterOffset(i + j);
        for (auto [k, fragment] : llvm::enumerate(op.getFragments())) {
          auto operand = cast<FragmentType>(fragment.getType());
          arguments[k].push_back(
              operands[k].lookup({operand.getRows() == 1 ? 0 : at.row,
                                  operand.getColumns() == 1 ? 0 : at.column}));
        }
        arguments[count].push_back(usesRow ? toIndex(row, at.row) : unused);
        arguments[count + 1].push_back(usesColumn ? toIndex(column, at.column)
                                                  : unused);
      }
      llvm::append_range(results, cloner.clone(arguments));
    }
    rewriter.replaceOpWithMultiple(op, {packElements(e, type, results)});
    return success();
  }
};

} // namespace

void mlir::moeq_gpu::populateFragmentPatterns(const TypeConverter &converter,
                                              RewritePatternSet &patterns,
                                              const KernelBudget &budget) {
  patterns.add<MmaLowering, ZeroLowering, SliceLowering, MapLowering>(
      converter, patterns.getContext(), budget);
}
