//===- NumericsCasts.cpp - Exact conversions of small types -----*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "moeq/Support/NumericsCasts.h"

using namespace mlir;
using namespace mlir::moeq;
using arith::CmpIPredicate;

bool moeq::isSmallFloat(Type type) {
  return isa<Float8E4M3FNType, Float8E5M2Type, Float8E8M0FNUType,
             Float4E2M1FNType>(type);
}

Value moeq::emitToF32(Elementwise &e, Value value) {
  Type element = getElementTypeOrSelf(value.getType());
  if (element.isF32())
    return value;
  if (isa<IntegerType>(element))
    return e.signedToF32(value);
  return arith::ExtFOp::create(e.getBuilder(), e.getLoc(), e.f32Like(value),
                               value);
}

Value moeq::emitFromF32(Elementwise &e, Value value, Type type) {
  if (type.isF32())
    return value;
  return arith::TruncFOp::create(e.getBuilder(), e.getLoc(),
                                 Elementwise::shapedLike(value.getType(), type),
                                 value);
}

Value moeq::emitNibbleToI32(Elementwise &e, Value code, Type type) {
  return type.isUnsignedInteger() ? code : e.shrS(e.shl(code, 28), 28);
}

Value moeq::emitNibbleToF32(Elementwise &e, Value code, Type type) {
  if (auto format = dyn_cast<FloatType>(type))
    return emitDecode(e, code, format);
  return e.signedToF32(emitNibbleToI32(e, code, type));
}

namespace {
/// A sign, `exponent` and `mantissa` bits, as in e4m3fn, e5m2 and e2m1.
struct Format {
  unsigned exponent, mantissa;
  /// The largest finite code, and the code that a NaN encodes to.
  uint32_t maxCode, nanCode;

  int bias() const { return (1 << (exponent - 1)) - 1; }
  unsigned signBit() const { return exponent + mantissa; }
  uint32_t magnitudeMask() const { return (1u << signBit()) - 1; }
  /// By how far the mantissa of f32 is longer.
  unsigned shift() const { return 23 - mantissa; }
  /// The f32 bits of 2^n.
  static uint32_t powerBits(int n) {
    return static_cast<uint32_t>(127 + n) << 23;
  }
  static float power(int n) { return std::ldexp(1.0f, n); }
};
} // namespace

static Format getFormat(FloatType type) {
  if (isa<Float8E4M3FNType>(type))
    return {4, 3, 0x7e, 0x7f};
  if (isa<Float8E5M2Type>(type))
    return {5, 2, 0x7b, 0x7f};
  assert(isa<Float4E2M1FNType>(type) && "expects a small float");
  return {2, 1, 0x7, 0x7};
}

static Value emitDecodeE8M0(Elementwise &e, Value code) {
  Value bits = e.shl(code, 23);
  // 2^-127 is subnormal.
  bits = e.select(e.compareI(CmpIPredicate::eq, code, 0), e.i32(code, 0x400000),
                  bits);
  bits = e.select(e.compareI(CmpIPredicate::eq, code, 255),
                  e.i32(code, 0x7fc00000), bits);
  return e.fromBits(bits);
}

static Value emitEncodeE8M0(Elementwise &e, Value value) {
  Value bits = e.toBits(value);
  Value code = e.minU(e.shrU(e.addI(bits, 0x400000), 23), 254);
  // Between 2^-127 and 2^-126, which are 0x400000 and 0x800000, the middle is
  // not where it is above.
  Value isLowest = e.compareI(CmpIPredicate::ult, bits, 0x600000);
  code = e.select(isLowest, e.i32(code, 0), code);
  // Above Inf lie, as unsigned integers, the NaNs and all that is negative but
  // -0, which counts as 0.
  Value isNaN = e.compareI(CmpIPredicate::ugt, bits, 0x7f800000);
  code = e.select(isNaN, e.i32(code, 255), code);
  Value isMinusZero = e.compareI(CmpIPredicate::eq, bits, 0x80000000);
  return e.select(isMinusZero, e.i32(code, 0), code);
}

