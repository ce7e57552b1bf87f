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
