//===- RuntimeVerification.h - Run-time checks of moeq ----------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What no verifier knows, for upstream's generate-runtime-verification:
//
//  - grouped_matmul: offsets are sorted, from 0 on, up to the number of rows;
//  - group: ids are below the number of experts;
//  - gather, quantize: rows are below the number of rows of the input;
//  - combine: slots are below the number of rows of the input.
//
//===----------------------------------------------------------------------===//

#ifndef MOEQ_DIALECT_MOEQ_TRANSFORMS_RUNTIMEVERIFICATION_H
#define MOEQ_DIALECT_MOEQ_TRANSFORMS_RUNTIMEVERIFICATION_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace mlir::moeq {

/// Registers RuntimeVerifiableOpInterface on the ops above, on tensors and on
/// memrefs.
void registerRuntimeVerifiableOpInterfaceExternalModels(
    DialectRegistry &registry);

} // namespace mlir::moeq

#endif // MOEQ_DIALECT_MOEQ_TRANSFORMS_RUNTIMEVERIFICATION_H
