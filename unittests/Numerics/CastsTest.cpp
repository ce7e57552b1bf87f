//===- CastsTest.cpp - Conversions of small types, exhaustively -*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Against llvm::APFloat, which shares no code with the emitters.
//
//===----------------------------------------------------------------------===//

#include "Evaluate.h"

#include "moeq/Support/NumericsCasts.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::moeq;
using llvm::APFloat;
using llvm::APInt;

namespace {

enum class Kind { E4M3, E5M2, E2M1, E8M0 };

const llvm::fltSemantics &semanticsOf(Kind kind) {
  switch (kind) {
  case Kind::E4M3:
    return APFloat::Float8E4M3FN();
  case Kind::E5M2:
    return APFloat::Float8E5M2();
  case Kind::E2M1:
    return APFloat::Float4E2M1FN();
  case Kind::E8M0:
    return APFloat::Float8E8M0FNU();
  }
  llvm_unreachable("unknown kind");
}

FloatType typeOf(MLIRContext *context, Kind kind) {
  switch (kind) {
  case Kind::E4M3:
    return Float8E4M3FNType::get(context);
  case Kind::E5M2:
    return Float8E5M2Type::get(context);
  case Kind::E2M1:
    return Float4E2M1FNType::get(context);
  case Kind::E8M0:
    return Float8E8M0FNUType::get(context);
  }
  llvm_unreachable("unknown kind");
}

unsigned widthOf(Kind kind) { return kind == Kind::E2M1 ? 4 : 8; }

bool isNaN(uint32_t bits) { return (bits & 0x7fffffff) > 0x7f800000; }

/// The code of an f32, by APFloat, limited to the range first.
uint32_t encode(uint32_t bits, Kind kind) {
  if (isNaN(bits))
    return kind == Kind::E2M1 ? 7 : 0x7f;
  const llvm::fltSemantics &semantics = semanticsOf(kind);
  float limit = APFloat::getLargest(semantics).convertToFloat();
  APFloat number(std::clamp(floatOf(bits), -limit, limit));
  bool lost;
  number.convert(semantics, APFloat::rmNearestTiesToEven, &lost);
  return number.bitcastToAPInt().getZExtValue();
}

void checkDecode(Kind kind) {
  std::vector<uint32_t> codes(1u << widthOf(kind));
  std::iota(codes.begin(), codes.end(), 0);
  std::vector<uint32_t> results =
      evaluate(codes, false, [&](Elementwise &e, Value code) {
        return emitDecode(e, code, typeOf(e.getBuilder().getContext(), kind));
      });
  for (auto [code, result] : llvm::zip(codes, results)) {
    APFloat number(semanticsOf(kind), APInt(widthOf(kind), code));
    if (number.isNaN())
      EXPECT_TRUE(isNaN(result)) << "code " << code;
    else
      EXPECT_EQ(result, bitsOf(number.convertToFloat())) << "code " << code;
  }
}

/// Every f16 and bf16, what lies beside every code and every middle between two
/// codes, and 2^20 f32 spread over all bits.
std::vector<uint32_t> numbersFor(Kind kind) {
  std::vector<uint32_t> numbers;
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    numbers.push_back(
        bitsOf(APFloat(APFloat::IEEEhalf(), APInt(16, bits)).convertToFloat()));
    numbers.push_back(bits << 16);
  }
  std::vector<float> codes;
  for (uint32_t code = 0; code < (1u << widthOf(kind)); ++code) {
    APFloat number(semanticsOf(kind), APInt(widthOf(kind), code));
    if (number.isFinite())
      codes.push_back(number.convertToFloat());
  }
  llvm::sort(codes);
  for (auto [a, b] : llvm::zip(codes, ArrayRef(codes).drop_front()))
    for (float value : {a, (a + b) / 2})
      for (int32_t step : {-2, -1, 0, 1, 2})
        numbers.push_back(bitsOf(value) + step);
  for (uint32_t i = 0; i < (1u << 20); ++i)
    numbers.push_back(i * 2654435769u);
  return numbers;
}

void checkEncode(Kind kind) {
  std::vector<uint32_t> numbers = numbersFor(kind);
  std::vector<uint32_t> results =
      evaluate(numbers, true, [&](Elementwise &e, Value value) {
        return emitEncode(e, value, typeOf(e.getBuilder().getContext(), kind));
      });
  for (auto [number, result] : llvm::zip(numbers, results))
    ASSERT_EQ(result, encode(number, kind))
        << floatOf(number) << ", bits " << number;
}

TEST(Casts, DecodeE4M3) { checkDecode(Kind::E4M3); }
TEST(Casts, DecodeE5M2) { checkDecode(Kind::E5M2); }
TEST(Casts, DecodeE2M1) { checkDecode(Kind::E2M1); }
TEST(Casts, DecodeE8M0) { checkDecode(Kind::E8M0); }
TEST(Casts, EncodeE4M3) { checkEncode(Kind::E4M3); }
TEST(Casts, EncodeE5M2) { checkEncode(Kind::E5M2); }
TEST(Casts, EncodeE2M1) { checkEncode(Kind::E2M1); }

TEST(Casts, EncodeE8M0) {
  std::vector<uint32_t> numbers = numbersFor(Kind::E8M0);
  std::vector<uint32_t> results =
      evaluate(numbers, true, [](Elementwise &e, Value value) {
        return emitEncode(e, value,
                          Float8E8M0FNUType::get(e.getBuilder().getContext()));
      });
  for (auto [bits, result] : llvm::zip(numbers, results)) {
    float number = floatOf(bits);
    uint32_t want = 255;
    if (number == 0) {
      want = 0;
    } else if (number > 0) {
      // The power of two whose half and one and a half the number lies between.
      double value = std::min<double>(number, std::ldexp(1.0, 127));
      int exponent = -127;
      while (exponent < 127 && value >= 1.5 * std::ldexp(1.0, exponent))
        ++exponent;
      want = exponent + 127;
    }
    ASSERT_EQ(result, want) << number;
  }
}

TEST(Casts, EncodeBF16) {
  std::vector<uint32_t> numbers = numbersFor(Kind::E4M3);
  std::vector<uint32_t> results =
      evaluate(numbers, true, [](Elementwise &e, Value value) {
        return emitEncodeBF16(e, value);
      });
  for (auto [bits, result] : llvm::zip(numbers, results)) {
    APFloat number(floatOf(bits));
    bool lost;
    number.convert(APFloat::BFloat(), APFloat::rmNearestTiesToEven, &lost);
    if (number.isNaN())
      ASSERT_TRUE((result & 0x7fff) > 0x7f80) << bits;
    else
      ASSERT_EQ(result, number.bitcastToAPInt().getZExtValue()) << bits;
  }
}

TEST(Casts, Nibbles) {
  std::vector<uint32_t> codes(16);
  std::iota(codes.begin(), codes.end(), 0);
  for (bool isSigned : {true, false}) {
    std::vector<uint32_t> results =
        evaluate(codes, false, [&](Elementwise &e, Value code) {
          auto type = IntegerType::get(e.getBuilder().getContext(), 4,
                                       isSigned ? IntegerType::Signless
                                                : IntegerType::Unsigned);
          return emitNibbleToF32(e, code, type);
        });
    for (int code = 0; code < 16; ++code)
      EXPECT_EQ(floatOf(results[code]),
                isSigned && code >= 8 ? code - 16 : code);
  }
}

} // namespace
