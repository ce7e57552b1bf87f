//===- ActivateGradKernel.cpp - Kernels of activation gradients -*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Activated.h"
#include "Kernels.h"
#include "RowTeam.h"

using namespace mlir;
using namespace mlir::moeq;

/// Stores the gradients of `width` columns of an activation's result where the
/// halves of its input lie.
static void storeHalves(KernelBuilder &k, ActivateGradOp op, Value row,
                        Value column, Value columns,
                        const ActivationGradient &gradient, int64_t width) {
  Value out = op.getOuts();
  Type element = cast<MemRefType>(out.getType()).getElementType();
  Value gate = k.fromF32(gradient.gate, element);
  if (!gradient.up)
    return k.store(gate, out, {row, column});
  Value up = k.fromF32(gradient.up, element);
  GateColumns at =
      emitGateColumns(k, k.getLoc(), op.getGateLayout(), column, columns);
  if (op.getGateLayout() == GateLayout::Interleaved && width > 1)
    return k.store(vector::InterleaveOp::create(k, gate, up), out,
                   {row, at.gate});
  k.store(gate, out, {row, at.gate});
  k.store(up, out, {row, at.up});
}

/// A team a row.
LogicalResult moeq::buildKernels(ActivateGradOp op, gpu::GPUModuleOp module) {
  Value grad = op.getGrad();
  auto type = cast<MemRefType>(grad.getType());
  int64_t width = getCommonWidth({grad, op.getInput(), op.getOuts()},
                                 kActivatedWidth, type.getDimSize(1));
  TeamShape shape = getTeamShape(type.getDimSize(1), width);
  KernelBuilder k(module, op, shape.threads);
  RowTeam team(k, shape, k.size(grad, 0));
  Value columns = k.size(grad, 1);
  team.setColumns(k.index(0), columns);
  team.setLoader(k.getF32Type(), [&](Value column) {
    return k.toF32(k.load(grad, {team.unit(), column}, width));
  });
  team.forEach([&](Value column, Value loaded) {
    Elementwise e(k, k.getLoc());
    if (Value weight = op.getRowWeight())
      loaded = e.mul(loaded, k.splat(k.load(weight, team.unit()), width));
    SmallVector<Value> halves =
        fetchActivated(k, op, team.unit(), column, columns, width);
    Value up = halves.size() > 1 ? k.toF32(halves[1]) : Value();
    storeHalves(k, op, team.unit(), column, columns,
                emitActivationGradient(e, getActivationParameters(op), loaded,
                                       k.toF32(halves[0]), up),
                width);
  });
  k.launch(k.hostCeilDiv(k.hostSize(grad, 0), shape.teams()));
  return success();
}
