//===- RoundedActivation.cpp - Activations rounded to bf16 ------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RoundedActivation.h"
#include "RoundedWords.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::moeq;

/// By how many units in the last place of f32 the approximation may differ from
/// the specification, for gates not below kLowestGate = -8. Relative errors, in
/// units of 2^-23: 3.7 from the argument of the exponential (|x log2 e| <= 11.6
/// has half a unit of 2^-21, and log2 e its own error), 2 of ex2.approx and 1
/// of rcp.approx (PTX ISA), 0.5 of each sum and product, 3 at most, and 1.5 of
/// the specification itself, 0.5 more with a weight: 11.7, or twice that in
/// units of a number's last place. One more is for the carry between halves of
/// a word.
static constexpr int32_t kUlps = 25;
static constexpr int32_t kLowestGate = 0xc100;

bool moeq::hasRoundedActivation(const ActivationParameters &parameters,
                                Type element, bool isWeighted) {
  switch (parameters.function) {
  case Activation::Silu:
  case Activation::Swiglu:
    return element.isBF16();
  case Activation::Relu:
  case Activation::Srelu:
    return element.getIntOrFloatBitWidth() == 16 && !isWeighted;
  default:
    return false;
  }
}

bool moeq::isRoundedInPlace(const ActivationParameters &parameters) {
  return parameters.function == Activation::Relu ||
         parameters.function == Activation::Srelu;
}

/// x / (1 + exp(-x)), times up and weight in the order of the specification.
static Value emitApproximate(KernelBuilder &k, RoundedWords &words,
                             ExpMode mode, Value gate, Value up, Value weight) {
  Elementwise e(k, k.getLoc());
  Value x = k.toF32(gate), exp = words.exp2(e.mul(x, -0x1.715476p+0f));
  Value sigmoid = words.reciprocal(e.add(exp, 1.0f));
  // Of -0 the specification's value is 0, but for approximate exponentials.
  Value value =
      mode == ExpMode::Approx ? e.mul(x, sigmoid) : e.fma(x, sigmoid, 0.0f);
  if (up)
    value = e.mul(value, k.toF32(up));
  return weight ? e.mul(value, k.splat(weight, kChunk)) : value;
}

static Value emitRoundedSilu(KernelBuilder &k,
                             const ActivationParameters &parameters, Value gate,
                             Value up, Value weight) {
  Elementwise e(k, k.getLoc());
  RoundedWords words(k, kChunk);
  Value approximate =
      emitApproximate(k, words, parameters.mode, gate, up, weight);
  Value rounded = k.fromF32(approximate, k.getBF16Type());
  if (parameters.mode == ExpMode::Approx)
    return rounded;
  SmallVector<Value> gates = words.wordsOf(gate), ups;
  if (up)
    ups = words.wordsOf(up);
  // What is rounded off, less half of a bf16's unit and kUlps: within kUlps of
  // the half it is among the 2 * kUlps largest integers of 16 bits.
  SmallVector<Value> rests = words.wordsOf(arith::TruncIOp::create(
      k, VectorType::get(kChunk, k.getI16Type()), e.toBits(approximate)));
  const int32_t half = 0x8000 + kUlps, nearest = 0x10000 - 2 * kUlps - 1;
  for (Value &rest : rests)
    rest = e.subI(rest, half << 16 | half);

  Value isUnsafe = arith::OrIOp::create(k, words.isAnyAbove(rests, nearest),
                                        words.isAnyAbove(gates, kLowestGate));
  SmallVector<RoundedWords::Words> results = words.redo(
      isUnsafe, {words.wordsOf(rounded)},
      [&](int64_t i) -> Value {
        return arith::OrIOp::create(
            k, words.isAbove(words.halfOf(rests, i), nearest),
            words.isAbove(words.halfOf(gates, i), kLowestGate));
      },
      [&](Value number) -> SmallVector<Value> {
        Value value =
            emitActivation(e, parameters, words.numberOf(gates, number),
                           words.numberOf(ups, number));
        return {weight ? e.mul(value, weight) : value};
      });
  return words.toBF16(results[0]);
}

Value moeq::emitRoundedActivation(KernelBuilder &k,
                                  const ActivationParameters &parameters,
                                  Value gate, Value up, Value weight) {
  if (isRoundedInPlace(parameters)) {
    // Each product of two such numbers is an f32, so that it is rounded once
    // either way.
    Value zero = arith::ConstantOp::create(k, k.getZeroAttr(gate.getType()));
    Value value = arith::MaximumFOp::create(k, gate, zero);
    return parameters.function == Activation::Relu
               ? value
               : Value(arith::MulFOp::create(k, value, value));
  }
  return emitRoundedSilu(k, parameters, gate, up, weight);
}
