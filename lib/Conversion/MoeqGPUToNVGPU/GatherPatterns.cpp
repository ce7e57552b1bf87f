//===- GatherPatterns.cpp - Rows that threads copy --------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The threads of the producer warpgroup copy rows, or elements, that are no box
// of a tensor map, 16 or 4 bytes each, and arrive when they are there. Eight
// neighbouring lanes copy a row, so that the warpgroup has 16 rows at a time;
// of 128 rows each lane has the index of a sixteenth.
//
//===----------------------------------------------------------------------===//

#include "Stage.h"

using namespace mlir;
using namespace mlir::moeq_gpu;

/// Rows that the warpgroup copies at a time.
static constexpr int64_t kRowsAtOnce = kWarpgroupThreads / kChunksPerRow;

/// The row of 128 whose index `load_indices` gives this thread.
static Value emitOwnRow(Emitter &e) {
  Value thread = e.thread();
  return e.add(e.mul(e.rem(thread, kChunksPerRow), kRowsAtOnce),
               e.div(thread, kChunksPerRow));
}

namespace {
struct LoadIndicesLowering : KernelPattern<LoadIndicesOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(LoadIndicesOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter e(rewriter, op.getLoc());
    Value first = e.add(adaptor.getRow(), emitOwnRow(e));
    Value last = e.sub(adaptor.getEnd(), 1);
    Type i32 = e.b.getI32Type();
    SmallVector<Value> indices;
    for (int64_t i = 0, n = op.getNumResults(); i < n; ++i) {
      Value row = e.add(first, i * kWarpgroupThreads), index = row;
      if (Value base = adaptor.getBase())
        index =
            e.loadGlobal(i32, e.at(base, i32, e.toI64(e.min(row, last))), 4);
      indices.push_back(
          e.select(e.below(row, adaptor.getEnd()), index, e.i32(-1)));
    }
    rewriter.replaceOp(op, indices);
    return success();
  }
};

struct RingGatherLowering : KernelPattern<RingGatherOp> {
  using KernelPattern::KernelPattern;

  // A thread has the same piece of every 16th row, which the swizzle moves in
  // the same way.
  LogicalResult
  matchAndRewrite(RingGatherOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Emitter e(rewriter, loc);
    RingType type = op.getRing().getType();
    Stage stage(e, type, adaptor.getRing(), adaptor.getCursor());
    TileType tile = type.getPayload().front();
    Type element =
        e.b.getIntegerType(tile.getElementType().getIntOrFloatBitWidth());
    Value row = e.div(e.thread(), kChunksPerRow),
          chunk = e.rem(e.thread(), kChunksPerRow);
    Value column = e.add(adaptor.getColumn().front(),
                         e.mul(chunk, tile.getColumns() / kChunksPerRow));
    Value pitch = adaptor.getPitch().front();
    Value isInside = e.below(column, pitch);
    // What is beyond the pitch is not read.
    Value source = e.at(adaptor.getBase().front(), element,
                        e.toI64(e.select(isInside, column, e.i32(0))));
    Value target = e.shared(emitChunkAddress(e, stage.tile(0), row, chunk));
    Value firstLane = e.sub(e.lane(), chunk);
    for (int64_t first = 0; first < tile.getRows(); first += kRowsAtOnce) {
      Value own = adaptor.getIndices()[first / kWarpgroupThreads].front();
      Value index = e.broadcast(
          own, e.add(firstLane, first % kWarpgroupThreads / kRowsAtOnce));
      auto copy = [&] {
        Value exists = e.bitAnd(e.isNonNegative(index), isInside);
        Value offset =
            e.mul(e.toI64(e.maxSigned(index, e.i32(0))), e.toI64(pitch));
        NVVM::CpAsyncOp::create(
            rewriter, loc,
            e.at(target, e.b.getI8Type(), first * TileType::kPanelBytes),
            e.at(source, element, offset), kChunkBytes,
            NVVM::LoadCacheModifierKind::CG,
            e.select(exists, e.i32(kChunkBytes), e.i32(0)));
      };
      // A tile may end with half as many.
      if (first + kRowsAtOnce > tile.getRows())
        e.when(e.below(row, tile.getRows() - first), copy);
      else
        copy();
    }
    rewriter.eraseOp(op);
    return success();
  }
};

struct RingGatherVectorLowering : KernelPattern<RingGatherVectorOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(RingGatherVectorOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Emitter e(rewriter, loc);
    RingType type = op.getRing().getType();
    Stage stage(e, type, adaptor.getRing(), adaptor.getCursor());
    SharedVectorType vector = type.getVectors()[op.getNumber()];
    int64_t size = vector.getSize();
    Type element = vector.getElementType();
    int64_t bytes = element.getIntOrFloatBitWidth() / 8;
    Value row = emitOwnRow(e);
    Value target =
        e.shared(e.add(stage.vector(op.getNumber()), e.mul(row, bytes)));
    Value source =
        e.at(adaptor.getBase().front(), element, adaptor.getOffset().front());
    for (auto [i, values] : llvm::enumerate(adaptor.getIndices())) {
      Value index = values.front(), exists = e.isNonNegative(index);
      int64_t first = i * kWarpgroupThreads;
      auto copy = [&] {
        Value place = e.mul(e.toI64(e.maxSigned(index, e.i32(0))),
                            adaptor.getPitch().front());
        Value to = e.at(target, element, first),
              from = e.at(source, element, place);
        if (RingType::isCopied(vector)) {
          NVVM::CpAsyncOp::create(rewriter, loc, to, from, bytes,
                                  NVVM::LoadCacheModifierKind::CA,
                                  e.select(exists, e.i32(bytes), e.i32(0)));
          return;
        }
        Value value = e.select(exists, e.loadGlobal(element, from, bytes),
                               e.zero(element));
        LLVM::StoreOp::create(rewriter, loc, value, to, bytes);
      };
      if (first + kWarpgroupThreads <= size)
        copy();
      else
        e.when(e.below(row, size - first), copy);
    }
    rewriter.eraseOp(op);
    return success();
  }
};

struct RingGatheredLowering : KernelPattern<RingGatheredOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(RingGatheredOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter e(rewriter, op.getLoc());
    Stage stage(e, op.getRing().getType(), adaptor.getRing(),
                adaptor.getCursor());
    RingType type = stage.type;
    Location loc = op.getLoc();
    if (!type.getHasGatheredVectors() ||
        llvm::all_of(type.getVectors(), RingType::isCopied)) {
      NVVM::CpAsyncMBarrierArriveOp::create(
          rewriter, loc, e.shared(stage.full()), /*noinc=*/true);
    } else {
      // An arrival that releases what the thread itself has stored.
      NVVM::CpAsyncWaitGroupOp::create(rewriter, loc, 0);
      NVVM::MBarrierArriveOp::create(rewriter, loc, rewriter.getI64Type(),
                                     e.shared(stage.full()));
    }
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

void mlir::moeq_gpu::populateGatherPatterns(const TypeConverter &converter,
                                            RewritePatternSet &patterns,
                                            const KernelBudget &budget) {
  patterns.add<LoadIndicesLowering, RingGatherLowering,
               RingGatherVectorLowering, RingGatheredLowering>(
      converter, patterns.getContext(), budget);
}
