//===- TileScales.cpp - Scales of tiles that are quantized ------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The scale of a block in a row is formed by the lanes that have it. Those of
// blocks along columns are formed once for each column, from the maxima of all
// warps in shared memory.
//
//===----------------------------------------------------------------------===//

#include "TileQuantizer.h"

#include "moeq/Support/ScaleLayout.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::moeq;

/// Whether memory has the scale at `row` and `column`, counted in blocks.
Value TileQuantizer::isScalePlace(const TileResult &result, Value row,
                                  Value column) {
  return k.both(k.ltU(row, k.size(result.scales, result.rowDim)),
                k.ltU(column, k.size(result.scales, 1 - result.rowDim)));
}

/// Stores the scale of the block at `row` and `column`, counted in blocks,
/// where `condition` holds. Unless `isScale` it belongs to nothing.
void TileQuantizer::storeScale(const TileResult &result, Value stored,
                               Value row, Value column, Value isScale,
                               Value condition) {
  if (result.fillsWithZeros) {
    stored = k.selectOrZero(isScale, stored);
    isScale = isScalePlace(result, row, column);
  }
  placeScale(result, stored, row, column, k.both(condition, isScale));
}

void TileQuantizer::placeScale(const TileResult &result, Value stored,
                               Value row, Value column, Value condition) {
  if (result.isTransposed)
    std::swap(row, column);
  ScaleLayout layout = result.format.getLayout();
  k.ifThen(condition, [&] {
    if (layout == ScaleLayout::Swizzle128x4) {
      // All rows are one: the byte is counted from the first.
      Value byte = emitSwizzledByte(k, k.getLoc(), row, column,
                                    k.size(result.scales, 1));
      return k.store(stored, result.scales, {k.index(0), byte});
    }
    ScalePlace place =
        emitScalePlace(k, k.getLoc(), layout, row, column, Value());
    k.store(stored, result.scales, {place.row, place.column});
  });
}

/// The largest of what all warps have for row `own` of the tile; of each warp,
/// the lanes for which `hasRow` holds, null for all, have one row each.
Value TileQuantizer::reduceWarps(Value statistic, Value own, Value hasRow) {
  int64_t count = shape.laneRows;
  Value memory = k.shared(k.getI32Type(), shape.warps * count),
        row = toIndex(own);
  k.ifThen(hasRow, [&] {
    k.storeShared(statistic, memory,
                  k.add(k.mul(k.warp(), k.index(count)), row));
  });
  k.barrier();
  for (int64_t warp = 0; warp < shape.warps; ++warp) {
    Value part =
        k.loadShared(k.getI32Type(), memory, k.add(row, k.index(warp * count)));
    statistic =
        warp == 0 ? part : Value(arith::MaxUIOp::create(k, statistic, part));
  }
  return statistic;
}

