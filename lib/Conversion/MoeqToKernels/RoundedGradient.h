//===- RoundedGradient.h - Gradients rounded to bf16 ------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The bits of the gradients of an activation that are rounded to bf16, by a
// rounding test (RoundedWords.h), or in the arithmetic of 16 bits.
//
//===----------------------------------------------------------------------===//

#ifndef MOEQ_LIB_CONVERSION_MOEQTOKERNELS_ROUNDEDGRADIENT_H
#define MOEQ_LIB_CONVERSION_MOEQTOKERNELS_ROUNDEDGRADIENT_H

#include "KernelBuilder.h"

#include "moeq/Support/NumericsMath.h"

namespace mlir::moeq {

/// Whether emitRoundedGradient knows the function, where gradient, input and
/// result are bf16: SiLU, SwiGLU and, unless weighted, squared ReLU.
bool hasRoundedGradient(const ActivationParameters &parameters,
                        bool isWeighted);

/// The gradients, bf16, from vectors of an even number of bf16; `grad` is times
/// `weight`, a scalar or null. `up` is null unless the function is gated.
ActivationGradient emitRoundedGradient(KernelBuilder &k,
                                       const ActivationParameters &parameters,
                                       Value grad, Value gate, Value up,
                                       Value weight);

} // namespace mlir::moeq

#endif // MOEQ_LIB_CONVERSION_MOEQTOKERNELS_ROUNDEDGRADIENT_H
