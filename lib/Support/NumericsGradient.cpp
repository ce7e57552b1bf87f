//===- NumericsGradient.cpp - Derivatives of activations --------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "moeq/Support/NumericsMath.h"

using namespace mlir;
using namespace mlir::moeq;
using arith::CmpFPredicate;

/// Beyond, the derivatives of the smooth functions are 0 or 1 to all bits.
static constexpr float kFar = 128.0f;

/// `x` within what matters; a NaN stays one.
static Value emitNear(Elementwise &e, Value x) {
  return e.select(e.isNaN(x), x, e.clamp(x, -kFar, kFar));
}

/// The derivative of x * sigmoid(z), sigmoid(z) + weight * sigmoid(z) *
/// sigmoid(-z) with weight = x * z'. The second sigmoid is 1 minus the first,
/// which would cancel.
static Value emitSigmoidProductSlope(Elementwise &e, Value weight, Value z,
                                     ExpMode mode) {
  Value sigmoid = emitSigmoid(e, z, mode);
  Value rest = emitSigmoid(e, e.neg(z), mode);
  return e.fma(e.mul(weight, rest), sigmoid, sigmoid);
}

/// Of x sigmoid(alpha x).
static Value emitSiluSlope(Elementwise &e, Value x, float alpha, ExpMode mode) {
  Value z = emitNear(e, e.mul(x, alpha));
  return emitSigmoidProductSlope(e, z, z, mode);
}

/// Phi(x) + x phi(x). Phi is gelu(x) / x, and 1/2 near 0.
static Value emitGeluSlope(Elementwise &e, Value x, ExpMode mode) {
  const float inverseRoot2Pi = 0x1.988454p-2f;
  x = emitNear(e, x);
  Value gelu = emitActivation(e, {Activation::Gelu, mode}, x);
  Value isTiny = e.compare(CmpFPredicate::OLT, e.abs(x), 0x1p-30f);
  Value phi = e.select(isTiny, e.f32(x, 0.5f), e.div(gelu, x));
  Value density = emitExp(e, e.mul(e.mul(x, x), -0.5f), mode);
  return e.fma(e.mul(x, inverseRoot2Pi), density, phi);
}

/// Of x sigmoid(z), z = c0 x + c1 x^3, as in emitActivation.
static Value emitGeluTanhSlope(Elementwise &e, Value x, ExpMode mode) {
  const float c0 = 0x1.988454p+0f, c1 = 0x1.2444f2p-4f;
  x = emitNear(e, x);
  Value square = e.mul(x, x);
  Value z = e.mul(x, e.fma(square, c1, c0));
  Value weight = e.mul(x, e.fma(square, 3 * c1, c0));
  return emitSigmoidProductSlope(e, weight, z, mode);
}

/// `value` where x > 0, else 0.
static Value emitWherePositive(Elementwise &e, Value x, Value value) {
  return e.select(e.compare(CmpFPredicate::OGT, x, 0.0f), value,
                  e.f32(value, 0.0f));
}

/// The derivative of a plain function, or of that of the gate.
static Value emitSlope(Elementwise &e, const ActivationParameters &p, Value x) {
  switch (p.function) {
  case Activation::Identity:
    return e.f32(x, 1.0f);
  case Activation::Relu:
  case Activation::Reglu:
    return emitWherePositive(e, x, e.f32(x, 1.0f));
  case Activation::Srelu:
    return emitWherePositive(e, x, e.mul(x, 2.0f));
  case Activation::Silu:
  case Activation::Swiglu:
    return emitSiluSlope(e, x, 1.0f, p.mode);
  case Activation::Gelu:
  case Activation::Geglu:
    return emitGeluSlope(e, x, p.mode);
  case Activation::GeluTanh:
    return emitGeluTanhSlope(e, x, p.mode);
  case Activation::ClampedSwiglu:
    return emitSiluSlope(e, x, p.alpha, p.mode);
  }
  llvm_unreachable("unknown activation");
}

/// `value` where x is not beyond `limit`, else 0.
static Value emitWithin(Elementwise &e, Value x, float limit, Value value) {
  return e.select(e.compare(CmpFPredicate::OGT, x, limit), e.f32(value, 0.0f),
                  value);
}

ActivationGradient moeq::emitActivationGradient(Elementwise &e,
                                                const ActivationParameters &p,
                                                Value grad, Value gate,
                                                Value up) {
  if (!up)
    return {e.mul(grad, emitSlope(e, p, gate)), Value()};
  bool isClamped = p.function == Activation::ClampedSwiglu;
  Value limited = isClamped ? e.minimum(gate, e.f32(gate, p.limit)) : gate;
  Value factor = up;
  if (isClamped) {
    factor = e.maximum(e.minimum(up, e.f32(up, p.limit)), e.f32(up, -p.limit));
    factor = e.add(factor, 1.0f);
  }
  Value ofGate = e.mul(e.mul(grad, factor), emitSlope(e, p, limited));
  // f(g), as the product with a factor of 1.
  Value one = e.f32(gate, isClamped ? 0.0f : 1.0f);
  ActivationGradient result{ofGate,
                            e.mul(grad, emitActivation(e, p, gate, one))};
  if (isClamped) {
    result.gate = emitWithin(e, gate, p.limit, result.gate);
    result.up = emitWithin(e, e.abs(up), p.limit, result.up);
  }
  return result;
}
