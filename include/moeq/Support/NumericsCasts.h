//===- NumericsCasts.h - Exact conversions of small types -------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Conversions between f32 and the types that values and scales are stored in.
// Formats: OCP 8-bit floating point (e4m3fn, e5m2), OCP MX v1.0 (e2m1, E8M0).
//
//===----------------------------------------------------------------------===//

#ifndef MOEQ_SUPPORT_NUMERICSCASTS_H
#define MOEQ_SUPPORT_NUMERICSCASTS_H

#include "moeq/Support/Elementwise.h"

namespace mlir::moeq {

/// Whether `type` is f8E4M3FN, f8E5M2, f8E8M0FNU or f4E2M1FN: a float whose
/// conversions are ours to lower.
bool isSmallFloat(Type type);

/// The value of `value` (f32, f16, bf16, a small float, i8 or i32) as f32,
/// exact. An i8 is signed. Of floats an `arith.extf`, which
/// `moeq-expand-small-floats` or a target's own instruction lowers.
Value emitToF32(Elementwise &e, Value value);

/// The f32 `value` rounded once to `type` (f32, f16, bf16 or a small float), to
/// nearest even: an `arith.truncf`, whose meaning for a small float is that of
/// emitEncode.
Value emitFromF32(Elementwise &e, Value value, Type type);

/// The 4-bit code in the low four bits of an i32, of type `type` (i4, ui4 or
/// f4E2M1FN), as f32, exact.
Value emitNibbleToF32(Elementwise &e, Value code, Type type);

/// The same of an i4 or ui4 as i32.
Value emitNibbleToI32(Elementwise &e, Value code, Type type);

/// The f32 of a code of `format`, exact, by integer arithmetic. `code` is an
/// i32 that holds the format's bits and zeros above. A NaN gives 0x7fc00000
/// with the code's sign, Inf (e5m2) gives Inf; E8M0 code b gives 2^(b-127), 255
/// a NaN. Nothing depends on how the target treats f32 subnormals.
Value emitDecode(Elementwise &e, Value code, FloatType format);

/// The code (i32, zeros above the format's bits) of an f32 in `format`:
/// nearest, halfway to even; out of range and Inf saturate; the sign of zero is
/// kept; a NaN gives 0x7f, or 7 in e2m1, which has none. To E8M0 the nearest
/// power of two, halfway up: below 2^-127 and zero give code 0, above 2^127 and
/// Inf 254, negative numbers and NaN 255.
Value emitEncode(Elementwise &e, Value value, FloatType format);

/// The f32 `value` as bits of a bf16 in an i32: nearest, halfway to even,
/// overflow to Inf, subnormals kept, a NaN made quiet.
Value emitEncodeBF16(Elementwise &e, Value value);

} // namespace mlir::moeq

#endif // MOEQ_SUPPORT_NUMERICSCASTS_H