/// The scales of the rows of this lane in the block that has its chunks. Where
/// a block has as many lanes as those have rows, each lane forms the scale of
/// one row, and the others get its factor.
SmallVector<Value> TileQuantizer::formRowScales() {
  const TileResult &result = *rowwise;
  int64_t count = shape.laneRows;
  int64_t lanes = shape.spansRows ? std::min(shape.lanes, kWarpSize)
                                  : result.columnBlock / kChunk;
  Value block = shape.spansRows
                    ? k.index(0)
                    : k.divU(columns[0], k.index(result.columnBlock));
  SmallVector<Value> magnitudes;
  for (auto [i, chunk] : llvm::enumerate(rowMagnitudes)) {
    if (i % shape.laneChunks == 0)
      magnitudes.push_back(chunk);
    else
      magnitudes.back() = chunks.maximum(magnitudes.back(), chunk);
  }
  SmallVector<Value> statistics = chunks.reduceRows(magnitudes, lanes);
  Value place = toI32(k.remU(k.lane(), k.index(lanes)));
  Value padded = k.add(firstRow, toIndex(rowInTile0));
  auto rowOf = [&](Value number, Value ofLane) {
    return result.format.getGroups() != 0 ? k.add(padded, toIndex(ofLane))
                                          : number;
  };
  SmallVector<Value> factors;
  if (lanes < count) {
    Value isFirst = e.compareI(arith::CmpIPredicate::eq, place, 0);
    for (int64_t i = 0; i < count; ++i) {
      RecipeEmitter::BlockScale scale =
          result.emitter.emitScale(e, statistics[i]);
      storeScale(result, scale.stored, rowOf(rowNumbers[i], k.i32(i)), block,
                 k.both(isRow[i], hasColumn[0]), isFirst);
      factors.push_back(scale.factor);
    }
    return factors;
  }
  Value own = e.andI(place, count - 1);
  Value statistic = statistics[0], isOwn = isRow[0];
  for (int64_t i = 1; i < count; ++i) {
    Value isThis = e.compareI(arith::CmpIPredicate::eq, own, i);
    statistic = k.select(isThis, statistics[i], statistic);
    if (source.rows)
      isOwn = k.select(isThis, isRow[i], isOwn);
  }
  Value inTile = arith::AddIOp::create(k, rowInTile0, own);
  Value number = k.add(rows.begin, toIndex(inTile));
  if (!source.rows)
    isOwn = isTileRow(inTile);
  Value isFirst = lanes == count
                      ? Value()
                      : e.compareI(arith::CmpIPredicate::ult, place, count);
  if (shape.lanes > kWarpSize) {
    statistic = reduceWarps(statistic, own, isFirst);
    isFirst = k.both(isFirst, k.equal(k.warp(), k.index(0)));
  }
  RecipeEmitter::BlockScale scale = result.emitter.emitScale(e, statistic);
  // The lane that forms it need not have a column of the block.
  Value hasBlock = shape.spansRows
                       ? Value()
                       : isColumn(k.mul(block, k.index(result.columnBlock)));
  storeScale(result, scale.stored, rowOf(number, own), block,
             k.both(isOwn, hasBlock), isFirst);
  if (count == 1)
    return {scale.factor};
  Value firstLane = arith::SubIOp::create(k, toI32(k.lane()), place);
  for (int64_t i = 0; i < count; ++i)
    factors.push_back(k.shuffle(
        scale.factor, toIndex(arith::AddIOp::create(k, firstLane, k.i32(i)))));
  return factors;
}

/// Forms the scale of each column and block of rows from the maxima of the
/// teams that have parts of it, stores it or puts it to others of its column,
/// and leaves its factor in `factors`.
/// Where there are more threads than scales, some neighbouring ones read the
/// maxima of one together.
void TileQuantizer::reduceColumns(Value partials, Value factors) {
  const TileResult &result = *columnwise;
  int64_t tileColumns = shape.columns(), threads = shape.threads();
  int64_t blocks = shape.rows() / result.rowBlock;
  int64_t teamsOfBlock = shape.teams() / blocks;
  int64_t sharers = std::clamp<int64_t>(threads / (blocks * tileColumns), 1,
                                        std::min(teamsOfBlock, kWarpSize));
  int64_t count = blocks * tileColumns * sharers;
  for (int64_t base = 0; base < count; base += threads) {
    Value thread = k.add(k.thread(), k.index(base));
    Value isBlock =
        base + threads <= count ? Value() : k.ltU(thread, k.index(count));
    k.ifThen(isBlock, [&] {
      Value number = k.divU(thread, k.index(sharers)),
            share = k.remU(thread, k.index(sharers));
      Value inTile = k.remU(number, k.index(tileColumns)),
            block = k.divU(number, k.index(tileColumns));
      Value firstTeam = k.mul(k.add(k.mul(block, k.index(sharers)), share),
                              k.index(teamsOfBlock / sharers));
      Value largest;
      for (int64_t i = 0; i < teamsOfBlock / sharers; ++i) {
        Value team = k.add(firstTeam, k.index(i));
        Value part =
            k.loadShared(chunks.getMagnitudeType(), partials,
                         k.add(k.mul(team, k.index(partialPitch())), inTile));
        largest = largest ? chunks.maximum(largest, part) : part;
      }
      Value statistic = k.reduceLanes(
          chunks.toBits(largest), sharers, [&](Value left, Value right) {
            return arith::MaxUIOp::create(k, left, right).getResult();
          });
      RecipeEmitter::BlockScale scale = result.emitter.emitScale(e, statistic);
      Value at = columnAt(inTile);
      Value first = k.add(rows.begin, k.mul(block, k.index(result.rowBlock)));
      Value isScale = k.both(k.ltU(first, rows.end), isColumn(at));
      Value isFirst = sharers == 1 ? Value() : k.equal(share, k.index(0));
      if (columnScales) {
        Value bits = k.selectOrZero(isScale, scale.stored);
        if (bits.getType() != columnScaleBits())
          bits = arith::BitcastOp::create(k, columnScaleBits(), bits);
        k.ifThen(isFirst, [&] {
          k.storeShared(bits, columnScales,
                        k.add(k.mul(inTile, k.index(blocks)), block));
        });
      } else {
        Value row = k.add(k.divU(firstRow, k.index(result.rowBlock)), block);
        storeScale(result, scale.stored, row, at, isScale, isFirst);
      }
      k.storeShared(scale.factor, factors, number);
    });
  }
}