Value moeq::emitDecode(Elementwise &e, Value code, FloatType type) {
  if (isa<Float8E8M0FNUType>(type))
    return emitDecodeE8M0(e, code);
  Format format = getFormat(type);
  Value magnitude = e.andI(code, format.magnitudeMask());
  Value aligned = e.shl(magnitude, format.shift());
  // A normal number needs another bias. A subnormal one is put behind the
  // mantissa of the power of two above it, which is then taken off.
  int minExponent = 1 - format.bias();
  Value normal = e.addI(aligned, Format::powerBits(-format.bias()));
  Value subnormal =
      e.sub(e.fromBits(e.addI(aligned, Format::powerBits(minExponent))),
            Format::power(minExponent));
  Value isSubnormal =
      e.compareI(CmpIPredicate::ult, magnitude, 1u << format.mantissa);
  Value bits = e.select(isSubnormal, e.toBits(subnormal), normal);
  if (format.maxCode != format.magnitudeMask()) {
    Value isNaN = e.compareI(CmpIPredicate::ugt, magnitude,
                             isa<Float8E5M2Type>(type) ? 0x7c : 0x7e);
    bits = e.select(isNaN, e.i32(bits, 0x7fc00000), bits);
  }
  if (isa<Float8E5M2Type>(type)) {
    Value isInf = e.compareI(CmpIPredicate::eq, magnitude, 0x7c);
    bits = e.select(isInf, e.i32(bits, 0x7f800000), bits);
  }
  Value sign =
      e.shl(e.andI(code, 1u << format.signBit()), 31 - format.signBit());
  return e.fromBits(e.orI(bits, sign));
}

Value moeq::emitEncode(Elementwise &e, Value value, FloatType type) {
  if (isa<Float8E8M0FNUType>(type))
    return emitEncodeE8M0(e, value);
  Format format = getFormat(type);
  Value bits = e.toBits(value);
  Value magnitude = e.andI(bits, 0x7fffffff);
  Value isNaN = e.compareI(CmpIPredicate::ugt, magnitude, 0x7f800000);
  // Past the largest number nothing rounds: what is larger is that number.
  uint32_t maxBits =
      (format.maxCode << format.shift()) + Format::powerBits(-format.bias());
  Value limited = e.minU(magnitude, maxBits);
  // Normal: add half an ulp less one, and one more where the kept part is odd.
  unsigned shift = format.shift();
  Value odd = e.andI(e.shrU(limited, shift), 1);
  Value rounded = e.addI(e.addI(limited, (1u << (shift - 1)) - 1), odd);
  Value normal =
      e.subI(e.shrU(rounded, shift), static_cast<uint32_t>(127 - format.bias())
                                         << format.mantissa);
  // Subnormal: add the power of two whose ulp is the format's smallest number.
  int minExponent = 1 - format.bias();
  float magic =
      Format::power(minExponent - static_cast<int>(format.mantissa) + 23);
  Value subnormal = e.subI(e.toBits(e.add(e.fromBits(limited), magic)),
                           e.toBits(e.f32(value, magic)));
  Value isSubnormal =
      e.compareI(CmpIPredicate::ult, limited, Format::powerBits(minExponent));
  Value code = e.select(isSubnormal, subnormal, normal);
  Value sign = e.shrU(e.andI(bits, 0x80000000), 31 - format.signBit());
  return e.select(isNaN, e.i32(code, format.nanCode), e.orI(code, sign));
}

Value moeq::emitEncodeBF16(Elementwise &e, Value value) {
  Value bits = e.toBits(value);
  Value odd = e.andI(e.shrU(bits, 16), 1);
  Value rounded = e.shrU(e.addI(e.addI(bits, 0x7fff), odd), 16);
  Value quiet = e.orI(e.shrU(bits, 16), 0x40);
  return e.select(e.isNaN(value), quiet, rounded);
}
