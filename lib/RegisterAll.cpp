//===- RegisterAll.cpp - Registration of everything -------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The only source that includes all of upstream's registration headers.
//
//===----------------------------------------------------------------------===//

#include "moeq/RegisterAll.h"

#include "moeq/Conversion/Passes.h"
#include "moeq/Dialect/Moeq/IR/Moeq.h"
#include "moeq/Dialect/Moeq/Transforms/BufferizableOpInterfaceImpl.h"
#include "moeq/Dialect/Moeq/Transforms/Passes.h"
#include "moeq/Dialect/Moeq/Transforms/RuntimeVerification.h"
#include "moeq/Dialect/Moeq/Transforms/TilingInterfaceImpl.h"
#include "moeq/Dialect/MoeqGPU/IR/MoeqGPU.h"
#include "moeq/Dialect/MoeqGPU/Transforms/Passes.h"
#include "moeq/Pipelines/Pipelines.h"
#include "moeq/Target/Passes.h"

#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Target/LLVMIR/Dialect/All.h"

using namespace mlir;

void moeq::registerAllDialects(DialectRegistry &registry) {
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  registerAllToLLVMIRTranslations(registry);
  registry.insert<MoeqDialect, moeq_gpu::MoeqGPUDialect>();
  registerBufferizableOpInterfaceExternalModels(registry);
  registerRuntimeVerifiableOpInterfaceExternalModels(registry);
  registerTilingInterfaceExternalModels(registry);
}

void moeq::registerAllPasses() {
  mlir::registerAllPasses();
  registerMoeqTransformsPasses();
  registerMoeqTargetPasses();
  moeq_gpu::registerMoeqGPUTransformsPasses();
  registerPipelines();
  registerMoeqConversionPasses();
}
