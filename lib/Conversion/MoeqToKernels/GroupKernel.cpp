//===- GroupKernel.cpp - Kernel of group ------------------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A CTA an expert, and one more for what is dropped. Each counts the slots of
// the experts before its own, which gives its offset, then goes over all slots
// again in order and places its own: the sort is stable without atomics.
//
//===----------------------------------------------------------------------===//

#include "KernelBuilder.h"
#include "Kernels.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::moeq;

/// Threads of a CTA, and the slots that each takes in a pass over its part.
static constexpr int64_t kThreads = 512, kSlotsPerThread = 4;
/// To what `padded_offsets` pads the rows of an expert.
static constexpr int64_t kRowPadding = 128;

namespace {
class GroupKernel {
public:
  GroupKernel(GroupOp op, gpu::GPUModuleOp module)
      : op(op), k(module, op, kThreads) {}

  void build();

private:
  Value one() { return k.index(1); }
  /// The number of lanes in a ballot.
  Value count(Value ballot) {
    return arith::IndexCastUIOp::create(k, k.getIndexType(),
                                        math::CtPopOp::create(k, ballot));
  }
  Value sum(Value left, Value right) { return k.add(left, right); }
  /// Sums over lanes and CTAs are of i32: shuffles know no index.
  Value toI32(Value value) {
    return arith::IndexCastOp::create(k, k.getI32Type(), value);
  }
  Value toIndex(Value value) {
    return arith::IndexCastOp::create(k, k.getIndexType(), value);
  }

  /// The local expert of a slot, or one that is not below the number of
  /// experts.
  Value loadExpert(Value slot);
  /// Calls `place(slot, position)` in order of slots for those of this expert.
  void place(function_ref<void(Value slot, Value position)> place);
  void placeRows();
  void finish(Value total);

  GroupOp op;
  KernelBuilder k;
  Value expert, experts, slots, first;
};
} // namespace

Value GroupKernel::loadExpert(Value slot) {
  // The slots of `ids` [T, k] are counted through.
  Value id = k.loadIndex(op.getIds(), {k.index(0), slot});
  if (Value map = op.getExpertMap())
    return k.ifElse(
        k.ltU(id, k.size(map, 0)), [&] { return k.loadIndex(map, id); },
        k.index(-1));
  return id;
}

void GroupKernel::place(function_ref<void(Value slot, Value position)> place) {
  int64_t warps = kThreads / kWarpSize, warpSlots = kWarpSize * kSlotsPerThread;
  Value counts = k.shared(k.getI32Type(), kWarpSize);
  Value lane = k.lane(), warp = k.warp();
  Value below = arith::SubIOp::create(
      k, arith::ShLIOp::create(k, k.i32(1), toI32(lane)), k.i32(1));
  k.forLoop(
      k.index(0), slots, k.index(kThreads * kSlotsPerThread), first,
      [&](Value base, ValueRange carried) -> SmallVector<Value> {
        Value next = carried[0];
        Value warpBase =
            k.add(k.add(base, k.mul(warp, k.index(warpSlots))), lane);
        SmallVector<Value> slot, mine, rank;
        Value total = k.index(0);
        for (int64_t i = 0; i < kSlotsPerThread; ++i) {
          slot.push_back(k.add(warpBase, k.index(i * kWarpSize)));
          Value found = k.ifElse(
              k.ltU(slot[i], slots), [&] { return loadExpert(slot[i]); },
              k.index(-1));
          mine.push_back(k.equal(found, expert));
          Value ballot = k.ballot(mine[i]);
          rank.push_back(
              k.add(total, count(arith::AndIOp::create(k, ballot, below))));
          total = k.add(total, count(ballot));
        }
        k.ifThen(k.equal(lane, k.index(0)),
                 [&] { k.storeShared(toI32(total), counts, warp); });
        k.barrier();
        Value other = k.ifElse(
            k.ltU(lane, k.index(warps)),
            [&] { return k.loadShared(k.getI32Type(), counts, lane); },
            k.i32(0));
        auto add = [&](Value left, Value right) { return sum(left, right); };
        Value before = k.reduceLanes(
            k.select(k.ltU(lane, warp), other, k.i32(0)), kWarpSize, add);
        Value all = k.reduceLanes(other, kWarpSize, add);
        k.barrier();
        for (int64_t i = 0; i < kSlotsPerThread; ++i)
          k.ifThen(mine[i], [&] {
            place(slot[i], k.add(k.add(next, toIndex(before)), rank[i]));
          });
        return {k.add(next, toIndex(all))};
      });
}

