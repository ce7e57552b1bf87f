//===- BlockCodes.h - Codes of the numbers of a block -----------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel quantizes many numbers by one scale: where the recipe divides by it,
// one division serves all, and powers of two scale pairs of bf16.
//
//===----------------------------------------------------------------------===//

#ifndef MOEQ_LIB_CONVERSION_MOEQTOKERNELS_BLOCKCODES_H
#define MOEQ_LIB_CONVERSION_MOEQTOKERNELS_BLOCKCODES_H

#include "KernelBuilder.h"

#include "moeq/Support/NumericsRecipe.h"

namespace mlir::moeq {

/// Multiplies `numbers`, vectors of floats of 16 or 32 bits, by the factor of
/// `scale`, a scalar or a vector, and takes it out of there, where the products
/// are numbers of their type.
void foldFactor(KernelBuilder &k, const RecipeEmitter &emitter,
                RecipeEmitter::BlockScale &scale,
                MutableArrayRef<Value> numbers);

/// The codes that `emitter.emitCode` gives for each of `numbers`, floats of 16
/// or 32 bits or vectors of them, of a block with the scalars `scale`.
SmallVector<Value> emitBlockCodes(KernelBuilder &k,
                                  const RecipeEmitter &emitter,
                                  const RecipeEmitter::BlockScale &scale,
                                  ArrayRef<Value> numbers);

} // namespace mlir::moeq

#endif // MOEQ_LIB_CONVERSION_MOEQTOKERNELS_BLOCKCODES_H
