//===- Passes.h - Passes on the moeq dialect --------------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOEQ_DIALECT_MOEQ_TRANSFORMS_PASSES_H
#define MOEQ_DIALECT_MOEQ_TRANSFORMS_PASSES_H

#include "moeq/Dialect/Moeq/Transforms/Transforms.h"

#include "mlir/Pass/Pass.h"

namespace mlir::moeq {

#define GEN_PASS_DECL
#include "moeq/Dialect/Moeq/Transforms/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "moeq/Dialect/Moeq/Transforms/Passes.h.inc"

} // namespace mlir::moeq

#endif // MOEQ_DIALECT_MOEQ_TRANSFORMS_PASSES_H
