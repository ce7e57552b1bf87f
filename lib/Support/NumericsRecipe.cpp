//===- NumericsRecipe.cpp - Scales and codes under a recipe -----*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "moeq/Support/NumericsRecipe.h"

#include "moeq/Support/NumericsCasts.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace mlir::moeq;
using arith::CmpFPredicate;
using arith::CmpIPredicate;

static constexpr float largestF32 = std::numeric_limits<float>::max();
static constexpr uint32_t infBits = 0x7f800000;

RecipeEmitter::RecipeEmitter(RecipeAttr recipe, ScaledType scaled)
    : recipe(recipe), scaled(scaled), isInteger(scaled.isInteger()),
      isAffine(recipe.getZeroPoint() == ZeroPointRule::Affine),
      isE8M0(isa<Float8E8M0FNUType>(scaled.getScale())),
      largest(scaled.getMaxValue()) {
  if (isInteger) {
    std::tie(lo, hi) = recipe.getRange(scaled.getValue());
    largest = isAffine ? hi - lo : hi;
  }
}

//===----------------------------------------------------------------------===//
// Statistics
//===----------------------------------------------------------------------===//

SmallVector<Value> RecipeEmitter::emitInitialStatistics(Elementwise &e,
                                                        Value like) const {
  const float inf = std::numeric_limits<float>::infinity();
  if (isAffine)
    return {e.f32(like, -inf), e.f32(like, inf)};
  return {e.i32(like, 0)};
}

SmallVector<Value> RecipeEmitter::emitUpdate(Elementwise &e,
                                             ValueRange statistics,
                                             Value x) const {
  if (isAffine)
    return {e.maximum(statistics[0], x), e.minimum(statistics[1], x)};
  return {e.maxU(statistics[0], e.andI(e.toBits(x), 0x7fffffff))};
}

SmallVector<Value> RecipeEmitter::emitMerge(Elementwise &e, ValueRange a,
                                            ValueRange b) const {
  if (isAffine)
    return {e.maximum(a[0], b[0]), e.minimum(a[1], b[1])};
  return {e.maxU(a[0], b[0])};
}

//===----------------------------------------------------------------------===//
// Scales
//===----------------------------------------------------------------------===//

/// `quotient` a / b, or a product, in f32 or in f64 rounded once to f32.
template <typename Op>
static Value emitRounded(Elementwise &e, ScaleCompute compute, Value a,
                         Value b) {
  OpBuilder &builder = e.getBuilder();
  Location loc = e.getLoc();
  if (compute == ScaleCompute::F32)
    return Op::create(builder, loc, a, b);
  Type wide = Elementwise::shapedLike(a.getType(), builder.getF64Type());
  Value left = arith::ExtFOp::create(builder, loc, wide, a);
  Value right = arith::ExtFOp::create(builder, loc, wide, b);
  Value result = Op::create(builder, loc, left, right);
  return arith::TruncFOp::create(builder, loc, a.getType(), result);
}

/// 1 / x, limited to f32.
static Value emitReciprocal(Elementwise &e, Value x) {
  Value reciprocal = e.div(1.0f, x);
  Value isInf = e.compare(CmpFPredicate::OEQ, reciprocal,
                          std::numeric_limits<float>::infinity());
  return e.select(isInf, e.f32(x, largestF32), reciprocal);
}

/// The smallest power of two that is not below the positive f32 `x`.
static Value emitPowerAbove(Elementwise &e, Value x) {
  // A subnormal number has no exponent of its own: scale it up meanwhile.
  Value isSmall = e.compare(CmpFPredicate::OLT, x, 0x1p-100f);
  Value normal = e.select(isSmall, e.mul(x, 0x1p64f), x);
  Value power = e.fromBits(e.andI(e.addI(e.toBits(normal), 0x7fffff), infBits));
  return e.select(isSmall, e.mul(power, 0x1p-64f), power);
}

RecipeEmitter::Scales RecipeEmitter::emitFormula(Elementwise &e,
                                                 Value amax) const {
  bool isPower = recipe.getScaleRound() == ScaleRound::Pow2Up;
  auto rounded = [&](Value scale) {
    return isPower ? emitPowerAbove(e, scale) : scale;
  };
  ScaleCompute compute = recipe.getCompute();
  Value qmax = e.f32(amax, largest);
  switch (recipe.getScale()) {
  case ScaleFormula::AmaxDivMax:
    return {rounded(emitRounded<arith::DivFOp>(e, compute, amax, qmax)), {}};
  case ScaleFormula::AmaxMulRcp:
    return {rounded(emitRounded<arith::MulFOp>(e, compute, amax,
                                               e.f32(amax, 1.0f / largest))),
            {}};
  case ScaleFormula::RcpOfQuant: {
    Value quant = emitRounded<arith::DivFOp>(e, compute, qmax, amax);
    quant = e.minNumber(quant, e.f32(quant, largestF32));
    // The power of two below the quant scale is above the scale.
    if (isPower)
      quant = e.fromBits(e.andI(e.toBits(quant), infBits));
    return {e.div(1.0f, quant), quant};
  }
  }
  llvm_unreachable("unknown formula");
}

