//===- TilesToSCF.cpp - The tile loop as plain loops ------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "moeq/Dialect/MoeqGPU/IR/MoeqGPU.h"
#include "moeq/Dialect/MoeqGPU/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::moeq_gpu {
#define GEN_PASS_DEF_MOEQGPUTILESTOSCF
#include "moeq/Dialect/MoeqGPU/Transforms/Passes.h.inc"
} // namespace mlir::moeq_gpu

using namespace mlir;
using namespace mlir::moeq_gpu;

// A loop of indices; leaves the insertion point in its body.
static Value openLoop(RewriterBase &rewriter, Location loc, Value from,
                      Value to, Value step) {
  auto loop = scf::ForOp::create(rewriter, loc, from, to, step);
  rewriter.setInsertionPointToStart(loop.getBody());
  return loop.getInductionVar();
}

static void lowerTiles(RewriterBase &rewriter, TilesOp op) {
  Location loc = op.getLoc();
  rewriter.setInsertionPoint(op);
  auto index = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(rewriter, loc, value);
  };
  Value zero = index(0), one = index(1);
  Value tileRows = index(op.getTile()[0]), tileColumns = index(op.getTile()[1]);
  Value group = zero, begin = zero, end = op.getRows();
  if (Value offsets = op.getOffsets()) {
    Value size = memref::DimOp::create(rewriter, loc, offsets, zero);
    Value groups = arith::SubIOp::create(rewriter, loc, size, one);
    group = openLoop(rewriter, loc, zero, groups, one);
    auto load = [&](Value at) -> Value {
      Value offset = memref::LoadOp::create(rewriter, loc, offsets, at);
      return arith::IndexCastOp::create(rewriter, loc, rewriter.getIndexType(),
                                        offset);
    };
    begin = load(group);
    end = load(arith::AddIOp::create(rewriter, loc, group, one));
  }
  Value row = openLoop(rewriter, loc, begin, end, tileRows);
  Value column = openLoop(rewriter, loc, zero, op.getColumns(), tileColumns);
  Block *body = &op.getBody().front();
  rewriter.eraseOp(body->getTerminator());
  rewriter.inlineBlockBefore(body, rewriter.getInsertionBlock(),
                             rewriter.getInsertionPoint(),
                             {group, row, end, column});
  rewriter.eraseOp(op);
}

namespace {
struct TilesToSCF : moeq_gpu::impl::MoeqGPUTilesToSCFBase<TilesToSCF> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    getOperation()->walk([&](TilesOp op) { lowerTiles(rewriter, op); });
  }
};
} // namespace
