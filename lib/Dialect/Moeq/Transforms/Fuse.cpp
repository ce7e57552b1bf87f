//===- Fuse.cpp - The pass moeq-fuse ----------------------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "moeq/Dialect/Moeq/IR/Moeq.h"
#include "moeq/Dialect/Moeq/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::moeq {
#define GEN_PASS_DEF_MOEQFUSE
#include "moeq/Dialect/Moeq/Transforms/Passes.h.inc"
} // namespace mlir::moeq

using namespace mlir;
using namespace mlir::moeq;

namespace {
struct Fuse : moeq::impl::MoeqFuseBase<Fuse> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    populateFuseQuantizePatterns(patterns);
    populateFuseMatmulPatterns(patterns);
    populateFuseActivationPatterns(patterns);
    // The size of a result counts as a use of it: take the init's instead.
    tensor::DimOp::getCanonicalizationPatterns(patterns, &getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
