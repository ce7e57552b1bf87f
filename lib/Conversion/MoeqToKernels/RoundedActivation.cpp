//===- RoundedActivation.cpp - Activations rounded to bf16 ------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RoundedActivation.h"
#include "ColumnChunk.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
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

namespace {
/// A chunk of bf16 at work.
class RoundedActivation {
public:
  RoundedActivation(KernelBuilder &k, const ActivationParameters &parameters,
                    Value gate, Value up, Value weight)
      : k(k), e(k, k.getLoc()), chunks(k, k.getBF16Type()),
        parameters(parameters), gate(gate), up(up), weight(weight) {}

  Value emit();

private:
  static constexpr int64_t kWords = kChunk / 2;

  Value emitApproximate();
  Value emitWords(Value approximate);
  Value emitExact(Value number, ArrayRef<Value> gates, ArrayRef<Value> ups);

  Value call(StringRef intrinsic, Value x);
  /// The words of a vector of 16 bits, two elements each.
  SmallVector<Value> wordsOf(Value vector);
  /// By how much element `number`, an i32, is shifted in its word; of `words`
  /// that word, and the element.
  Value shiftOf(Value number) { return e.shl(e.andI(number, 1), 4); }
  Value wordOf(ArrayRef<Value> words, Value number);
  Value halfOf(ArrayRef<Value> words, Value number);
  /// Whether an element is above `limit` (unsigned).
  Value isAbove(Value half, int32_t limit) {
    return e.compareI(arith::CmpIPredicate::ugt, half, limit);
  }
  Value isAnyAbove(ArrayRef<Value> words, int32_t limit);
  SmallVector<Value> replace(ValueRange words, Value number,
                             ArrayRef<Value> gates, ArrayRef<Value> ups);

  KernelBuilder &k;
  Elementwise e;
  ChunkEmitter chunks;
  const ActivationParameters &parameters;
  Value gate, up, weight;
};
} // namespace

Value RoundedActivation::call(StringRef intrinsic, Value x) {
  SmallVector<Value> results;
  for (int64_t i = 0; i < kChunk; ++i)
    results.push_back(LLVM::CallIntrinsicOp::create(
                          k, k.getF32Type(), k.getStringAttr(intrinsic),
                          ValueRange{vector::ExtractOp::create(k, x, i)})
                          .getResult(0));
  return vector::FromElementsOp::create(k, cast<VectorType>(x.getType()),
                                        results);
}

/// x / (1 + exp(-x)), times up and weight in the order of the specification.
Value RoundedActivation::emitApproximate() {
  Value x = k.toF32(gate);
  Value exp = call("llvm.nvvm.ex2.approx.ftz.f", e.mul(x, -0x1.715476p+0f));
  Value value = e.mul(x, call("llvm.nvvm.rcp.approx.ftz.f", e.add(exp, 1.0f)));
  if (up)
    value = e.mul(value, k.toF32(up));
  return weight ? e.mul(value, k.splat(weight, kChunk)) : value;
}

SmallVector<Value> RoundedActivation::wordsOf(Value vector) {
  Value words = vector::BitCastOp::create(
      k, VectorType::get(kWords, k.getI32Type()), vector);
  SmallVector<Value> result;
  for (int64_t i = 0; i < kWords; ++i)
    result.push_back(vector::ExtractOp::create(k, words, i));
  return result;
}

Value RoundedActivation::wordOf(ArrayRef<Value> words, Value number) {
  Value word = words[0];
  for (int64_t i = 1; i < kWords; ++i)
    word = k.select(e.compareI(arith::CmpIPredicate::ult, number, 2 * i), word,
                    words[i]);
  return word;
}

Value RoundedActivation::halfOf(ArrayRef<Value> words, Value number) {
  return e.andI(
      arith::ShRUIOp::create(k, wordOf(words, number), shiftOf(number)),
      0xffff);
}

Value RoundedActivation::isAnyAbove(ArrayRef<Value> words, int32_t limit) {
  Value largest = words[0];
  for (Value word : words.drop_front())
    largest = chunks.maximumOfWords(largest, word);
  return arith::OrIOp::create(k, isAbove(e.andI(largest, 0xffff), limit),
                              isAbove(e.shrU(largest, 16), limit));
}

