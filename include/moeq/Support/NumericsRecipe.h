//===- NumericsRecipe.h - Scales and codes under a recipe -------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Quantization of a block, emitted once for every target: statistics of the
// block's elements, then its scale (and zero point), then the code of each
// element. The formulas are those of `#moeq.recipe`; docs/Spec.md lists them.
//
//===----------------------------------------------------------------------===//

#ifndef MOEQ_SUPPORT_NUMERICSRECIPE_H
#define MOEQ_SUPPORT_NUMERICSRECIPE_H

#include "moeq/Dialect/Moeq/IR/Moeq.h"
#include "moeq/Support/Elementwise.h"

namespace mlir::moeq {

class RecipeEmitter {
public:
  /// `scaled` is the type of the result; its op's verifier has accepted both.
  RecipeEmitter(RecipeAttr recipe, ScaledType scaled);

  /// The statistics of a block that has no element yet: the bits of amax (i32),
  /// as which a NaN is larger than Inf, which is larger than every number; or,
  /// with affine zero points, the largest and the smallest element (f32).
  SmallVector<Value> emitInitialStatistics(Elementwise &e, Value like) const;
  /// The statistics with the f32 `x` added.
  SmallVector<Value> emitUpdate(Elementwise &e, ValueRange statistics,
                                Value x) const;
  /// The statistics of two parts of a block. The order of the parts is free.
  SmallVector<Value> emitMerge(Elementwise &e, ValueRange a,
                               ValueRange b) const;

  /// What the elements of a block are quantized with.
  struct BlockScale {
    /// The scale as it is stored, of the scale type.
    Value stored;
    /// The zero point as it is stored, or null.
    Value zero;
    /// By which an element is multiplied, or, under `divide`, divided (f32);
    /// null where elements have been.
    Value factor;
    /// The zero point as i32, or null.
    Value zeroCode;
  };
  BlockScale emitScale(Elementwise &e, ValueRange statistics) const;

  /// The code of the f32 `x`: a value of the type, or of a 4-bit type an i32
  /// with the code in the low four bits and zeros above. A NaN gives a NaN
  /// code, or 0 in integers.
  Value emitCode(Elementwise &e, const BlockScale &scale, Value x) const;
  /// Whether a factor is a power of two, or a NaN, and elements are floats: a
  /// product is exact then, or so small that its code is a zero.
  bool scalesByPowers() const;
  /// Whether emitCode divides by the factor, rather than multiplies by it.
  bool divides() const;
  /// Whether the quotients of a block are numbers that round to values of the
  /// type, unless its factor is a NaN: not where a scale is rounded or limited
  /// to a type, or where Inf has one.
  bool quotientsFit() const;
  /// The code of such a quotient. Integers are not clamped.
  Value emitCodeOfQuotient(Elementwise &e, Value quotient) const;

private:
  /// The scale before it is stored, and its reciprocal where the recipe forms
  /// that by itself, else null.
  struct Scales {
    Value scale, quant;
  };
  Scales emitFormula(Elementwise &e, Value amax) const;
  Value emitE8M0Code(Elementwise &e, Value amax) const;
  BlockScale emitE8M0Scale(Elementwise &e, Value range, Value isZero) const;
  void emitZeroPoint(Elementwise &e, Value smallest, Value used,
                     BlockScale &result) const;

  RecipeAttr recipe;
  ScaledType scaled;
  bool isInteger, isAffine, isE8M0;
  int64_t lo = 0, hi = 0;
  /// What amax, or the range of an affine block, is divided by.
  float largest;
};

/// `(value - zero) * scale` in f32. `zero` may be null.
Value emitDequantize(Elementwise &e, Value value, Value zero, Value scale);

} // namespace mlir::moeq

#endif // MOEQ_SUPPORT_NUMERICSRECIPE_H
