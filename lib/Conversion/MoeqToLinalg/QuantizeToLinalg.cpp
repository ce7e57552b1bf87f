//===- QuantizeToLinalg.cpp - Quantization to loops -------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// quantize, act_quant and dequantize. Quantization goes block by block: its
// statistics, its scale, then its codes.
//
//===----------------------------------------------------------------------===//

#include "Detail.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::moeq;
using namespace mlir::moeq::detail;

namespace {
/// The rows of a group among those that are quantized, and its first padded row
/// (see `groups` of !moeq.scaled).
struct GroupRows {
  Value begin, count, padded;
};

/// Loops that quantize elements [.., S, F] to `result`: of the same shape or,
/// where it is transposed, [F, S] or [F, padded rows].
class Quantization {
public:
  /// The f32 element at indices of what is quantized.
  using Element = llvm::function_ref<Value(Elementwise &, ValueRange)>;

  Quantization(Location loc, const Operand &result, RecipeAttr recipe,
               ArrayRef<Value> extents, bool isColumnwise)
      : loc(loc), result(result), scaled(result.getScaled()),
        emitter(recipe, scaled), extents(extents), isColumnwise(isColumnwise),
        isTransposed(isColumnwise && result.getBlockOf(1) != 1) {}

  /// With `offsets` (i32), the rows are those of groups. With `rows` (i32),
  /// rows whose entry is negative are left alone, or are zeros if columnwise.
  void emit(OpBuilder &b, Value rows, Value offsets, Element element) {
    isPadded = scaled.getGroups() != 0 || (isTransposed && offsets);
    if (isPadded || scaled.getLayout() != ScaleLayout::RowMajor) {
      emitZeros(b, result.getScales());
      if (Value zeros = result.getZeros())
        emitZeros(b, zeros);
    }
    if (isTransposed && offsets)
      emitZeros(b, result.getValues());
    Value zero = constantIndex(b, loc, 0);
    if (!offsets) {
      Value count = extents.size() > 1 ? extents[extents.size() - 2]
                                       : constantIndex(b, loc, 1);
      return emitGroup(b, {zero, count, zero}, rows, element);
    }
    Value one = constantIndex(b, loc, 1);
    Value groups = arith::SubIOp::create(
        b, loc, memref::DimOp::create(b, loc, offsets, 0), one);
    emitLoop(b, loc, groups, zero,
             [&](Elementwise &e, Value group,
                 ValueRange padded) -> SmallVector<Value> {
               OpBuilder &inner = e.getBuilder();
               Value next = arith::AddIOp::create(inner, loc, group, one);
               Value begin = loadIndex(inner, loc, offsets, group);
               Value end = loadIndex(inner, loc, offsets, next);
               Value count = arith::SubIOp::create(inner, loc, end, begin);
               count = arith::MaxSIOp::create(inner, loc, count, zero);
               emitGroup(inner, {begin, count, padded[0]}, rows, element);
               Value tile = constantIndex(inner, loc, kPaddedRows);
               Value tiles =
                   arith::CeilDivUIOp::create(inner, loc, count, tile);
               return {arith::AddIOp::create(
                   inner, loc, padded[0],
                   arith::MulIOp::create(inner, loc, tiles, tile))};
             });
  }

private:
  int64_t rank() const { return extents.size(); }
  /// The dimension of the result that dimension `dim` of the source becomes.
  int64_t resultDim(int64_t dim) const {
    return isTransposed ? rank() - 1 - dim : dim;
  }
  int64_t getBlockOf(int64_t dim) const {
    return result.getBlockOf(resultDim(dim));
  }
  /// `indices` of the source's dimensions in the order of the result's.
  SmallVector<Value> toResult(SmallVector<Value> indices) const {
    if (isTransposed)
      std::swap(indices[0], indices[1]);
    return indices;
  }
  /// `indices` with `offset` added to the row.
  SmallVector<Value> addToRow(OpBuilder &b, ValueRange indices,
                              Value offset) const {
    SmallVector<Value> moved(indices);
    if (rank() > 1) {
      Value &row = moved[rank() - 2];
      row = b.createOrFold<arith::AddIOp>(loc, row, offset);
    }
    return moved;
  }