/// The E8M0 code (i32) of a block whose amax is a number.
Value RecipeEmitter::emitE8M0Code(Elementwise &e, Value amax) const {
  if (recipe.getScaleRound() == ScaleRound::E8M0Floor) {
    int32_t emax = std::ilogb(largest);
    return e.maxS(e.subI(e.shrU(e.toBits(amax), 23), emax), 0);
  }
  // The exponent, and one more where the mantissa is not zero. Code 0 is
  // already 2^-127, the upper half of the subnormal numbers.
  Value bits = e.toBits(emitFormula(e, amax).scale);
  Value exponent = e.shrU(bits, 23);
  Value mantissa = e.andI(bits, 0x7fffff);
  Value isSubnormal = e.compareI(CmpIPredicate::eq, exponent, 0);
  Value isAbove =
      e.select(isSubnormal, e.compareI(CmpIPredicate::ugt, mantissa, 0x400000),
               e.compareI(CmpIPredicate::ne, mantissa, 0));
  Value code = e.select(isAbove, e.addI(exponent, 1), exponent);
  return e.minU(code, 254);
}

/// `amax` may be Inf or NaN.
RecipeEmitter::BlockScale
RecipeEmitter::emitE8M0Scale(Elementwise &e, Value amax, Value isZero) const {
  OpBuilder &b = e.getBuilder();
  Value code = emitE8M0Code(e, amax);
  if (recipe.getZeroBlock() != ZeroBlock::Floor) {
    uint32_t zero = recipe.getZeroBlock() == ZeroBlock::One ? 127 : 0;
    code = e.select(isZero, e.i32(code, zero), code);
  }
  Value bits = e.toBits(amax);
  Value isNonfinite = e.compareI(CmpIPredicate::uge, bits, infBits);
  uint32_t special = recipe.getNonfinite() == Nonfinite::TeFp8 ? 127 : 255;
  code = e.select(isNonfinite, e.i32(code, special), code);
  if (recipe.getNonfinite() == Nonfinite::TeMx) {
    Value isInf = e.compareI(CmpIPredicate::eq, bits, infBits);
    code = e.select(isInf, e.i32(code, 254), code);
  }
  // 2^(127 - code), of which code 254 gives a subnormal number.
  Value factor = emitDecode(e, e.subI(e.i32(code, 254), code),
                            cast<FloatType>(scaled.getScale()));
  Value isNaN = e.compareI(CmpIPredicate::eq, code, 255);
  factor = e.select(
      isNaN, e.f32(factor, std::numeric_limits<float>::quiet_NaN()), factor);
  Value stored = arith::BitcastOp::create(
      b, e.getLoc(), Elementwise::shapedLike(code.getType(), scaled.getScale()),
      e.truncateToI8(code));
  return {stored, {}, factor, {}};
}

/// The largest and the smallest positive number of a scale type.
static std::pair<float, float> getScaleLimits(Type type) {
  const llvm::fltSemantics &semantics =
      cast<FloatType>(type).getFloatSemantics();
  auto number = [](APFloat value) {
    bool lost;
    value.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven, &lost);
    return value.convertToFloat();
  };
  return {number(APFloat::getSmallest(semantics)),
          number(APFloat::getLargest(semantics))};
}

void RecipeEmitter::emitZeroPoint(Elementwise &e, Value smallest, Value used,
                                  BlockScale &result) const {
  Value quotient = e.div(smallest, used);
  Value isNaN = e.isNaN(quotient);
  Value zero = e.roundToI32(e.clamp(quotient, -0x1p20f, 0x1p20f));
  zero = e.minS(e.maxS(e.subI(e.i32(zero, lo), zero), lo), hi);
  zero = e.select(isNaN, e.i32(zero, 0), zero);
  result.zeroCode = zero;
  if (!scaled.getZero())
    return;
  result.zero = scaled.getZero().isInteger(8)
                    ? e.truncateToI8(zero)
                    : emitFromF32(e, e.signedToF32(zero), scaled.getZero());
}

