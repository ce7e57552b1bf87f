//===- TrainingToLinalg.cpp - activate_grad to loops ------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Detail.h"

#include "moeq/Support/GateColumns.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::moeq;
using namespace mlir::moeq::detail;

template <typename OpTy>
Value moeq::detail::emitGradientAt(Elementwise &e, OpTy op, Value row,
                                   Value column) {
  OpBuilder &b = e.getBuilder();
  Location loc = e.getLoc();
  ActivationParameters parameters = getActivationParameters(op);
  GatePlace place{column, Value()};
  GateColumns columns{column, Value()};
  if (isGated(parameters.function)) {
    Value features = memref::DimOp::create(b, loc, op.getGrad(), 1);
    place = emitGatePlace(b, loc, op.getGateLayout(), column, features);
    columns =
        emitGateColumns(b, loc, op.getGateLayout(), place.column, features);
  }
  auto load = [&](Value of) {
    return of ? loadF32(e, op.getInput(), {row, of}) : Value();
  };
  Value grad = loadF32(e, op.getGrad(), {row, place.column});
  if (Value weight = op.getRowWeight())
    grad = e.mul(grad, loadF32(e, weight, row));
  ActivationGradient gradient = emitActivationGradient(
      e, parameters, grad, load(columns.gate), load(columns.up));
  return place.isUp ? e.select(place.isUp, gradient.up, gradient.gate)
                    : gradient.gate;
}

template Value moeq::detail::emitGradientAt(Elementwise &, ActQuantGradOp,
                                            Value, Value);

/// The sum over the rows of a group from `first` on, the rows past its `count`
/// left out, of what `levels` says: sums of sums, of single rows at last.
static Value
emitSumOfRows(Elementwise &e, ArrayRef<int64_t> levels, Value first,
              Value count,
              llvm::function_ref<Value(Elementwise &, Value)> row) {
  OpBuilder &b = e.getBuilder();
  Location loc = e.getLoc();
  Value zero = arith::ConstantOp::create(b, loc, b.getF32FloatAttr(0));
  if (levels.empty()) {
    Value isRow =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, first, count);
    auto ifOp = scf::IfOp::create(
        b, loc, isRow,
        [&](OpBuilder &then, Location) {
          Elementwise inner(then, loc);
          scf::YieldOp::create(then, loc, row(inner, first));
        },
        [&](OpBuilder &otherwise, Location) {
          scf::YieldOp::create(otherwise, loc, zero);
        });
    return ifOp.getResult(0);
  }
  int64_t size = 1;
  for (int64_t level : levels.drop_front())
    size *= level;
  Value parts = ShapedType::isDynamic(levels[0])
                    ? arith::CeilDivUIOp::create(b, loc, count,
                                                 constantIndex(b, loc, size))
                    : constantIndex(b, loc, levels[0]);
  return emitLoop(
      b, loc, parts, zero,
      [&](Elementwise &inner, Value part,
          ValueRange sum) -> SmallVector<Value> {
        OpBuilder &ib = inner.getBuilder();
        Value begin =
            arith::MulIOp::create(ib, loc, part, constantIndex(ib, loc, size));
        begin = arith::AddIOp::create(ib, loc, first, begin);
        return {inner.add(sum[0], emitSumOfRows(inner, levels.drop_front(),
                                                begin, count, row))};
      })[0];
}

void moeq::detail::emitColumnSums(
    OpBuilder &b, Location loc, Value offsets, Value out,
    llvm::function_ref<Value(Elementwise &, ValueRange)> element) {
  const int64_t levels[] = {ShapedType::kDynamic, kSummedRows / 8, 2, 4};
  emitParallel(b, loc, out, [&](Elementwise &e, ValueRange indices, Value) {
    OpBuilder &ib = e.getBuilder();
    Value zero = constantIndex(ib, loc, 0);
    Value next =
        arith::AddIOp::create(ib, loc, indices[0], constantIndex(ib, loc, 1));
    Value begin = loadIndex(ib, loc, offsets, indices[0]);
    Value end = loadIndex(ib, loc, offsets, next);
    Value count = arith::MaxSIOp::create(
        ib, loc, arith::SubIOp::create(ib, loc, end, begin), zero);
    return emitSumOfRows(
        e, levels, zero, count, [&](Elementwise &inner, Value row) {
          Value at = arith::AddIOp::create(inner.getBuilder(), loc, begin, row);
          return element(inner, {at, indices[1]});
        });
  });
}

namespace {
struct LowerActivateGrad : OpRewritePattern<ActivateGradOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ActivateGradOp op,
                                PatternRewriter &rewriter) const override {
    Value out = op.getOuts();
    Type element = cast<MemRefType>(out.getType()).getElementType();
    emitParallel(rewriter, op.getLoc(), out,
                 [&](Elementwise &e, ValueRange indices, Value) {
                   Value value = emitGradientAt(e, op, indices[0], indices[1]);
                   return emitFromF32(e, value, element);
                 });
    rewriter.eraseOp(op);
    return success();
  }
};
} // namespace

void moeq::detail::populateTrainingPatterns(RewritePatternSet &patterns) {
  patterns.add<LowerActivateGrad>(patterns.getContext());
}
