//===- TilePlan.h - The integers of moeq.plan -------------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Emits the rule by which `moeq.plan` chooses widths and splits the last tiles,
// the same ops in loops of the CPU and in a kernel. All values are of i32.
//
//===----------------------------------------------------------------------===//

#ifndef MOEQ_SUPPORT_TILEPLAN_H
#define MOEQ_SUPPORT_TILEPLAN_H

#include "moeq/Dialect/Moeq/IR/Moeq.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace mlir::moeq {

class TilePlan {
public:
  TilePlan(OpBuilder &builder, PlanOp op)
      : b(builder), op(op), loc(op.getLoc()) {}

  /// The rows of a group: end - begin, none where that is negative.
  Value emitRows(Value begin, Value end);
  /// The width of the fewest equal tiles, of at most `max_width`, that hold
  /// `rows`: a multiple of `width_step`, 0 for no rows.
  Value emitWidth(Value rows);
  /// ceildiv(N, tile_columns) of the op's `columns` (index).
  Value emitColumnTiles(Value columns);
  /// The tiles of a group: ceildiv(rows, width) * columnTiles.
  Value emitTiles(Value rows, Value width, Value columnTiles);
  /// A number by which groups are in order: a group comes before those with a
  /// smaller one. It falls with the width, and among equal widths as the expert
  /// rises.
  Value emitKey(Value width, Value expert);
  /// Whether the group with key `a` comes before that with key `b`.
  Value emitIsBefore(Value a, Value b);

  /// The tiles of `tiles` that are left when each CTA has had the same number.
  Value emitRest(Value tiles);
  /// Into how many pieces (1 to 4) each of `rest` > 0 tiles of `width` is
  /// split: the fewest of those by which they are done the soonest, in rounds
  /// of one piece a CTA that cost `overhead` and the width of a piece each. No
  /// piece is narrower than 32, which takes as long to load as to compute.
  Value emitPieces(Value rest, Value width);

private:
  Value constant(int64_t value) {
    return arith::ConstantIntOp::create(b, loc, b.getI32Type(), value);
  }
  Value ceilDiv(Value value, Value divisor);
  Value roundUpToStep(Value value);

  OpBuilder &b;
  PlanOp op;
  Location loc;
};

} // namespace mlir::moeq

#endif // MOEQ_SUPPORT_TILEPLAN_H
