//===- RoundedWords.h - Rounding tests of bf16 ------------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Numbers that are rounded to bf16 without computing most of them in full. An
// approximation with a bound on its error rounds to the same bf16 unless a
// boundary between two is nearer than the bound (the rounding test of Ziv,
// "Fast evaluation of elementary mathematical functions with correctly rounded
// last bit", 1991); only then is it computed as the specification says.
//
//===----------------------------------------------------------------------===//

#ifndef MOEQ_LIB_CONVERSION_MOEQTOKERNELS_ROUNDEDWORDS_H
#define MOEQ_LIB_CONVERSION_MOEQTOKERNELS_ROUNDEDWORDS_H

#include "ColumnChunk.h"

#include "moeq/Support/Elementwise.h"

namespace mlir::moeq {

/// Emits work on `count` numbers of 16 bits, kept in words (i32) of two.
class RoundedWords {
public:
  using Words = SmallVector<Value>;

  RoundedWords(KernelBuilder &k, int64_t count)
      : k(k), e(k, k.getLoc()), chunks(k, k.getBF16Type()), count(count) {}

  /// Of each element of `x`, f32: ex2.approx, within 2^-22 of 2^x, or
  /// rcp.approx, within 2^-23 of 1 / x (relative errors, PTX ISA); subnormal
  /// numbers are 0.
  Value exp2(Value x) { return call("llvm.nvvm.ex2.approx.ftz.f", x); }
  Value reciprocal(Value x) { return call("llvm.nvvm.rcp.approx.ftz.f", x); }

  /// The words of a vector of 16 bits, and the bf16 of words.
  Words wordsOf(Value vector);
  Value toBF16(ValueRange words);
  /// Element `i` of words, in the low half.
  Value halfOf(ArrayRef<Value> words, int64_t i) {
    Value word = words[i / 2];
    return i % 2 ? e.shrU(word, 16) : e.andI(word, 0xffff);
  }
  /// The f32 of element `number`, an i32, of words of bf16; null of none.
  Value numberOf(ArrayRef<Value> words, Value number);

  /// Whether an element is above `limit` (unsigned), and whether any is.
  Value isAbove(Value half, int32_t limit) {
    return e.compareI(arith::CmpIPredicate::ugt, half, limit);
  }
  Value isAnyAbove(ArrayRef<Value> words, int32_t limit);

  /// `results`, words of bf16. Where `isUnsafe` holds, the elements for which
  /// `isElementUnsafe` does become what `exact` gives for their number: an f32
  /// for each result, which is rounded.
  SmallVector<Words> redo(Value isUnsafe, ArrayRef<Words> results,
                          function_ref<Value(int64_t)> isElementUnsafe,
                          function_ref<SmallVector<Value>(Value)> exact);

private:
  Value call(StringRef intrinsic, Value x);
  /// By how much element `number` is shifted in its word.
  Value shiftOf(Value number) { return e.shl(e.andI(number, 1), 4); }
  Words replace(ValueRange words, Value number, Value exact);

  KernelBuilder &k;
  Elementwise e;
  ChunkEmitter chunks;
  int64_t count;
};

} // namespace mlir::moeq

#endif // MOEQ_LIB_CONVERSION_MOEQTOKERNELS_ROUNDEDWORDS_H