  /// Zero bytes, of which some belong to no element.
  void emitZeros(OpBuilder &b, Value memref) const {
    Type type = cast<MemRefType>(memref.getType()).getElementType();
    Value zero = arith::ConstantOp::create(
        b, loc,
        b.getIntegerAttr(b.getIntegerType(type.getIntOrFloatBitWidth()), 0));
    if (!type.isInteger())
      zero = arith::BitcastOp::create(b, loc, type, zero);
    emitParallel(b, loc, memref,
                 [&](Elementwise &, ValueRange, Value) { return zero; });
  }

  void emitGroup(OpBuilder &b, const GroupRows &group, Value rows,
                 Element element) const {
    SmallVector<Value> bounds(extents), lower, upper, step;
    if (rank() > 1)
      bounds[rank() - 2] = group.count;
    for (auto [dim, bound] : llvm::enumerate(bounds)) {
      lower.push_back(constantIndex(b, loc, 0));
      step.push_back(constantIndex(b, loc, 1));
      int64_t block = getBlockOf(dim);
      if (ShapedType::isDynamic(block))
        upper.push_back(step.back());
      else
        upper.push_back(b.createOrFold<arith::CeilDivUIOp>(
            loc, bound, constantIndex(b, loc, block)));
    }
    scf::buildLoopNest(
        b, loc, lower, upper, step,
        [&](OpBuilder &inner, Location, ValueRange block) {
          auto atRow = [&](Elementwise &e, ValueRange indices) {
            return element(e, addToRow(e.getBuilder(), indices, group.begin));
          };
          if (!rows)
            return emitBlock(inner, block, bounds, group, atRow);
          if (isColumnwise)
            return emitBlock(inner, block, bounds, group,
                             [&](Elementwise &e, ValueRange indices) {
                               return emitGathered(e, rows, group, indices,
                                                   atRow);
                             });
          scf::IfOp::create(inner, loc, isSource(inner, rows, group, block),
                            [&](OpBuilder &then, Location) {
                              emitBlock(then, block, bounds, group, atRow);
                              scf::YieldOp::create(then, loc);
                            });
        });
  }

  /// Whether the row at `indices` of a group has a source.
  Value isSource(OpBuilder &b, Value rows, const GroupRows &group,
                 ValueRange indices) const {
    Value row = b.createOrFold<arith::AddIOp>(loc, indices[0], group.begin);
    Value source = memref::LoadOp::create(b, loc, rows, row);
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge, source,
                                 arith::ConstantIntOp::create(b, loc, 0, 32));
  }

  /// An element of a gathered row, 0 where it has no source.
  Value emitGathered(Elementwise &e, Value rows, const GroupRows &group,
                     ValueRange indices, Element element) const {
    OpBuilder &b = e.getBuilder();
    auto ifOp = scf::IfOp::create(
        b, loc, isSource(b, rows, group, indices),
        [&](OpBuilder &then, Location) {
          Elementwise inner(then, loc);
          scf::YieldOp::create(then, loc, element(inner, indices));
        },
        [&](OpBuilder &otherwise, Location) {
          Value zero =
              arith::ConstantOp::create(otherwise, loc, b.getF32FloatAttr(0));
          scf::YieldOp::create(otherwise, loc, zero);
        });
    return ifOp.getResult(0);
  }

  /// Where the scale of a block is. A block of rows is counted in padded ones,
  /// or is a row.
  SmallVector<Value> getScaleIndices(OpBuilder &b, ValueRange block,
                                     const GroupRows &group) const {
    Value first = group.begin;
    if (isPadded)
      first = b.createOrFold<arith::DivUIOp>(
          loc, group.padded, constantIndex(b, loc, getBlockOf(rank() - 2)));
    return result.getLayoutIndices(b, loc, toResult(addToRow(b, block, first)));
  }

