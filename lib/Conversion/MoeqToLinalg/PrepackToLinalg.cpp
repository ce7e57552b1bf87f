//===- PrepackToLinalg.cpp - prepack to loops -------------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Detail.h"

#include "moeq/Support/Prepack.h"

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
    for (auto [i, out] : llvm::enumerate(op.getOuts())) {
      unsigned component = i;
      Value source = op.getInput()[i];
      emitParallel(rewriter, loc, out,
                   [&](Elementwise &e, ValueRange indices, Value) -> Value {
                     OpBuilder &b = e.getBuilder();
                     Value columns;
                     if (op.getFrom())
                       columns = memref::DimOp::create(
                           b, loc, op.getInput().front(), 1);
                     return emitPrepackElement(
                         b, loc, op, component, indices, columns,
                         [&](ValueRange from) -> Value {
                           return memref::LoadOp::create(b, loc, source, from);
                         });
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
