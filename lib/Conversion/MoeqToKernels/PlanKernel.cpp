//===- PlanKernel.cpp - Kernel of plan --------------------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One CTA, a thread a group. Each counts the groups before its own, and their
// tiles, which gives its row of the table; the one that holds the first tile
// left over writes how those are split. Nothing depends on the order of
// threads.
//
//===----------------------------------------------------------------------===//

#include "KernelBuilder.h"
#include "Kernels.h"

#include "moeq/Support/TilePlan.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::moeq;

/// Groups that a thread counts in a step: so many loads are under way at once.
static constexpr int64_t kStep = 16;
static_assert(kWarpSize % kStep == 0);

namespace {
class PlanKernel {
public:
  PlanKernel(PlanOp op, gpu::GPUModuleOp module)
      : op(op), k(module, op, getThreads(op)), plan(k, op) {}

  LogicalResult build();

private:
  /// One for each group, and at least a warp.
  static int64_t getThreads(PlanOp op) {
    auto type = cast<MemRefType>(op.getOffsets().getType());
    int64_t groups =
        type.isDynamicDim(0) ? PlanOp::kMaxGroups : type.getDimSize(0) - 1;
    return std::max<int64_t>(kWarpSize, llvm::alignTo(groups, kWarpSize));
  }

  Value toI32(Value value) {
    return arith::IndexCastOp::create(k, k.getI32Type(), value);
  }
  /// All groups of the CTA, and how many of them come before this one.
  struct Before {
    Value groups, tiles;
  };
  Before countBefore(Value groups, Value key, Value tiles);
  /// Row 0 of the table.
  void storeTotals(Value tiles, Value first, Value pieces, Value used);
  void storeRow(Value row, ArrayRef<Value> fields) {
    for (auto [field, value] : llvm::enumerate(fields))
      k.store(value, op.getTable(), {row, k.index(field)});
  }

  PlanOp op;
  KernelBuilder k;
  TilePlan plan;
};
} // namespace

PlanKernel::Before PlanKernel::countBefore(Value groups, Value key,
                                           Value tiles) {
  Type i32 = k.getI32Type();
  Value keys = k.shared(i32, k.numThreads());
  Value counts = k.shared(i32, k.numThreads());
  k.storeShared(key, keys, k.thread());
  k.storeShared(tiles, counts, k.thread());
  k.barrier();
  // Threads without a group come after all: their width is 0.
  SmallVector<Value> before =
      k.forLoop(k.index(0), groups, k.index(kStep), {k.i32(0), k.i32(0)},
                [&](Value base, ValueRange carried) -> SmallVector<Value> {
                  Value ranked = carried[0], passed = carried[1];
                  for (int64_t i = 0; i < kStep; ++i) {
                    Value other = k.add(base, k.index(i));
                    Value isBefore =
                        plan.emitIsBefore(k.loadShared(i32, keys, other), key);
                    Value count = k.loadShared(i32, counts, other);
                    ranked =
                        k.add(ranked, arith::ExtUIOp::create(k, i32, isBefore));
                    passed = k.add(passed, k.select(isBefore, count, k.i32(0)));
                  }
                  return {ranked, passed};
                });
  return {before[0], before[1]};
}

void PlanKernel::storeTotals(Value tiles, Value first, Value pieces,
                             Value used) {
  Value split = k.mul(k.sub(tiles, first), pieces);
  storeRow(k.index(0), {k.add(first, split), first, pieces, used});
}

LogicalResult PlanKernel::build() {
  Value groups = k.sub(k.size(op.getOffsets(), 0), k.index(1));
  FailureOr<Value> columns = k.capture(op.getColumns(), op);
  if (failed(columns))
    return failure();
  Value columnTiles = plan.emitColumnTiles(*columns);
  Value zero = k.i32(0), one = k.i32(1);
  Value isGroup = k.ltU(k.thread(), groups), expert = toI32(k.thread());
  auto loadOffset = [&](int64_t distance) {
    return k.ifElse(
        isGroup,
        [&] {
          return k.load(op.getOffsets(), k.add(k.thread(), k.index(distance)));
        },
        zero);
  };
  Value begin = loadOffset(0), end = loadOffset(1);
  Value rows = plan.emitRows(begin, end), width = plan.emitWidth(rows);
  Value tiles = plan.emitTiles(rows, width, columnTiles);

  Before before = countBefore(groups, plan.emitKey(width, expert), tiles);
  k.ifThen(isGroup, [&] {
    Value row = arith::IndexCastUIOp::create(k, k.getIndexType(),
                                             k.add(before.groups, one));
    storeRow(row, {begin, end, expert, width});
  });

  Value isUsed =
      arith::ExtUIOp::create(k, k.getI32Type(), k.negate(k.equal(width, zero)));
  SmallVector<Value> totals = k.reduceBlock(
      {tiles, isUsed}, {zero, zero},
      [&](ValueRange left, ValueRange right) -> SmallVector<Value> {
        return {k.add(left[0], right[0]), k.add(left[1], right[1])};
      });
  Value rest = plan.emitRest(totals[0]), first = k.sub(totals[0], rest);
  // Unsigned: the groups that begin past `first` are out of range as well.
  k.ifThen(k.ltU(k.sub(first, before.tiles), tiles), [&] {
    Value pieces = plan.emitPieces(rest, width);
    Value isWhole = k.equal(pieces, one);
    storeTotals(totals[0], k.select(isWhole, totals[0], first), pieces,
                totals[1]);
  });
  k.ifThen(k.both(k.equal(rest, zero), k.equal(expert, zero)),
           [&] { storeTotals(totals[0], totals[0], one, totals[1]); });
  k.launch(k.hostIndex(1));
  return success();
}

LogicalResult moeq::buildKernels(PlanOp op, gpu::GPUModuleOp module) {
  return PlanKernel(op, module).build();
}
