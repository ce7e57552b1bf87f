//===- FunctionsTest.cpp - exp and activations within bounds ----*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evaluate.h"

#include "moeq/Support/NumericsMath.h"

#include "gtest/gtest.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace mlir::moeq;

namespace {

constexpr float inf = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

/// The distance of `value` from `exact` in ulps of the latter.
double ulps(float value, double exact) {
  float rounded = static_cast<float>(exact);
  if (std::isinf(rounded))
    return value == rounded ? 0 : inf;
  int exponent;
  std::frexp(exact, &exponent);
  double ulp = std::ldexp(1.0, std::max(exponent - 24, -149));
  return std::abs(value - exact) / ulp;
}

/// f32 spread over the bits of `low` to `high`, subnormals aside.
std::vector<uint32_t> numbersIn(float low, float high, uint32_t step = 2003) {
  std::vector<uint32_t> numbers;
  for (uint64_t bits = 0; bits <= 0xffffffff; bits += step)
    if (float number = floatOf(bits);
        number >= low && number <= high && std::abs(number) > 1e-30f)
      numbers.push_back(bits);
  return numbers;
}

void checkBound(const std::vector<uint32_t> &numbers, double bound,
                const Emitter &emit, llvm::function_ref<double(double)> exact) {
  std::vector<uint32_t> results = evaluate(numbers, true, emit);
  double worst = 0;
  float at = 0;
  for (auto [number, result] : llvm::zip(numbers, results)) {
    double distance = ulps(floatOf(result), exact(floatOf(number)));
    if (!(distance <= worst)) {
      worst = distance;
      at = floatOf(number);
    }
  }
  EXPECT_LE(worst, bound) << "at " << at;
}

Emitter activationOf(Activation function) {
  return
      [=](Elementwise &e, Value x) { return emitActivation(e, {function}, x); };
}

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double gelu(double x) { return 0.5 * x * std::erfc(-x / std::sqrt(2.0)); }
double geluTanh(double x) {
  return x /
         (1 + std::exp(-2 * std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
}

TEST(Functions, Exp) {
  checkBound(
      numbersIn(-110, 100, 211), 1,
      [](Elementwise &e, Value x) { return emitExp(e, x); },
      [](double x) { return std::exp(x); });
}

TEST(Functions, Sigmoid) {
  checkBound(
      numbersIn(-110, 100), 1,
      [](Elementwise &e, Value x) { return emitSigmoid(e, x); }, sigmoid);
}

TEST(Functions, Silu) {
  checkBound(numbersIn(-1e30f, 1e30f), 1, activationOf(Activation::Silu),
             [](double x) { return x * sigmoid(x); });
}

TEST(Functions, Gelu) {
  checkBound(numbersIn(-1e30f, 0), 1.7, activationOf(Activation::Gelu), gelu);
  checkBound(numbersIn(0, 1e30f), 1.7, activationOf(Activation::Gelu), gelu);
}

TEST(Functions, GeluTanh) {
  checkBound(numbersIn(-1e30f, 1e30f), 1, activationOf(Activation::GeluTanh),
             geluTanh);
}

TEST(Functions, GatedFunctionsMultiplyByUp) {
  std::vector<uint32_t> numbers = numbersIn(-80, 80, 10007);
  auto gated = [&](Activation function) {
    return evaluate(numbers, true, [&](Elementwise &e, Value x) {
      return emitActivation(e, {function}, x, e.f32(x, 0.7f));
    });
  };
  auto plain = [&](Activation function) {
    return evaluate(numbers, true, [&](Elementwise &e, Value x) {
      return emitActivation(e, {function}, x);
    });
  };
  for (auto [gate, function] : {std::pair(Activation::Swiglu, Activation::Silu),
                                std::pair(Activation::Geglu, Activation::Gelu),
                                std::pair(Activation::Reglu, Activation::Relu)})
    for (auto [with, without] : llvm::zip(gated(gate), plain(function)))
      ASSERT_EQ(floatOf(with), floatOf(without) * 0.7f);
}

TEST(Functions, ClampedSwiglu) {
  for (float up : {-9.0f, -0.5f, 0.0f, 3.0f, 9.0f}) {
    // A factor multiplies what a subnormal has lost.
    float low = up == 0 ? -1e30f : -50;
    auto exact = [&](double x) {
      double gate = std::min(x, 7.0);
      return gate * sigmoid(double(1.702f) * gate) *
             (std::clamp<double>(up, -7, 7) + 1);
    };
    checkBound(
        numbersIn(low, 1e30f), up == 0 ? 1 : 2,
        [&](Elementwise &e, Value x) {
          return emitActivation(e, {Activation::ClampedSwiglu}, x,
                                e.f32(x, up));
        },
        exact);
  }
}

TEST(Functions, Specials) {
  auto at = [](std::vector<float> xs, const Emitter &emit) {
    std::vector<uint32_t> bits;
    for (float x : xs)
      bits.push_back(bitsOf(x));
    std::vector<float> results;
    for (uint32_t result : evaluate(bits, true, emit))
      results.push_back(floatOf(result));
    return results;
  };
  for (Activation function :
       {Activation::Identity, Activation::Swiglu, Activation::ClampedSwiglu})
    EXPECT_TRUE(std::isnan(at({nan},
                              [&](Elementwise &e, Value x) {
                                Value up = isGated(function) ? e.f32(x, 1.0f)
                                                             : Value();
                                return emitActivation(e, {function}, x, up);
                              })[0]))
        << stringifyActivation(function).str();
  for (Activation function :
       {Activation::Relu, Activation::Srelu, Activation::Silu, Activation::Gelu,
        Activation::GeluTanh}) {
    std::vector<float> got =
        at({nan, inf, 0.0f, -inf, -1e38f, -1000.0f, -200.0f},
           activationOf(function));
    EXPECT_TRUE(std::isnan(got[0])) << stringifyActivation(function).str();
    EXPECT_EQ(got[1], inf) << stringifyActivation(function).str();
    for (float result : ArrayRef(got).drop_front(2))
      EXPECT_EQ(result, 0) << stringifyActivation(function).str();
  }
  EXPECT_EQ(at({-1e-40f}, activationOf(Activation::Silu))[0], -5e-41f);
  std::vector<float> exp = at({inf, -inf, 0, nan}, [](Elementwise &e, Value x) {
    return emitExp(e, x);
  });
  EXPECT_EQ(exp[0], inf);
  EXPECT_EQ(exp[1], 0);
  EXPECT_EQ(exp[2], 1);
  EXPECT_TRUE(std::isnan(exp[3]));
}

TEST(Functions, ExpDifferenceKeepsWhatIsRoundedOff) {
  // The difference of these has more bits than f32.
  std::vector<uint32_t> numbers = numbersIn(-90, -1e-3f);
  std::vector<uint32_t> results =
      evaluate(numbers, true, [](Elementwise &e, Value x) {
        return emitExpDifference(e, x, e.f32(x, 3.14159274f));
      });
  for (auto [number, result] : llvm::zip(numbers, results)) {
    double exact = std::exp(double(floatOf(number)) - double(3.14159274f));
    if (exact > 1e-37)
      ASSERT_LE(ulps(floatOf(result), exact), 1) << floatOf(number);
  }
}

TEST(Functions, OrderKeysSortLikeNumbers) {
  std::vector<float> sorted = {nan, -inf,   -1e30f, -1, -1e-40f,
                               0,   1e-40f, 1,      inf};
  std::vector<uint32_t> bits;
  for (float x : sorted)
    bits.push_back(bitsOf(x));
  bits.push_back(bitsOf(-0.0f));
  std::vector<uint32_t> keys = evaluate(
      bits, true, [](Elementwise &e, Value x) { return emitOrderKey(e, x); });
  for (size_t i = 1; i < sorted.size(); ++i)
    EXPECT_LT(int32_t(keys[i - 1]), int32_t(keys[i])) << sorted[i];
  EXPECT_EQ(keys.back(), keys[5]) << "two zeros";
  EXPECT_GT(int32_t(keys[0]), INT32_MIN);
}

TEST(Functions, SumsAreCompensated) {
  // 1 + n 2^-25 rounds to 1 at each step.
  std::vector<uint32_t> results =
      evaluate({bitsOf(0x1p-25f)}, true, [](Elementwise &e, Value x) {
        CompensatedSum sum{e.f32(x, 1.0f), e.f32(x, 0.0f)};
        for (int i = 0; i < 64; ++i)
          sum = emitSum(e, sum, {x, e.f32(x, 0.0f)});
        return e.add(sum.high, sum.low);
      });
  EXPECT_EQ(floatOf(results[0]), 1 + 0x1p-19f);
}

} // namespace
