//===- RoutingOps.cpp - route, group, gather, combine -----------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OpsDetail.h"

using namespace mlir;
using namespace mlir::moeq;
using namespace mlir::moeq::detail;

LogicalResult moeq::detail::verifyExperts(Operation *op, int64_t experts) {
  constexpr int64_t most = std::numeric_limits<int32_t>::max();
  if (experts > most)
    return op->emitOpError()
           << "expects at most " << most
           << " experts, which is what ids can name, got " << experts;
  return success();
}

LogicalResult moeq::detail::verifyRouting(Operation *op, int64_t experts,
                                          int64_t topK,
                                          std::optional<int64_t> groups,
                                          std::optional<int64_t> topkGroups,
                                          GroupScore groupScore) {
  if (failed(verifyExperts(op, experts)))
    return failure();
  if (topK <= 0)
    return op->emitOpError() << "expects a positive top_k, got " << topK;
  bool staticExperts = !ShapedType::isDynamic(experts);
  if (staticExperts && topK > experts)
    return op->emitOpError()
           << "expects top_k of at most the number of experts " << experts
           << ", got " << topK;
  if (groups.has_value() != topkGroups.has_value())
    return op->emitOpError()
           << "expects both n_group and topk_group, or neither";
  if (!groups)
    return success();
  if (*groups <= 0 || *topkGroups <= 0 || *topkGroups > *groups)
    return op->emitOpError()
           << "expects 0 < topk_group <= n_group, got topk_group "
           << *topkGroups << " and n_group " << *groups;
  if (!staticExperts)
    return op->emitOpError()
           << "expects a static number of experts with n_group";
  if (experts % *groups != 0)
    return op->emitOpError()
           << "expects n_group to divide the number of experts " << experts
           << ", got " << *groups;
  int64_t groupSize = experts / *groups;
  if (groupScore == GroupScore::Top2Sum && groupSize < 2)
    return op->emitOpError()
           << "expects groups of at least 2 experts with top2_sum, got "
           << groupSize;
  if (topK > *topkGroups * groupSize)
    return op->emitOpError()
           << "expects top_k of at most the " << *topkGroups * groupSize
           << " experts of the chosen groups, got " << topK;
  return success();
}

LogicalResult RouteOp::verify() {
  ShapeVerifier verifier{*this};
  ArrayRef<int64_t> logits = ShapeVerifier::shapeOf(getLogits());
  ArrayRef<int64_t> ids = ShapeVerifier::shapeOf(getIds());
  ArrayRef<int64_t> weights = ShapeVerifier::shapeOf(getWeights());
  if (failed(verifier.oneKind()) ||
      failed(verifier.rank("logits", logits, 2)) ||
      failed(verifier.rank("ids", ids, 2)) ||
      failed(verifier.rank("weights", weights, 2)) ||
      failed(verifier.same("the tokens of 'logits'", logits[0],
                           "those of 'ids'", ids[0])) ||
      failed(verifier.same("the tokens of 'ids'", ids[0], "those of 'weights'",
                           weights[0])) ||
      failed(verifier.same("top_k of 'ids'", ids[1], "that of 'weights'",
                           weights[1])))
    return failure();
  int64_t topK = ShapedType::isDynamic(ids[1]) ? weights[1] : ids[1];
  if (ShapedType::isDynamic(topK))
    return emitOpError() << "expects a static top_k";
  if (Value bias = getBias()) {
    ArrayRef<int64_t> shape = ShapeVerifier::shapeOf(bias);
    if (failed(verifier.rank("bias", shape, 1)) ||
        failed(verifier.same("the experts of 'bias'", shape[0],
                             "those of 'logits'", logits[1])))
      return failure();
  }
  return verifyRouting(*this, logits[1], topK, getNGroup(), getTopkGroup(),
                       getGroupScore());
}

