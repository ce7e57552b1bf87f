//===- Elementwise.h - Arithmetic on scalars and vectors --------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOEQ_SUPPORT_ELEMENTWISE_H
#define MOEQ_SUPPORT_ELEMENTWISE_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"

namespace mlir::moeq {

/// Emits f32 and i32 arithmetic, elementwise: each value may be a scalar or a
/// vector, and results have the shape of the operands. The operations are
/// IEEE-754, rounded to nearest even, without fast-math flags, and nothing is
/// contracted: where a product and a sum round once, that is `fma`.
class Elementwise {
public:
  Elementwise(OpBuilder &builder, Location loc) : builder(builder), loc(loc) {}

  OpBuilder &getBuilder() const { return builder; }
  Location getLoc() const { return loc; }

  /// The type `element` in the shape of `like`.
  static Type shapedLike(Type like, Type element);
  /// The f32 or i32 type in the shape of `like`.
  Type f32Like(Value like) const;
  Type i32Like(Value like) const;

  /// A constant in the shape of `like`.
  Value f32(Value like, float value) const;
  Value i32(Value like, uint32_t value) const;

  // Floating point.
  Value add(Value a, Value b) const;
  Value add(Value a, float b) const { return add(a, f32(a, b)); }
  Value sub(Value a, Value b) const;
  Value sub(Value a, float b) const { return sub(a, f32(a, b)); }
  Value sub(float a, Value b) const { return sub(f32(b, a), b); }
  Value mul(Value a, Value b) const;
  Value mul(Value a, float b) const { return mul(a, f32(a, b)); }
  Value div(Value a, Value b) const;
  Value div(Value a, float b) const { return div(a, f32(a, b)); }
  Value div(float a, Value b) const { return div(f32(b, a), b); }
  /// a * b + c, rounded once.
  Value fma(Value a, Value b, Value c) const;
  Value fma(Value a, float b, Value c) const { return fma(a, f32(a, b), c); }
  Value fma(Value a, Value b, float c) const { return fma(a, b, f32(a, c)); }
  Value fma(Value a, float b, float c) const {
    return fma(a, f32(a, b), f32(a, c));
  }
  Value neg(Value a) const;
  Value abs(Value a) const;
  /// The larger and the smaller number; a NaN operand loses.
  Value maxNumber(Value a, Value b) const;
  Value minNumber(Value a, Value b) const;
  /// a limited to lo..hi; NaN gives lo.
  Value clamp(Value a, float lo, float hi) const;
  /// The larger and the smaller value; NaN if an operand is one.
  Value maximum(Value a, Value b) const;
  Value minimum(Value a, Value b) const;
  Value compare(arith::CmpFPredicate predicate, Value a, Value b) const;
  Value compare(arith::CmpFPredicate predicate, Value a, float b) const {
    return compare(predicate, a, f32(a, b));
  }
  Value isNaN(Value a) const {
    return compare(arith::CmpFPredicate::UNO, a, a);
  }

  // Integers, i32.
  Value addI(Value a, Value b) const;
  Value addI(Value a, uint32_t b) const { return addI(a, i32(a, b)); }
  Value subI(Value a, Value b) const;
  Value subI(Value a, uint32_t b) const { return subI(a, i32(a, b)); }
  Value andI(Value a, uint32_t b) const;
  Value xorI(Value a, Value b) const;
  Value orI(Value a, Value b) const;
  Value orI(Value a, uint32_t b) const { return orI(a, i32(a, b)); }
  Value shl(Value a, uint32_t b) const;
  Value shrU(Value a, uint32_t b) const;
  Value shrS(Value a, uint32_t b) const;
  Value maxU(Value a, Value b) const;
  Value maxU(Value a, uint32_t b) const { return maxU(a, i32(a, b)); }
  Value minU(Value a, uint32_t b) const;
  Value maxS(Value a, int32_t b) const;
  Value minS(Value a, int32_t b) const;
  Value compareI(arith::CmpIPredicate predicate, Value a, uint32_t b) const;

  Value select(Value condition, Value a, Value b) const;

  /// The bits of an f32 as i32, and back.
  Value toBits(Value a) const;
  Value fromBits(Value a) const;
  /// The i32 nearest to a, halfway to even. |a| <= 2^22.
  Value roundToI32(Value a) const;
  /// An i8 zero-extended to i32; an i32 cut to i8; an i32 to f32.
  Value extendU8(Value a) const;
  Value truncateToI8(Value a) const;
  Value signedToF32(Value a) const;

private:
  OpBuilder &builder;
  Location loc;
};

} // namespace mlir::moeq

#endif // MOEQ_SUPPORT_ELEMENTWISE_H
