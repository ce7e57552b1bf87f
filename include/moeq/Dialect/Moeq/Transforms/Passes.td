//===- Passes.td - Passes on the moeq dialect --------------*- tablegen -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOEQ_DIALECT_MOEQ_TRANSFORMS_PASSES_TD
#define MOEQ_DIALECT_MOEQ_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

#endif // MOEQ_DIALECT_MOEQ_TRANSFORMS_PASSES_TD
