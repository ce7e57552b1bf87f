//===- PlanToLinalg.cpp - plan to loops -------------------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Detail.h"

#include "moeq/Support/TilePlan.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::moeq;
using namespace mlir::moeq::detail;
using arith::CmpIPredicate;

namespace {
/// Emits the loops of one op, in order. All integers but indices are of i32.
class PlanLoops {
public:
  PlanLoops(OpBuilder &b, PlanOp op) : b(b), op(op), loc(op.getLoc()) {
    Value offsets = memref::DimOp::create(b, loc, op.getOffsets(), 0);
    experts = arith::SubIOp::create(b, loc, offsets, constantIndex(b, loc, 1));
    columnTiles = TilePlan(b, op).emitColumnTiles(op.getColumns());
  }

  void emit() {
    emitGroups();
    emitTotals();
  }

private:
  Value i32(OpBuilder &at, int64_t value) {
    return arith::ConstantIntOp::create(at, loc, at.getI32Type(), value);
  }
  Value add(OpBuilder &at, Value left, Value right) {
    return arith::AddIOp::create(at, loc, left, right);
  }
  Value next(OpBuilder &at, Value index) {
    return add(at, index, constantIndex(at, loc, 1));
  }
  Value load(OpBuilder &at, Value row, int64_t field) {
    return memref::LoadOp::create(at, loc, op.getTable(),
                                  {row, constantIndex(at, loc, field)});
  }
  void storeRow(OpBuilder &at, Value row, ValueRange fields) {
    for (auto [field, value] : llvm::enumerate(fields))
      memref::StoreOp::create(at, loc, value, op.getTable(),
                              {row, constantIndex(at, loc, field)});
  }
  /// The end of a group's rows is the offset of the next expert.
  Value offset(OpBuilder &at, Value expert) {
    return memref::LoadOp::create(at, loc, op.getOffsets(), expert);
  }
  Value width(OpBuilder &at, Value expert) {
    TilePlan plan(at, op);
    return plan.emitWidth(
        plan.emitRows(offset(at, expert), offset(at, next(at, expert))));
  }
  Value key(OpBuilder &at, Value expert) {
    Value own = width(at, expert);
    return TilePlan(at, op).emitKey(own, toI32(at, expert));
  }
  Value toI32(OpBuilder &at, Value index) {
    return arith::IndexCastOp::create(at, loc, at.getI32Type(), index);
  }

  /// The tiles of the group in a row of the table.
  Value tiles(OpBuilder &at, Value row) {
    TilePlan plan(at, op);
    return plan.emitTiles(plan.emitRows(load(at, row, 0), load(at, row, 1)),
                          load(at, row, 3), columnTiles);
  }

  /// Puts the group of each expert after those that come before it.
  void emitGroups() {
    emitLoop(
        b, loc, experts, {}, [&](Elementwise &e, Value expert, ValueRange) {
          OpBuilder &outer = e.getBuilder();
          Value own = key(outer, expert);
          ValueRange rank = emitLoop(
              outer, loc, experts, constantIndex(outer, loc, 1),
              [&](Elementwise &step, Value other,
                  ValueRange ranks) -> SmallVector<Value> {
                OpBuilder &inner = step.getBuilder();
                Value isBefore =
                    TilePlan(inner, op).emitIsBefore(key(inner, other), own);
                return {arith::SelectOp::create(
                    inner, loc, isBefore, next(inner, ranks[0]), ranks[0])};
              });
          Value begin = offset(outer, expert),
                end = offset(outer, next(outer, expert));
          storeRow(outer, rank[0],
                   {begin, end, toI32(outer, expert), width(outer, expert)});
          return SmallVector<Value>();
        });
  }

  /// Row 0: counts, and the split of the tiles that are left over.
  void emitTotals() {
    Value zero = i32(b, 0), one = i32(b, 1);
    Value row = constantIndex(b, loc, 1), end = next(b, experts);
    ValueRange totals = emitLoop(
        b, loc, row, end, row, {zero, zero},
        [&](Elementwise &e, Value at, ValueRange sums) -> SmallVector<Value> {
          OpBuilder &inner = e.getBuilder();
          Value isUsed = arith::CmpIOp::create(inner, loc, CmpIPredicate::ne,
                                               load(inner, at, 3), zero);
          Value used =
              arith::ExtUIOp::create(inner, loc, inner.getI32Type(), isUsed);
          return {add(inner, sums[0], tiles(inner, at)),
                  add(inner, sums[1], used)};
        });
    TilePlan plan(b, op);
    Value rest = plan.emitRest(totals[0]);
    Value first = arith::SubIOp::create(b, loc, totals[0], rest);
    // The width of the group that holds the first of them.
    ValueRange found =
        emitLoop(b, loc, row, end, row, {zero, zero},
                 [&](Elementwise &e, Value at,
                     ValueRange carried) -> SmallVector<Value> {
                   OpBuilder &inner = e.getBuilder();
                   Value isBelow = arith::CmpIOp::create(
                       inner, loc, CmpIPredicate::ule, carried[0], first);
                   Value width = arith::SelectOp::create(
                       inner, loc, isBelow, load(inner, at, 3), carried[1]);
                   return {add(inner, carried[0], tiles(inner, at)), width};
                 });
    Value pieces = plan.emitPieces(rest, found[1]);
    Value isSplit =
        arith::CmpIOp::create(b, loc, CmpIPredicate::ne, pieces, one);
    first = arith::SelectOp::create(b, loc, isSplit, first, totals[0]);
    Value split = arith::MulIOp::create(
        b, loc, arith::SubIOp::create(b, loc, totals[0], first), pieces);
    storeRow(b, constantIndex(b, loc, 0),
             {add(b, first, split), first, pieces, totals[1]});
  }

  OpBuilder &b;
  PlanOp op;
  Location loc;
  Value experts, columnTiles;
};

struct LowerPlan : OpRewritePattern<PlanOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(PlanOp op,
                                PatternRewriter &rewriter) const override {
    PlanLoops(rewriter, op).emit();
    rewriter.eraseOp(op);
    return success();
  }
};
} // namespace

void moeq::detail::populatePlanPatterns(RewritePatternSet &patterns) {
  patterns.add<LowerPlan>(patterns.getContext());
}
