//===- PrepackToLinalg.cpp - prepack to loops -------------------*- C++ -*-===//
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

namespace {
struct LowerPrepack : OpRewritePattern<PrepackOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(PrepackOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value features = arith::DivUIOp::create(
        rewriter, loc,
        memref::DimOp::create(rewriter, loc, op.getInput().front(), 1),
        constantIndex(rewriter, loc, 2));
    for (auto [input, out] : llvm::zip(op.getInput(), op.getOuts())) {
      Value source = input; // a structured binding cannot be captured
      Value last = arith::SubIOp::create(
          rewriter, loc, memref::DimOp::create(rewriter, loc, source, 1),
          constantIndex(rewriter, loc, 1));
      emitParallel(rewriter, loc, out,
                   [&](Elementwise &e, ValueRange indices, Value) -> Value {
                     OpBuilder &b = e.getBuilder();
                     Value column =
                         emitGateSource(b, loc, op.getFrom(), op.getTo(),
                                        indices[1], features);
                     // A scale for all columns stays where it is.
                     SmallVector<Value> from(indices);
                     from[1] = arith::MinUIOp::create(b, loc, column, last);
                     return memref::LoadOp::create(b, loc, source, from);
                   });
    }
    rewriter.eraseOp(op);
    return success();
  }
};
} // namespace

void moeq::detail::populatePrepackPatterns(RewritePatternSet &patterns) {
  patterns.add<LowerPrepack>(patterns.getContext());
}