LogicalResult GroupOp::verify() {
  ShapeVerifier verifier{*this};
  ArrayRef<int64_t> ids = ShapeVerifier::shapeOf(getIds());
  ArrayRef<int64_t> rows = ShapeVerifier::shapeOf(getRows());
  ArrayRef<int64_t> slots = ShapeVerifier::shapeOf(getSlots());
  ArrayRef<int64_t> offsets = ShapeVerifier::shapeOf(getOffsets());
  if (failed(verifier.oneKind()) || failed(verifier.rank("ids", ids, 2)) ||
      failed(verifier.rank("rows", rows, 1)) ||
      failed(verifier.rank("slots", slots, 2)) ||
      failed(verifier.rank("offsets", offsets, 1)) ||
      failed(verifier.same("the tokens of 'ids'", ids[0], "those of 'slots'",
                           slots[0])) ||
      failed(
          verifier.same("top_k of 'ids'", ids[1], "that of 'slots'", slots[1])))
    return failure();
  if (failed(verifier.same("the number of 'rows'", rows[0], "that of 'ids'",
                           multiplyExtents(ids[0], ids[1]))))
    return failure();
  if (offsets[0] == 0)
    return emitOpError() << "expects at least one offset, got 0";
  if (failed(verifyExperts(*this,
                           offsets[0] - !ShapedType::isDynamic(offsets[0]))))
    return failure();
  if (Value padded = getPaddedOffsets()) {
    ArrayRef<int64_t> shape = ShapeVerifier::shapeOf(padded);
    if (failed(verifier.rank("padded_offsets", shape, 1)) ||
        failed(verifier.same("the number of 'padded_offsets'", shape[0],
                             "that of 'offsets'", offsets[0])))
      return failure();
  }
  if (Value map = getExpertMap())
    if (failed(verifier.rank("expert_map", ShapeVerifier::shapeOf(map), 1)))
      return failure();
  if (bool(getWeights()) != bool(getSortedWeights()))
    return emitOpError()
           << "expects both 'weights' and 'sorted_weights', or neither";
  if (Value weights = getWeights()) {
    ArrayRef<int64_t> shape = ShapeVerifier::shapeOf(weights);
    ArrayRef<int64_t> sorted = ShapeVerifier::shapeOf(getSortedWeights());
    if (failed(verifier.rank("weights", shape, 2)) ||
        failed(verifier.rank("sorted_weights", sorted, 1)) ||
        failed(verifier.same("the tokens of 'weights'", shape[0],
                             "those of 'ids'", ids[0])) ||
        failed(verifier.same("top_k of 'weights'", shape[1], "that of 'ids'",
                             ids[1])) ||
        failed(verifier.same("the number of 'sorted_weights'", sorted[0],
                             "that of 'rows'", rows[0])))
      return failure();
  }
  return success();
}

LogicalResult moeq::detail::verifyMoved(Operation *op, const OperandInfo &input,
                                        const OperandInfo &outs) {
  Type inType = input.scaled ? Type(input.scaled) : input.plain;
  Type outType = outs.scaled ? Type(outs.scaled) : outs.plain;
  if (inType != outType)
    return op->emitOpError()
           << "expects 'input' and 'outs' of one element type, got " << inType
           << " and " << outType;
  if (input.plain && !isPlainElementType(input.plain))
    return op->emitOpError()
           << "expects an 'input' of integers or floats of 8 to 64 bits, got "
           << input.plain;
  return success();
}

LogicalResult GatherOp::verify() {
  ShapeVerifier verifier{*this};
  FailureOr<OperandInfo> input =
      getOperandInfo(*this, getInput(), getInputFormatAttr(), "input");
  FailureOr<OperandInfo> outs =
      getOperandInfo(*this, getOuts(), getOutsFormatAttr(), "outs");
  if (failed(input) || failed(outs) || failed(verifier.oneKind()) ||
      failed(verifyMoved(*this, *input, *outs)))
    return failure();
  ArrayRef<int64_t> rows = ShapeVerifier::shapeOf(getRows());
  if (failed(verifier.rank("input", input->shape, 2)) ||
      failed(verifier.rank("outs", outs->shape, 2)) ||
      failed(verifier.rank("rows", rows, 1)) ||
      failed(verifier.same("the number of 'rows'", rows[0],
                           "the rows of 'outs'", outs->shape[0])) ||
      failed(verifier.same("the columns of 'input'", input->shape[1],
                           "those of 'outs'", outs->shape[1])))
    return failure();
  if (input->scaled && input->scaled.getBlockOf(0, 2) != 1)
    return emitOpError() << "expects blocks inside a row, got "
                         << input->scaled;
  // A row of scales has a place of its own in no other layout.
  if (input->scaled && input->scaled.getLayout() != ScaleLayout::RowMajor)
    return emitOpError() << "expects row-major scales, got " << input->scaled;
  return success();
}

LogicalResult CombineOp::verify() {
  ShapeVerifier verifier{*this};
  ArrayRef<int64_t> input = ShapeVerifier::shapeOf(getInput());
  ArrayRef<int64_t> slots = ShapeVerifier::shapeOf(getSlots());
  ArrayRef<int64_t> outs = ShapeVerifier::shapeOf(getOuts());
  if (failed(verifier.oneKind()) || failed(verifier.rank("input", input, 2)) ||
      failed(verifier.rank("slots", slots, 2)) ||
      failed(verifier.rank("outs", outs, 2)) ||
      failed(verifier.same("the tokens of 'slots'", slots[0], "those of 'outs'",
                           outs[0])) ||
      failed(verifier.same("the columns of 'input'", input[1],
                           "those of 'outs'", outs[1])))
    return failure();
  if (Value weights = getWeights()) {
    ArrayRef<int64_t> shape = ShapeVerifier::shapeOf(weights);
    if (failed(verifier.rank("weights", shape, 2)) ||
        failed(verifier.same("the tokens of 'weights'", shape[0],
                             "those of 'slots'", slots[0])) ||
        failed(verifier.same("top_k of 'weights'", shape[1], "that of 'slots'",
                             slots[1])))
      return failure();
  }
  return success();
}
