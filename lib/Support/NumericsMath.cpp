//===- NumericsMath.cpp - exp and the activation functions ------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Polynomials are minimax, fitted by the Remez exchange in 50 digits under
// relative weight and rounded to f32.
//
//===----------------------------------------------------------------------===//

#include "moeq/Support/NumericsMath.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::moeq;
using arith::CmpFPredicate;

/// The polynomial with these coefficients, highest power first, by Horner's
/// rule.
static Value emitPolynomial(Elementwise &e, Value x,
                            ArrayRef<float> coefficients) {
  Value sum = e.f32(x, coefficients.front());
  for (float coefficient : coefficients.drop_front())
    sum = e.fma(sum, x, coefficient);
  return sum;
}

namespace {
/// A number as the unevaluated sum of two. `low` may be null.
struct Sum {
  Value high, low;
};

/// An exponential as a sum times a power of two. The sum is no subnormal, so
/// that its product with a number rounds relatively; the power comes last.
struct Exponential {
  Sum sum;
  Value power;
};
} // namespace

/// Below, exp(x) is 0 even times 2^95.
static constexpr float kSmallestExponent = -170.0f;

/// exp(x), to about 2^-29: x = n ln 2 + r, |r| <= ln 2 / 2, by Cody and Waite;
/// exp(r) = 1 + r + r^2 p(r); times 2^n in two steps, since n may reach past
/// the exponents of f32 at either end.
static Exponential emitExponential(Elementwise &e, Sum x) {
  const float log2e = 0x1.715476p+0f, ln2High = 0x1.62e4p-1f,
              ln2Low = 0x1.7f7d1cp-20f;
  Value limited = e.clamp(x.high, kSmallestExponent, 89.0f);
  Value shifted = e.fma(limited, log2e, 0x1.8p23f);
  Value n = e.sub(shifted, 0x1.8p23f);
  // n * ln2High is exact; `rest` is what r lost.
  Value reduced = e.fma(n, -ln2High, limited);
  Value r = e.fma(n, -ln2Low, reduced);
  Value rest = e.fma(n, e.f32(n, -ln2Low), e.sub(reduced, r));
  if (x.low) {
    Value both = e.add(r, x.low);
    rest = e.add(rest, e.add(e.sub(r, both), x.low));
    r = both;
  }
  Value p = emitPolynomial(e, r,
                           {0x1.6a2434p-10f, 0x1.1239e2p-7f, 0x1.5558f2p-5f,
                            0x1.555492p-3f, 0x1.fffffcp-2f});
  Value one = e.add(r, 1.0f);
  Value lost = e.add(e.sub(r, e.sub(one, 1.0f)), rest);
  Value tail = e.fma(e.mul(p, r), r, lost);
  Value high = e.add(one, tail);
  Value low = e.sub(tail, e.sub(high, one));

  Value exponent =
      e.subI(e.toBits(shifted), e.toBits(e.f32(shifted, 0x1.8p23f)));
  Value half = e.shrS(exponent, 1);
  auto power = [&](Value k) { return e.fromBits(e.shl(e.addI(k, 127), 23)); };
  Value first = power(half);
  return {{e.mul(high, first), e.mul(low, first)},
          power(e.subI(exponent, half))};
}

/// exp(x), rounded.
static Value emitRoundedExp(Elementwise &e, Sum x) {
  Exponential exp = emitExponential(e, x);
  return e.mul(exp.sum.high, exp.power);
}

static Value emitApproxExp(Elementwise &e, Value x) {
  return math::Exp2Op::create(e.getBuilder(), e.getLoc(),
                              e.mul(x, 0x1.715476p+0f),
                              arith::FastMathFlags::afn);
}

static Value emitApproxQuotient(Elementwise &e, Value a, Value b) {
  return arith::DivFOp::create(e.getBuilder(), e.getLoc(), a, b,
                               arith::FastMathFlags::arcp |
                                   arith::FastMathFlags::afn);
}

Value moeq::emitExp(Elementwise &e, Value x, ExpMode mode) {
  if (mode == ExpMode::Approx)
    return emitApproxExp(e, x);
  return e.select(e.isNaN(x), x, emitRoundedExp(e, {x, {}}));
}

