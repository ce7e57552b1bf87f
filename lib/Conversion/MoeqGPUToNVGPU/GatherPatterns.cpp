//===- GatherPatterns.cpp - Rows that threads copy --------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The threads of the producer warpgroup copy rows, or elements, that are no box
// of a tensor map, 16 or 4 bytes each, and arrive when they are there.
//
//===----------------------------------------------------------------------===//

#include "Stage.h"

using namespace mlir;
using namespace mlir::moeq_gpu;

namespace {
struct LoadIndicesLowering : KernelPattern<LoadIndicesOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(LoadIndicesOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter e(rewriter, op.getLoc());
    Value first = e.add(adaptor.getRow(), e.thread());
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

  // Eight neighbouring lanes copy the pieces of a row, so that a warp has four
  // rows at a time, and 32 rows for the indices that it has in a register; the
  // next register is for those 128 rows further.
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
    int64_t chunkColumns = tile.getColumns() / kChunksPerRow;
    constexpr int64_t rowsAtOnce = kWarpThreads / kChunksPerRow;
    // From lane 0, so that the compiler sees a row that is the same in a warp.
    Value warp = e.broadcast(e.div(e.thread(), kWarpThreads), e.i32(0));
    Value warpRow = e.mul(warp, kWarpThreads);
    Value lane = e.lane(), laneRow = e.div(lane, kChunksPerRow),
          chunk = e.rem(lane, kChunksPerRow);
    Value column =
        e.add(adaptor.getColumn().front(), e.mul(chunk, chunkColumns));
    Value pitch = adaptor.getPitch().front();
    Value isInside = e.below(column, pitch);
    // What is beyond the pitch is not read.
    Value source = e.at(adaptor.getBase().front(), element,
                        e.toI64(e.select(isInside, column, e.i32(0))));
    // The swizzle repeats after two rounds.
    SmallVector<Value, 2> targets;
    for (int64_t i = 0; i < 2; ++i)
      targets.push_back(e.shared(emitChunkAddress(
          e, stage.tile(0), e.add(e.add(warpRow, laneRow), i * rowsAtOnce),
          chunk)));
    for (auto [i, values] : llvm::enumerate(adaptor.getIndices())) {
      Value indices = values.front();
      int64_t first = i * kWarpgroupThreads;
      auto copyRows = [&](int64_t row) {
        Value index = e.broadcast(indices, e.add(laneRow, row));
        Value exists = e.bitAnd(e.isNonNegative(index), isInside);
        Value offset =
            e.mul(e.toI64(e.select(exists, index, e.i32(0))), e.toI64(pitch));
        NVVM::CpAsyncOp::create(
            rewriter, loc,
            e.at(targets[row / rowsAtOnce % 2], e.b.getI8Type(),
                 (first + row / (2 * rowsAtOnce) * (2 * rowsAtOnce)) *
                     TileType::kPanelBytes),
            e.at(source, element, offset), kChunkBytes,
            NVVM::LoadCacheModifierKind::CG,
            e.select(exists, e.i32(kChunkBytes), e.i32(0)));
      };
      auto copy = [&] {
        for (int64_t row = 0; row < kWarpThreads; row += rowsAtOnce) {
          // The last warp of a tile may have fewer rows.
          if (tile.getRows() % kWarpThreads == 0)
            copyRows(row);
          else
            e.when(e.below(e.add(warpRow, first + row), tile.getRows()),
                   [&] { copyRows(row); });
        }
      };
      // Warps whose rows would be beyond those of the tile have none.
      Value end = op.getRows() ? adaptor.getRows().front() : Value();
      if (!end && tile.getRows() < first + kWarpgroupThreads)
        end = e.i32(tile.getRows());
      if (end)
        e.when(e.below(e.add(warpRow, first), end), copy);
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
    Value thread = e.thread();
    Value target =
        e.shared(e.add(stage.vector(op.getNumber()), e.mul(thread, bytes)));
    Value source =
        e.at(adaptor.getBase().front(), element, adaptor.getOffset().front());
    for (auto [i, values] : llvm::enumerate(adaptor.getIndices())) {
      Value index = values.front(), exists = e.isNonNegative(index);
      int64_t first = i * kWarpgroupThreads;
      auto copy = [&] {
        Value place = e.mul(e.toI64(e.select(exists, index, e.i32(0))),
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
        e.when(e.below(thread, size - first), copy);
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
