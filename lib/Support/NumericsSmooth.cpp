//===- NumericsSmooth.cpp - Factors of SmoothQuant --------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "moeq/Support/NumericsSmooth.h"

#include "moeq/Support/NumericsMath.h"

#include <limits>

using namespace mlir;
using namespace mlir::moeq;

Value moeq::emitAmax(Elementwise &e, Value amax, Value x) {
  return e.maxU(amax, e.andI(e.toBits(x), 0x7fffffff));
}

/// ln(x) of a positive, normal and finite f32, to about 2 ulp of the larger of
/// it and 1: x = 2^n m with m in [sqrt(1/2), sqrt(2)), and ln m = 2 atanh(t),
/// t = (m - 1) / (m + 1), |t| < 0.172, by the series t + t^3/3 + ... + t^9/9.
static Value emitLog(Elementwise &e, Value x) {
  // The bits of sqrt(1/2) less those of 1: its mantissa rounds up an exponent.
  constexpr uint32_t one = 0x3f800000, below = 0x3f3504f3;
  Value bits = e.addI(e.toBits(x), one - below);
  Value exponent = e.shrS(bits, 23);
  Value mantissa = e.fromBits(e.addI(e.andI(bits, 0x007fffff), below));
  Value n = e.signedToF32(e.subI(exponent, 127));
  Value t = e.div(e.sub(mantissa, 1.0f), e.add(mantissa, 1.0f));
  Value z = e.mul(t, t), series = e.f32(t, 1.0f / 9);
  for (float coefficient : {1.0f / 7, 1.0f / 5, 1.0f / 3, 1.0f})
    series = e.fma(series, z, coefficient);
  return e.fma(n, 0x1.62e43p-1f, e.mul(e.mul(t, 2.0f), series));
}

Value moeq::emitSmoothFactor(Elementwise &e, SmoothOp op, Value activation,
                             Value weight) {
  float alpha = op.getAlpha().convertToFloat(),
        floor = op.getFloor().convertToFloat();
  Value a = e.fromBits(activation), w = e.fromBits(weight);
  auto log = [&](Value amax) {
    return emitLog(e, e.clamp(amax, floor, std::numeric_limits<float>::max()));
  };
  Value exponent = e.fma(log(a), alpha, e.mul(log(w), alpha - 1));
  Value factor;
  if (op.getPowerOfTwo()) {
    Value power = e.roundToI32(e.mul(exponent, 0x1.715476p+0f));
    power = e.minS(e.maxS(power, -126), 127);
    factor = e.fromBits(e.shl(e.addI(power, 127), 23));
  } else {
    factor = emitExp(e, exponent);
  }
  // Both are positive: their sum is a NaN where one of them is.
  Value sum = e.add(a, w);
  return e.select(e.isNaN(sum), sum, factor);
}
