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

FailureOr<OperandInfo>
moeq::detail::verifyQuantized(Operation *op, ValueRange values, TypeAttr format,
                              StringRef name, RecipeAttr recipe) {
  FailureOr<OperandInfo> info = getOperandInfo(op, values, format, name);
  if (failed(info) || failed(ShapeVerifier{op}.oneKind()))
    return failure();
  if (!info->scaled)
    return op->emitOpError() << "expects a scaled '" << name << "', got "
                             << values.front().getType();
  if (failed(verifyRecipe(op, recipe, info->scaled)))
    return failure();
  return info;
}

/// Checks that the groups of a result are those of the offsets: `groups` of
/// them (or kDynamic), or 0.
static LogicalResult verifyGroups(Operation *op, StringRef name,
                                  ScaledType scaled, int64_t groups) {
  if (ShapedType::isDynamic(groups) || scaled.getGroups() == groups)
    return success();
  return op->emitOpError() << "expects '" << name << "' of " << groups
                           << " groups, got " << scaled;
}

/// Checks a columnwise result of which `info` tells: [S, F] with a block
/// [b, 1], or its transpose.
static LogicalResult verifyColumnwiseShape(Operation *op,
                                           ArrayRef<int64_t> source,
                                           int64_t groups, OperandInfo info) {
  ShapeVerifier verifier{op};
  ScaledType scaled = info.scaled;
  bool isTransposed = scaled.getBlockOf(1, 2) != 1;
  int64_t expected[] = {source[0], source[1]};
  if (isTransposed) {
    if (groups != 0)
      expected[0] = ShapedType::isDynamic(groups)
                        ? groups
                        : getPaddedRows(source[0], groups);
    std::swap(expected[0], expected[1]);
    int64_t rowBlock = scaled.getBlockOf(1, 2);
    if (groups != 0 &&
        (ShapedType::isDynamic(rowBlock) || kPaddedRows % rowBlock != 0))
      return op->emitOpError()
             << "expects a transposed 'columnwise' whose block along rows "
                "divides "
             << kPaddedRows << " where there are offsets, got " << scaled;
    groups = 0;
  }
  info.shape[1] = info.getLastExtent(expected[1]);
  for (int64_t dim : {0, 1})
    if (failed(verifier.same("extent " + Twine(dim) + " of 'columnwise'",
                             info.shape[dim], "what is quantized to it",
                             expected[dim])))
      return failure();
  return verifyGroups(op, "columnwise", scaled, groups);
}

LogicalResult
moeq::detail::verifyColumnwise(Operation *op, ArrayRef<int64_t> source,
                               Value offsets, const OperandInfo *outs,
                               ValueRange columnwise, TypeAttr format,
                               RecipeAttr recipe) {
  ShapeVerifier verifier{op};
  if (!offsets && columnwise.empty())
    return outs ? verifyGroups(op, "outs", outs->scaled, 0) : success();
  if (failed(verifier.rank("input", source, 2)))
    return failure();
  if (outs && outs->scaled.getBlockOf(0, 2) != 1)
    return op->emitOpError()
           << "expects 'outs' with blocks inside a row beside "
              "offsets or 'columnwise', got "
           << outs->scaled;
  int64_t groups = 0;
  if (offsets) {
    ArrayRef<int64_t> shape = ShapeVerifier::shapeOf(offsets);
    if (failed(verifier.rank("offsets", shape, 1)))
      return failure();
    if (shape[0] == 0 || shape[0] == 1)
      return op->emitOpError()
             << "expects the offsets of at least 1 group, got " << shape[0]
             << " offsets";
    groups = ShapedType::isDynamic(shape[0]) ? shape[0] : shape[0] - 1;
    if (failed(verifyExperts(op, groups)))
      return failure();
  }
  if (outs && outs->scaled.getGroups() != 0 &&
      failed(verifyGroups(op, "outs", outs->scaled, groups)))
    return failure();
  if (columnwise.empty())
    return success();
  FailureOr<OperandInfo> info =
      verifyQuantized(op, columnwise, format, "columnwise", recipe);
  if (failed(info) || failed(verifier.rank("columnwise", info->shape, 2)))
    return failure();
  return verifyColumnwiseShape(op, source, groups, *info);
}

LogicalResult QuantizeOp::verify() {
  ShapeVerifier verifier{*this};
  SmallVector<int64_t> source(ShapeVerifier::shapeOf(getInput()));
  if (Value rows = getRows()) {
    ArrayRef<int64_t> shape = ShapeVerifier::shapeOf(rows);
    if (failed(verifier.rank("rows", shape, 1)) ||
        failed(verifier.rank("input", source, 2)))
      return failure();
    source[0] = shape[0];
  }
  FailureOr<OperandInfo> outs = failure();
  if (!getOuts().empty() || getColumnwise().empty()) {
    outs = verifyQuantized(*this, getOuts(), getOutsFormatAttr(), "outs",
                           getRecipe());
    if (failed(outs) ||
        failed(verifier.rank("outs", outs->shape, source.size())))
      return failure();
    outs->shape.back() = outs->getLastExtent(source.back());
    for (auto [dim, in, out] : llvm::enumerate(source, outs->shape))
      if (failed(verifier.same(dim == 0 && getRows()
                                   ? "the number of 'rows'"
                                   : "extent " + Twine(dim) + " of 'input'",
                               in, "that of 'outs'", out)))
        return failure();
    if (getRows() && outs->scaled.getBlockOf(0, 2) != 1)
      return emitOpError()
             << "expects blocks inside a row when rows are gathered, got "
             << outs->scaled;
  }
  return verifyColumnwise(*this, source, getOffsets(),
                          succeeded(outs) ? &*outs : nullptr, getColumnwise(),
                          getColumnwiseFormatAttr(), getRecipe());
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
