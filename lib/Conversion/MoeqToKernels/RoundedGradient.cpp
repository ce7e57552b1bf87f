//===- RoundedGradient.cpp - Gradients rounded to bf16 ----------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The factors of both gradients, the derivative and the value of SiLU, are
// functions of the gate alone. Of each there are two bounds, with what the
// specification computes between them. A product with either bound, rounded to
// f32 and to bf16, is a bound on the result, since rounding is monotone: so the
// result is known where both are the same, for all gradients and ups, of any
// exponent. docs/Rationale.md derives the bounds.
//
//===----------------------------------------------------------------------===//

#include "RoundedGradient.h"
#include "RoundedWords.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::moeq;

/// How far the bounds are from the approximations, for gates x not below
/// -kLimit: of the derivative in units of s + x x s s (1 - s), with s the
/// sigmoid of x, of the value in units of itself.
static constexpr float kSlopeSlack = 6 * 0x1p-23f, kValueSlack = 11 * 0x1p-23f;
static constexpr float kLimit = 8.0f;

bool moeq::hasRoundedGradient(const ActivationParameters &parameters,
                              bool isWeighted) {
  switch (parameters.function) {
  case Activation::Silu:
  case Activation::Swiglu:
    return parameters.mode == ExpMode::Ieee;
  case Activation::Srelu:
    return !isWeighted;
  default:
    return false;
  }
}

static ActivationGradient
emitRoundedSiluGradient(KernelBuilder &k,
                        const ActivationParameters &parameters, Value grad,
                        Value gate, Value up, Value weight) {
  Elementwise e(k, k.getLoc());
  int64_t count = cast<VectorType>(gate.getType()).getNumElements();
  RoundedWords words(k, count);
  Value x = k.toF32(gate), scaled = k.toF32(grad);
  if (weight)
    scaled = e.mul(scaled, k.splat(weight, count));
  Value exp = words.exp2(e.mul(x, -0x1.715476p+0f));
  Value sigmoid = words.reciprocal(e.add(exp, 1.0f));
  // Of -0 the specification's value is 0.
  Value value = e.fma(x, sigmoid, 0.0f);
  Value product = e.mul(value, e.mul(exp, sigmoid));
  Value slope = e.add(sigmoid, product);
  Value slack = e.fma(product, x, sigmoid);

  using Words = RoundedWords::Words;
  auto round = [&](Value left, Value right) {
    return words.wordsOf(k.fromF32(e.mul(left, right), k.getBF16Type()));
  };
  // What is not zero tells which elements are not known, of these the sign of
  // gates below the limit.
  Value limit = arith::ConstantOp::create(
      k, DenseElementsAttr::get(cast<VectorType>(gate.getType()),
                                k.getFloatAttr(k.getBF16Type(), kLimit)));
  Words unknown = words.wordsOf(arith::AddFOp::create(k, gate, limit));
  for (Value &word : unknown)
    word = e.andI(word, 0x80008000);
  SmallVector<Words> results;
  auto addResult = [&](Words result, Words other, int32_t equal) {
    for (size_t i = 0; i < unknown.size(); ++i) {
      Value difference = e.xorI(result[i], other[i]);
      unknown[i] = e.orI(unknown[i], e.xorI(difference, k.i32(equal)));
    }
    results.push_back(result);
  };
  Value factor = up ? e.mul(scaled, k.toF32(up)) : scaled;
  // The other bound has the other sign. A NaN has none, so that it differs too,
  // which infinite gates give.
  addResult(round(factor, e.fma(slack, -kSlopeSlack, slope)),
            round(factor, e.fma(slack, -kSlopeSlack, e.neg(slope))),
            0x80008000);
  if (up)
    addResult(round(scaled, e.mul(value, 1.0f - kValueSlack)),
              round(scaled, e.mul(value, 1.0f + kValueSlack)), 0);

  Words grads = words.wordsOf(grad), gates = words.wordsOf(gate), ups;
  if (up)
    ups = words.wordsOf(up);
  Value any = unknown[0];
  for (Value word : ArrayRef(unknown).drop_front())
    any = e.orI(any, word);
  results = words.redo(
      words.isAbove(any, 0), results,
      [&](int64_t i) { return words.isAbove(words.halfOf(unknown, i), 0); },
      [&](Value number) -> SmallVector<Value> {
        Value ofNumber = words.numberOf(grads, number);
        ActivationGradient exact = emitActivationGradient(
            e, parameters, weight ? e.mul(ofNumber, weight) : ofNumber,
            words.numberOf(gates, number), words.numberOf(ups, number));
        if (!up)
          return {exact.gate};
        return {exact.gate, exact.up};
      });
  return {words.toBF16(results[0]), up ? words.toBF16(results[1]) : Value()};
}

ActivationGradient
moeq::emitRoundedGradient(KernelBuilder &k,
                          const ActivationParameters &parameters, Value grad,
                          Value gate, Value up, Value weight) {
  if (parameters.function != Activation::Srelu)
    return emitRoundedSiluGradient(k, parameters, grad, gate, up, weight);
  // The product of two bf16 is an f32, so that it is rounded once either way;
  // twice a bf16 is one.
  Value zero = arith::ConstantOp::create(k, k.getZeroAttr(gate.getType()));
  Value positive = arith::MaxNumFOp::create(k, gate, zero);
  Value slope = arith::AddFOp::create(k, positive, positive);
  return {arith::MulFOp::create(k, grad, slope), Value()};
}
