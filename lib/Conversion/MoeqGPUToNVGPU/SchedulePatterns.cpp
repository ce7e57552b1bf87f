//===- SchedulePatterns.cpp - Tiles found on the device ---------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each lane of a warp knows the row tiles of its groups and, by a scan, those
// before them. The group of a row tile is then found by a ballot: the first
// lane whose prefix is beyond the tile. With several groups a lane a second
// scan, over the groups of that lane, follows for each tile.
//
//===----------------------------------------------------------------------===//

#include "Patterns.h"

using namespace mlir;
using namespace mlir::moeq_gpu;

void ScheduleState::getTypes(MLIRContext *context,
                             SmallVectorImpl<Type> &types) {
  types.append(6, IntegerType::get(context, 32));
  types.push_back(LLVM::LLVMPointerType::get(context, kGlobalSpace));
}

// The sum of `value` over the lanes up to this one; lanes from `width` (a power
// of two) on are not needed.
static Value emitScan(Emitter &e, Value value, Value lane, int64_t width) {
  for (int64_t step = 1; step < width; step *= 2) {
    Value other = e.shuffle(NVVM::ShflKind::up, value, e.i32(step));
    value = e.add(value, e.select(e.below(lane, step), e.i32(0), other));
  }
  return value;
}

// The lowest lane whose predicate holds; one does.
static Value emitFirstLane(Emitter &e, Value predicate) {
  return LLVM::CountTrailingZerosOp::create(e.b, e.loc, e.b.getI32Type(),
                                            e.ballot(predicate),
                                            /*is_zero_poison=*/true);
}

namespace {
/// The rows of a group.
struct Group {
  Value row, end, tiles;
};
} // namespace

// The rows of group `index`; none where `exists` is false.
static Group emitGroup(Emitter &e, Value offsets, Value groups, Value index,
                       Value exists, int64_t tileRows) {
  Type i32 = e.b.getI32Type();
  Value address = e.at(offsets, i32, e.min(index, e.sub(groups, 1)));
  Value row = e.loadConstant(i32, address, 4);
  Value end = e.loadConstant(i32, e.at(address, i32, 1), 4);
  Value tiles =
      e.select(exists, e.ceilDiv(e.sub(end, row), tileRows), e.i32(0));
  return {row, end, tiles};
}

namespace {

struct ScheduleLowering : KernelPattern<ScheduleOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(ScheduleOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter e(rewriter, op.getLoc());
    ScheduleType type = op.getResult().getType();
    int64_t chunk = type.getGroupsPerLane();
    Value lane = e.lane();
    ScheduleState state;
    state.columnTiles = e.ceilDiv(adaptor.getColumns(), type.getColumns());

    Value tiles; // Of this lane.
    if (!adaptor.getOffsets()) {
      state.groups = e.i32(1);
      state.offsets = LLVM::PoisonOp::create(
          rewriter, op.getLoc(),
          LLVM::LLVMPointerType::get(getContext(), kGlobalSpace));
      tiles = e.select(e.equal(lane, 0),
                       e.ceilDiv(adaptor.getRows(), type.getRows()), e.i32(0));
      state.start = e.i32(0);
      state.end = adaptor.getRows();
      state.prefix = emitScan(e, tiles, lane, kWarpThreads);
    } else {
      state.groups = adaptor.getGroups();
      state.offsets = adaptor.getOffsets();
      Value first = e.mul(lane, chunk);
      Group group = emitGroup(e, state.offsets, state.groups, first,
                              e.below(first, state.groups), type.getRows());
      tiles = group.tiles;
      if (chunk > 1) {
        auto loop = scf::ForOp::create(
            rewriter, op.getLoc(), e.i32(1), e.i32(chunk), e.i32(1), tiles,
            [&](OpBuilder &builder, Location loc, Value i, ValueRange sum) {
              Emitter inner(builder, loc);
              Value index = inner.add(first, i);
              Group next =
                  emitGroup(inner, state.offsets, state.groups, index,
                            inner.below(index, state.groups), type.getRows());
              scf::YieldOp::create(builder, loc,
                                   inner.add(sum.front(), next.tiles));
            });
        tiles = loop.getResult(0);
      }
      state.prefix = emitScan(e, tiles, lane, kWarpThreads);
      Value before = e.sub(state.prefix, tiles);
      state.start =
          chunk > 1 ? before : e.sub(group.row, e.mul(before, type.getRows()));
      state.end = group.end;
    }
    state.rowTiles = e.broadcast(state.prefix, e.i32(kWarpThreads - 1));
    rewriter.replaceOpWithMultiple(op, {state.pack()});
    return success();
  }
};

