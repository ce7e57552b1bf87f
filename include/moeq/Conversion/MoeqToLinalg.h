//===- MoeqToLinalg.h - Elements of ops as scalar code ----------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What `moeq-to-linalg` runs for an element, for kernels that have no better
// way: the order of its sums is the specification.
//
//===----------------------------------------------------------------------===//

#ifndef MOEQ_CONVERSION_MOEQTOLINALG_H
#define MOEQ_CONVERSION_MOEQTOLINALG_H

#include "moeq/Dialect/Moeq/IR/Moeq.h"
#include "moeq/Support/Elementwise.h"

namespace mlir::moeq {

/// The element of a matmul on memrefs at `row` and `column`, epilogue included,
/// in loops of memref.load. `expert` is that of the row, `indices` are those of
/// the row in C: [expert, row of it] where C is by expert; `row` counts all.
FailureOr<Value> emitMatmulElement(Elementwise &e, MatmulOp op, Value row,
                                   Value column);
FailureOr<Value> emitMatmulElement(Elementwise &e, GroupedMatmulOp op,
                                   Value row, ValueRange indices, Value column,
                                   Value expert);

} // namespace mlir::moeq

#endif // MOEQ_CONVERSION_MOEQTOLINALG_H
