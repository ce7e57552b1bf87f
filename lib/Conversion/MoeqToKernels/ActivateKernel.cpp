//===- ActivateKernel.cpp - Kernel of activate ------------------*- C++ -*-===//
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

/// A team a row.
LogicalResult moeq::buildKernels(ActivateOp op, gpu::GPUModuleOp module) {
  auto type = cast<MemRefType>(op.getOuts().getType());
  TeamShape shape = getTeamShape(type.getDimSize(1),
                                 getCommonWidth(op.getOuts(), kActivatedWidth));
  KernelBuilder k(module, op, shape.threads);
  RowTeam team(k, shape, k.size(op.getOuts(), 0));
  Value columns = k.size(op.getOuts(), 1);
  team.setColumns(k.index(0), columns);
  team.setLoader(k.getF32Type(), [&](Value column) {
    return computeActivated(
        k, op, fetchActivated(k, op, team.unit(), column, columns, shape.width),
        fetchRowWeight(k, op, team.unit()));
  });
  team.forEach([&](Value column, Value value) {
    k.store(k.fromF32(value, type.getElementType()), op.getOuts(),
            {team.unit(), column});
  });
  k.launch(k.hostCeilDiv(k.hostSize(op.getOuts(), 0), shape.teams()));
  return success();
}
