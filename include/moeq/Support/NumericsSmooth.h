//===- NumericsSmooth.h - Factors of SmoothQuant ----------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOEQ_SUPPORT_NUMERICSSMOOTH_H
#define MOEQ_SUPPORT_NUMERICSSMOOTH_H

#include "moeq/Dialect/Moeq/IR/Moeq.h"
#include "moeq/Support/Elementwise.h"

namespace mlir::moeq {

/// The larger of `amax`, the bits of an f32 as i32, and |x|: a NaN is above
/// infinity, which is above every number. It starts from 0.
Value emitAmax(Elementwise &e, Value amax, Value x);

/// The factor of `op` for the amax of an activation and of a weight, both as
/// bits.
Value emitSmoothFactor(Elementwise &e, SmoothOp op, Value activation,
                       Value weight);

} // namespace mlir::moeq

#endif // MOEQ_SUPPORT_NUMERICSSMOOTH_H
