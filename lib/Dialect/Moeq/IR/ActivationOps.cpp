//===- ActivationOps.cpp - activate, act_quant ------------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OpsDetail.h"

using namespace mlir;
using namespace mlir::moeq;
using namespace mlir::moeq::detail;

bool moeq::isGated(Activation function) {
  return function == Activation::Swiglu || function == Activation::Geglu ||
         function == Activation::Reglu || function == Activation::ClampedSwiglu;
}

LogicalResult moeq::detail::verifyFunction(Operation *op, Activation function,
                                           std::optional<APFloat> limit,
                                           std::optional<APFloat> alpha,
                                           GateLayout layout) {
  if (!isGated(function) && layout != GateLayout::GateFirst)
    return op->emitOpError()
           << "expects a gate_layout only for a gated function, got "
           << stringifyActivation(function);
  if (function != Activation::ClampedSwiglu && (limit || alpha))
    return op->emitOpError()
           << "expects limit and alpha only for clamped_swiglu, got "
           << stringifyActivation(function);
  if (limit && (limit->isNegative() || !limit->isFinite() || limit->isZero()))
    return op->emitOpError() << "expects a positive finite limit, got "
                             << limit->convertToDouble();
  if (alpha && !alpha->isFinite())
    return op->emitOpError()
           << "expects a finite alpha, got " << alpha->convertToDouble();
  return success();
}

LogicalResult moeq::detail::verifyGateColumns(Operation *op, StringRef name,
                                              int64_t columns,
                                              GateLayout layout) {
  if (ShapedType::isDynamic(columns))
    return success();
  int64_t unit = layout == GateLayout::Interleaved64 ? 2 * kGateGroup : 2;
  if (columns % unit == 0)
    return success();
  return op->emitOpError() << "expects a multiple of " << unit
                           << " columns of '" << name << "' under gate_layout "
                           << stringifyGateLayout(layout) << ", got "
                           << columns;
}

LogicalResult moeq::detail::verifyActivation(
    Operation *op, ArrayRef<int64_t> input, ArrayRef<int64_t> output,
    Value rowWeight, Activation function, std::optional<APFloat> limit,
    std::optional<APFloat> alpha, GateLayout layout, StringRef outputName) {
  ShapeVerifier verifier{op};
  std::string ofOutput = ("those of '" + outputName + "'").str();
  if (failed(verifier.rank("input", input, 2)) ||
      failed(verifier.rank(outputName, output, 2)) ||
      failed(
          verifier.same("the rows of 'input'", input[0], ofOutput, output[0])))
    return failure();
  int64_t columns = multiplyExtents(output[1], isGated(function) ? 2 : 1);
  if (failed(verifier.same("the columns of 'input'", input[1],
                           (isGated(function) ? "twice " : "") + ofOutput +
                               " under " + stringifyActivation(function),
                           columns)))
    return failure();
  if (isGated(function) &&
      failed(verifyGateColumns(op, "input", input[1], layout)))
    return failure();
  if (failed(verifyFunction(op, function, limit, alpha, layout)))
    return failure();
  if (rowWeight) {
    ArrayRef<int64_t> shape = ShapeVerifier::shapeOf(rowWeight);
    if (failed(verifier.rank("row_weight", shape, 1)) ||
        failed(verifier.same("the number of 'row_weight'", shape[0],
                             "the rows of 'input'", input[0])))
      return failure();
  }
  return success();
}

LogicalResult ActivateOp::verify() {
  if (failed(ShapeVerifier{*this}.oneKind()))
    return failure();
  return verifyActivation(*this, ShapeVerifier::shapeOf(getInput()),
                          ShapeVerifier::shapeOf(getOuts()), getRowWeight(),
                          getFunction(), getLimit(), getAlpha(),
                          getGateLayout());
}

FailureOr<OperandInfo> moeq::detail::verifyRowwise(Operation *op,
                                                   ValueRange outs,
                                                   TypeAttr format,
                                                   RecipeAttr recipe) {
  FailureOr<OperandInfo> info =
      verifyQuantized(op, outs, format, "outs", recipe);
  if (failed(info) || failed(ShapeVerifier{op}.rank("outs", info->shape, 2)))
    return failure();
  int64_t rowBlock = info->scaled.getBlockOf(0, 2);
  if (rowBlock != 1 && !ShapedType::isDynamic(rowBlock))
    return op->emitOpError()
           << "expects a rowwise block of 'outs', got " << info->scaled;
  return info;
}

LogicalResult ActQuantOp::verify() {
  ShapeVerifier verifier{*this};
  ArrayRef<int64_t> input = ShapeVerifier::shapeOf(getInput());
  if (failed(verifier.rank("input", input, 2)))
    return failure();
  SmallVector<int64_t> source(input);
  if (isGated(getFunction()) && !ShapedType::isDynamic(source[1]))
    source[1] /= 2;
  SmallVector<int64_t> activated(source);
  FailureOr<OperandInfo> outs = failure();
  if (!getOuts().empty() || getColumnwise().empty()) {
    outs = verifyRowwise(*this, getOuts(), getOutsFormatAttr(), getRecipe());
    if (failed(outs))
      return failure();
    outs->shape[1] = outs->getLastExtent(source[1]);
    activated = outs->shape;
  }
  if (failed(verifyActivation(*this, input, activated, getRowWeight(),
                              getFunction(), getLimit(), getAlpha(),
                              getGateLayout())))
    return failure();
  return verifyColumnwise(*this, source, getOffsets(),
                          succeeded(outs) ? &*outs : nullptr, getColumnwise(),
                          getColumnwiseFormatAttr(), getRecipe());
}
