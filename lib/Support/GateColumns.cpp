//===- GateColumns.cpp - Where gate and up lie ------------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "moeq/Support/GateColumns.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::moeq;

namespace {
/// Unsigned arithmetic on indices.
struct Indices {
  OpBuilder &b;
  Location loc;

  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(b, loc, value);
  }
  Value add(Value left, Value right) {
    return b.createOrFold<arith::AddIOp>(loc, left, right);
  }
  Value sub(Value left, Value right) {
    return b.createOrFold<arith::SubIOp>(loc, left, right);
  }
  Value mul(Value value, int64_t factor) {
    return b.createOrFold<arith::MulIOp>(loc, value, constant(factor));
  }
  Value div(Value value, int64_t divisor) {
    return b.createOrFold<arith::DivUIOp>(loc, value, constant(divisor));
  }
  Value rem(Value value, int64_t divisor) {
    return b.createOrFold<arith::RemUIOp>(loc, value, constant(divisor));
  }
  Value isOdd(Value value) {
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne,
                                 rem(value, 2), constant(0));
  }
};
} // namespace

/// The columns of one half that lie side by side, where the halves alternate.
static int64_t getGroup(GateLayout layout) {
  return layout == GateLayout::Interleaved64 ? kGateGroup : 1;
}

static bool isApart(GateLayout layout) {
  return layout == GateLayout::GateFirst || layout == GateLayout::UpFirst;
}

GateColumns moeq::emitGateColumns(OpBuilder &b, Location loc, GateLayout layout,
                                  Value column, Value features) {
  Indices i{b, loc};
  if (isApart(layout)) {
    Value second = i.add(column, features);
    return layout == GateLayout::GateFirst ? GateColumns{column, second}
                                           : GateColumns{second, column};
  }
  int64_t group = getGroup(layout);
  Value gate =
      i.add(i.mul(i.div(column, group), 2 * group), i.rem(column, group));
  return {gate, i.add(gate, i.constant(group))};
}

GatePlace moeq::emitGatePlace(OpBuilder &b, Location loc, GateLayout layout,
                              Value column, Value features) {
  Indices i{b, loc};
  if (!isApart(layout)) {
    int64_t group = getGroup(layout);
    Value inHalf =
        i.add(i.mul(i.div(column, 2 * group), group), i.rem(column, group));
    return {inHalf, i.isOdd(i.div(column, group))};
  }
  Value isFirst = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult,
                                        column, features);
  Value inHalf =
      arith::SelectOp::create(b, loc, isFirst, column, i.sub(column, features));
  if (layout == GateLayout::UpFirst)
    return {inHalf, isFirst};
  Value all = arith::ConstantIntOp::create(b, loc, true, 1);
  return {inHalf, arith::XOrIOp::create(b, loc, isFirst, all)};
}

Value moeq::emitGateSource(OpBuilder &b, Location loc, GateLayout from,
                           GateLayout to, Value column, Value features) {
  GatePlace place = emitGatePlace(b, loc, to, column, features);
  GateColumns columns = emitGateColumns(b, loc, from, place.column, features);
  return arith::SelectOp::create(b, loc, place.isUp, columns.up, columns.gate);
}