struct ScheduleSizeLowering : KernelPattern<ScheduleSizeOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(ScheduleSizeOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter e(rewriter, op.getLoc());
    ScheduleState state = ScheduleState::unpack(adaptor.getSchedule());
    rewriter.replaceOp(op, e.mul(state.rowTiles, state.columnTiles));
    return success();
  }
};

struct ScheduleTileLowering : KernelPattern<ScheduleTileOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(ScheduleTileOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter e(rewriter, op.getLoc());
    ScheduleType type = op.getSchedule().getType();
    ScheduleState state = ScheduleState::unpack(adaptor.getSchedule());
    Value index = adaptor.getIndex().front();

    // Row groups of `raster` row tiles; in each, columns, then rows.
    Value perGroup = e.mul(state.columnTiles, type.getRaster());
    Value rasterGroup = e.div(index, perGroup);
    Value firstRowTile = e.mul(rasterGroup, type.getRaster());
    Value height =
        e.min(e.sub(state.rowTiles, firstRowTile), e.i32(type.getRaster()));
    Value inGroup = e.sub(index, e.mul(rasterGroup, perGroup));
    Value rowTile = e.add(firstRowTile, e.rem(inGroup, height));
    Value column = e.mul(e.div(inGroup, height), type.getColumns());

    Value owner = emitFirstLane(e, e.below(rowTile, state.prefix));
    Value start = e.broadcast(state.start, owner);
    if (type.getGroupsPerLane() == 1) {
      Value row = e.add(start, e.mul(rowTile, type.getRows()));
      rewriter.replaceOp(op,
                         {owner, row, e.broadcast(state.end, owner), column});
      return success();
    }
    int64_t chunk = type.getGroupsPerLane();
    Value lane = e.lane(), first = e.mul(owner, chunk),
          candidate = e.add(first, lane);
    Value exists =
        e.bitAnd(e.below(lane, chunk), e.below(candidate, state.groups));
    Group group = emitGroup(e, state.offsets, state.groups, candidate, exists,
                            type.getRows());
    Value rest = e.sub(rowTile, start);
    Value prefix = emitScan(e, group.tiles, lane, llvm::PowerOf2Ceil(chunk));
    Value found = emitFirstLane(e, e.bitAnd(exists, e.below(rest, prefix)));
    Value origin =
        e.sub(group.row, e.mul(e.sub(prefix, group.tiles), type.getRows()));
    Value row = e.add(e.broadcast(origin, found), e.mul(rest, type.getRows()));
    rewriter.replaceOp(
        op, {e.add(first, found), row, e.broadcast(group.end, found), column});
    return success();
  }
};

struct ScheduleTakeLowering : KernelPattern<ScheduleTakeOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(ScheduleTakeOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Emitter e(rewriter, loc);
    ScheduleState state = ScheduleState::unpack(adaptor.getSchedule());
    Value last = e.sub(e.mul(state.rowTiles, state.columnTiles), 1);
    // All CTAs together take as many times as there are tiles, and the count
    // wraps to zero after `last`.
    auto taken = scf::IfOp::create(rewriter, loc, e.b.getI32Type(),
                                   e.equal(e.lane(), 0), true);
    rewriter.setInsertionPointToStart(taken.thenBlock());
    Value count =
        LLVM::AtomicRMWOp::create(rewriter, loc, LLVM::AtomicBinOp::uinc_wrap,
                                  adaptor.getCounter().front(), last,
                                  LLVM::AtomicOrdering::monotonic, "device");
    scf::YieldOp::create(rewriter, loc, count);
    rewriter.setInsertionPointToStart(taken.elseBlock());
    scf::YieldOp::create(rewriter, loc, e.i32(0));
    rewriter.setInsertionPoint(op);
    Value own = e.broadcast(taken.getResult(0), e.i32(0));
    Value grid = NVVM::GridDimXOp::create(rewriter, loc, e.b.getI32Type());
    rewriter.replaceOp(op, e.add(grid, own));
    return success();
  }
};

} // namespace

void mlir::moeq_gpu::populateSchedulePatterns(const TypeConverter &converter,
                                              RewritePatternSet &patterns,
                                              const KernelBudget &budget) {
  patterns.add<ScheduleLowering, ScheduleSizeLowering, ScheduleTileLowering,
               ScheduleTakeLowering>(converter, patterns.getContext(), budget);
}