  /// `bounds` are the extents of the group; indices count in it.
  void emitBlock(OpBuilder &b, ValueRange block, ArrayRef<Value> bounds,
                 const GroupRows &group, Element element) const {
    SmallVector<Value> lower, upper, step;
    for (auto [dim, bound] : llvm::enumerate(bounds)) {
      int64_t size = getBlockOf(dim);
      step.push_back(constantIndex(b, loc, 1));
      if (ShapedType::isDynamic(size)) {
        lower.push_back(constantIndex(b, loc, 0));
        upper.push_back(bound);
        continue;
      }
      Value width = constantIndex(b, loc, size);
      lower.push_back(arith::MulIOp::create(b, loc, block[dim], width));
      Value end = arith::AddIOp::create(b, loc, lower.back(), width);
      upper.push_back(arith::MinUIOp::create(b, loc, end, bound));
    }

    Elementwise e(b, loc);
    Value scalar = arith::ConstantOp::create(b, loc, b.getF32FloatAttr(0));
    scf::LoopNest statistics = scf::buildLoopNest(
        b, loc, lower, upper, step, emitter.emitInitialStatistics(e, scalar),
        [&](OpBuilder &inner, Location, ValueRange indices,
            ValueRange values) -> scf::ValueVector {
          Elementwise ie(inner, loc);
          SmallVector<Value> next =
              emitter.emitUpdate(ie, values, element(ie, indices));
          return scf::ValueVector(next.begin(), next.end());
        });
    RecipeEmitter::BlockScale scale = emitter.emitScale(e, statistics.results);
    SmallVector<Value> at = getScaleIndices(b, block, group);
    memref::StoreOp::create(b, loc, scale.stored, result.getScales(), at);
    if (scale.zero)
      memref::StoreOp::create(b, loc, scale.zero, result.getZeros(), at);

    // A step along the last dimension of the result writes a byte.
    int64_t last = resultDim(rank() - 1);
    if (scaled.isPacked())
      step[last] = constantIndex(b, loc, 2);
    scf::buildLoopNest(
        b, loc, lower, upper, step,
        [&](OpBuilder &inner, Location, ValueRange indices) {
          Elementwise ie(inner, loc);
          SmallVector<Value> to = toResult(addToRow(
              inner, indices, isTransposed ? group.padded : group.begin));
          Value code =
              scaled.isPacked()
                  ? emitByte(ie, scale, indices, last, upper[last], element)
                  : emitter.emitCode(ie, scale, element(ie, indices));
          if (scaled.isPacked())
            to.back() = arith::ShRUIOp::create(inner, loc, to.back(),
                                               constantIndex(inner, loc, 1));
          memref::StoreOp::create(inner, loc, code, result.getValues(), to);
        });
  }

  /// The element at `indices` in the low and the next one along dimension `dim`
  /// in the high nibble, which is zero past `end`.
  Value emitByte(Elementwise &e, const RecipeEmitter::BlockScale &scale,
                 ValueRange indices, int64_t dim, Value end,
                 Element element) const {
    OpBuilder &b = e.getBuilder();
    Value low = emitter.emitCode(e, scale, element(e, indices));
    Value one = constantIndex(b, loc, 1);
    Value next = arith::AddIOp::create(b, loc, indices[dim], one);
    Value isElement =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, next, end);
    SmallVector<Value> nextIndices(indices);
    nextIndices[dim] =
        arith::SelectOp::create(b, loc, isElement, next, indices[dim]);
    Value high = emitter.emitCode(e, scale, element(e, nextIndices));
    high = e.select(isElement, high, e.i32(high, 0));
    return e.truncateToI8(e.orI(low, e.shl(high, 4)));
  }

  Location loc;
  const Operand &result;
  ScaledType scaled;
  RecipeEmitter emitter;
  ArrayRef<Value> extents;
  bool isColumnwise, isTransposed;
  /// Whether scales are counted in padded rows.
  bool isPadded = false;
};

/// Emits each result of an op that quantizes.
template <typename OpTy>
LogicalResult emitResults(OpBuilder &b, OpTy op, Value rows,
                          ArrayRef<Value> extents,
                          Quantization::Element element) {
  for (bool isColumnwise : {false, true}) {
    ValueRange outs = isColumnwise ? op.getColumnwise() : op.getOuts();
    if (outs.empty())
      continue;
    FailureOr<Operand> result = getOperand(
        op, outs,
        isColumnwise ? op.getColumnwiseFormatAttr() : op.getOutsFormatAttr(),
        isColumnwise ? "columnwise" : "outs");
    if (failed(result))
      return failure();
    Quantization(op.getLoc(), *result, op.getRecipe(), extents, isColumnwise)
        .emit(b, rows, op.getOffsets(), element);
  }
  return success();
}