/// Stores the scales of all columns and blocks of rows of the tile, as
/// `scaleAt` gives them at a place of `columnScales`: lanes side by side store
/// neighbouring ones, so that memory is written by few sectors.
void TileQuantizer::storeColumnScales(function_ref<Value(Value)> scaleAt) {
  const TileResult &result = *columnwise;
  int64_t columns = shape.columns(), scales = countColumnScales();
  int64_t low = std::min<int64_t>(scales, 4),
          high = std::min<int64_t>(columns / 32, 4);
  // Outermost first: what counts the scales of a column, and the columns.
  auto placeOf = [&](Value number) -> std::pair<Value, Value> {
    auto split = [&](ArrayRef<int64_t> extents) {
      SmallVector<Value> values;
      for (int64_t extent : extents)
        values.push_back(k.index(extent));
      return k.delinearize(number, values);
    };
    auto join = [&](Value high, int64_t extent, Value rest) {
      return k.add(k.mul(high, k.index(extent)), rest);
    };
    if (result.format.getLayout() == ScaleLayout::Swizzle128x4) {
      SmallVector<Value> at =
          split({scales / low, columns / (32 * high), 32, high, low});
      return {join(at[0], low, at[4]),
              join(at[1], 32 * high, join(at[3], 32, at[2]))};
    }
    if (result.rowDim == 0) {
      SmallVector<Value> at = split({scales, columns});
      return {at[0], at[1]};
    }
    SmallVector<Value> at = split({columns, scales});
    return {at[1], at[0]};
  };
  int64_t count = scales * columns, threads = shape.threads();
  for (int64_t base = 0; base < count; base += threads) {
    Value number = k.add(k.thread(), k.index(base));
    Value isNumber =
        base + threads <= count ? Value() : k.ltU(number, k.index(count));
    auto [block, column] = placeOf(number);
    Value row = k.add(k.divU(firstRow, k.index(result.rowBlock)), block),
          at = columnAt(column);
    Value place = k.add(k.mul(column, k.index(scales)), block);
    k.ifThen(k.both(isNumber, isScalePlace(result, row, at)),
             [&] { placeScale(result, scaleAt(place), row, at, Value()); });
  }
}

/// Stores what reduceColumns left in `columnScales`.
void TileQuantizer::storeStagedScales() {
  storeColumnScales([&](Value place) {
    return k.loadShared(columnScaleBits(), columnScales, place);
  });
}

/// The factors of this lane's columns.
RecipeEmitter::BlockScale TileQuantizer::loadFactors(Value factors) {
  Value block = k.divU(toIndex(rowInTile0), k.index(columnwise->rowBlock));
  Value first = k.add(k.mul(block, k.index(shape.columns())),
                      k.mul(laneInRow(), k.index(kChunk)));
  RecipeEmitter::BlockScale scale;
  // At most 16 bytes are loaded at once.
  SmallVector<Value> elements;
  for (int64_t half : {0, 1}) {
    Value four = k.loadShared(k.getF32Type(), factors,
                              k.add(first, k.index(4 * half)), 4);
    for (int64_t i = 0; i < 4; ++i)
      elements.push_back(vector::ExtractOp::create(k, four, i));
  }
  scale.factor = vector::FromElementsOp::create(
      k, VectorType::get(kChunk, k.getF32Type()), elements);
  return scale;
}
