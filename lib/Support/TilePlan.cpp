//===- TilePlan.cpp - The integers of moeq.plan -----------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "moeq/Support/TilePlan.h"

using namespace mlir;
using namespace mlir::moeq;
using arith::CmpIPredicate;

/// Into how many pieces a tile is split at most, and their least width.
static constexpr int64_t kMaxPieces = 4, kMinPieceWidth = 32;
/// What a unit of width is in a key.
static constexpr int64_t kKeyOfWidth = 1 << 20;

Value TilePlan::ceilDiv(Value value, Value divisor) {
  Value less = arith::SubIOp::create(b, loc, divisor, constant(1));
  return arith::DivUIOp::create(
      b, loc, arith::AddIOp::create(b, loc, value, less), divisor);
}

Value TilePlan::roundUpToStep(Value value) {
  Value step = constant(op.getWidthStep());
  return arith::MulIOp::create(b, loc, ceilDiv(value, step), step);
}

Value TilePlan::emitRows(Value begin, Value end) {
  Value rows = arith::SubIOp::create(b, loc, end, begin);
  return arith::MaxSIOp::create(b, loc, rows, constant(0));
}

Value TilePlan::emitWidth(Value rows) {
  Value tiles = ceilDiv(rows, constant(op.getMaxWidth()));
  tiles = arith::MaxUIOp::create(b, loc, tiles, constant(1));
  return roundUpToStep(ceilDiv(rows, tiles));
}

Value TilePlan::emitColumnTiles(Value columns) {
  auto index = [&](int64_t value) {
    return arith::ConstantIndexOp::create(b, loc, value);
  };
  Value tiles = arith::DivUIOp::create(
      b, loc,
      arith::AddIOp::create(b, loc, columns, index(op.getTileColumns() - 1)),
      index(op.getTileColumns()));
  return arith::IndexCastOp::create(b, loc, b.getI32Type(), tiles);
}

Value TilePlan::emitTiles(Value rows, Value width, Value columnTiles) {
  Value divisor = arith::MaxUIOp::create(b, loc, width, constant(1));
  return arith::MulIOp::create(b, loc, ceilDiv(rows, divisor), columnTiles);
}

Value TilePlan::emitKey(Value width, Value expert) {
  static_assert(PlanOp::kMaxGroups < kKeyOfWidth &&
                PlanOp::kMaxWidth <= INT32_MAX / kKeyOfWidth);
  return arith::SubIOp::create(
      b, loc, arith::MulIOp::create(b, loc, width, constant(kKeyOfWidth)),
      expert);
}

Value TilePlan::emitIsBefore(Value a, Value b) {
  return arith::CmpIOp::create(this->b, loc, CmpIPredicate::sgt, a, b);
}

Value TilePlan::emitRest(Value tiles) {
  return arith::RemUIOp::create(b, loc, tiles, constant(op.getCtas()));
}

Value TilePlan::emitPieces(Value rest, Value width) {
  Value best, pieces = constant(1);
  for (int64_t count = 1; count <= kMaxPieces; ++count) {
    Value piece = roundUpToStep(ceilDiv(width, constant(count)));
    Value rounds = ceilDiv(arith::MulIOp::create(b, loc, rest, constant(count)),
                           constant(op.getCtas()));
    Value cost = arith::MulIOp::create(
        b, loc, rounds,
        arith::AddIOp::create(b, loc, piece, constant(op.getOverhead())));
    if (count == 1) {
      best = cost;
      continue;
    }
    Value isBetter =
        arith::CmpIOp::create(b, loc, CmpIPredicate::ult, cost, best);
    Value isWide = arith::CmpIOp::create(b, loc, CmpIPredicate::uge, piece,
                                         constant(kMinPieceWidth));
    isBetter = arith::AndIOp::create(b, loc, isBetter, isWide);
    best = arith::SelectOp::create(b, loc, isBetter, cost, best);
    pieces = arith::SelectOp::create(b, loc, isBetter, constant(count), pieces);
  }
  return pieces;
}
