//===- FuseQuantize.cpp - Merge quantize with its neighbours ----*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FuseDetail.h"

#include "moeq/Dialect/Moeq/Transforms/Transforms.h"

using namespace mlir;
using namespace mlir::moeq;
using namespace mlir::moeq::detail;

/// Whether the op takes and gives whole tensors, not memrefs or components.
static bool isOnScaledTensors(QuantizeOp op) {
  return op.getNumResults() != 0 && !op.getOutsFormat() &&
         !op.getColumnwiseFormat();
}

/// The block of the rowwise result along rows.
static int64_t getRowBlock(QuantizeOp op) {
  if (op.getOuts().empty())
    return 1;
  auto type = cast<RankedTensorType>(op.getOuts().front().getType());
  return getScaledElementType(type).getBlockOf(0, type.getRank());
}

namespace {

/// quantize(gather(x, rows)) -> quantize(x) rows(rows). Rows with a negative
/// index are undefined before, and keep the init after.
struct QuantizeOfGather : OpRewritePattern<QuantizeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(QuantizeOp op,
                                PatternRewriter &rewriter) const override {
    auto gather = op.getInput().getDefiningOp<GatherOp>();
    if (!gather || op.getRows() || !isOnScaledTensors(op) ||
        getRowBlock(op) != 1 || !gather->hasOneUse() ||
        !isUndefined(gather.getOuts().front()))
      return failure();
    remarkFused(op, "quantize-of-gather");
    rewriter.replaceOpWithNewOp<QuantizeOp>(
        op, op.getResultTypes(), gather.getInput().front(), gather.getRows(),
        op.getOffsets(), op.getOuts(), op.getColumnwise(), op.getRecipeAttr(),
        /*outs_format=*/TypeAttr(), /*columnwise_format=*/TypeAttr());
    return success();
  }
};

/// gather(quantize(x), rows) -> quantize(x) rows(rows).
struct GatherOfQuantize : OpRewritePattern<GatherOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(GatherOp op,
                                PatternRewriter &rewriter) const override {
    auto quantize = op.getInput().empty()
                        ? QuantizeOp()
                        : op.getInput().front().getDefiningOp<QuantizeOp>();
    if (!quantize || quantize.getRows() || !quantize.isRowwiseOnly() ||
        !isOnScaledTensors(quantize) || op.getInputFormat() ||
        !quantize->hasOneUse())
      return failure();
    remarkFused(op, "gather-of-quantize");
    rewriter.replaceOpWithNewOp<QuantizeOp>(
        op, op.getResultTypes(), quantize.getInput(), op.getRows(),
        /*offsets=*/Value(), op.getOuts(), /*columnwise=*/ValueRange(),
        quantize.getRecipeAttr(), /*outs_format=*/TypeAttr(),
        /*columnwise_format=*/TypeAttr());
    return success();
  }
};

/// quantize(activate(x)) -> act_quant(x), which rounds to the activate's type,
/// unless a matmul can do the activate's part and writes half as much then.
struct QuantizeOfActivate : OpRewritePattern<QuantizeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(QuantizeOp op,
                                PatternRewriter &rewriter) const override {
    auto activate = op.getInput().getDefiningOp<ActivateOp>();
    if (!activate || op.getRows() || !isOnScaledTensors(op) ||
        !activate->hasOneUse() || isFusableGate(activate))
      return failure();
    int64_t rowBlock = getRowBlock(op);
    if (rowBlock != 1 && !ShapedType::isDynamic(rowBlock))
      return failure();
    Type type = cast<ShapedType>(op.getInput().getType()).getElementType();
    IntermediateRound round = type.isBF16()  ? IntermediateRound::BF16
                              : type.isF16() ? IntermediateRound::F16
                                             : IntermediateRound::None;
    remarkFused(op, "quantize-of-activate");
    rewriter.replaceOpWithNewOp<ActQuantOp>(
        op, op.getResultTypes(), activate.getInput(), activate.getRowWeight(),
        op.getOffsets(), op.getOuts(), op.getColumnwise(),
        activate.getFunction(), activate.getGateLayout(), activate.getExp(),
        activate.getLimitAttr(), activate.getAlphaAttr(), round,
        op.getRecipeAttr(), /*outs_format=*/TypeAttr(),
        /*columnwise_format=*/TypeAttr());
    return success();
  }
};

/// A group computes no result that nobody uses.
struct DropUnusedGroupResults : OpRewritePattern<GroupOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(GroupOp op,
                                PatternRewriter &rewriter) const override {
    if (op.getNumResults() == 0)
      return failure();
    // Results follow the inits: rows, slots, offsets, then those on request.
    SmallVector<Value> kept(op->getResults().take_front(3));
    Value padded = op.getPaddedOffsets(), sorted = op.getSortedWeights();
    unsigned next = 3;
    for (Value *init : {&padded, &sorted}) {
      if (!*init)
        continue;
      OpResult result = op->getResult(next++);
      if (result.use_empty())
        *init = Value();
      else
        kept.push_back(result);
    }
    if (kept.size() == op.getNumResults())
      return failure();
    auto group = GroupOp::create(
        rewriter, op.getLoc(), TypeRange(ValueRange(kept)), op.getIds(),
        op.getExpertMap(), sorted ? op.getWeights() : Value(), op.getRows(),
        op.getSlots(), op.getOffsets(), padded, sorted);
    for (auto [old, result] : llvm::zip_equal(kept, group.getResults()))
      rewriter.replaceAllUsesWith(old, result);
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

void moeq::populateFuseQuantizePatterns(RewritePatternSet &patterns) {
  patterns.add<QuantizeOfGather, GatherOfQuantize, QuantizeOfActivate,
               DropUnusedGroupResults>(patterns.getContext());
}
