//===- ToBinary.cpp - From kernels to PTX -----------------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "moeq/Conversion/Passes.h"
#include "moeq/Pipelines/Pipelines.h"
#include "moeq/Target/Passes.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/LLVMIR/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::moeq;

void mlir::moeq::buildToHardware(OpPassManager &pm,
                                 const ToPtxOptions &options) {
  pm.addPass(
      createAttachTarget({options.chip, options.ptxVersion, options.optLevel}));
  pm.addPass(createSplitKernels());
  OpPassManager &kernels = pm.nest<gpu::GPUModuleOp>();
  kernels.addPass(createConvertMoeqGPUToNVGPU());
  kernels.addPass(createCanonicalizerPass());
  kernels.addPass(createCSEPass());
  kernels.addPass(createMoeqSmallFloatsToNVVM());
  kernels.addPass(createMoeqExpandSmallFloats());
}

void mlir::moeq::buildToBinary(OpPassManager &pm, const ToPtxOptions &options) {
  OpPassManager &kernels = pm.nest<gpu::GPUModuleOp>();
  kernels.addPass(memref::createExpandStridedMetadataPass());
  kernels.addPass(createLowerAffinePass());
  kernels.addPass(createConvertNVGPUToNVVMPass());
  kernels.addPass(createSCFToControlFlowPass());
  ConvertGpuOpsToNVVMOpsOptions gpuOptions;
  gpuOptions.useBarePtrCallConv = true;
  kernels.addPass(createConvertGpuOpsToNVVMOps(gpuOptions));
  kernels.addPass(createConvertToLLVMPass());
  // Last, since it turns wgmma, TMA and barriers into inline assembly.
  kernels.addPass(createConvertNVVMToLLVMPass());
  kernels.addPass(createCanonicalizerPass());
  kernels.addPass(createCSEPass());
  kernels.addPass(createReconcileUnrealizedCastsPass());

  // Lines in the PTX without the `debug` target, at which ptxas would not
  // optimize.
  pm.addPass(LLVM::createDIScopeForLLVMFuncOpPass(
      {LLVM::DIEmissionKind::DebugDirectivesOnly}));
  pm.addPass(createSerializeKernels({options.format, options.toolkit}));
}
