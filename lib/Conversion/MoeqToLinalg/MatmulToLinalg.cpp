//===- MatmulToLinalg.cpp - matmul, grouped_matmul to loops -----*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An element of the result is a sum in ascending k, whose order is the
// specification: partial sums by fma from 0, one for each block of K with its
// own scales, `acc = fma(partial, sa * sb, acc)`; what scales span K multiply
// the end. Between integers the partial sums are in i32.
//
//===----------------------------------------------------------------------===//

#include "Detail.h"

#include "moeq/Conversion/MoeqToLinalg.h"
#include "moeq/Support/GateColumns.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"

#include <numeric>

using namespace mlir;
using namespace mlir::moeq;
using namespace mlir::moeq::detail;

namespace {
/// The sum of one element of a matmul.
class DotProduct {
public:
  DotProduct(const Operand &lhs, const Operand &rhs, int64_t rank,
             std::optional<AccumulateAttr> accumulate)
      : lhs(lhs), rhs(rhs), lhsBlock(lhs.getBlockOf(1)),
        rhsBlock(rhs.getBlockOf(rank - 1)),
        isInteger(lhs.isInteger() && rhs.isInteger()),
        isMx(hasE8M0Scale(lhs) && hasE8M0Scale(rhs)) {
    if (isMx)
      lhsBlock = rhsBlock = ShapedType::kDynamic;
    for (int64_t block : {lhsBlock, rhsBlock})
      if (!ShapedType::isDynamic(block))
        step = std::gcd(step, block);
    if (accumulate && !isInteger)
      step = std::gcd(step, accumulate->getInterval());
  }

  /// The scaled f32 sum over k < `depth` of `left`, `right` and then k.
  Value emit(Elementwise &e, Value depth, ValueRange left,
             ValueRange right) const {
    OpBuilder &b = e.getBuilder();
    Location loc = e.getLoc();
    Value zero = constantIndex(b, loc, 0);
    if (step == 0) {
      Value sum = emitPartial(e, zero, depth, left, right);
      return scale(e, sum, left, right);
    }
    Value start = arith::ConstantOp::create(b, loc, b.getF32FloatAttr(0));
    Value width = constantIndex(b, loc, step);
    ValueRange sum =
        emitLoop(b, loc, zero, depth, width, start,
                 [&](Elementwise &inner, Value k,
                     ValueRange sums) -> SmallVector<Value> {
                   OpBuilder &ib = inner.getBuilder();
                   Value end = arith::AddIOp::create(ib, loc, k, width);
                   end = arith::MinUIOp::create(ib, loc, end, depth);
                   Value partial = emitPartial(inner, k, end, left, right);
                   Value factor =
                       emitScales(inner, k, left, right, /*ofBlocks=*/true);
                   return {factor ? inner.fma(partial, factor, sums[0])
                                  : inner.add(sums[0], partial)};
                 });
    return scale(e, sum[0], left, right);
  }

private:
  static bool hasE8M0Scale(const Operand &operand) {
    return operand.getScaled() &&
           isa<Float8E8M0FNUType>(operand.getScaled().getScale());
  }

  static SmallVector<Value> append(ValueRange indices, Value k) {
    SmallVector<Value> result(indices);
    result.push_back(k);
    return result;
  }

  /// The sum over [lower, upper), as f32.
  Value emitPartial(Elementwise &e, Value lower, Value upper, ValueRange left,
                    ValueRange right) const {
    OpBuilder &b = e.getBuilder();
    Location loc = e.getLoc();
    TypedAttr zero = isInteger ? TypedAttr(b.getI32IntegerAttr(0))
                               : TypedAttr(b.getF32FloatAttr(0));
    Value start = arith::ConstantOp::create(b, loc, zero);
    ValueRange sum =
        emitLoop(b, loc, lower, upper, constantIndex(b, loc, 1), start,
                 [&](Elementwise &inner, Value k,
                     ValueRange sums) -> SmallVector<Value> {
                   SmallVector<Value> l = append(left, k), r = append(right, k);
                   if (!isInteger)
                     return {inner.fma(emitFactor(inner, lhs, l),
                                       emitFactor(inner, rhs, r), sums[0])};
                   OpBuilder &ib = inner.getBuilder();
                   Value product = arith::MulIOp::create(
                       ib, loc, lhs.readI32(inner, l), rhs.readI32(inner, r));
                   return {inner.addI(sums[0], product)};
                 });
    return isInteger ? e.signedToF32(sum[0]) : sum[0];
  }

