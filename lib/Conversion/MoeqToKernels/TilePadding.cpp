//===- TilePadding.cpp - The padding of groups apart ------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Of few rows, most padded ones are padding. CTAs of their own store its zeros,
// and those of tiles have rows to do: there are as few of them as rows need, so
// that all are at work at once.
//
//===----------------------------------------------------------------------===//

#include "TileQuantizer.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::moeq;

/// Builds the tiles of rows, whose numbers come first, and those of padding,
/// kPaddedRows each. The number of both, on the host.
Value TileQuantizer::buildSplit(Value number) {
  // Each group has one tile at most that is not full.
  auto countTiles = [&](OpBuilder &b, Value rows, Value offsets) -> Value {
    Location loc = k.getLoc();
    auto constant = [&](int64_t value) -> Value {
      return arith::ConstantIndexOp::create(b, loc, value);
    };
    Value groups = b.createOrFold<arith::SubIOp>(loc, offsets, constant(1));
    return b.createOrFold<arith::AddIOp>(
        loc, b.createOrFold<arith::DivUIOp>(loc, rows, constant(shape.rows())),
        groups);
  };
  ImplicitLocOpBuilder &host = k.host();
  Value tiles = countTiles(k, source.countRows(k), k.size(source.offsets, 0));
  Value isTile = k.ltU(number, tiles);
  k.ifThen(isTile, [&] { buildRows(number); });
  k.ifThen(k.negate(isTile), [&] { storePadding(k.sub(number, tiles)); });
  Value hostTiles =
      countTiles(host, source.hostCountRows(k), k.hostSize(source.offsets, 0));
  Value padded =
      k.hostCeilDiv(countToCover(host, true, /*ofRows=*/true), kPaddedRows);
  return host.createOrFold<arith::AddIOp>(hostTiles, padded);
}

/// Builds tile `number` of those into which the rows of groups are cut.
void TileQuantizer::buildRows(Value number) {
  GroupTile tile = findGroupTile(k, source.offsets, number, shape.rows());
  firstRow = tile.padded;
  rows = tile.rows;
  k.ifThen(k.ltU(rows.begin, rows.end), [&] { buildTile(); });
}

/// The integer of an element of `memref` with no bit set.
static Value zeroBits(KernelBuilder &k, Value memref) {
  int64_t width = getElementTypeOrSelf(memref).getIntOrFloatBitWidth();
  return arith::ConstantOp::create(
      k, k.getIntegerAttr(k.getIntegerType(width), 0));
}

/// Stores the zeros of the tiles without rows among padded rows
/// [number * kPaddedRows, (number + 1) * kPaddedRows).
void TileQuantizer::storePadding(Value number) {
  Value first = k.mul(number, k.index(kPaddedRows)),
        end = k.add(first, k.index(kPaddedRows));
  rows = findGroupRows(k, source.offsets, first);
  Value count = k.select(k.ltU(rows.begin, rows.end),
                         k.sub(rows.end, rows.begin), k.index(0));
  Value tilesOfRows = k.ceilDivU(count, k.index(shape.rows()));
  Value padding = k.add(first, k.mul(tilesOfRows, k.index(shape.rows())));
  if (rowwise && rowwise->format.getGroups() != 0)
    storeZeroScales(padding, end);
  if (!columnwise)
    return;
  k.forLoop(padding, end, k.index(shape.rows()), {},
            [&](Value row, ValueRange) -> SmallVector<Value> {
              firstRow = row;
              storeColumnScales(
                  [&](Value) { return zeroBits(k, columnwise->scales); });
              if (columnwise->isTransposed)
                storePieces([&](Value, Value) {
                  return k.splat(zeroBits(k, columnwise->values), kPiece);
                });
              return {};
            });
}

/// Stores zeros for the scales of the tile's columns and padded rows
/// [begin, end), of which there are kPaddedRows at most.
void TileQuantizer::storeZeroScales(Value begin, Value end) {
  // Four bytes of a row lie side by side.
  int64_t blocks = shape.columns() / rowwise->columnBlock;
  bool isSwizzled = rowwise->format.getLayout() == ScaleLayout::Swizzle128x4;
  int64_t width = isSwizzled && blocks % 4 == 0 ? 4 : 1;
  Value zero = zeroBits(k, rowwise->scales);
  if (width > 1)
    zero = k.splat(zero, width);
  int64_t words = blocks / width;
  Value firstBlock = k.divU(firstColumn, k.index(rowwise->columnBlock));
  for (int64_t base = 0; base < kPaddedRows * words; base += shape.threads()) {
    Value number = k.add(k.thread(), k.index(base));
    Value row = k.add(begin, k.divU(number, k.index(words)));
    Value block = k.add(firstBlock,
                        k.mul(k.remU(number, k.index(words)), k.index(width)));
    placeScale(*rowwise, zero, row, block,
               k.both(k.ltU(row, end), isScalePlace(*rowwise, row, block)));
  }
}
