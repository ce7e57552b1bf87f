//===- MoeqToLinalg.cpp - Ops on memrefs to loops ---------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Detail.h"

#include "moeq/Conversion/Passes.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

namespace mlir::moeq {
#define GEN_PASS_DEF_MOEQTOLINALG
#include "moeq/Conversion/Passes.h.inc"
} // namespace mlir::moeq

using namespace mlir;
using namespace mlir::moeq;

/// A byte of 4-bit values is written once: both are of one block.
static LogicalResult checkBlock(Operation *op, TypeAttr format,
                                MemRefType input) {
  auto scaled = cast<ScaledType>(format.getValue());
  int64_t rank = input.getRank(), block = scaled.getBlockOf(rank - 1, rank);
  if (!scaled.isPacked() || ShapedType::isDynamic(block) || block % 2 == 0)
    return success();
  return op->emitError() << "expects an even block along the last dimension of "
                            "4-bit values, got "
                         << scaled;
}

template <typename OpTy>
static LogicalResult checkBlocks(OpTy op) {
  auto type = cast<MemRefType>(op.getInput().getType());
  return success(
      (op.getOuts().empty() ||
       succeeded(checkBlock(op, op.getOutsFormatAttr(), type))) &&
      (op.getColumnwise().empty() ||
       succeeded(checkBlock(op, op.getColumnwiseFormatAttr(), type))));
}

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
  if (auto quantize = dyn_cast<QuantizeOp>(op))
    return checkBlocks(quantize);
  if (auto actQuant = dyn_cast<ActQuantOp>(op))
    return checkBlocks(actQuant);
  if (auto actQuantGrad = dyn_cast<ActQuantGradOp>(op))
    return checkBlocks(actQuantGrad);
  return success();
}

namespace {
/// A copy between memrefs that are not dense has no intrinsic of LLVM's.
struct StridedCopyToLinalg : OpRewritePattern<memref::CopyOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(memref::CopyOp op,
                                PatternRewriter &rewriter) const override {
    auto source = dyn_cast<MemRefType>(op.getSource().getType());
    auto target = dyn_cast<MemRefType>(op.getTarget().getType());
    if (!source || !target ||
        (source.getLayout().isIdentity() && target.getLayout().isIdentity()))
      return failure();
    linalg::makeMemRefCopyOp(rewriter, op.getLoc(), op.getSource(),
                             op.getTarget());
    rewriter.eraseOp(op);
    return success();
  }
};

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
    patterns.add<StridedCopyToLinalg>(&getContext());
    moeq::detail::populateActivatePatterns(patterns);
    moeq::detail::populateDispatchPatterns(patterns);
    moeq::detail::populateMatmulPatterns(patterns);
    moeq::detail::populatePlanPatterns(patterns);
    moeq::detail::populatePrepackPatterns(patterns);
    moeq::detail::populateQuantizePatterns(patterns);
    moeq::detail::populateRoutePatterns(patterns);
    moeq::detail::populateSmoothPatterns(patterns);
    moeq::detail::populateTrainingPatterns(patterns);
    walkAndApplyPatterns(getOperation(), std::move(patterns));
    WalkResult lowered = getOperation()->walk([&](Operation *op) {
      return isOurs(op) ? WalkResult::interrupt() : WalkResult::advance();
    });
    if (lowered.wasInterrupted())
      signalPassFailure();
  }
};
} // namespace