void GroupKernel::placeRows() {
  place([&](Value slot, Value position) {
    Value token = k.divU(slot, k.size(op.getIds(), 1));
    k.storeIndex(token, op.getRows(), position);
    k.storeIndex(position, op.getSlots(), {k.index(0), slot});
    if (Value weights = op.getWeights())
      k.store(k.load(weights, {k.index(0), slot}), op.getSortedWeights(),
              position);
  });
}

void GroupKernel::finish(Value total) {
  Value stride = k.index(kThreads);
  k.forLoop(k.thread(), slots, stride, {},
            [&](Value slot, ValueRange) -> SmallVector<Value> {
              Value kept = k.ltU(loadExpert(slot), experts);
              k.ifThen(k.negate(kept), [&] {
                k.store(k.i32(-1), op.getSlots(), {k.index(0), slot});
              });
              return {};
            });
  k.forLoop(k.add(total, k.thread()), k.size(op.getRows(), 0), stride, {},
            [&](Value row, ValueRange) -> SmallVector<Value> {
              k.store(k.i32(-1), op.getRows(), row);
              if (Value sorted = op.getSortedWeights())
                k.store(k.f32(0), sorted, row);
              return {};
            });
}

void GroupKernel::build() {
  expert = k.block();
  experts = k.sub(k.size(op.getOffsets(), 0), one());
  slots = k.mul(k.size(op.getIds(), 0), k.size(op.getIds(), 1));

  Value below = k.forLoop(
      k.thread(), slots, k.index(kThreads), k.i32(0),
      [&](Value slot, ValueRange carried) -> SmallVector<Value> {
        Value earlier = k.ltU(loadExpert(slot), expert);
        return {k.add(carried[0],
                      arith::ExtUIOp::create(k, k.getI32Type(), earlier))};
      })[0];
  first = toIndex(k.reduceBlock(below, k.i32(0), [&](Value left, Value right) {
    return sum(left, right);
  }));
  k.ifThen(k.equal(k.thread(), k.index(0)),
           [&] { k.storeIndex(first, op.getOffsets(), expert); });
  Value isExpert = k.ltU(expert, experts);
  k.ifThen(isExpert, [&] { placeRows(); });
  k.ifThen(k.equal(expert, experts), [&] { finish(first); });
  k.launch(k.hostSize(op.getOffsets(), 0));
}

/// The padded offsets, by one thread: they are few.
static void buildPaddedOffsets(GroupOp op, gpu::GPUModuleOp module) {
  KernelBuilder k(module, op, kWarpSize, "padded");
  Value padded = op.getPaddedOffsets(), offsets = op.getOffsets();
  k.ifThen(k.equal(k.thread(), k.index(0)), [&] {
    k.store(k.i32(0), padded, k.index(0));
    k.forLoop(k.index(1), k.size(offsets, 0), k.index(1),
              {k.index(0), k.index(0)},
              [&](Value expert, ValueRange carried) -> SmallVector<Value> {
                Value end = k.loadIndex(offsets, expert);
                Value rows = k.sub(end, carried[0]);
                Value padding = k.index(kRowPadding);
                Value next = k.add(carried[1],
                                   k.mul(k.ceilDivU(rows, padding), padding));
                k.storeIndex(next, padded, expert);
                return {end, next};
              });
  });
  k.launch(k.hostIndex(1));
}

LogicalResult moeq::buildKernels(GroupOp op, gpu::GPUModuleOp module) {
  GroupKernel(op, module).build();
  if (op.getPaddedOffsets())
    buildPaddedOffsets(op, module);
  return success();
}
