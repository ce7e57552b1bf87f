//===- Evaluate.h - Runs what an emitter emits ------------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOEQ_UNITTESTS_NUMERICS_EVALUATE_H
#define MOEQ_UNITTESTS_NUMERICS_EVALUATE_H

#include "moeq/Support/Elementwise.h"

#include <cstring>
#include <functional>

namespace mlir::moeq {

inline uint32_t bitsOf(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}
inline float floatOf(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

/// Emits a value of the f32 or i32 values given, which are scalars or vectors.
using Emitter = std::function<Value(Elementwise &, Value)>;

/// The bits of what `emit` makes of each of `inputs`, run on this CPU as
/// scalars and as vectors of 8, which must agree. `isFloat` tells f32 inputs
/// from i32.
std::vector<uint32_t> evaluate(const std::vector<uint32_t> &inputs,
                               bool isFloat, const Emitter &emit);

} // namespace mlir::moeq

#endif // MOEQ_UNITTESTS_NUMERICS_EVALUATE_H
