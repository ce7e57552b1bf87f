//===- MatmulProducer.cpp - What fills the ring of a matmul -----*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The producer starts copies of tiles, and of the scales that are contiguous
// along the rows. Gathered rows, and other scales, all warps of its warpgroup
// copy: the producer and its helpers, which get the tiles as consumers do.
//
//===----------------------------------------------------------------------===//

#include "MatmulBuilder.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::moeq_gpu;

Value MatmulBuilder::buildRowInPart(Tile tile, Value row) {
  if (!spec.isMasked && !spec.contractsRows)
    return row;
  return arith::SubIOp::create(b, row,
                               mul(tile.group, getParameter(Kind::Rows)));
}

// (row, column) of the scales of stage `k` of all in each matrix: [groups,
// stages, rows], where the rows of A are one group unless they are masked.
SmallVector<Value> MatmulBuilder::buildScalePlaces(Tile tile, Value k) {
  SmallVector<Value> places;
  auto getRow = [&](Value group) { return add(mul(group, depthTiles), k); };
  if (areLhsScalesStaged(spec)) {
    Value row = buildRowInPart(tile, tile.row);
    if (int64_t unit = getLhsScaleUnit(spec))
      row = arith::AndIOp::create(b, row, i32(-unit));
    places.append({getRow(getLhsPart(tile)), row});
  }
  if (areRhsScalesStaged(spec))
    places.append({getRow(getRhsPart(tile)), tile.column});
  return places;
}

// The indices of `count` rows from `first` on, of which those before `end`
// exist: the numbers at `base`, or their own.
SmallVector<Value> MatmulBuilder::buildIndices(Value base, Value first,
                                               Value end, int64_t count) {
  SmallVector<Type> types(llvm::divideCeil(count, kWarpgroupThreads),
                          b.getI32Type());
  return llvm::to_vector_of<Value>(
      LoadIndicesOp::create(b, types, base, first, end).getResults());
}

// The scales that threads copy, of A and of the weights: [groups, rows, stages]
// or [groups, stages, rows]. `rows` are the indices of gathered rows.
SmallVector<MatmulBuilder::GatheredScales, 2>
MatmulBuilder::buildGatheredScales(Tile tile, ArrayRef<Value> rows) {
  SmallVector<GatheredScales, 2> all;
  if (!areScalesGathered(spec))
    return all;
  auto add = [&](Kind kind, bool isMnMajor, Value group, Value groupRows,
                 ArrayRef<Value> indices) {
    Value one = i64(1), stages = toI64(depthTiles), plane = toI64(groupRows);
    all.push_back({getParameter(kind), mul(mul(toI64(group), stages), plane),
                   isMnMajor ? plane : one, isMnMajor ? one : stages,
                   SmallVector<Value, 2>(indices)});
  };
  if (areLhsScalesStaged(spec)) {
    bool isMnMajor = spec.lhsScaleIsMnMajor;
    // Rows are counted through all groups, or in those of the scales.
    Value group = i32(0), groupRows = group, row = tile.row, end = tile.rowEnd;
    if (isMnMajor) {
      group = getLhsPart(tile);
      groupRows = getParameter(Kind::LhsScalePitch);
    }
    if (isMnMajor || spec.contractsRows) {
      row = buildRowInPart(tile, row);
      end = buildRowInPart(tile, end);
    }
    SmallVector<Value> own;
    if (!spec.isGathered)
      rows = own = buildIndices(Value(), row, end, spec.tileRows);
    add(Kind::LhsScale, isMnMajor, group, groupRows, rows);
  }
  if (areRhsScalesStaged(spec)) {
    Value groupRows = columns;
    if (spec.rhsScaleIsMnMajor) { // Rows of 16 bytes each.
      Value unit = i32(kPitchBytes / getBytes(spec.rhsScaleType));
      groupRows = mul(arith::CeilDivUIOp::create(b, columns, unit), unit);
    }
    add(Kind::RhsScale, spec.rhsScaleIsMnMajor, getRhsPart(tile), groupRows,
        buildIndices(Value(), tile.column, columns, spec.tileColumns));
  }
  return all;
}

void MatmulBuilder::buildProducer(Region &region, bool isHelper) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&region.emplaceBlock());
  auto work = [&](Tile tile, Carried carried) -> Carried {
    Value rows;
    if (spec.swapAb)
      rows = mul(buildWidthIndex(tile), i32(spec.getRowStep()));
    SmallVector<Value> indices;
    if (spec.isGathered)
      indices = buildIndices(getParameter(Kind::RowIndices), tile.row,
                             tile.rowEnd, spec.tileRows);
    SmallVector<GatheredScales, 2> scales = buildGatheredScales(tile, indices);
    SmallVector<Value, 2> shared;
    if (sharesCopies() && !isHelper)
      shared = buildShared(tile, carried.count);
    Depth depth = buildDepth(tile);
    // Unrolled, as a short loop is unless rows are gathered, copies to several
    // CTAs need too many registers.
    if (sharesCopies() && !spec.isGathered)
      depth.stages = buildOpaque(depth.stages);
    auto fill = [&](Value k, Value cursor) -> Value {
      RingAcquireOp::create(b, ring, cursor);
      SmallVector<Value> places = buildCoordinates(tile, depth, k);
      Value column = places[1], stage = buildStageOfAll(depth, k);
      if (!isHelper)
        buildFill(tile, stage, places, cursor, shared, rows);
      if (spec.isGathered)
        // Addresses are made for each stage, not kept in registers.
        RingGatherOp::create(b, ring, cursor, getParameter(Kind::Lhs),
                             buildOpaque(column),
                             getExtent(spec.depth, Kind::Depth), indices);
      for (auto [i, of] : llvm::enumerate(scales))
        RingGatherVectorOp::create(b, ring, cursor, i, of.base,
                                   add(of.first, mul(toI64(stage), of.step)),
                                   of.pitch, of.indices);
      if (hasHelpers(spec))
        RingGatheredOp::create(b, ring, cursor);
      return advance(ring, cursor);
    };
    if (isHelper || !isDynamic())
      return {buildForDepth(i32(0), depth.stages, carried.cursor, fill),
              Value()};
    // The next tile is taken before the last stage, for which the producer has
    // to wait anyway.
    Value last = arith::MaxSIOp::create(
        b, arith::SubIOp::create(b, depth.stages, i32(1)), i32(0));
    Value cursor = buildForDepth(i32(0), last, carried.cursor, fill);
    Value next = buildTake();
    return {buildForDepth(last, depth.stages, cursor, fill), next};
  };
  buildTileLoop(/*isProducer=*/!isHelper, isHelper ? Value() : first, work);
  YieldOp::create(b);
}

void MatmulBuilder::buildFill(Tile tile, Value stage, SmallVector<Value> places,
                              Value cursor, ValueRange shared, Value rows) {
  SmallVector<Value> maps{lhsMap, rhsMap}, sources;
  if (spec.isPacked) {
    maps.pop_back();
    places.pop_back_n(2);
    for (int64_t i = 1; i < getStageTiles(spec); ++i) {
      maps.push_back(lhsMap);
      places.append({places[0], add(places[1], i32(i * lhsTile.getColumns()))});
    }
    sources = buildPackedSources(tile, stage);
  }
  if (spec.isGathered) {
    maps.erase(maps.begin());
    places.erase(places.begin(), places.begin() + 2);
  }
  if (!scaleMaps.empty()) {
    llvm::append_range(maps, scaleMaps);
    llvm::append_range(places, buildScalePlaces(tile, stage));
  }
  RingFillOp::create(b, ring, cursor, maps, places, shared, rows, sources);
}
