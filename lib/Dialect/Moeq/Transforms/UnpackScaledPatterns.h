//===- UnpackScaledPatterns.h - Ops on components ---------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOEQ_LIB_DIALECT_MOEQ_TRANSFORMS_UNPACKSCALEDPATTERNS_H
#define MOEQ_LIB_DIALECT_MOEQ_TRANSFORMS_UNPACKSCALEDPATTERNS_H

#include "mlir/Transforms/DialectConversion.h"

namespace mlir::moeq::detail {

/// The patterns that rewrite the ops which verifyScaledUses allows on scaled
/// tensors to the same ops on components. They compute only: what they rewrite
/// has been checked.
void populateUnpackScaledPatterns(const TypeConverter &converter,
                                  RewritePatternSet &patterns);

} // namespace mlir::moeq::detail

#endif // MOEQ_LIB_DIALECT_MOEQ_TRANSFORMS_UNPACKSCALEDPATTERNS_H
