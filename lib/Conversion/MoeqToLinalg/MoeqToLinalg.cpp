//===- MoeqToLinalg.cpp - Ops on memrefs to loops ---------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Detail.h"

#include "moeq/Conversion/Passes.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

namespace mlir::moeq {
#define GEN_PASS_DEF_MOEQTOLINALG
#include "moeq/Conversion/Passes.h.inc"
} // namespace mlir::moeq

using namespace mlir;
using namespace mlir::moeq;

/// Says why an op has no pattern, at the op.
static LogicalResult checkOp(Operation *op) {
  if (isa<ExpertsOp>(op))
    return op->emitError() << "expects a layer to be decomposed before it is "
                              "lowered to loops, got '"
                           << op->getName() << "'";
  for (Type type : op->getOperandTypes())
    if (isa<TensorType>(type))
      return op->emitError() << "expects memrefs, got " << type
                             << ": scaled tensors are unpacked and tensors "
                                "bufferized before";
  return success();
}

namespace {
struct MoeqToLinalgPass : moeq::impl::MoeqToLinalgBase<MoeqToLinalgPass> {
  void runOnOperation() override {
    auto isOurs = [](Operation *op) {
      return isa_and_present<MoeqDialect>(op->getDialect()) &&
             !isa<YieldOp>(op);
    };
    WalkResult checked = getOperation()->walk([&](Operation *op) {
      return isOurs(op) && failed(checkOp(op)) ? WalkResult::interrupt()
                                               : WalkResult::advance();
    });
    if (checked.wasInterrupted())
      return signalPassFailure();
    RewritePatternSet patterns(&getContext());
    moeq::detail::populateActivatePatterns(patterns);
    moeq::detail::populateDispatchPatterns(patterns);
    moeq::detail::populateMatmulPatterns(patterns);
    moeq::detail::populateQuantizePatterns(patterns);
    moeq::detail::populateRoutePatterns(patterns);
    walkAndApplyPatterns(getOperation(), std::move(patterns));
    // A pattern that fails has emitted an error, or there is none.
    getOperation()->walk([&](Operation *op) {
      if (!isOurs(op))
        return;
      op->emitError() << "could not be lowered to loops";
      signalPassFailure();
    });
  }
};
} // namespace
