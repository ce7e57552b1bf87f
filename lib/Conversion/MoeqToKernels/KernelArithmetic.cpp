//===- KernelArithmetic.cpp - Arithmetic and control of kernels -*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::moeq;

Value KernelBuilder::index(int64_t value) {
  return arith::ConstantIndexOp::create(*this, value);
}
Value KernelBuilder::i32(int32_t value) {
  return arith::ConstantIntOp::create(*this, getI32Type(), value);
}
Value KernelBuilder::f32(float value) {
  return arith::ConstantFloatOp::create(*this, getF32Type(), APFloat(value));
}
Value KernelBuilder::add(Value left, Value right) {
  return createOrFold<arith::AddIOp>(left, right);
}
Value KernelBuilder::sub(Value left, Value right) {
  return createOrFold<arith::SubIOp>(left, right);
}
Value KernelBuilder::mul(Value left, Value right) {
  return createOrFold<arith::MulIOp>(left, right);
}
Value KernelBuilder::divU(Value left, Value right) {
  return createOrFold<arith::DivUIOp>(left, right);
}
Value KernelBuilder::remU(Value left, Value right) {
  return createOrFold<arith::RemUIOp>(left, right);
}
Value KernelBuilder::ceilDivU(Value left, Value right) {
  return divU(add(left, sub(right, index(1))), right);
}
Value KernelBuilder::minU(Value left, Value right) {
  return createOrFold<arith::MinUIOp>(left, right);
}
Value KernelBuilder::bitAnd(Value left, Value right) {
  return createOrFold<arith::AndIOp>(left, right);
}
Value KernelBuilder::ltU(Value left, Value right) {
  return createOrFold<arith::CmpIOp>(arith::CmpIPredicate::ult, left, right);
}
Value KernelBuilder::isNonNegative(Value value) {
  Value zero = arith::ConstantOp::create(*this, getZeroAttr(value.getType()));
  return createOrFold<arith::CmpIOp>(arith::CmpIPredicate::sge, value, zero);
}
Value KernelBuilder::equal(Value left, Value right) {
  return createOrFold<arith::CmpIOp>(arith::CmpIPredicate::eq, left, right);
}
Value KernelBuilder::select(Value condition, Value left, Value right) {
  return createOrFold<arith::SelectOp>(condition, left, right);
}

Value KernelBuilder::selectOrZero(Value condition, Value value) {
  if (!condition)
    return value;
  Type type = value.getType();
  Type bits = getIntegerType(type.getIntOrFloatBitWidth());
  auto cast = [&](Type to, Value from) {
    return from.getType() == to
               ? from
               : Value(arith::BitcastOp::create(*this, to, from));
  };
  Value zero = arith::ConstantOp::create(*this, getIntegerAttr(bits, 0));
  return cast(type, select(condition, cast(bits, value), zero));
}

Value KernelBuilder::negate(Value condition) {
  return arith::XOrIOp::create(*this, condition,
                               arith::ConstantIntOp::create(*this, true, 1));
}

Value KernelBuilder::both(Value left, Value right) {
  return !left    ? right
         : !right ? left
                  : createOrFold<arith::AndIOp>(left, right);
}

/// `type` with the element type `element`.
static Type withElement(Type type, Type element) {
  auto vector = dyn_cast<VectorType>(type);
  return vector ? Type(vector.clone(element)) : element;
}

Value KernelBuilder::toF32(Value value) {
  Type wide = withElement(value.getType(), getF32Type());
  auto vector = dyn_cast<VectorType>(value.getType());
  if (vector && vector.getElementType().isBF16() &&
      vector.getNumElements() % 2 == 0 && vector.getNumElements() > 2) {
    // A bf16 is the upper half of the f32: one instruction each.
    int64_t count = vector.getNumElements() / 2;
    Value words = vector::BitCastOp::create(
        *this, VectorType::get(count, getI32Type()), value);
    auto asF32 = [&](Value bits) {
      return arith::BitcastOp::create(
          *this, VectorType::get(count, getF32Type()), bits);
    };
    Value even = arith::ShLIOp::create(*this, words, splat(i32(16), count));
    Value odd = arith::AndIOp::create(
        *this, words, splat(i32(static_cast<int32_t>(0xffff0000)), count));
    return vector::InterleaveOp::create(*this, asF32(even), asF32(odd));
  }
  return wide == value.getType() ? value
                                 : arith::ExtFOp::create(*this, wide, value);
}

Value KernelBuilder::fromF32(Value value, Type element) {
  Type narrow = withElement(value.getType(), element);
  return narrow == value.getType()
             ? value
             : arith::TruncFOp::create(*this, narrow, value);
}

Value KernelBuilder::splat(Value value, int64_t width) {
  if (width == 1)
    return value;
  return vector::BroadcastOp::create(
      *this, VectorType::get(width, value.getType()), value);
}

SmallVector<Value> KernelBuilder::delinearize(Value number,
                                              ArrayRef<Value> extents) {
  SmallVector<Value> coordinates(extents.size());
  for (int64_t dim = extents.size() - 1; dim >= 0; --dim) {
    coordinates[dim] = dim == 0 ? number : remU(number, extents[dim]);
    number = dim == 0 ? number : divU(number, extents[dim]);
  }
  return coordinates;
}

void KernelBuilder::ifThen(Value condition, function_ref<void()> body) {
  if (!condition)
    return body();
  auto ifOp = scf::IfOp::create(*this, condition, /*withElseRegion=*/false);
  InsertionGuard guard(*this);
  setInsertionPoint(ifOp.thenYield());
  body();
}

Value KernelBuilder::ifElse(Value condition, function_ref<Value()> body,
                            Value otherwise) {
  if (!condition)
    return body();
  auto ifOp = scf::IfOp::create(*this, otherwise.getType(), condition,
                                /*withElseRegion=*/true);
  InsertionGuard guard(*this);
  setInsertionPointToStart(ifOp.thenBlock());
  scf::YieldOp::create(*this, body());
  setInsertionPointToStart(ifOp.elseBlock());
  scf::YieldOp::create(*this, otherwise);
  return ifOp.getResult(0);
}

SmallVector<Value>
KernelBuilder::ifElse(Value condition, function_ref<SmallVector<Value>()> body,
                      function_ref<SmallVector<Value>()> otherwise) {
  auto fill = [&](function_ref<SmallVector<Value>()> make) {
    return [this, make](OpBuilder &inner, Location) {
      InsertionGuard guard(*this);
      restoreInsertionPoint(inner.saveInsertionPoint());
      scf::YieldOp::create(*this, make());
    };
  };
  return scf::IfOp::create(*this, condition, fill(body), fill(otherwise))
      .getResults();
}

SmallVector<Value> KernelBuilder::forLoop(
    Value begin, Value end, Value step, ValueRange inits,
    function_ref<SmallVector<Value>(Value, ValueRange)> body) {
  auto loop = scf::ForOp::create(*this, begin, end, step, inits);
  InsertionGuard guard(*this);
  setInsertionPointToStart(loop.getBody());
  SmallVector<Value> results =
      body(loop.getInductionVar(), loop.getRegionIterArgs());
  if (!inits.empty())
    scf::YieldOp::create(*this, results);
  return loop.getResults();
}