CompensatedSum moeq::emitSum(Elementwise &e, CompensatedSum a,
                             CompensatedSum b) {
  // By Knuth.
  Value high = e.add(a.high, b.high);
  Value back = e.sub(high, a.high);
  Value lost = e.add(e.sub(a.high, e.sub(high, back)), e.sub(b.high, back));
  return {high, e.add(e.add(a.low, b.low), lost)};
}

Value moeq::emitExpDifference(Elementwise &e, Value a, Value b) {
  // By Knuth; past the range of exp the low part means nothing, or is NaN.
  Value difference = e.sub(a, b);
  Value back = e.sub(difference, a);
  Value low = e.sub(e.sub(a, e.sub(difference, back)), e.add(b, back));
  Value isInRange = e.compare(CmpFPredicate::OGT, difference, -104.0f);
  low = e.select(isInRange, low, e.f32(low, 0.0f));
  return e.select(e.isNaN(difference), difference,
                  emitRoundedExp(e, {difference, low}));
}

Value moeq::emitOrderKey(Elementwise &e, Value x) {
  Value bits = e.toBits(e.add(x, 0.0f));
  // Of a negative number all bits but the sign are flipped.
  Value key = e.xorI(bits, e.andI(e.shrS(bits, 31), 0x7fffffff));
  return e.select(e.isNaN(x), e.i32(key, 0x80000001), key);
}

/// x, for a product in which Inf times 0 shall be 0.
static Value emitFinite(Elementwise &e, Value x) {
  const float largest = std::numeric_limits<float>::max();
  return e.clamp(x, -largest, largest);
}

/// x / (1 + exp(-z)), or the sigmoid alone where x is null. With t = exp(-|z|),
/// which cannot overflow, it is x t / (1 + t) where z is negative and x / (1 +
/// t) elsewhere; what each step rounds off goes into one correction of the
/// quotient, which the power of two in the numerator's t follows.
static Value emitTimesSigmoid(Elementwise &e, Value x, Sum z, ExpMode mode) {
  if (mode == ExpMode::Approx) {
    Value exp = emitApproxExp(e, e.neg(z.high));
    return emitApproxQuotient(e, x ? x : e.f32(exp, 1.0f), e.add(exp, 1.0f));
  }
  Value isNegative = e.compare(CmpFPredicate::OLT, z.high, 0.0f);
  // Formed from y where z is -y, so that both share the exponential. A select,
  // since LLVM 22 would have x86 form |z| of a bf16 as one, of which
  // VCVTNEPS2BF16 flushes the subnormal ones.
  auto negated = z.high.getDefiningOp<arith::NegFOp>();
  Value minusAbs =
      negated
          ? e.select(e.compare(CmpFPredicate::OLT, negated.getOperand(), 0.0f),
                     negated.getOperand(), z.high)
          : e.select(isNegative, z.high, e.neg(z.high));
  Value tLow = z.low ? e.select(isNegative, z.low, e.neg(z.low)) : Value();
  auto [part, power] = emitExponential(e, {minusAbs, tLow});
  Sum t = {e.mul(part.high, power), e.mul(part.low, power)};
  Value sum = e.add(t.high, 1.0f);
  Value sumLow = e.add(e.add(e.sub(1.0f, sum), t.high), t.low);

  Value numerator, numeratorLow;
  if (x) {
    Value finite = emitFinite(e, x);
    Value product = e.mul(finite, part.high);
    Value lost =
        e.fma(finite, part.low, e.fma(finite, part.high, e.neg(product)));
    numerator = e.select(isNegative, product, x);
    numeratorLow = e.select(isNegative, lost, e.f32(x, 0.0f));
  } else {
    numerator = e.select(isNegative, part.high, e.f32(sum, 1.0f));
    numeratorLow = e.select(isNegative, part.low, e.f32(sum, 0.0f));
  }
  Value reciprocal = e.div(1.0f, sum);
  Value quotient = e.mul(numerator, reciprocal);
  Value minusQuotient = e.neg(quotient);
  Value rest = e.add(e.fma(minusQuotient, sum, numerator), numeratorLow);
  rest = e.fma(minusQuotient, sumLow, rest);
  Value corrected = e.fma(rest, reciprocal, quotient);
  // Inf has no rest; NaN stays one.
  Value result = e.select(e.isNaN(rest), quotient, corrected);
  Value isZero = e.compare(CmpFPredicate::OLT, z.high, kSmallestExponent);
  power = e.select(isNegative, power, e.f32(power, 1.0f));
  result = e.mul(result, e.select(isZero, e.f32(power, 0.0f), power));
  return e.select(e.isNaN(z.high), z.high, result);
}

