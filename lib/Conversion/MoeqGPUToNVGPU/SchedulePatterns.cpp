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
  Type i32 = IntegerType::get(context, 32);
  types.append(5, i32);
  types.push_back(LLVM::LLVMPointerType::get(context, kGlobalSpace));
  types.push_back(i32);
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
/// A group: its number, its rows, and those of a tile, as many as the schedule
/// has where they are null.
struct Group {
  Value number, row, end, width;
};

/// The numbers of the first row of a plan, and of one of its groups.
enum PlanSize { kTiles, kSplitFirst, kSplitPieces };
enum PlanGroup { kRow, kEnd, kExpert, kWidth };
constexpr int64_t kPlanFields = 4;
} // namespace

// Row `index` of a plan.
static SmallVector<Value> emitPlanRow(Emitter &e, Value plan, Value index) {
  auto type = VectorType::get({kPlanFields}, e.b.getI32Type());
  Value row = e.loadGlobal(type, e.at(plan, type, index), 16);
  SmallVector<Value> fields;
  for (int64_t i = 0; i < kPlanFields; ++i)
    fields.push_back(LLVM::ExtractElementOp::create(e.b, e.loc, row, e.i32(i)));
  return fields;
}

// Group `index` of the offsets, the counts or the plan.
static Group emitGroup(Emitter &e, ScheduleType type,
                       const ScheduleState &state, Value index) {
  if (type.getIsPlanned()) {
    SmallVector<Value> fields = emitPlanRow(e, state.table, e.add(index, 1));
    return {fields[kExpert], fields[kRow], fields[kEnd], fields[kWidth]};
  }
  Type i32 = e.b.getI32Type();
  Value address = e.at(state.table, i32, index);
  if (type.getMasked()) {
    Value row = e.mul(index, state.rows);
    Value count = e.min(e.loadGlobal(i32, address, 4), state.rows);
    return {index, row, e.add(row, count), Value()};
  }
  return {index, e.loadGlobal(i32, address, 4),
          e.loadGlobal(i32, e.at(address, i32, 1), 4), Value()};
}

// The row tiles of a group.
static Value emitRowTiles(Emitter &e, ScheduleType type, const Group &group) {
  Value rows = e.sub(group.end, group.row);
  if (!group.width)
    return e.ceilDiv(rows, type.getRows());
  // A group without rows has no width.
  return e.ceilDiv(rows, e.max(group.width, e.i32(1)));
}

// The row tiles of group `index`; none where there is no such group.
static Value emitGroupTiles(Emitter &e, ScheduleType type,
                            const ScheduleState &state, Value index) {
  Value last = e.sub(state.groups, 1);
  Group group = emitGroup(e, type, state, e.min(index, last));
  return e.select(e.below(index, state.groups), emitRowTiles(e, type, group),
                  e.i32(0));
}

namespace {

struct ScheduleLowering : KernelPattern<ScheduleOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(ScheduleOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Emitter e(rewriter, loc);
    ScheduleType type = op.getResult().getType();
    int64_t chunk = type.getGroupsPerLane();
    Value lane = e.lane(), tiles;
    ScheduleState state;
    state.columnTiles = e.ceilDiv(adaptor.getColumns(), type.getColumns());

    if (!adaptor.getGroups()) {
      state.groups = e.i32(1);
      state.table = LLVM::PoisonOp::create(
          rewriter, loc,
          LLVM::LLVMPointerType::get(getContext(), kGlobalSpace));
      state.rows = adaptor.getRows();
      Group group{e.i32(0), e.i32(0), state.rows, Value()};
      tiles =
          e.select(e.equal(lane, 0), emitRowTiles(e, type, group), e.i32(0));
    } else {
      state.groups = adaptor.getGroups();
      state.table = op.getPlan()     ? adaptor.getPlan()
                    : op.getCounts() ? adaptor.getCounts()
                                     : adaptor.getOffsets();
      state.rows = op.getCounts() ? adaptor.getRows() : e.i32(0);
      Value first = e.mul(lane, chunk);
      tiles = emitGroupTiles(e, type, state, first);
      if (chunk > 1) {
        auto loop = scf::ForOp::create(
            rewriter, loc, e.i32(1), e.i32(chunk), e.i32(1), tiles,
            [&](OpBuilder &builder, Location loc, Value i, ValueRange sum) {
              Emitter inner(builder, loc);
              Value next =
                  emitGroupTiles(inner, type, state, inner.add(first, i));
              scf::YieldOp::create(builder, loc, inner.add(sum.front(), next));
            });
        tiles = loop.getResult(0);
      }
    }
    state.prefix = emitScan(e, tiles, lane, kWarpThreads);
    state.rowTiles = e.broadcast(state.prefix, e.i32(kWarpThreads - 1));
    state.size = op.getPlan() ? emitPlanRow(e, state.table, e.i32(0))[kTiles]
                              : e.mul(state.rowTiles, state.columnTiles);
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
    rewriter.replaceOp(op, state.size);
    return success();
  }
};
} // namespace

