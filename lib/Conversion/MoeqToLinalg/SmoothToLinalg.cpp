//===- SmoothToLinalg.cpp - smooth to loops ---------------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Detail.h"

#include "moeq/Support/NumericsSmooth.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::moeq;
using namespace mlir::moeq::detail;

namespace {
struct LowerSmooth : OpRewritePattern<SmoothOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(SmoothOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value zero = constantIndex(rewriter, loc, 0);
    Value one = constantIndex(rewriter, loc, 1);
    auto size = [&](Value memref, int64_t dim) -> Value {
      return memref::DimOp::create(rewriter, loc, memref, dim);
    };
    Value experts = size(op.getWeight(), 0), rows = size(op.getWeight(), 1);
    Value calibrated = size(op.getAmax(), 0);
    Value last = arith::SubIOp::create(rewriter, loc, calibrated, one);
    emitParallel(
        rewriter, loc, op.getOuts(),
        [&](Elementwise &e, ValueRange indices, Value out) -> Value {
          OpBuilder &b = e.getBuilder();
          // The experts whose maxima count.
          Value first = op.isShared() ? zero : indices[0];
          Value end = op.isShared() ? experts
                                    : arith::AddIOp::create(b, loc, first, one);
          Value nothing = e.i32(out, 0);
          ValueRange amax = emitLoop(
              b, loc, first, end, one, {nothing, nothing},
              [&](Elementwise &ie, Value expert,
                  ValueRange found) -> SmallVector<Value> {
                OpBuilder &ib = ie.getBuilder();
                Value row = arith::MinUIOp::create(ib, loc, expert, last);
                Value activation = emitAmax(
                    ie, found[0], loadF32(ie, op.getAmax(), {row, indices[1]}));
                ValueRange weight = emitLoop(
                    ib, loc, rows, found[1],
                    [&](Elementwise &re, Value n,
                        ValueRange carried) -> SmallVector<Value> {
                      return {emitAmax(re, carried[0],
                                       loadF32(re, op.getWeight(),
                                               {expert, n, indices[1]}))};
                    });
                return {activation, weight[0]};
              });
          return emitSmoothFactor(e, op, amax[0], amax[1]);
        });
    rewriter.eraseOp(op);
    return success();
  }
};
} // namespace

void moeq::detail::populateSmoothPatterns(RewritePatternSet &patterns) {
  patterns.add<LowerSmooth>(patterns.getContext());
}
