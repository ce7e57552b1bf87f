//===- MoeqDialect.cpp - The moeq dialect -----------------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "moeq/Dialect/Moeq/IR/Moeq.h"

using namespace mlir;
using namespace mlir::moeq;

#include "moeq/Dialect/Moeq/IR/MoeqDialect.cpp.inc"

#include "moeq/Dialect/Moeq/IR/MoeqEnums.cpp.inc"

#include "moeq/Dialect/Moeq/IR/MoeqInterfaces.cpp.inc"

void MoeqDialect::initialize() {
  registerTypes();
  registerAttributes();
  addOperations<
#define GET_OP_LIST
#include "moeq/Dialect/Moeq/IR/MoeqOps.cpp.inc"
      >();
}
