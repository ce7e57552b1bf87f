//===- RegisterAll.h - Registration of everything ---------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOEQ_REGISTERALL_H
#define MOEQ_REGISTERALL_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace mlir::moeq {

/// Registers moeq's dialects, their external models, and all of upstream's.
void registerAllDialects(DialectRegistry &registry);

/// Registers moeq's passes and pipelines, and all of upstream's passes.
void registerAllPasses();

} // namespace mlir::moeq

#endif // MOEQ_REGISTERALL_H
