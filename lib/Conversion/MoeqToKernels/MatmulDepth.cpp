//===- MatmulDepth.cpp - What of K a tile sums ------------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A tile sums over all of K, or the part that is its CTA's (MatmulSplit.cpp);
// or, where groups are ranges of K, over that of its group. Operands are copied
// by stages of 128 bytes of K in a row, or of as many rows of K, which then may
// be those of the next group: such rows are set to zero, in both operands,
// since they may hold what no product with zero is zero of. They are in the
// first stage that is copied, ahead of the main loop.
//
//===----------------------------------------------------------------------===//

#include "MatmulBuilder.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::moeq_gpu;

//===----------------------------------------------------------------------===//
// Tiles of C [E, M, N]
//===----------------------------------------------------------------------===//

// M, rounded up to whole tiles: no tile has rows of two groups.
static Value buildPaddedRows(ImplicitLocOpBuilder &b, Value rows,
                             Value tileRows) {
  return arith::MulIOp::create(b, arith::CeilDivUIOp::create(b, rows, tileRows),
                               tileRows);
}

Value MatmulBuilder::buildRowsOfGroups() {
  return mul(getExtent(spec.groups, Kind::Groups),
             buildPaddedRows(b, getParameter(Kind::Rows), i32(spec.tileRows)));
}

MatmulBuilder::Tile MatmulBuilder::toGroup(Tile tile) {
  Value rows = getParameter(Kind::Rows),
        padded = buildPaddedRows(b, rows, i32(spec.tileRows));
  Value group = arith::DivUIOp::create(b, tile.row, padded),
        inGroup = arith::RemUIOp::create(b, tile.row, padded);
  Value start = mul(group, rows);
  return {group, add(start, inGroup), add(start, rows), tile.column};
}

//===----------------------------------------------------------------------===//
// Stages of K
//===----------------------------------------------------------------------===//

MatmulBuilder::Depth MatmulBuilder::buildDepth(Tile tile) {
  Value stageDepth = i32(getStageDepth(spec)), first = i32(0), extent;
  Depth depth{first, depthTiles, Value(), Value()};
  if (isSplit())
    setPart(depth);
  if (spec.contractsRows) {
    // The kernel before may have written the offsets.
    auto load = [&](Value index) -> Value {
      Value base = getParameter(Kind::Offsets);
      Value address =
          LLVM::GEPOp::create(b, base.getType(), b.getI32Type(), base, index);
      return LLVM::LoadOp::create(b, b.getI32Type(), address);
    };
    depth.first = load(tile.group);
    extent =
        arith::SubIOp::create(b, load(add(tile.group, i32(1))), depth.first);
    extent = arith::MaxSIOp::create(b, extent, i32(0));
    depth.stages = arith::CeilDivUIOp::create(b, extent, stageDepth);
  } else if (hasRaggedDepth(spec)) {
    extent = getExtent(spec.depth, Kind::Depth);
  } else if (spec.isPlanned && !sharesCopies()) {
    // A planned tile may have no rows, and then no stages; but CTAs of a
    // cluster go through the same ones.
    depth.stages =
        arith::SelectOp::create(b, buildHasRows(tile), depth.stages, i32(0));
  }
  if (!hasRaggedDepth(spec))
    return depth;
  // A group without rows has one stage, all of it cleared.
  depth.stages = arith::MaxUIOp::create(b, depth.stages, i32(1));
  Value whole = arith::SubIOp::create(b, depth.stages, i32(1));
  depth.inFirst = arith::SubIOp::create(b, extent, mul(whole, stageDepth));
  return depth;
}

TileType MatmulBuilder::getOperandTile(int64_t extent, Type type,
                                       bool isTransposed) {
  int64_t depth = TileType::kPanelBytes / getBytes(type);
  return isTransposed ? TileType::get(context, depth, extent, type)
                      : TileType::get(context, extent, depth, type);
}

TensorMapType MatmulBuilder::getOperandMap(int64_t extent, Type type,
                                           bool isTransposed, int64_t step) {
  int64_t depth = TileType::kPanelBytes / getBytes(type);
  return TensorMapType::get(context, isTransposed ? depth : extent, depth, type,
                            step);
}

Value MatmulBuilder::buildStageOfAll(Depth depth, Value k) {
  if (depth.firstStage)
    return add(depth.firstStage, k);
  if (!spec.contractsRows)
    return k;
  // Groups with scales begin at whole stages.
  return add(arith::DivUIOp::create(b, depth.first, i32(getStageDepth(spec))),
             k);
}

SmallVector<Value> MatmulBuilder::buildCoordinates(Tile tile, Depth depth,
                                                   Value k) {
  Value stageDepth = i32(getStageDepth(spec));
  if (depth.inFirst) {
    // The last part of K first.
    Value isFirst =
        arith::CmpIOp::create(b, arith::CmpIPredicate::eq, k, i32(0));
    k = arith::SubIOp::create(
        b, arith::SelectOp::create(b, isFirst, depth.stages, k), i32(1));
  }
  Value inner = mul(isSplit() ? buildStageOfAll(depth, k) : k, stageDepth);
  if (spec.contractsRows)
    inner = add(depth.first, inner);
  Value row = tile.row, column = tile.column, outer = inner;
  if (spec.contractsRows) {
    row = arith::SubIOp::create(b, row,
                                mul(tile.group, getParameter(Kind::Rows)));
  } else if (spec.rhsIsTransposed) {
    outer = add(mul(tile.group, getExtent(spec.depth, Kind::Depth)), inner);
  } else {
    column = add(mul(tile.group, columns), column);
  }
  SmallVector<Value> coordinates{row, inner, column, outer};
  if (spec.lhsIsTransposed)
    std::swap(coordinates[0], coordinates[1]);
  if (spec.rhsIsTransposed)
    std::swap(coordinates[2], coordinates[3]);
  return coordinates;
}

// Of the first stage of a tile, what of K is not its own: rows; or, where K is
// inner, all of it, since groups are whole stages. Where K is inner in A alone,
// the copy has ended with it.
void MatmulBuilder::buildClearTail(Depth depth, Value lhs, Value rhs) {
  if (!depth.inFirst)
    return;
  Value isPartial = arith::CmpIOp::create(
      b, arith::CmpIPredicate::ult, depth.inFirst, i32(getStageDepth(spec)));
  auto split = scf::IfOp::create(b, isPartial, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(split.thenBlock());
  SmallVector<Value, 2> tiles;
  if (spec.contractsRows)
    tiles.push_back(lhs);
  tiles.push_back(rhs);
  ClearRowsOp::create(b, tiles, depth.inFirst);
}
