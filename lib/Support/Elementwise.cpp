//===- Elementwise.cpp - Arithmetic on scalars and vectors ------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "moeq/Support/Elementwise.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;
using namespace mlir::moeq;

Type Elementwise::shapedLike(Type like, Type element) {
  auto shaped = dyn_cast<VectorType>(like);
  return shaped ? Type(shaped.clone(element)) : element;
}
Type Elementwise::f32Like(Value like) const {
  return shapedLike(like.getType(), builder.getF32Type());
}
Type Elementwise::i32Like(Value like) const {
  return shapedLike(like.getType(), builder.getI32Type());
}

static Value constant(OpBuilder &builder, Location loc, Type type,
                      TypedAttr scalar) {
  if (auto shaped = dyn_cast<VectorType>(type))
    scalar = DenseElementsAttr::get(shaped, ArrayRef<Attribute>(scalar));
  return arith::ConstantOp::create(builder, loc, scalar);
}
Value Elementwise::f32(Value like, float value) const {
  return constant(builder, loc, f32Like(like), builder.getF32FloatAttr(value));
}
Value Elementwise::i32(Value like, uint32_t value) const {
  return constant(builder, loc, i32Like(like),
                  builder.getI32IntegerAttr(static_cast<int32_t>(value)));
}

//===----------------------------------------------------------------------===//
// Floating point
//===----------------------------------------------------------------------===//

Value Elementwise::add(Value a, Value b) const {
  return arith::AddFOp::create(builder, loc, a, b);
}
Value Elementwise::sub(Value a, Value b) const {
  return arith::SubFOp::create(builder, loc, a, b);
}
Value Elementwise::mul(Value a, Value b) const {
  return arith::MulFOp::create(builder, loc, a, b);
}
Value Elementwise::div(Value a, Value b) const {
  return arith::DivFOp::create(builder, loc, a, b);
}
Value Elementwise::fma(Value a, Value b, Value c) const {
  return math::FmaOp::create(builder, loc, a, b, c);
}
Value Elementwise::neg(Value a) const {
  return arith::NegFOp::create(builder, loc, a);
}
Value Elementwise::abs(Value a) const {
  return fromBits(andI(toBits(a), 0x7fffffff));
}
Value Elementwise::maxNumber(Value a, Value b) const {
  return arith::MaxNumFOp::create(builder, loc, a, b);
}
Value Elementwise::minNumber(Value a, Value b) const {
  return arith::MinNumFOp::create(builder, loc, a, b);
}
Value Elementwise::clamp(Value a, float lo, float hi) const {
  return minNumber(maxNumber(a, f32(a, lo)), f32(a, hi));
}
Value Elementwise::maximum(Value a, Value b) const {
  return arith::MaximumFOp::create(builder, loc, a, b);
}
Value Elementwise::minimum(Value a, Value b) const {
  return arith::MinimumFOp::create(builder, loc, a, b);
}
Value Elementwise::compare(arith::CmpFPredicate predicate, Value a,
                           Value b) const {
  return arith::CmpFOp::create(builder, loc, predicate, a, b);
}

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

Value Elementwise::addI(Value a, Value b) const {
  return arith::AddIOp::create(builder, loc, a, b);
}
Value Elementwise::subI(Value a, Value b) const {
  return arith::SubIOp::create(builder, loc, a, b);
}
Value Elementwise::andI(Value a, uint32_t b) const {
  return arith::AndIOp::create(builder, loc, a, i32(a, b));
}
Value Elementwise::xorI(Value a, Value b) const {
  return arith::XOrIOp::create(builder, loc, a, b);
}
Value Elementwise::orI(Value a, Value b) const {
  return arith::OrIOp::create(builder, loc, a, b);
}
Value Elementwise::shl(Value a, uint32_t b) const {
  return b == 0 ? a : Value(arith::ShLIOp::create(builder, loc, a, i32(a, b)));
}
Value Elementwise::shrU(Value a, uint32_t b) const {
  return b == 0 ? a : Value(arith::ShRUIOp::create(builder, loc, a, i32(a, b)));
}
Value Elementwise::shrS(Value a, uint32_t b) const {
  return arith::ShRSIOp::create(builder, loc, a, i32(a, b));
}
Value Elementwise::maxU(Value a, Value b) const {
  return arith::MaxUIOp::create(builder, loc, a, b);
}
Value Elementwise::minU(Value a, uint32_t b) const {
  return arith::MinUIOp::create(builder, loc, a, i32(a, b));
}
Value Elementwise::maxS(Value a, int32_t b) const {
  return arith::MaxSIOp::create(builder, loc, a, i32(a, b));
}
Value Elementwise::minS(Value a, int32_t b) const {
  return arith::MinSIOp::create(builder, loc, a, i32(a, b));
}
Value Elementwise::compareI(arith::CmpIPredicate predicate, Value a,
                            uint32_t b) const {
  return arith::CmpIOp::create(builder, loc, predicate, a, i32(a, b));
}

//===----------------------------------------------------------------------===//
// Both
//===----------------------------------------------------------------------===//

Value Elementwise::select(Value condition, Value a, Value b) const {
  return arith::SelectOp::create(builder, loc, condition, a, b);
}
Value Elementwise::toBits(Value a) const {
  return arith::BitcastOp::create(builder, loc, i32Like(a), a);
}
Value Elementwise::fromBits(Value a) const {
  return arith::BitcastOp::create(builder, loc, f32Like(a), a);
}
Value Elementwise::roundToI32(Value a) const {
  Value rounded = math::RoundEvenOp::create(builder, loc, a);
  return arith::FPToSIOp::create(builder, loc, i32Like(a), rounded);
}
Value Elementwise::extendU8(Value a) const {
  return arith::ExtUIOp::create(builder, loc, i32Like(a), a);
}
Value Elementwise::truncateToI8(Value a) const {
  return arith::TruncIOp::create(
      builder, loc, shapedLike(a.getType(), builder.getI8Type()), a);
}
Value Elementwise::signedToF32(Value a) const {
  return arith::SIToFPOp::create(builder, loc, f32Like(a), a);
}
