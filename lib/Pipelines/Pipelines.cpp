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

/// Levels 1 to 4.
template <typename OptionsTy>
static void buildToLevel4(OpPassManager &pm, const OptionsTy &options) {
  buildToOps(pm, options.form);
  buildToTiles(pm, options.variants);
  buildToKernels(pm);
}

void mlir::moeq::registerPipelines() {
  PassPipelineRegistration<ToKernelsOptions>(
      "moeq-to-kernels", "Lower layers or ops to kernels and their launches",
      [](OpPassManager &pm, const ToKernelsOptions &options) {
        AttachTargetOptions target;
        target.chip = options.chip;
        pm.addPass(createAttachTarget(target));
        buildToLevel4(pm, options);
      });
  PassPipelineRegistration<ToPtxOptions>(
      "moeq-to-ptx", "Lower layers, ops or kernels to PTX",
      [](OpPassManager &pm, const ToPtxOptions &options) {
        pm.addPass(createAttachTarget(
            {options.chip, options.ptxVersion, options.optLevel}));
        buildToLevel4(pm, options);
        buildToHardware(pm, options);
        buildToBinary(pm, options);
      });
  PassPipelineRegistration<>(
      "moeq-to-cpu",
      "Lower layers, ops or tiles to the LLVM dialect for the CPU", buildToCpu);
}
