//===- GroupRows.cpp - Which rows are at a padded row -----------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GroupRows.h"

#include "moeq/Dialect/Moeq/IR/Moeq.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::moeq;

/// The sum of `value` over this lane and those below, of the first `lanes`.
static Value sumUpToLane(KernelBuilder &k, Value value, int64_t lanes) {
  Value lane = arith::IndexCastUIOp::create(k, k.getI32Type(), k.lane());
  for (int64_t distance = 1; distance < lanes; distance *= 2) {
    Value below = k.shuffleUp(value, distance);
    Value hasBelow = arith::CmpIOp::create(k, arith::CmpIPredicate::uge, lane,
                                           k.i32(distance));
    value = k.add(value, k.select(hasBelow, below, k.i32(0)));
  }
  return value;
}

/// A lane a group, 32 groups a step: the tiles of groups are summed over lanes,
/// and the lane whose group has the tile tells its rows to the others.
GroupTile moeq::findGroupTile(KernelBuilder &k, Value offsets, Value number,
                              int64_t tileRows) {
  auto toI32 = [&](Value value) {
    return arith::IndexCastOp::create(k, k.getI32Type(), value);
  };
  auto toIndex = [&](Value value) {
    return arith::IndexCastOp::create(k, k.getIndexType(), value);
  };
  auto compare = [&](arith::CmpIPredicate predicate, Value left, Value right) {
    return arith::CmpIOp::create(k, predicate, left, right);
  };
  Value zero = k.i32(0);
  Value tile = toI32(number);
  Value groups = k.sub(k.size(offsets, 0), k.index(1));
  int64_t extent = cast<MemRefType>(offsets.getType()).getDimSize(0);
  int64_t lanes = ShapedType::isDynamic(extent)
                      ? kWarpSize
                      : std::min(extent - 1, kWarpSize);
  // Carried on: the tile's rows, and how many tiles the groups before have;
  // where tiles are smaller than padding, its padded row, and the padded rows
  // of the groups before, too.
  bool isWhole = tileRows == kPaddedRows;
  SmallVector<Value> found = k.forLoop(
      k.index(0), groups, k.index(kWarpSize),
      SmallVector<Value>(isWhole ? 3 : 5, zero),
      [&](Value base, ValueRange carried) -> SmallVector<Value> {
        Value group = k.add(base, k.lane());
        Value isGroup = k.ltU(group, groups);
        Value begin =
            k.ifElse(isGroup, [&] { return k.load(offsets, group); }, zero);
        Value end = k.ifElse(
            isGroup, [&] { return k.load(offsets, k.add(group, k.index(1))); },
            zero);
        Value count = arith::MaxSIOp::create(k, k.sub(end, begin), zero);
        // Of the groups before this lane's, and with it.
        auto countTiles = [&](int64_t rows, Value before) {
          Value tiles = k.divU(k.add(count, k.i32(rows - 1)), k.i32(rows));
          Value last = k.add(before, sumUpToLane(k, tiles, lanes));
          return std::pair(k.sub(last, tiles), last);
        };
        auto [first, last] = countTiles(tileRows, carried[2]);
        Value isOwner = k.both(compare(arith::CmpIPredicate::sle, first, tile),
                               compare(arith::CmpIPredicate::slt, tile, last));
        Value inGroup = k.mul(k.sub(tile, first), k.i32(tileRows));
        // Lanes that do not own the tile, and steps without it, give 0.
        auto tell = [&](Value value, Value before) {
          Value told = k.reduceWarp(k.select(isOwner, value, zero),
                                    NVVM::ReduxKind::MAX);
          return arith::MaxSIOp::create(k, told, before).getResult();
        };
        auto largest = [&](Value value) {
          return k.reduceWarp(value, NVVM::ReduxKind::MAX);
        };
        SmallVector<Value> next = {tell(k.add(begin, inGroup), carried[0]),
                                   tell(end, carried[1]), largest(last)};
        if (!isWhole) {
          auto [firstPadded, lastPadded] = countTiles(kPaddedRows, carried[4]);
          Value padded = k.add(k.mul(firstPadded, k.i32(kPaddedRows)), inGroup);
          next.append({tell(padded, carried[3]), largest(lastPadded)});
        }
        return next;
      });
  return {isWhole ? k.mul(number, k.index(kPaddedRows)) : toIndex(found[3]),
          {toIndex(found[0]), toIndex(found[1])}};
}

GroupRows moeq::findGroupRows(KernelBuilder &k, Value offsets, Value padded) {
  GroupRows rows =
      findGroupTile(k, offsets, k.divU(padded, k.index(kPaddedRows)),
                    kPaddedRows)
          .rows;
  return {k.add(rows.begin, k.remU(padded, k.index(kPaddedRows))), rows.end};
}
