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

/// Stores the zeros of the tiles without rows among padded rows
/// [number * kPaddedRows, (number + 1) * kPaddedRows).
void TileQuantizer::storePadding(Value number) {
  Value first = k.mul(number, k.index(kPaddedRows));
  rows = findGroupRows(k, source.offsets, first);
  Value count = k.select(k.ltU(rows.begin, rows.end),
                         k.sub(rows.end, rows.begin), k.index(0));
  int64_t tiles = kPaddedRows / shape.rows();
  k.forLoop(k.ceilDivU(count, k.index(shape.rows())), k.index(tiles),
            k.index(1), {}, [&](Value tile, ValueRange) -> SmallVector<Value> {
              firstRow = k.add(first, k.mul(tile, k.index(shape.rows())));
              storeZeros();
              return {};
            });
}

/// Stores zeros for a tile without rows: scales, and transposed codes.
void TileQuantizer::storeZeros() {
  auto zeroBits = [&](Value memref) -> Value {
    Type type =
        k.getIntegerType(getElementTypeOrSelf(memref).getIntOrFloatBitWidth());
    return arith::ConstantOp::create(k, k.getIntegerAttr(type, 0));
  };
  if (rowwise && rowwise->format.getGroups() != 0) {
    int64_t blocks = shape.columns() / rowwise->columnBlock;
    int64_t count = shape.rows() * blocks;
    Value firstBlock = k.divU(firstColumn, k.index(rowwise->columnBlock));
    for (int64_t base = 0; base < count; base += shape.threads()) {
      Value number = k.add(k.thread(), k.index(base));
      Value row = k.add(firstRow, k.divU(number, k.index(blocks))),
            block = k.add(firstBlock, k.remU(number, k.index(blocks)));
      Value isNumber = base + shape.threads() <= count
                           ? Value()
                           : k.ltU(number, k.index(count));
      placeScale(*rowwise, zeroBits(rowwise->scales), row, block,
                 k.both(isNumber, isScalePlace(*rowwise, row, block)));
    }
  }
  if (!columnwise)
    return;
  storeColumnScales([&](Value) { return zeroBits(columnwise->scales); });
  if (columnwise->isTransposed)
    storePieces([&](Value, Value) {
      return k.splat(zeroBits(columnwise->values), kPiece);
    });
}
