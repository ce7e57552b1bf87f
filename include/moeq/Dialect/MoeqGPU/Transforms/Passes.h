//===- Passes.h - Passes on the kernel dialect ------------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOEQ_DIALECT_MOEQGPU_TRANSFORMS_PASSES_H
#define MOEQ_DIALECT_MOEQGPU_TRANSFORMS_PASSES_H

#include "mlir/Pass/Pass.h"

namespace mlir::moeq_gpu {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "moeq/Dialect/MoeqGPU/Transforms/Passes.h.inc"

} // namespace mlir::moeq_gpu

#endif // MOEQ_DIALECT_MOEQGPU_TRANSFORMS_PASSES_H
