//===- ActivateToLinalg.cpp - activate to loops -----------------*- C++ -*-===//
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
Value moeq::detail::emitActivationAt(Elementwise &e, OpTy op, Value row,
                                     Value column) {
  OpBuilder &b = e.getBuilder();
  Location loc = e.getLoc();
  ActivationParameters parameters = getActivationParameters(op);
  Value input = op.getInput();
  GateColumns columns{column, Value()};
  if (isGated(parameters.function)) {
    Value features =
        arith::DivUIOp::create(b, loc, memref::DimOp::create(b, loc, input, 1),
                               constantIndex(b, loc, 2));
    columns = emitGateColumns(b, loc, op.getGateLayout(), column, features);
  }
  Value gate = loadF32(e, input, {row, columns.gate});
  Value up = columns.up ? loadF32(e, input, {row, columns.up}) : Value();
  Value value = emitActivation(e, parameters, gate, up);
  if (Value weight = op.getRowWeight())
    value = e.mul(value, loadF32(e, weight, row));
  return value;
}

template Value moeq::detail::emitActivationAt(Elementwise &, ActivateOp, Value,
                                              Value);
template Value moeq::detail::emitActivationAt(Elementwise &, ActQuantOp, Value,
                                              Value);

namespace {
struct LowerActivate : OpRewritePattern<ActivateOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ActivateOp op,
                                PatternRewriter &rewriter) const override {
    Value out = op.getOuts();
    Type element = cast<MemRefType>(out.getType()).getElementType();
    emitParallel(rewriter, op.getLoc(), out,
                 [&](Elementwise &e, ValueRange indices, Value) {
                   Value value =
                       emitActivationAt(e, op, indices[0], indices[1]);
                   return emitFromF32(e, value, element);
                 });
    rewriter.eraseOp(op);
    return success();
  }
};
} // namespace

void moeq::detail::populateActivatePatterns(RewritePatternSet &patterns) {
  patterns.add<LowerActivate>(patterns.getContext());
}
