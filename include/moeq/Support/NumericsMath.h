//===- NumericsMath.h - exp and the activation functions --------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Functions of f32, elementwise, of IEEE arithmetic only: no library is called,
// and the bits are the same on every target. The bounds were measured against
// f64 over all of f32 (unittests/Numerics); an ulp is that of the result.
//
// Under ExpMode::Approx, exp is `math.exp2` with `afn` and a quotient has
// `arcp` and `afn`: what a target makes of these, on a GPU ex2.approx and
// rcp.approx, on a CPU the math library and a division, whose bits differ.
//
//===----------------------------------------------------------------------===//

#ifndef MOEQ_SUPPORT_NUMERICSMATH_H
#define MOEQ_SUPPORT_NUMERICSMATH_H

#include "moeq/Dialect/Moeq/IR/Moeq.h"
#include "moeq/Support/Elementwise.h"

namespace mlir::moeq {

/// exp(x), at most 1 ulp, subnormal results included; Inf past 88.73.
Value emitExp(Elementwise &e, Value x, ExpMode mode = ExpMode::Ieee);

/// exp(a - b), at most 1 ulp: what the difference rounds off is kept.
Value emitExpDifference(Elementwise &e, Value a, Value b);

/// An f32 sum, and what it has rounded off so far.
struct CompensatedSum {
  Value high, low;
};
/// The sum of two sums. The order of the two is free; the result is that of
/// `high + low`, which rounds once.
CompensatedSum emitSum(Elementwise &e, CompensatedSum a, CompensatedSum b);

/// An i32 that orders the f32 `x` as a signed integer: -0 is equal to 0, and a
/// NaN is below every number. It is never the smallest i32.
Value emitOrderKey(Elementwise &e, Value x);

/// 1 / (1 + exp(-x)), at most 1 ulp.
Value emitSigmoid(Elementwise &e, Value x, ExpMode mode = ExpMode::Ieee);

/// What an activation function is besides its name. The defaults of clamped
/// SwiGLU are those of gpt-oss.
struct ActivationParameters {
  Activation function;
  ExpMode mode = ExpMode::Ieee;
  float limit = 7.0f;
  float alpha = 1.702f;
};

/// The parameters of a `moeq.activate`, its gradient, or a `moeq.act_quant`.
template <typename OpTy>
ActivationParameters getActivationParameters(OpTy op) {
  ActivationParameters parameters{op.getFunction(), op.getExp()};
  if (std::optional<APFloat> limit = op.getLimit())
    parameters.limit = limit->convertToFloat();
  if (std::optional<APFloat> alpha = op.getAlpha())
    parameters.alpha = alpha->convertToFloat();
  return parameters;
}

/// The value of an activation function by the table of `moeq.activate`. `up` is
/// null unless the function is gated. At most 2 ulp; a gated function
/// multiplies after that by `up`, and rounds once more.
Value emitActivation(Elementwise &e, const ActivationParameters &parameters,
                     Value gate, Value up = {});

/// The gradients of an activation by its inputs, each times `grad`, by the
/// table of `moeq.activate_grad`. `up` is null unless the function is gated. A
/// derivative is off by at most 2^-21 (of `srelu`, half an ulp); each product
/// rounds once more.
struct ActivationGradient {
  Value gate, up;
};
ActivationGradient
emitActivationGradient(Elementwise &e, const ActivationParameters &parameters,
                       Value grad, Value gate, Value up = {});

} // namespace mlir::moeq

#endif // MOEQ_SUPPORT_NUMERICSMATH_H
