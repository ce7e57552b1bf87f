//===- ToKernels.cpp - From layers to kernels -------------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "moeq/Pipelines/Pipelines.h"
#include "moeq/Target/Passes.h"

using namespace mlir;
using namespace mlir::moeq;

void mlir::moeq::buildToOps(OpPassManager &pm, const ToPtxOptions &options) {}

void mlir::moeq::buildToTiles(OpPassManager &pm, const ToPtxOptions &options) {}

void mlir::moeq::buildToKernels(OpPassManager &pm,
                                const ToPtxOptions &options) {}

void mlir::moeq::buildToHardware(OpPassManager &pm,
                                 const ToPtxOptions &options) {}