/// `words` with the exact element `number`.
SmallVector<Value> RoundedActivation::replace(ValueRange words, Value number,
                                              ArrayRef<Value> gates,
                                              ArrayRef<Value> ups) {
  Value shift = shiftOf(number);
  Value bits = arith::ShLIOp::create(k, emitExact(number, gates, ups), shift);
  Value mask = arith::ShLIOp::create(k, k.i32(0xffff), shift);
  Value place = e.shrU(number, 1);
  SmallVector<Value> next;
  for (auto [i, old] : llvm::enumerate(words)) {
    Value kept = arith::AndIOp::create(
        k, old, arith::XOrIOp::create(k, mask, k.i32(-1)));
    Value word = arith::OrIOp::create(k, kept, bits);
    next.push_back(
        k.select(e.compareI(arith::CmpIPredicate::eq, place, i), word, old));
  }
  return next;
}

/// The bits of element `number`, as the specification says.
Value RoundedActivation::emitExact(Value number, ArrayRef<Value> gates,
                                   ArrayRef<Value> ups) {
  auto number32 = [&](ArrayRef<Value> words) {
    return words.empty() ? Value()
                         : e.fromBits(e.shl(halfOf(words, number), 16));
  };
  Value value = emitActivation(e, parameters, number32(gates), number32(ups));
  if (weight)
    value = e.mul(value, weight);
  Value rounded = arith::TruncFOp::create(k, k.getBF16Type(), value);
  return arith::ExtUIOp::create(
      k, k.getI32Type(), arith::BitcastOp::create(k, k.getI16Type(), rounded));
}

Value RoundedActivation::emit() {
  Value approximate = emitApproximate();
  Value rounded = k.fromF32(approximate, k.getBF16Type());
  if (parameters.mode == ExpMode::Approx)
    return rounded;
  SmallVector<Value> gates = wordsOf(gate), ups, results = wordsOf(rounded);
  if (up)
    ups = wordsOf(up);
  // What is rounded off, less half of a bf16's unit and kUlps: within kUlps of
  // the half it is among the 2 * kUlps largest integers of 16 bits.
  Value low = arith::TruncIOp::create(
      k, VectorType::get(kChunk, k.getI16Type()), e.toBits(approximate));
  SmallVector<Value> rests = wordsOf(low);
  const int32_t half = 0x8000 + kUlps, nearest = 0x10000 - 2 * kUlps - 1;
  for (Value &rest : rests)
    rest = e.subI(rest, half << 16 | half);

  Value isUnsafe = arith::OrIOp::create(k, isAnyAbove(rests, nearest),
                                        isAnyAbove(gates, kLowestGate));
  SmallVector<Value> exact = k.ifElse(
      isUnsafe,
      [&] {
        // The elements to do, a bit each: almost always one.
        Value unsafe = k.i32(0);
        for (int64_t i = 0; i < kChunk; ++i) {
          auto half = [&](ArrayRef<Value> words) {
            Value word = words[i / 2];
            return i % 2 ? e.shrU(word, 16) : e.andI(word, 0xffff);
          };
          Value isNear =
              arith::OrIOp::create(k, isAbove(half(rests), nearest),
                                   isAbove(half(gates), kLowestGate));
          unsafe = arith::OrIOp::create(
              k, unsafe, k.select(isNear, k.i32(1 << i), k.i32(0)));
        }
        Value count = arith::IndexCastOp::create(
            k, k.getIndexType(), math::CtPopOp::create(k, unsafe));
        SmallVector<Value> inits = results;
        inits.push_back(unsafe);
        SmallVector<Value> done = k.forLoop(
            k.index(0), count, k.index(1), inits,
            [&](Value, ValueRange carried) {
              Value left = carried.back();
              Value number =
                  math::CountTrailingZerosOp::create(k, left).getResult();
              SmallVector<Value> next =
                  replace(carried.drop_back(), number, gates, ups);
              next.push_back(arith::AndIOp::create(k, left, e.subI(left, 1)));
              return next;
            });
        done.pop_back();
        return done;
      },
      [&] { return results; });
  Value words = vector::FromElementsOp::create(
      k, VectorType::get(kWords, k.getI32Type()), exact);
  return vector::BitCastOp::create(k, VectorType::get(kChunk, k.getBF16Type()),
                                   words);
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
  return RoundedActivation(k, parameters, gate, up, weight).emit();
}
