//===- Prepack.h - What moeq.prepack moves ----------------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOEQ_SUPPORT_PREPACK_H
#define MOEQ_SUPPORT_PREPACK_H

#include "moeq/Dialect/Moeq/IR/Moeq.h"

namespace mlir::moeq {

/// Loads an element of a component of the input.
using LoadElement = llvm::function_ref<Value(ValueRange)>;

/// The element at `indices` of component `component` of the result of `op`,
/// which is on memrefs: an element of the input, which `load` loads; or a byte
/// with two of its 4-bit values. `columns` is the extent of gate and up.
Value emitPrepackElement(OpBuilder &b, Location loc, PrepackOp op,
                         unsigned component, ValueRange indices, Value columns,
                         LoadElement load);

} // namespace mlir::moeq

#endif // MOEQ_SUPPORT_PREPACK_H
