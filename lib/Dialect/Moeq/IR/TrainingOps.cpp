//===- TrainingOps.cpp - activate_grad, act_quant_grad ----------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OpsDetail.h"

using namespace mlir;
using namespace mlir::moeq;
using namespace mlir::moeq::detail;

LogicalResult ActivateGradOp::verify() {
  ShapeVerifier verifier{*this};
  ArrayRef<int64_t> input = ShapeVerifier::shapeOf(getInput()),
                    outs = ShapeVerifier::shapeOf(getOuts());
  if (failed(verifier.oneKind()) ||
      failed(verifyActivation(*this, input, ShapeVerifier::shapeOf(getGrad()),
                              getRowWeight(), getFunction(), getLimit(),
                              getAlpha(), getGateLayout(), "grad")) ||
      failed(verifier.rank("outs", outs, 2)) ||
      failed(verifier.same("the rows of 'input'", input[0], "those of 'outs'",
                           outs[0])))
    return failure();
  return verifier.same("the columns of 'input'", input[1], "those of 'outs'",
                       outs[1]);
}

/// Checks that the sums over the rows of groups are [E, columns].
static LogicalResult verifyBiasGrad(ActQuantGradOp op, int64_t columns) {
  Value sums = op.getBiasGrad(), offsets = op.getOffsets();
  if (!sums)
    return success();
  if (!offsets)
    return op.emitOpError("expects the offsets of groups beside 'bias_grad'");
  ShapeVerifier verifier{op};
  ArrayRef<int64_t> shape = ShapeVerifier::shapeOf(sums);
  int64_t count = ShapeVerifier::shapeOf(offsets)[0];
  if (failed(verifier.rank("bias_grad", shape, 2)) ||
      failed(verifier.same("the rows of 'bias_grad'", shape[0],
                           "the groups of 'offsets'",
                           ShapedType::isDynamic(count) ? count : count - 1)))
    return failure();
  return verifier.same("the columns of 'bias_grad'", shape[1],
                       "those of 'input'", columns);
}

LogicalResult ActQuantGradOp::verify() {
  ShapeVerifier verifier{*this};
  ArrayRef<int64_t> input = ShapeVerifier::shapeOf(getInput());
  if (failed(verifier.oneKind()) ||
      failed(verifyActivation(*this, input, ShapeVerifier::shapeOf(getGrad()),
                              getRowWeight(), getFunction(), getLimit(),
                              getAlpha(), getGateLayout(), "grad")))
    return failure();
  FailureOr<OperandInfo> outs = failure();
  if (!getOuts().empty() || getColumnwise().empty()) {
    outs = verifyRowwise(*this, getOuts(), getOutsFormatAttr(), getRecipe());
    if (failed(outs) ||
        failed(verifier.same("the rows of 'input'", input[0], "those of 'outs'",
                             outs->shape[0])) ||
        failed(verifier.same("the columns of 'input'", input[1],
                             "those of 'outs'", outs->getLastExtent(input[1]))))
      return failure();
  }
  if (failed(verifyColumnwise(
          *this, input, getOffsets(), succeeded(outs) ? &*outs : nullptr,
          getColumnwise(), getColumnwiseFormatAttr(), getRecipe())))
    return failure();
  return verifyBiasGrad(*this, input[1]);
}
