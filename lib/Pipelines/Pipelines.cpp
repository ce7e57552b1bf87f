//===- Pipelines.cpp - From a layer to PTX ----------------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "moeq/Pipelines/Pipelines.h"
#include "moeq/Target/Passes.h"

#include "mlir/Pass/PassRegistry.h"

using namespace mlir;
using namespace mlir::moeq;

void mlir::moeq::registerPipelines() {
  PassPipelineRegistration<ToPtxOptions>(
      "moeq-to-ptx", "Lower layers, ops or kernels to PTX",
      [](OpPassManager &pm, const ToPtxOptions &options) {
        buildToBinary(pm, options);
      });
}
