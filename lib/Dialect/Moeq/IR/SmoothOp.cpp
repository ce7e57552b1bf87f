//===- SmoothOp.cpp - smooth ------------------------------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OpsDetail.h"

using namespace mlir;
using namespace mlir::moeq;
using namespace mlir::moeq::detail;

LogicalResult SmoothOp::verify() {
  ShapeVerifier verifier{*this};
  ArrayRef<int64_t> amax = ShapeVerifier::shapeOf(getAmax());
  ArrayRef<int64_t> weight = ShapeVerifier::shapeOf(getWeight());
  ArrayRef<int64_t> outs = ShapeVerifier::shapeOf(getOuts());
  if (failed(verifier.oneKind()) || failed(verifier.rank("amax", amax, 2)) ||
      failed(verifier.rank("weight", weight, 3)) ||
      failed(verifier.rank("outs", outs, 2)) ||
      failed(verifier.same("the channels of 'amax'", amax[1], "K of 'weight'",
                           weight[2])) ||
      failed(verifier.same("the channels of 'outs'", outs[1], "K of 'weight'",
                           weight[2])))
    return failure();
  for (auto [name, experts] :
       {std::pair("'amax'", amax[0]), std::pair("'outs'", outs[0])})
    if (experts != 1 &&
        failed(verifier.same(Twine("the experts of ") + name, experts,
                             "those of 'weight'", weight[0])))
      return failure();
  float alpha = getAlpha().convertToFloat(),
        floor = getFloor().convertToFloat();
  if (!(alpha >= 0 && alpha <= 1))
    return emitOpError() << "expects an alpha of 0 to 1, got " << alpha;
  // Below, the logarithm would meet subnormal numbers.
  if (!(floor >= 0x1p-126f && std::isfinite(floor)))
    return emitOpError() << "expects a normal positive finite floor, got "
                         << floor;
  return success();
}
