//===- ExpertsOp.cpp - The whole layer --------------------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OpsDetail.h"

using namespace mlir;
using namespace mlir::moeq;
using namespace mlir::moeq::detail;

LogicalResult ExpertsOp::verify() {
  ShapeVerifier verifier{*this};
  FailureOr<OperandInfo> w13 =
      getOperandInfo(*this, getW13(), getW13FormatAttr(), "w13");
  FailureOr<OperandInfo> w2 =
      getOperandInfo(*this, getW2(), getW2FormatAttr(), "w2");
  if (failed(w13) || failed(w2) || failed(verifier.oneKind()))
    return failure();
  ArrayRef<int64_t> hidden = ShapeVerifier::shapeOf(getHidden());
  ArrayRef<int64_t> logits = ShapeVerifier::shapeOf(getLogits());
  ArrayRef<int64_t> outs = ShapeVerifier::shapeOf(getOuts());
  if (failed(verifier.rank("hidden", hidden, 2)) ||
      failed(verifier.rank("logits", logits, 2)) ||
      failed(verifier.rank("w13", w13->shape, 3)) ||
      failed(verifier.rank("w2", w2->shape, 3)) ||
      failed(verifier.rank("outs", outs, 2)) ||
      failed(verifier.same("the tokens of 'hidden'", hidden[0],
                           "those of 'logits'", logits[0])) ||
      failed(verifier.same("the tokens of 'hidden'", hidden[0],
                           "those of 'outs'", outs[0])) ||
      failed(verifier.same("the columns of 'hidden'", hidden[1],
                           "those of 'outs'", outs[1])) ||
      failed(verifier.same("the columns of 'hidden'", hidden[1], "K of 'w13'",
                           w13->getLastExtent(hidden[1]))) ||
      failed(verifier.same("the experts of 'w13'", w13->shape[0],
                           "those of 'w2'", w2->shape[0])) ||
      failed(verifier.same("the rows of an expert of 'w2'", w2->shape[1],
                           "the columns of 'outs'", outs[1])))
    return failure();
  int64_t factor = isGated(getFunction()) ? 2 : 1;
  int64_t features =
      multiplyExtents(w2->getLastExtent(w13->shape[1] / factor), factor);
  if (failed(verifier.same("N of 'w13'", w13->shape[1],
                           (isGated(getFunction()) ? "twice K of 'w2' under "
                                                   : "K of 'w2' under ") +
                               stringifyActivation(getFunction()),
                           features)))
    return failure();
  if (factor == 2 &&
      failed(verifyGateColumns(*this, "w13", w13->shape[1], getGateLayout())))
    return failure();
  if (failed(verifyFunction(*this, getFunction(), getLimit(), getAlpha(),
                            getGateLayout())))
    return failure();

  if (failed(verifyExperts(*this, w13->shape[0])))
    return failure();
  auto shared = static_cast<int64_t>(getSharedExperts());
  if (shared < 0 ||
      (!ShapedType::isDynamic(w13->shape[0]) && shared >= w13->shape[0]))
    return emitOpError() << "expects shared_experts of 0 to the number of "
                            "experts less one, got "
                         << shared;
  if (shared > 0 && getExpertMap())
    return emitOpError() << "expects no shared experts beside an expert map";
  if (!getExpertMap() && !ShapedType::isDynamic(w13->shape[0]) &&
      failed(verifier.same("the experts of 'logits'", logits[1],
                           "the routed experts of 'w13'",
                           w13->shape[0] - shared)))
    return failure();
  if (Value map = getExpertMap()) {
    ArrayRef<int64_t> shape = ShapeVerifier::shapeOf(map);
    if (failed(verifier.rank("expert_map", shape, 1)) ||
        failed(verifier.same("the extent of 'expert_map'", shape[0],
                             "the experts of 'logits'", logits[1])))
      return failure();
  }
  if (Value bias = getRouterBias()) {
    ArrayRef<int64_t> shape = ShapeVerifier::shapeOf(bias);
    if (failed(verifier.rank("router_bias", shape, 1)) ||
        failed(verifier.same("the experts of 'router_bias'", shape[0],
                             "those of 'logits'", logits[1])))
      return failure();
  }
  auto verifyBias = [&](Value bias, StringRef name,
                        const OperandInfo &weight) -> LogicalResult {
    if (!bias)
      return success();
    ArrayRef<int64_t> shape = ShapeVerifier::shapeOf(bias);
    if (failed(verifier.rank(name, shape, 2)) ||
        failed(verifier.same("the experts of '" + name + "'", shape[0],
                             "those of its weight", weight.shape[0])) ||
        failed(verifier.same("the columns of '" + name + "'", shape[1],
                             "N of its weight", weight.shape[1])))
      return failure();
    return success();
  };
  if (failed(verifyBias(getBias13(), "bias13", *w13)) ||
      failed(verifyBias(getBias2(), "bias2", *w2)))
    return failure();

  if (getRecipe().has_value() != getActFormat().has_value())
    return emitOpError()
           << "expects both a recipe and the type to quantize to, or neither";
  // What both matmuls read: the hidden states' type, or what they are quantized
  // to.
  OperandInfo activation;
  activation.shape = {ShapedType::kDynamic, ShapedType::kDynamic};
  activation.plain = cast<ShapedType>(getHidden().getType()).getElementType();
  if (getActFormat()) {
    auto scaled = dyn_cast<ScaledType>(*getActFormat());
    if (!scaled)
      return emitOpError() << "expects to quantize to a !moeq.scaled type, got "
                           << *getActFormat();
    if (scaled.getBlock().size() > 2)
      return emitOpError()
             << "expects to quantize to blocks of rank at most 2, got "
             << scaled;
    int64_t rowBlock = scaled.getBlockOf(0, 2);
    if (rowBlock != 1 && !ShapedType::isDynamic(rowBlock))
      return emitOpError()
             << "expects to quantize to blocks of one row or of all, got "
             << scaled;
    if (failed(verifyRecipe(*this, *getRecipe(), scaled)))
      return failure();
    activation.scaled = scaled;
  }
  if (failed(verifyMatmulOperands(*this, activation, *w13)) ||
      failed(verifyMatmulOperands(*this, activation, *w2)))
    return failure();
  return verifyRouting(*this, logits[1], getTopK(), getNGroup(), getTopkGroup(),
                       getGroupScore());
}