struct LowerQuantize : OpRewritePattern<QuantizeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(QuantizeOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value input = op.getInput(), rows = op.getRows();
    int64_t rank = cast<MemRefType>(input.getType()).getRank();
    SmallVector<Value> extents;
    for (int64_t dim = 0; dim < rank; ++dim)
      extents.push_back(memref::DimOp::create(
          rewriter, loc, dim == 0 && rows ? rows : input, dim));
    LogicalResult emitted = emitResults(
        rewriter, op, rows, extents, [&](Elementwise &e, ValueRange indices) {
          SmallVector<Value> from(indices);
          if (rows)
            from[0] = loadIndex(e.getBuilder(), loc, rows, indices[0]);
          return loadF32(e, input, from);
        });
    if (failed(emitted))
      return failure();
    rewriter.eraseOp(op);
    return success();
  }
};

/// What an op quantizes of a number that it computes.
template <typename OpTy>
Value emitIntermediate(Elementwise &e, OpTy op, Value value) {
  OpBuilder &b = e.getBuilder();
  switch (op.getIntermediateRound()) {
  case IntermediateRound::None:
    return value;
  case IntermediateRound::BF16:
    return emitToF32(e, emitFromF32(e, value, b.getBF16Type()));
  case IntermediateRound::F16:
    return emitToF32(e, emitFromF32(e, value, b.getF16Type()));
  }
  llvm_unreachable("unknown rounding");
}

struct LowerActQuant : OpRewritePattern<ActQuantOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ActQuantOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value columns = memref::DimOp::create(rewriter, loc, op.getInput(), 1);
    if (isGated(op.getFunction()))
      columns = arith::DivUIOp::create(rewriter, loc, columns,
                                       constantIndex(rewriter, loc, 2));
    Value extents[] = {memref::DimOp::create(rewriter, loc, op.getInput(), 0),
                       columns};
    LogicalResult emitted =
        emitResults(rewriter, op, /*rows=*/{}, extents,
                    [&](Elementwise &e, ValueRange indices) {
                      Value value =
                          emitActivationAt(e, op, indices[0], indices[1]);
                      return emitIntermediate(e, op, value);
                    });
    if (failed(emitted))
      return failure();
    rewriter.eraseOp(op);
    return success();
  }
};

struct LowerActQuantGrad : OpRewritePattern<ActQuantGradOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ActQuantGradOp op,
                                PatternRewriter &rewriter) const override {
    SmallVector<Value> extents;
    for (int64_t dim : {0, 1})
      extents.push_back(
          memref::DimOp::create(rewriter, op.getLoc(), op.getInput(), dim));
    auto gradient = [&](Elementwise &e, ValueRange indices) {
      Value value = emitGradientAt(e, op, indices[0], indices[1]);
      return emitIntermediate(e, op, value);
    };
    if (failed(emitResults(rewriter, op, /*rows=*/{}, extents, gradient)))
      return failure();
    if (Value sums = op.getBiasGrad())
      emitColumnSums(rewriter, op.getLoc(), op.getOffsets(), sums, gradient);
    rewriter.eraseOp(op);
    return success();
  }
};

struct LowerDequantize : OpRewritePattern<DequantizeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(DequantizeOp op,
                                PatternRewriter &rewriter) const override {
    FailureOr<Operand> input =
        getOperand(op, op.getInput(), op.getInputFormatAttr(), "input");
    if (failed(input))
      return failure();
    Type element = cast<MemRefType>(op.getOuts().getType()).getElementType();
    emitParallel(rewriter, op.getLoc(), op.getOuts(),
                 [&](Elementwise &e, ValueRange indices, Value) {
                   Value value = input->readF32(e, indices);
                   Value scale = input->readScale(e, indices);
                   return emitFromF32(e, emitDequantize(e, value, {}, scale),
                                      element);
                 });
    rewriter.eraseOp(op);
    return success();
  }
};
} // namespace

void moeq::detail::populateQuantizePatterns(RewritePatternSet &patterns) {
  patterns
      .add<LowerActQuant, LowerActQuantGrad, LowerDequantize, LowerQuantize>(
          patterns.getContext());
}
