//===- DispatchToLinalg.cpp - group, gather, combine to loops ---*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Detail.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::moeq;
using namespace mlir::moeq::detail;
using arith::CmpIPredicate;

static Value compare(OpBuilder &b, Location loc, CmpIPredicate predicate,
                     Value left, Value right) {
  return arith::CmpIOp::create(b, loc, predicate, left, right);
}

static Value toI32(OpBuilder &b, Location loc, Value index) {
  return arith::IndexCastOp::create(b, loc, b.getI32Type(), index);
}

//===----------------------------------------------------------------------===//
// gather
//===----------------------------------------------------------------------===//

namespace {
struct LowerGather : OpRewritePattern<GatherOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(GatherOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    for (auto components : llvm::zip(op.getInput(), op.getOuts())) {
      Value source = std::get<0>(components), out = std::get<1>(components);
      emitParallel(
          rewriter, loc, out,
          [&](Elementwise &e, ValueRange indices, Value init) -> Value {
            OpBuilder &b = e.getBuilder();
            SmallVector<Value> from(indices);
            from[0] = loadIndex(b, loc, op.getRows(), indices[0]);
            Value isRow = compare(b, loc, CmpIPredicate::sge, from[0],
                                  constantIndex(b, loc, 0));
            auto branch = scf::IfOp::create(
                b, loc, isRow,
                [&](OpBuilder &inner, Location) {
                  Value value =
                      memref::LoadOp::create(inner, loc, source, from);
                  scf::YieldOp::create(inner, loc, value);
                },
                [&](OpBuilder &inner, Location) {
                  scf::YieldOp::create(inner, loc, init);
                });
            return branch.getResult(0);
          });
    }
    rewriter.eraseOp(op);
    return success();
  }
};

//===----------------------------------------------------------------------===//
// combine
//===----------------------------------------------------------------------===//

struct LowerCombine : OpRewritePattern<CombineOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(CombineOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Type element = cast<MemRefType>(op.getOuts().getType()).getElementType();
    Value topK = memref::DimOp::create(rewriter, loc, op.getSlots(), 1);
    emitParallel(
        rewriter, loc, op.getOuts(),
        [&](Elementwise &e, ValueRange indices, Value) {
          OpBuilder &b = e.getBuilder();
          Value token = indices[0], column = indices[1];
          Value zero = arith::ConstantOp::create(b, loc, b.getF32FloatAttr(0));
          ValueRange sum = emitLoop(
              b, loc, topK, zero,
              [&](Elementwise &step, Value j,
                  ValueRange sums) -> SmallVector<Value> {
                OpBuilder &inner = step.getBuilder();
                Value slot = loadIndex(inner, loc, op.getSlots(), {token, j});
                Value isSlot = compare(inner, loc, CmpIPredicate::sge, slot,
                                       constantIndex(inner, loc, 0));
                auto branch = scf::IfOp::create(
                    inner, loc, isSlot,
                    [&](OpBuilder &then, Location) {
                      Elementwise t(then, loc);
                      Value value = loadF32(t, op.getInput(), {slot, column});
                      Value weight =
                          op.getWeights()
                              ? loadF32(t, op.getWeights(), {token, j})
                              : t.f32(value, 1.0f);
                      scf::YieldOp::create(then, loc,
                                           t.fma(weight, value, sums[0]));
                    },
                    [&](OpBuilder &otherwise, Location) {
                      scf::YieldOp::create(otherwise, loc, sums[0]);
                    });
                return {branch.getResult(0)};
              });
          return emitFromF32(e, sum[0], element);
        });
    rewriter.eraseOp(op);
    return success();
  }
};

//===----------------------------------------------------------------------===//
// group
//===----------------------------------------------------------------------===//