  /// A factor of the products: under MX on both sides dequantized to bf16.
  Value emitFactor(Elementwise &e, const Operand &operand,
                   ValueRange indices) const {
    Value value = operand.readF32(e, indices);
    if (!isMx)
      return value;
    value = emitDequantize(e, value, {}, operand.readScale(e, indices));
    Type bf16 = e.getBuilder().getBF16Type();
    return emitToF32(e, emitFromF32(e, value, bf16));
  }

  /// The product of the scales at k: those of blocks of K, or those that span
  /// K. Null if there is none.
  Value emitScales(Elementwise &e, Value k, ValueRange left, ValueRange right,
                   bool ofBlocks) const {
    auto read = [&](const Operand &operand, int64_t block,
                    ValueRange indices) -> Value {
      if (!operand.getScaled() || isMx ||
          ShapedType::isDynamic(block) == ofBlocks)
        return {};
      return operand.readScale(e, append(indices, k));
    };
    Value a = read(lhs, lhsBlock, left), b = read(rhs, rhsBlock, right);
    return a && b ? e.mul(a, b) : a ? a : b;
  }

  Value scale(Elementwise &e, Value sum, ValueRange left,
              ValueRange right) const {
    Value zero = constantIndex(e.getBuilder(), e.getLoc(), 0);
    Value factor = emitScales(e, zero, left, right, /*ofBlocks=*/false);
    return factor ? e.mul(sum, factor) : sum;
  }

  Operand lhs, rhs;
  int64_t lhsBlock, rhsBlock;
  bool isInteger, isMx;
  /// How many k a partial sum has; 0 is all of them.
  int64_t step = 0;
};
} // namespace

/// The element that is stored for the sums of a row and a column of the result,
/// those of `columns` of the product: one, or two where the epilogue gates.
/// `expert` is null in a plain matmul.
template <typename OpTy>
static Value emitEpilogue(Elementwise &e, OpTy op, ArrayRef<Value> sums,
                          ArrayRef<Value> columns, Value row, Value column,
                          Value expert) {
  OpBuilder &b = e.getBuilder();
  Location loc = e.getLoc();
  if (op.getEpilogue().empty())
    return emitFromF32(
        e, sums[0], cast<MemRefType>(op.getOuts().getType()).getElementType());
  Block &block = op.getEpilogue().front();
  SmallVector<Value> arguments(sums);
  arguments.append({row, column});
  for (auto [operand, map] :
       llvm::zip(op.getEpilogueOperands(), op.getEpilogueMaps())) {
    auto load = [&, source = operand](ArrayRef<Value> indices) {
      arguments.push_back(memref::LoadOp::create(b, loc, source, indices));
    };
    switch (static_cast<EpilogueMap>(map)) {
    case EpilogueMap::Row:
      load({row});
      break;
    case EpilogueMap::RowColumn:
      load({row, column});
      break;
    case EpilogueMap::Column:
      for (Value of : columns)
        expert ? load({expert, of}) : load({of});
      break;
    }
  }
  IRMapping mapping;
  mapping.map(block.getArguments(), arguments);
  for (Operation &inner : block.without_terminator())
    b.clone(inner, mapping);
  return mapping.lookupOrDefault(
      cast<YieldOp>(block.getTerminator()).getValue());
}

template <typename OpTy>
static Value emitDepth(OpBuilder &b, OpTy op) {
  return memref::DimOp::create(b, op.getLoc(), op.getLhs().front(), 1);
}

/// The element at a row and column, of sums over `depth` products.
template <typename OpTy>
static FailureOr<Value> emitElement(Elementwise &e, OpTy op, Value depth,
                                    Value row, Value column, Value expert) {
  FailureOr<Operand> lhs =
      getOperand(op, op.getLhs(), op.getLhsFormatAttr(), "lhs");
  FailureOr<Operand> rhs =
      getOperand(op, op.getRhs(), op.getRhsFormatAttr(), "rhs");
  if (failed(lhs) || failed(rhs))
    return failure();
  SmallVector<Value> columns{column}, sums;
  if (op.getGated()) {
    GateColumns gated = emitGateColumns(e.getBuilder(), op.getLoc(),
                                        GateLayout::Interleaved8, column,
                                        /*features=*/Value());
    columns = {gated.gate, gated.up};
  }
  for (Value of : columns) {
    SmallVector<Value> right;
    if (expert)
      right.push_back(expert);
    right.push_back(of);
    DotProduct dot(*lhs, *rhs, right.size() + 1, op.getAccumulate());
    sums.push_back(dot.emit(e, depth, row, right));
  }
  return emitEpilogue(e, op, sums, columns, row, column, expert);
}

