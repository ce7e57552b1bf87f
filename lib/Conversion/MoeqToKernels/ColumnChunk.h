//===- ColumnChunk.h - Neighbouring columns in registers --------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A chunk is 8 neighbouring columns of a row in one thread, kept as they are in
// memory, two a register where they have 16 bits. Magnitudes are compared as
// integers: a NaN is above infinity, and that above every number, so that two
// are compared at once and nothing is converted.
//
//===----------------------------------------------------------------------===//

#ifndef MOEQ_LIB_CONVERSION_MOEQTOKERNELS_COLUMNCHUNK_H
#define MOEQ_LIB_CONVERSION_MOEQTOKERNELS_COLUMNCHUNK_H

#include "KernelBuilder.h"

namespace mlir::moeq {

/// The columns of a chunk.
constexpr int64_t kChunk = 8;

/// Emits work on chunks of a float type of 16 or 32 bits. A chunk is a vector
/// of i32; magnitudes are a vector of 8 integers of the type's width.
class ChunkEmitter {
public:
  ChunkEmitter(KernelBuilder &k, Type element);

  /// The integer type of the element's width.
  Type getMagnitudeType() const { return magnitude; }

  /// A chunk of 8 elements, these again, and as 8 of f32.
  Value fromElements(Value elements);
  Value toElements(Value chunk);
  Value toF32(Value chunk);
  /// A chunk of zeros.
  Value zero();
  /// The chunk, of which the compiler does not know that it is the same: what
  /// was made of it is made again, and not kept in registers meanwhile.
  Value opaque(Value chunk);

  /// The magnitudes of a chunk; itself where no number has its sign bit set.
  Value magnitudes(Value chunk, bool isUnsigned = false);
  Value maximum(Value left, Value right);
  /// The f32 bits (i32) of the largest magnitude in each of `rows`, of which
  /// each `lanes` neighbouring lanes hold parts; in all of them.
  SmallVector<Value> reduceRows(ArrayRef<Value> rows, int64_t lanes);
  /// The f32 bits of one magnitude.
  Value toBits(Value magnitude);

  /// The larger of two i32, in each half where elements have 16 bits.
  Value maximumOfWords(Value left, Value right);

private:
  bool isHalf() const { return magnitude.isInteger(16); }
  VectorType vectorOf(Type type, int64_t count) {
    return VectorType::get(count, type);
  }
  /// The largest of a chunk's magnitudes, as i32: of 16 bits in either half the
  /// largest of every second one.
  Value reduceChunk(Value magnitudes);
  Value reduceLanes(Value word, int64_t lanes);

  KernelBuilder &k;
  Type element, magnitude;
};

} // namespace mlir::moeq

#endif // MOEQ_LIB_CONVERSION_MOEQTOKERNELS_COLUMNCHUNK_H
