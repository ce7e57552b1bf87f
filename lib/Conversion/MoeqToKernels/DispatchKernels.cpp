//===- DispatchKernels.cpp - Kernels of gather and combine ------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"
#include "RowTeam.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::moeq;

static int64_t getElementBytes(Value memref) {
  return cast<MemRefType>(memref.getType()).getElementTypeBitWidth() / 8;
}

static int64_t getColumns(Value memref) {
  return cast<MemRefType>(memref.getType()).getDimSize(1);
}

/// A team a row copies each component by 16 bytes a thread where it can.
LogicalResult moeq::buildKernels(GatherOp op, gpu::GPUModuleOp module) {
  Value values = op.getInput().front();
  int64_t columns = getColumns(values);
  TeamShape shape =
      getTeamShape(columns, getCommonWidth({values, op.getOuts().front()},
                                           16 / getElementBytes(values)));
  KernelBuilder k(module, op, shape.threads);
  RowTeam team(k, shape, k.size(op.getRows(), 0));
  Value source = k.ifElse(
      team.active(), [&] { return k.loadIndex(op.getRows(), team.unit()); },
      k.index(-1));
  team.restrict(k.isNonNegative(source));
  for (unsigned component = 0; component < op.getInput().size(); ++component) {
    Value input = op.getInput()[component], out = op.getOuts()[component];
    // Scales are few: a column a lane, unless they are as wide as the values.
    TeamShape part = shape;
    if (input != values) {
      part.width = 1;
      part.steps = 0;
    }
    RowTeam copier = team.withShape(part);
    copier.setColumns(k.index(0), k.size(input, 1));
    copier.setLoader(getElementTypeOrSelf(input), [&](Value column) {
      return k.load(input, {source, column}, part.width);
    });
    copier.forEach([&](Value column, Value loaded) {
      k.store(loaded, out, {team.unit(), column});
    });
  }
  k.launch(k.hostCeilDiv(k.hostSize(op.getRows(), 0), shape.teams()));
  return success();
}

/// A team a token, which sums its k rows in ascending j.
LogicalResult moeq::buildKernels(CombineOp op, gpu::GPUModuleOp module) {
  Value input = op.getInput(), outs = op.getOuts(), slots = op.getSlots(),
        weights = op.getWeights();
  Type element = getElementTypeOrSelf(outs);
  int64_t bytes = std::max(getElementBytes(input), getElementBytes(outs));
  TeamShape shape =
      getTeamShape(getColumns(outs), getCommonWidth({input, outs}, 16 / bytes));
  KernelBuilder k(module, op, shape.threads);
  RowTeam team(k, shape, k.size(outs, 0));
  Value token = team.unit();
  team.setColumns(k.index(0), k.size(outs, 1));
  team.setLoader(k.getF32Type(), [&](Value column) {
    Value zero = k.splat(k.f32(0), shape.width);
    return k.forLoop(
        k.index(0), k.size(slots, 1), k.index(1), zero,
        [&](Value choice, ValueRange sum) -> SmallVector<Value> {
          Value slot = k.loadIndex(slots, {token, choice});
          return {k.ifElse(
              k.isNonNegative(slot),
              [&] {
                Value weight =
                    weights ? k.load(weights, {token, choice}) : k.f32(1);
                Value row = k.toF32(k.load(input, {slot, column}, shape.width));
                return math::FmaOp::create(k, k.splat(weight, shape.width), row,
                                           sum[0]);
              },
              sum[0])};
        })[0];
  });
  team.forEach([&](Value column, Value sum) {
    k.store(k.fromF32(sum, element), outs, {token, column});
  });
  k.launch(k.hostCeilDiv(k.hostSize(outs, 0), shape.teams()));
  return success();
}