Value moeq::emitSigmoid(Elementwise &e, Value x, ExpMode mode) {
  return emitTimesSigmoid(e, {}, {x, {}}, mode);
}

/// exp(-a^2 / 2) from the square of a.
static Exponential emitGaussian(Elementwise &e, Sum square, ExpMode mode) {
  Value half = e.mul(square.high, -0.5f);
  if (mode == ExpMode::Approx)
    return {{emitApproxExp(e, half), e.f32(half, 0.0f)}, e.f32(half, 1.0f)};
  return emitExponential(e, {half, e.mul(square.low, -0.5f)});
}

/// x Phi(x). Near 0, x / 2 + x^2 p(x^2). Elsewhere, with a = |x|, d = a + 1.5
/// and t = (a - 1.5) / d, Phi(-a) = exp(-a^2 / 2) p(t) / d. The latter is
/// formed as a sum of two throughout, since each step would add to the error.
static Value emitGelu(Elementwise &e, Value x, ExpMode mode) {
  // Beyond, the result is x or 0.
  Value limited = e.clamp(x, -14.5f, 14.5f), a = e.abs(limited);
  Value square = e.mul(a, a);
  Value squareLow = e.fma(a, a, e.neg(square));
  Value near =
      emitPolynomial(e, square,
                     {-0x1.00d528p-17f, 0x1.dbff1p-14f, -0x1.36fd42p-10f,
                      0x1.46ce4cp-7f, -0x1.105832p-4f, 0x1.988454p-2f});
  near = e.add(e.fma(square, near, e.mul(x, 0.5f)), e.mul(squareLow, near));

  Value sum = e.add(a, 1.5f), sumLow = e.sub(a, e.sub(sum, 1.5f));
  Value reciprocal = e.div(1.0f, sum);
  Value lost = e.fma(e.neg(sum), reciprocal, 1.0f);
  lost = e.fma(e.neg(sumLow), reciprocal, lost);
  Value reciprocalLow = e.mul(lost, reciprocal);
  Value difference = e.sub(a, 1.5f);
  Value t = e.mul(difference, reciprocal);
  Value tLow = e.fma(difference, reciprocal, e.neg(t));
  tLow = e.fma(difference, reciprocalLow, tLow);

  const float c0 = 0x1.3c144p-1f;
  Value slope = emitPolynomial(
      e, t,
      {0x1.292e26p-11f, 0x1.1fb11ap-11f, -0x1.60bf28p-10f, -0x1.66f2aap-9f,
       -0x1.3224f4p-9f, 0x1.04ac72p-8f, 0x1.20d842p-6f, 0x1.253e24p-6f,
       -0x1.d70002p-5f, -0x1.8f9056p-3f});
  Value rise = e.mul(t, slope);
  Value riseLow = e.fma(tLow, slope, e.fma(t, slope, e.neg(rise)));
  Value p = e.add(rise, c0);
  Value pLow = e.add(e.add(e.sub(c0, p), rise), riseLow);

  auto product = [&](Sum left, Sum right) -> Sum {
    Value high = e.mul(left.high, right.high);
    Value low = e.fma(left.high, right.high, e.neg(high));
    low = e.fma(left.low, right.high, low);
    return {high, e.fma(left.high, right.low, low)};
  };
  auto [gaussian, power] = emitGaussian(e, {square, squareLow}, mode);
  Sum phi = product(gaussian, product({p, pLow}, {reciprocal, reciprocalLow}));
  Sum both = product({limited, e.f32(x, 0.0f)}, phi);
  Value tail = e.mul(e.add(both.high, both.low), power);
  Value isNegative = e.compare(CmpFPredicate::OLT, x, 0.0f);
  Value far = e.select(isNegative, tail, e.sub(x, tail));
  Value isNear = e.compare(CmpFPredicate::OLT, a, 0.65f);
  return e.select(e.isNaN(x), x, e.select(isNear, near, far));
}

