//===- RoundedActivation.h - Activations rounded to bf16 --------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The bits of an activation that is rounded to bf16, by a rounding test
// (RoundedWords.h), or in the arithmetic of 16 bits.
//
//===----------------------------------------------------------------------===//

#ifndef MOEQ_LIB_CONVERSION_MOEQTOKERNELS_ROUNDEDACTIVATION_H
#define MOEQ_LIB_CONVERSION_MOEQTOKERNELS_ROUNDEDACTIVATION_H

#include "KernelBuilder.h"

#include "moeq/Support/NumericsMath.h"

namespace mlir::moeq {

/// Whether emitRoundedActivation knows the function, of inputs and results of
/// `element`: SiLU and SwiGLU of bf16, and, unless weighted, ReLU and squared
/// ReLU of 16 bits.
bool hasRoundedActivation(const ActivationParameters &parameters, Type element,
                          bool isWeighted);

/// Whether it computes with numbers of 16 bits, two at once, and takes no
/// registers beside theirs.
bool isRoundedInPlace(const ActivationParameters &parameters);

/// The activation of a chunk (ColumnChunk.h) of gates and, or null, ups, times
/// `weight`, a scalar or null: 8 of the type of `gate` and `up`.
Value emitRoundedActivation(KernelBuilder &k,
                            const ActivationParameters &parameters, Value gate,
                            Value up, Value weight);

} // namespace mlir::moeq

#endif // MOEQ_LIB_CONVERSION_MOEQTOKERNELS_ROUNDEDACTIVATION_H
