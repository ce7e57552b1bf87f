//===- ToKernels.cpp - From layers to kernels -------------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "moeq/Conversion/Passes.h"
#include "moeq/Dialect/Moeq/Transforms/Passes.h"
#include "moeq/Pipelines/Pipelines.h"

#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::moeq;

void mlir::moeq::buildToOps(OpPassManager &pm, DecomposeForm form) {
  pm.addPass(createMoeqDecompose());
  pm.addPass(createMoeqFuse());
  // After fusing: what is merged into a grouped matmul stays with its experts.
  if (form == DecomposeForm::Linear) {
    MoeqDecomposeOptions linear;
    linear.form = form;
    linear.deviceOffsets = true;
    pm.addPass(createMoeqDecompose(linear));
  }
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
}

void mlir::moeq::buildToTiles(OpPassManager &pm, int64_t variants) {
  MoeqSelectConfigOptions select;
  select.variants = variants;
  pm.addPass(createMoeqSelectConfig(select));
  pm.addPass(createMoeqPlan());
  pm.addPass(createMoeqUnpackScaled());
  bufferization::OneShotBufferizePassOptions bufferize;
  bufferize.bufferizeFunctionBoundaries = true;
  bufferize.functionBoundaryTypeConversion =
      bufferization::LayoutMapOption::IdentityLayoutMap;
  pm.addPass(bufferization::createOneShotBufferizePass(bufferize));
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
}

void mlir::moeq::buildToKernels(OpPassManager &pm) {
  pm.addPass(createMoeqOutlineKernels());
  pm.addPass(createMoeqOverlapKernels());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
}