/// A counting sort, slot by slot, so that it is stable.
struct LowerGroup : OpRewritePattern<GroupOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(GroupOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    OpBuilder &b = rewriter;
    Value zero = constantIndex(b, loc, 0), one = constantIndex(b, loc, 1);
    Value noRow = arith::ConstantIntOp::create(b, loc, -1, 32);
    Value offsets = op.getOffsets();
    Value numOffsets = memref::DimOp::create(b, loc, offsets, 0);
    Value experts = arith::SubIOp::create(b, loc, numOffsets, one);
    emitParallel(b, loc, op.getRows(),
                 [&](Elementwise &, ValueRange, Value) { return noRow; });
    emitParallel(b, loc, op.getSlots(),
                 [&](Elementwise &, ValueRange, Value) { return noRow; });
    if (Value sorted = op.getSortedWeights())
      emitParallel(b, loc, sorted, [&](Elementwise &e, ValueRange, Value init) {
        return e.f32(init, 0.0f);
      });

    // The rows of each expert so far; then the next row of each.
    auto type = MemRefType::get({ShapedType::kDynamic}, b.getIndexType());
    Value rows = memref::AllocOp::create(b, loc, type, experts);
    emitParallel(b, loc, rows,
                 [&](Elementwise &, ValueRange, Value) { return zero; });
    forEachSlot(
        op, b, experts, [&](OpBuilder &inner, ValueRange, Value expert) {
          Value count = memref::LoadOp::create(inner, loc, rows, expert);
          count = arith::AddIOp::create(inner, loc, count, one);
          memref::StoreOp::create(inner, loc, count, rows, expert);
        });
    emitOffsets(op, b, experts, rows);
    forEachSlot(
        op, b, experts, [&](OpBuilder &inner, ValueRange slot, Value expert) {
          Value row = memref::LoadOp::create(inner, loc, rows, expert);
          memref::StoreOp::create(inner, loc, toI32(inner, loc, slot[0]),
                                  op.getRows(), row);
          memref::StoreOp::create(inner, loc, toI32(inner, loc, row),
                                  op.getSlots(), slot);
          if (Value sorted = op.getSortedWeights())
            memref::StoreOp::create(
                inner, loc,
                memref::LoadOp::create(inner, loc, op.getWeights(), slot),
                sorted, row);
          Value next = arith::AddIOp::create(inner, loc, row, one);
          memref::StoreOp::create(inner, loc, next, rows, expert);
        });
    memref::DeallocOp::create(b, loc, rows);
    rewriter.eraseOp(op);
    return success();
  }

private:
  /// Calls `body` with each slot (t, j), ascending, whose expert is local.
  static void
  forEachSlot(GroupOp op, OpBuilder &b, Value experts,
              llvm::function_ref<void(OpBuilder &, ValueRange, Value)> body) {
    Location loc = op.getLoc();
    Value zero = constantIndex(b, loc, 0), one = constantIndex(b, loc, 1);
    Value tokens = memref::DimOp::create(b, loc, op.getIds(), 0);
    Value topK = memref::DimOp::create(b, loc, op.getIds(), 1);
    scf::buildLoopNest(
        b, loc, {zero, zero}, {tokens, topK}, {one, one},
        [&](OpBuilder &inner, Location, ValueRange slot) {
          Value id = loadIndex(inner, loc, op.getIds(), slot);
          // As an unsigned number, a negative id is out of range too.
          auto ifBelow = [&](OpBuilder &outer, Value index, Value limit,
                             llvm::function_ref<void(OpBuilder &)> then) {
            Value isBelow =
                compare(outer, loc, CmpIPredicate::ult, index, limit);
            scf::IfOp::create(outer, loc, isBelow,
                              [&](OpBuilder &in, Location) {
                                then(in);
                                scf::YieldOp::create(in, loc);
                              });
          };
          Value map = op.getExpertMap();
          if (!map)
            return ifBelow(inner, id, experts,
                           [&](OpBuilder &in) { body(in, slot, id); });
          Value known = memref::DimOp::create(inner, loc, map, 0);
          ifBelow(inner, id, known, [&](OpBuilder &outer) {
            Value local = loadIndex(outer, loc, map, id);
            ifBelow(outer, local, experts,
                    [&](OpBuilder &in) { body(in, slot, local); });
          });
        });
  }

  /// Writes the offsets, and makes of the counts `rows` the first row of each
  /// expert.
  static void emitOffsets(GroupOp op, OpBuilder &b, Value experts, Value rows) {
    Location loc = op.getLoc();
    Value zero = constantIndex(b, loc, 0);
    Value padded = op.getPaddedOffsets();
    auto store = [&](OpBuilder &inner, Value at, Value row, Value paddedRow) {
      memref::StoreOp::create(inner, loc, toI32(inner, loc, row),
                              op.getOffsets(), at);
      if (padded)
        memref::StoreOp::create(inner, loc, toI32(inner, loc, paddedRow),
                                padded, at);
    };
    ValueRange ends = emitLoop(
        b, loc, experts, {zero, zero},
        [&](Elementwise &e, Value expert,
            ValueRange starts) -> SmallVector<Value> {
          OpBuilder &inner = e.getBuilder();
          Value count = memref::LoadOp::create(inner, loc, rows, expert);
          memref::StoreOp::create(inner, loc, starts[0], rows, expert);
          store(inner, expert, starts[0], starts[1]);
          Value tile = constantIndex(inner, loc, 128);
          Value whole = arith::MulIOp::create(
              inner, loc, arith::CeilDivUIOp::create(inner, loc, count, tile),
              tile);
          return {arith::AddIOp::create(inner, loc, starts[0], count),
                  arith::AddIOp::create(inner, loc, starts[1], whole)};
        });
    store(b, experts, ends[0], ends[1]);
  }
};
} // namespace

void moeq::detail::populateDispatchPatterns(RewritePatternSet &patterns) {
  patterns.add<LowerCombine, LowerGather, LowerGroup>(patterns.getContext());
}