/// The tanh form: with z = sqrt(8 / pi) (x + 0.044715 x^3), x / (1 + exp(-z)),
/// which equals 0.5 x (1 + tanh(z / 2)) and cancels nothing. z is kept as a
/// sum.
static Value emitGeluTanh(Elementwise &e, Value x, ExpMode mode) {
  const float c0 = 0x1.988454p+0f, c0Low = -0x1.857936p-25f;
  const float c1 = 0x1.2444f2p-4f, c1Low = 0x1.49b16ap-29f;
  // Past 16 the result is x or 0; the limit keeps the squares finite.
  Value limited = e.clamp(x, -16.0f, 16.0f);
  Value square = e.mul(limited, limited);
  Value squareLow = e.fma(limited, limited, e.neg(square));
  Value cubic = e.mul(square, c1);
  Value cubicLow = e.fma(square, e.f32(x, c1), e.neg(cubic));
  cubicLow =
      e.fma(squareLow, e.f32(x, c1), e.fma(square, e.f32(x, c1Low), cubicLow));
  // The sum of both terms and, by Knuth, what it rounds off.
  Value sum = e.add(cubic, c0);
  Value back = e.sub(sum, c0);
  Value lost = e.add(e.sub(c0, e.sub(sum, back)), e.sub(cubic, back));
  Value sumLow = e.add(e.add(lost, cubicLow), c0Low);
  Value z = e.mul(limited, sum);
  Value zLow = e.fma(limited, sumLow, e.fma(limited, sum, e.neg(z)));
  return emitTimesSigmoid(e, x, {e.select(e.isNaN(x), x, z), zLow}, mode);
}

static Value emitClampedSwiglu(Elementwise &e, const ActivationParameters &p,
                               Value gate, Value up) {
  gate = e.minimum(gate, e.f32(gate, p.limit));
  up = e.maximum(e.minimum(up, e.f32(up, p.limit)), e.f32(up, -p.limit));
  Value z = e.mul(gate, p.alpha);
  // Far below, where the low part would be NaN, the sigmoid is 0 as it is.
  Value zLow = e.fma(gate, e.f32(gate, p.alpha), e.neg(z));
  zLow =
      e.select(e.compare(CmpFPredicate::OLT, z, -200.0f), e.f32(z, 0.0f), zLow);
  return e.mul(emitTimesSigmoid(e, gate, {z, zLow}, p.mode), e.add(up, 1.0f));
}

Value moeq::emitActivation(Elementwise &e, const ActivationParameters &p,
                           Value gate, Value up) {
  auto relu = [&] { return e.maximum(gate, e.f32(gate, 0.0f)); };
  auto silu = [&] { return emitTimesSigmoid(e, gate, {gate, {}}, p.mode); };
  switch (p.function) {
  case Activation::Identity:
    return gate;
  case Activation::Relu:
    return relu();
  case Activation::Srelu: {
    Value value = relu();
    return e.mul(value, value);
  }
  case Activation::Silu:
    return silu();
  case Activation::Gelu:
    return emitGelu(e, gate, p.mode);
  case Activation::GeluTanh:
    return emitGeluTanh(e, gate, p.mode);
  case Activation::Swiglu:
    return e.mul(silu(), up);
  case Activation::Geglu:
    return e.mul(emitGelu(e, gate, p.mode), up);
  case Activation::Reglu:
    return e.mul(relu(), up);
  case Activation::ClampedSwiglu:
    return emitClampedSwiglu(e, p, gate, up);
  }
  llvm_unreachable("unknown activation");
}
