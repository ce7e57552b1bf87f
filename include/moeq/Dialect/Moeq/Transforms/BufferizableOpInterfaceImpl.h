//===- BufferizableOpInterfaceImpl.h - Bufferization of moeq ----*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// moeq ops in component form bufferize in place to the same op on memrefs.
// Scaled tensors never become memrefs: moeq-unpack-scaled runs first.
//
//===----------------------------------------------------------------------===//

#ifndef MOEQ_DIALECT_MOEQ_TRANSFORMS_BUFFERIZABLEOPINTERFACEIMPL_H
#define MOEQ_DIALECT_MOEQ_TRANSFORMS_BUFFERIZABLEOPINTERFACEIMPL_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace mlir::moeq {

/// Registers BufferizableOpInterface on every destination-style op of moeq.
void registerBufferizableOpInterfaceExternalModels(DialectRegistry &registry);

} // namespace mlir::moeq

#endif // MOEQ_DIALECT_MOEQ_TRANSFORMS_BUFFERIZABLEOPINTERFACEIMPL_H
