//===- MoeqGPUDialect.cpp - The moeq_gpu dialect ----------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "moeq/Dialect/MoeqGPU/IR/MoeqGPU.h"

using namespace mlir;
using namespace mlir::moeq_gpu;

#include "moeq/Dialect/MoeqGPU/IR/MoeqGPUDialect.cpp.inc"

void MoeqGPUDialect::initialize() {
  registerTypes();
  addOperations<
#define GET_OP_LIST
#include "moeq/Dialect/MoeqGPU/IR/MoeqGPUOps.cpp.inc"
      >();
}