/// The rows of `out`, the first of which is `firstRow` of the lhs, times the
/// weight of `expert`; both are null in a plain matmul.
template <typename OpTy>
static LogicalResult emitRows(OpTy op, OpBuilder &b, Value depth, Value out,
                              Value firstRow, Value expert) {
  Location loc = op.getLoc();
  FailureOr<Value> element;
  emitParallel(
      b, loc, out, [&](Elementwise &e, ValueRange indices, Value old) -> Value {
        Value row = indices[0];
        if (firstRow)
          row = arith::AddIOp::create(e.getBuilder(), loc, row, firstRow);
        element = emitElement(e, op, depth, row, indices[1], expert);
        return succeeded(element) ? *element : old;
      });
  return element;
}

namespace {
struct LowerMatmul : OpRewritePattern<MatmulOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MatmulOp op,
                                PatternRewriter &rewriter) const override {
    if (failed(emitRows(op, rewriter, emitDepth(rewriter, op), op.getOuts(), {},
                        {})))
      return failure();
    rewriter.eraseOp(op);
    return success();
  }
};

struct LowerGroupedMatmul : OpRewritePattern<GroupedMatmulOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(GroupedMatmulOp op,
                                PatternRewriter &rewriter) const override {
    // Of an extent of 0 there is no slice, not even one at 0.
    ArrayRef<int64_t> shape =
        cast<MemRefType>(op.getOuts().getType()).getShape();
    if (!llvm::is_contained(shape, 0) && failed(emitGroups(op, rewriter)))
      return failure();
    rewriter.eraseOp(op);
    return success();
  }

private:
  static LogicalResult emitGroups(GroupedMatmulOp op, OpBuilder &b) {
    Location loc = op.getLoc();
    Value out = op.getOuts(), depth = emitDepth(b, op);
    Value experts = memref::DimOp::create(b, loc, op.getRhs()[0], 0);
    Value rows = memref::DimOp::create(b, loc, out, 0);
    Value columns = memref::DimOp::create(b, loc, out, 1);
    LogicalResult result = success();
    emitLoop(
        b, loc, experts, {},
        [&](Elementwise &e, Value expert, ValueRange) -> SmallVector<Value> {
          OpBuilder &inner = e.getBuilder();
          Value one = constantIndex(inner, loc, 1);
          Value next = arith::AddIOp::create(inner, loc, expert, one);
          // No row is outside the result, whatever the offsets say.
          Value zero = constantIndex(inner, loc, 0);
          auto limited = [&](Value at) -> Value {
            Value row = loadIndex(inner, loc, op.getOffsets(), at);
            row = arith::MaxSIOp::create(inner, loc, row, zero);
            return arith::MinSIOp::create(inner, loc, row, rows);
          };
          Value first = limited(expert), end = limited(next);
          Value count = arith::SubIOp::create(
              inner, loc, arith::MaxSIOp::create(inner, loc, end, first),
              first);
          OpFoldResult unit = inner.getIndexAttr(1);
          Value group = memref::SubViewOp::create(
              inner, loc, out,
              ArrayRef<OpFoldResult>{first, inner.getIndexAttr(0)},
              ArrayRef<OpFoldResult>{count, columns},
              ArrayRef<OpFoldResult>{unit, unit});
          result = emitRows(op, inner, depth, group, first, expert);
          return {};
        });
    return result;
  }
};
} // namespace

FailureOr<Value> moeq::emitMatmulElement(Elementwise &e, MatmulOp op, Value row,
                                         Value column) {
  return emitElement(e, op, emitDepth(e.getBuilder(), op), row, column, {});
}

FailureOr<Value> moeq::emitMatmulElement(Elementwise &e, GroupedMatmulOp op,
                                         Value row, Value column,
                                         Value expert) {
  return emitElement(e, op, emitDepth(e.getBuilder(), op), row, column, expert);
}

void moeq::detail::populateMatmulPatterns(RewritePatternSet &patterns) {
  patterns.add<LowerMatmul, LowerGroupedMatmul>(patterns.getContext());
}
