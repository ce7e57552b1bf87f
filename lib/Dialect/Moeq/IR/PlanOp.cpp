//===- PlanOp.cpp - plan ----------------------------------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OpsDetail.h"

using namespace mlir;
using namespace mlir::moeq;
using namespace mlir::moeq::detail;

LogicalResult moeq::detail::verifyPlan(Operation *op, ArrayRef<int64_t> plan,
                                       int64_t offsets) {
  ShapeVerifier verifier{op};
  if (failed(verifier.rank("plan", plan, 2)) ||
      failed(verifier.same("the rows of 'plan'", plan[0],
                           "the number of 'offsets'", offsets)) ||
      failed(verifier.same("the columns of 'plan'", plan[1], "its fields",
                           PlanOp::kFields)))
    return failure();
  return success();
}

LogicalResult PlanOp::verify() {
  ShapeVerifier verifier{*this};
  ArrayRef<int64_t> offsets = ShapeVerifier::shapeOf(getOffsets());
  if (failed(verifier.oneKind()) ||
      failed(verifier.rank("offsets", offsets, 1)) ||
      failed(verifyPlan(*this, ShapeVerifier::shapeOf(getTable()), offsets[0])))
    return failure();
  if (!ShapedType::isDynamic(offsets[0]) &&
      (offsets[0] < 1 || offsets[0] > kMaxGroups + 1))
    return emitOpError() << "expects 1 to " << kMaxGroups + 1
                         << " offsets, got " << offsets[0];
  int64_t width = getMaxWidth(), step = getWidthStep();
  if (step != 8 && step != 16)
    return emitOpError() << "expects a width_step of 8 or 16, got " << step;
  if (width < step || width > kMaxWidth || width % step != 0)
    return emitOpError() << "expects a max_width of " << step << " to "
                         << kMaxWidth << " in steps of " << step << ", got "
                         << width;
  // Costs and their sums are of 32 bits.
  auto verifyRange = [&](StringRef name, int64_t value, int64_t lowest,
                         int64_t highest) -> LogicalResult {
    if (value >= lowest && value <= highest)
      return success();
    return emitOpError() << "expects " << name << " of " << lowest << " to "
                         << highest << ", got " << value;
  };
  return success(
      succeeded(verifyRange("tile_columns", getTileColumns(), 8, 1024)) &&
      succeeded(verifyRange("ctas", getCtas(), 1, 4096)) &&
      succeeded(verifyRange("overhead", getOverhead(), 0, 1024)));
}
