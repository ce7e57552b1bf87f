//===- ScaledOps.cpp - pack, unpack, quantize, dequantize -------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OpsDetail.h"

using namespace mlir;
using namespace mlir::moeq;
using namespace mlir::moeq::detail;

//===----------------------------------------------------------------------===//
// pack, unpack
//===----------------------------------------------------------------------===//

/// Components must be those of the scaled tensor `type`, up to static extents.
static LogicalResult verifyComponents(Operation *op, RankedTensorType type,
                                      TypeRange components) {
  SmallVector<RankedTensorType, 3> expected = getComponentTypes(type);
  if (components.size() != expected.size())
    return op->emitOpError()
           << "expects " << expected.size() << " components of " << type
           << ", got " << components.size();
  for (auto [index, want, got] : llvm::enumerate(expected, components))
    if (want != got)
      return op->emitOpError() << "expects component " << index << " of type "
                               << want << ", got " << got;
  return success();
}

LogicalResult PackOp::verify() {
  return verifyComponents(*this, getResult().getType(),
                          getComponents().getTypes());
}

OpFoldResult PackOp::fold(FoldAdaptor) {
  if (getComponents().empty())
    return {};
  auto unpack = getComponents().front().getDefiningOp<UnpackOp>();
  if (unpack && unpack.getComponents() == getComponents() &&
      unpack.getSource().getType() == getResult().getType())
    return unpack.getSource();
  return {};
}

LogicalResult UnpackOp::verify() {
  return verifyComponents(*this, getSource().getType(),
                          getComponents().getTypes());
}

LogicalResult UnpackOp::fold(FoldAdaptor,
                             SmallVectorImpl<OpFoldResult> &results) {
  auto pack = getSource().getDefiningOp<PackOp>();
  if (!pack)
    return failure();
  llvm::append_range(results, pack.getComponents());
  return success();
}

//===----------------------------------------------------------------------===//
// quantize, dequantize
//===----------------------------------------------------------------------===//

LogicalResult moeq::detail::verifyRecipe(Operation *op, RecipeAttr recipe,
                                         ScaledType scaled) {
  bool affine = recipe.getZeroPoint() == ZeroPointRule::Affine;
  if (affine != bool(scaled.getZero()))
    return op->emitOpError()
           << "expects zero points exactly where the recipe is affine, got "
           << recipe << " and " << scaled;
  if (recipe.getLo() && !scaled.isInteger())
    return op->emitOpError()
           << "expects a range of codes only for integer values, got "
           << scaled;
  if (recipe.getLo()) {
    bool isUnsigned = scaled.getValue().isUnsignedInteger();
    int64_t half = int64_t(1)
                   << (scaled.getValue().getIntOrFloatBitWidth() - 1);
    int64_t lo = isUnsigned ? 0 : -half,
            hi = isUnsigned ? 2 * half - 1 : half - 1;
    if (*recipe.getLo() < lo || *recipe.getHi() > hi)
      return op->emitOpError()
             << "expects a range of codes inside " << lo << " to " << hi
             << " for values of " << scaled.getValue() << ", got "
             << *recipe.getLo() << " to " << *recipe.getHi();
  }
  bool e8m0Rule = recipe.getScaleRound() == ScaleRound::E8M0Up ||
                  recipe.getScaleRound() == ScaleRound::E8M0Floor;
  if (isa<Float8E8M0FNUType>(scaled.getScale()) != e8m0Rule)
    return op->emitOpError()
           << "expects scale_round = e8m0_up or e8m0_floor exactly where the "
              "scale type is f8E8M0FNU, got "
           << recipe << " and " << scaled;
  return success();
}

FailureOr<OperandInfo> moeq::detail::verifyQuantizedOuts(Operation *op,
                                                         ValueRange outs,
                                                         TypeAttr format,
                                                         RecipeAttr recipe) {
  FailureOr<OperandInfo> info = getOperandInfo(op, outs, format, "outs");
  if (failed(info) || failed(ShapeVerifier{op}.oneKind()))
    return failure();
  if (!info->scaled)
    return op->emitOpError()
           << "expects a scaled 'outs', got " << outs.front().getType();
  if (failed(verifyRecipe(op, recipe, info->scaled)))
    return failure();
  return info;
}

LogicalResult QuantizeOp::verify() {
  ShapeVerifier verifier{*this};
  FailureOr<OperandInfo> outs =
      verifyQuantizedOuts(*this, getOuts(), getOutsFormatAttr(), getRecipe());
  if (failed(outs))
    return failure();
  ArrayRef<int64_t> input = ShapeVerifier::shapeOf(getInput());
  if (failed(verifier.rank("outs", outs->shape, input.size())))
    return failure();
  outs->shape.back() = outs->getLastExtent(input.back());
  for (auto [dim, in, out] : llvm::enumerate(input, outs->shape)) {
    bool gathered = dim == 0 && getRows();
    if (!gathered &&
        failed(verifier.same("extent " + Twine(dim) + " of 'input'", in,
                             "that of 'outs'", out)))
      return failure();
  }
  if (Value rows = getRows()) {
    ArrayRef<int64_t> shape = ShapeVerifier::shapeOf(rows);
    if (failed(verifier.rank("rows", shape, 1)) ||
        failed(verifier.rank("input", input, 2)) ||
        failed(verifier.same("the number of 'rows'", shape[0],
                             "the rows of 'outs'", outs->shape[0])))
      return failure();
    if (outs->scaled.getBlockOf(0, 2) != 1)
      return emitOpError()
             << "expects blocks inside a row when rows are gathered, got "
             << outs->scaled;
  }
  return success();
}

LogicalResult DequantizeOp::verify() {
  ShapeVerifier verifier{*this};
  FailureOr<OperandInfo> input =
      getOperandInfo(*this, getInput(), getInputFormatAttr(), "input");
  if (failed(input) || failed(verifier.oneKind()))
    return failure();
  if (!input->scaled)
    return emitOpError() << "expects a scaled 'input', got "
                         << getInput().front().getType();
  ArrayRef<int64_t> outs = ShapeVerifier::shapeOf(getOuts());
  if (failed(verifier.rank("outs", outs, input->getRank())))
    return failure();
  input->shape.back() = input->getLastExtent(outs.back());
  for (auto [dim, in, out] : llvm::enumerate(input->shape, outs))
    if (failed(verifier.same("extent " + Twine(dim) + " of 'input'", in,
                             "that of 'outs'", out)))
      return failure();
  return success();
}