RecipeEmitter::BlockScale
RecipeEmitter::emitScale(Elementwise &e, ValueRange statistics) const {
  // Of an affine block, its range takes the place of amax.
  Value amax = isAffine ? e.sub(statistics[0], statistics[1])
                        : e.fromBits(statistics[0]);
  Value isZero = e.compare(CmpFPredicate::OEQ, amax, 0.0f);
  if (float floor = recipe.getAmaxFloor().convertToFloat(); floor > 0)
    amax = e.maximum(amax, e.f32(amax, floor));
  if (isE8M0)
    return emitE8M0Scale(e, amax, isZero);

  Scales scales = emitFormula(e, amax);
  Value &scale = scales.scale, &quant = scales.quant;
  auto override = [&](Value condition, float newScale, float newQuant) {
    scale = e.select(condition, e.f32(scale, newScale), scale);
    if (quant)
      quant = e.select(condition, e.f32(quant, newQuant), quant);
  };
  if (recipe.getZeroBlock() == ZeroBlock::One)
    override(isZero, 1.0f, 1.0f);
  else if (recipe.getZeroBlock() == ZeroBlock::Min)
    override(isZero, 0x1p-126f, 0x1p126f);
  // A scale that is stored is positive and finite.
  auto [smallest, biggest] = getScaleLimits(scaled.getScale());
  scale = e.clamp(scale, smallest, biggest);
  Value bits = e.toBits(amax);
  Value isNonfinite = e.compareI(CmpIPredicate::uge, bits, infBits);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  if (recipe.getNonfinite() == Nonfinite::TeFp8)
    override(isNonfinite, 1.0f, 1.0f);
  else
    override(isNonfinite, nan, nan);
  if (recipe.getNonfinite() == Nonfinite::TeMx)
    override(e.compareI(CmpIPredicate::eq, bits, infBits), 0x1p127f, 0x1p-127f);

  BlockScale result;
  result.stored = emitFromF32(e, scale, scaled.getScale());
  // The elements are quantized with what a reader of the scale finds.
  bool isRounded = !scaled.getScale().isF32();
  Value used = isRounded ? emitToF32(e, result.stored) : scale;
  if (recipe.getApply() == ScaleApply::Divide)
    result.factor = used;
  else if (recipe.getApply() == ScaleApply::MulQuant && !isRounded)
    result.factor = quant;
  else
    result.factor = emitReciprocal(e, used);
  if (isAffine)
    emitZeroPoint(e, statistics[1], used, result);
  return result;
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

bool RecipeEmitter::scalesByPowers() const { return isE8M0 && !isInteger; }

bool RecipeEmitter::divides() const {
  return recipe.getApply() == ScaleApply::Divide && !isE8M0;
}

bool RecipeEmitter::quotientsFit() const {
  return !isAffine && !scaled.isPacked() && scaled.getScale().isF32() &&
         recipe.getNonfinite() == Nonfinite::Propagate &&
         (!isInteger || lo <= -hi);
}

Value RecipeEmitter::emitCodeOfQuotient(Elementwise &e, Value quotient) const {
  if (!isInteger)
    return emitFromF32(e, quotient, cast<FloatType>(scaled.getValue()));
  // Beside 1.5 * 2^23 the unit in the last place is 1, and the low bits are the
  // nearest integer, ties to even.
  return e.truncateToI8(e.toBits(e.add(quotient, 0x1.8p23f)));
}

Value RecipeEmitter::emitCode(Elementwise &e, const BlockScale &scale,
                              Value x) const {
  Value q = x;
  if (scale.factor)
    q = divides() ? e.div(x, scale.factor) : e.mul(x, scale.factor);
  if (!isInteger) {
    auto format = cast<FloatType>(scaled.getValue());
    return scaled.isPacked() ? emitEncode(e, q, format)
                             : emitFromF32(e, q, format);
  }
  q = e.select(e.isNaN(q), e.f32(q, 0.0f), q);
  Value code;
  if (isAffine) {
    code = e.addI(e.roundToI32(e.clamp(q, -0x1p20f, 0x1p20f)), scale.zeroCode);
    code = e.minS(e.maxS(code, lo), hi);
  } else {
    code = e.roundToI32(e.clamp(q, lo, hi));
  }
  return scaled.isPacked() ? e.andI(code, 15) : e.truncateToI8(code);
}

Value moeq::emitDequantize(Elementwise &e, Value value, Value zero,
                           Value scale) {
  return e.mul(zero ? e.sub(value, zero) : value, scale);
}
