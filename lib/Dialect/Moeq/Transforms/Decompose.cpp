//===- Decompose.cpp - The pass moeq-decompose ------------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "moeq/Dialect/Moeq/IR/Moeq.h"
#include "moeq/Dialect/Moeq/Transforms/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::moeq {
#define GEN_PASS_DEF_MOEQDECOMPOSE
#include "moeq/Dialect/Moeq/Transforms/Passes.h.inc"
} // namespace mlir::moeq

using namespace mlir;
using namespace mlir::moeq;

namespace {
struct Decompose : moeq::impl::MoeqDecomposeBase<Decompose> {
  using MoeqDecomposeBase::MoeqDecomposeBase;

  LogicalResult initialize(MLIRContext *context) override {
    if (unrollLimit >= 0)
      return success();
    return emitError(UnknownLoc::get(context))
           << "expects a non-negative unroll-limit, got "
           << unrollLimit.getValue();
  }

  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    SmallVector<ExpertsOp> layers;
    getOperation()->walk([&](ExpertsOp op) { layers.push_back(op); });
    for (ExpertsOp op : layers) {
      if (failed(decomposeExperts(rewriter, op)))
        return signalPassFailure();
      ++numLayers;
    }
    if (form == DecomposeForm::Grouped)
      return;
    SmallVector<GroupedMatmulOp> matmuls;
    getOperation()->walk([&](GroupedMatmulOp op) { matmuls.push_back(op); });
    for (GroupedMatmulOp op : matmuls)
      if (succeeded(
              decomposeToLinear(rewriter, op, unrollLimit, deviceOffsets)))
        ++numLinear;
  }
};
} // namespace