// The group of row tile `tile`, in all lanes, and the row tiles before it.
static std::pair<Group, Value> emitFindGroup(Emitter &e, ScheduleType type,
                                             const ScheduleState &state,
                                             Value tile) {
  // The first lane whose value is beyond `number`, and the value before it.
  auto search = [&](Value prefix, Value number) -> std::pair<Value, Value> {
    Value owner = emitFirstLane(e, e.below(number, prefix));
    Value isFirst = e.equal(owner, 0);
    Value before =
        e.broadcast(prefix, e.select(isFirst, owner, e.sub(owner, 1)));
    return {owner, e.select(isFirst, e.i32(0), before)};
  };
  auto [index, before] = search(state.prefix, tile);
  if (int64_t chunk = type.getGroupsPerLane(); chunk > 1) {
    Value lane = e.lane(), first = e.mul(index, chunk);
    Value tiles =
        e.select(e.below(lane, chunk),
                 emitGroupTiles(e, type, state, e.add(first, lane)), e.i32(0));
    Value prefix = emitScan(e, tiles, lane, llvm::PowerOf2Ceil(chunk));
    auto [inLane, more] = search(prefix, e.sub(tile, before));
    index = e.add(first, inLane);
    before = e.add(before, more);
  }
  if (type.getGroupsPerLane() == 0)
    return {{index, e.i32(0), state.rows, Value()}, before};
  return {emitGroup(e, type, state, index), before};
}

namespace {
struct ScheduleTileLowering : KernelPattern<ScheduleTileOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(ScheduleTileOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter e(rewriter, op.getLoc());
    ScheduleType type = op.getSchedule().getType();
    ScheduleState state = ScheduleState::unpack(adaptor.getSchedule());
    Value index = adaptor.getIndex().front();
    rewriter.replaceOp(op, type.getRaster()
                               ? emitInRasterGroups(e, type, state, index)
                               : emitInGroups(e, type, state, index));
    return success();
  }

  // Row groups of `raster` row tiles; in each, columns, then rows.
  static SmallVector<Value> emitInRasterGroups(Emitter &e, ScheduleType type,
                                               const ScheduleState &state,
                                               Value index) {
    Value perGroup = e.mul(state.columnTiles, type.getRaster());
    Value rasterGroup = e.div(index, perGroup);
    Value firstRowTile = e.mul(rasterGroup, type.getRaster());
    Value height =
        e.min(e.sub(state.rowTiles, firstRowTile), e.i32(type.getRaster()));
    Value inGroup = e.sub(index, e.mul(rasterGroup, perGroup));
    Value rowTile = e.add(firstRowTile, e.rem(inGroup, height));
    Value column = e.mul(e.div(inGroup, height), type.getColumns());
    auto [group, before] = emitFindGroup(e, type, state, rowTile);
    Value row = e.add(group.row, e.mul(e.sub(rowTile, before), type.getRows()));
    return {group.number, row, group.end, column};
  }

  // Number `index` of `count` that are taken from both ends in turns, two at a
  // time, which may be those of a cluster; an odd one out is the last.
  static Value emitFromBothEnds(Emitter &e, Value index, Value count) {
    Value pairs = e.div(count, 2), pair = e.div(index, 2);
    Value half = e.div(pair, 2);
    Value isFront = e.equal(e.rem(pair, 2), 0);
    Value taken = e.select(isFront, half, e.sub(e.sub(pairs, half), 1));
    return e.select(e.below(pair, pairs),
                    e.add(e.mul(taken, 2), e.rem(index, 2)), index);
  }

  // Groups; in each, columns, then rows, evenly shared out or as planned. From
  // some tile on a plan splits each into pieces along its rows.
  static SmallVector<Value> emitInGroups(Emitter &e, ScheduleType type,
                                         const ScheduleState &state,
                                         Value index) {
    Value pieces, piece;
    if (type.getIsPlanned()) {
      SmallVector<Value> sizes = emitPlanRow(e, state.table, e.i32(0));
      Value whole = e.min(index, sizes[kSplitFirst]);
      Value isWhole = e.below(index, sizes[kSplitFirst]);
      pieces = e.select(isWhole, e.i32(1), sizes[kSplitPieces]);
      Value rest = e.sub(index, whole), split = e.div(rest, pieces);
      piece = e.sub(rest, e.mul(split, pieces));
      if (type.getGroupsPerLane() > 1)
        whole = emitFromBothEnds(e, whole, sizes[kSplitFirst]);
      index = e.add(whole, split);
    }
    // As many tiles as row tiles times column tiles precede a group.
    auto [group, before] =
        emitFindGroup(e, type, state, e.div(index, state.columnTiles));
    Value inGroup = e.sub(index, e.mul(before, state.columnTiles));
    Value rowTiles = emitRowTiles(e, type, group);
    Value columnTile = e.div(inGroup, rowTiles);
    Value rowTile = e.sub(inGroup, e.mul(columnTile, rowTiles));
    // What each of so many equal parts has of `rows`, in steps.
    auto share = [&](Value rows, Value parts) {
      Value perPart = e.ceilDiv(rows, e.mul(parts, type.getStep()));
      return e.mul(perPart, type.getStep());
    };
    Value rows = group.width ? group.width
                             : share(e.sub(group.end, group.row), rowTiles);
    Value row = e.add(group.row, e.mul(rowTile, rows));
    Value end = e.min(e.add(row, rows), group.end);
    if (piece) {
      Value pieceRows = share(rows, pieces);
      row = e.min(e.add(row, e.mul(piece, pieceRows)), end);
      end = e.min(e.add(row, pieceRows), end);
    }
    return {group.number, row, end, e.mul(columnTile, type.getColumns())};
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
    int64_t cluster = op.getCluster();
    Value last = e.sub(e.ceilDiv(state.size, op.getSame() ? 1 : cluster), 1);
    // All CTAs together, or clusters, take as many times as there are tiles,
    // and the count wraps to zero after `last`.
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
    Type i32 = e.b.getI32Type();
    Value started = cluster == 1
                        ? Value(NVVM::GridDimXOp::create(rewriter, loc, i32))
                        : NVVM::ClusterDimXOp::create(rewriter, loc, i32);
    rewriter.replaceOp(op, e.add(started, taken.getResult(0)));
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
