//===- TileSums.cpp - Sums of columns over the rows of groups ---*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The order of a sum is that of emitColumnSums, whatever the tile: lanes have 4
// or 8 rows, whose sums meet in shared memory; tiles leave the sums of blocks
// of 32 rows, which a second kernel adds.
//
//===----------------------------------------------------------------------===//

#include "TileQuantizer.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::moeq;

/// The columns of a CTA of the second kernel, and the blocks that are in
/// flight.
static constexpr int64_t kSumColumns = 256, kBlocksInFlight = 8;

/// The blocks of padded rows, of which a tile has whole ones.
Value TileQuantizer::allocatePartialSums() {
  ImplicitLocOpBuilder &host = k.host();
  Value blocks = host.createOrFold<arith::DivUIOp>(
      countToCover(host, /*onHost=*/true, /*ofRows=*/true),
      k.hostIndex(kSummedRows));
  SmallVector<Value> sizes;
  SmallVector<int64_t> shape;
  for (Value extent : {blocks, source.hostColumns(k)}) {
    std::optional<int64_t> constant = getConstantIntValue(extent);
    shape.push_back(constant.value_or(ShapedType::kDynamic));
    if (!constant)
      sizes.push_back(extent);
  }
  return memref::AllocOp::create(host, MemRefType::get(shape, k.getF32Type()),
                                 sizes);
}

/// Stores the sums of the tile's blocks of rows.
void TileQuantizer::sumColumns() {
  Type f32 = k.getF32Type();
  Value zeros = k.splat(k.f32(0), kChunk);
  auto sumOf = [&](ArrayRef<Value> values) {
    Value sum = values[0];
    for (Value value : values.drop_front())
      sum = e.add(sum, value);
    return sum;
  };
  SmallVector<Value> fours;
  for (int64_t i = 0; i < shape.laneRows; i += 4) {
    SmallVector<Value> numbers;
    for (int64_t row = i; row < i + 4; ++row)
      numbers.push_back(
          k.select(inColumns[row], chunks.toF32(rowChunks[row]), zeros));
    fours.push_back(sumOf(numbers));
  }
  Value team = k.divU(k.thread(), k.index(shape.lanes));
  k.storeShared(sumOf(fours), scratch,
                k.add(k.mul(team, k.index(partialPitch())),
                      k.mul(laneInRow(), k.index(kChunk))));
  k.barrier();

  int64_t teamsOfBlock = kSummedRows / shape.laneRows;
  int64_t count = shape.rows() / kSummedRows * shape.columns();
  for (int64_t base = 0; base < count; base += shape.threads()) {
    Value number = k.add(k.thread(), k.index(base));
    Value isBlock = base + shape.threads() <= count
                        ? Value()
                        : k.ltU(number, k.index(count));
    k.ifThen(isBlock, [&] {
      Value inTile = k.remU(number, k.index(shape.columns())),
            block = k.divU(number, k.index(shape.columns()));
      SmallVector<Value> eights;
      for (int64_t i = 0; i < teamsOfBlock; ++i) {
        Value team = k.add(k.mul(block, k.index(teamsOfBlock)), k.index(i));
        Value part = k.loadShared(
            f32, scratch, k.add(k.mul(team, k.index(partialPitch())), inTile));
        if (shape.laneRows == 4 && i % 2 == 1)
          eights.back() = e.add(eights.back(), part);
        else
          eights.push_back(part);
      }
      Value at = columnAt(inTile);
      Value first = k.add(rows.begin, k.mul(block, k.index(kSummedRows)));
      k.ifThen(
          k.both(k.ltU(first, rows.end), k.ltU(at, source.columns(k))), [&] {
            Value row = k.add(k.divU(firstRow, k.index(kSummedRows)), block);
            k.store(sumOf(eights), partialSums, {row, at});
          });
    });
  }
  if (columnwise)
    k.barrier();
  // Numbers that the sums needed are unpacked again.
  for (Value &chunk : rowChunks)
    chunk = chunks.opaque(chunk);
}

/// A thread a column of a group.
void moeq::buildSumsOfBlocks(Operation *op, gpu::GPUModuleOp module,
                             Value offsets, Value partials, Value sums) {
  KernelBuilder k(module, op, kSumColumns, "sums");
  Elementwise e(k, k.getLoc());
  Value columns = k.size(sums, 1);
  Value tiles = k.ceilDivU(columns, k.index(kSumColumns));
  Value group = k.divU(k.block(), tiles);
  Value column =
      k.add(k.mul(k.remU(k.block(), tiles), k.index(kSumColumns)), k.thread());
  auto countRows = [&](Value group) {
    Value begin = k.loadIndex(offsets, group),
          end = k.loadIndex(offsets, k.add(group, k.index(1)));
    return arith::MaxSIOp::create(k, k.sub(end, begin), k.index(0)).getResult();
  };
  Value padded =
      k.forLoop(k.index(0), group, k.index(1), k.index(0),
                [&](Value before, ValueRange carried) -> SmallVector<Value> {
                  return {k.add(carried[0], k.ceilDivU(countRows(before),
                                                       k.index(kPaddedRows)))};
                })[0];
  Value first = k.mul(padded, k.index(kPaddedRows / kSummedRows));
  Value count = k.ceilDivU(countRows(group), k.index(kSummedRows));
  k.ifThen(k.ltU(column, columns), [&] {
    Value total = k.forLoop(
        k.index(0), count, k.index(kBlocksInFlight), k.f32(0),
        [&](Value base, ValueRange carried) -> SmallVector<Value> {
          SmallVector<Value> parts;
          for (int64_t i = 0; i < kBlocksInFlight; ++i) {
            Value block = k.add(base, k.index(i));
            // Blocks past the end repeat the last one, and count as zeros.
            Value last = k.sub(count, k.index(1));
            Value part =
                k.load(partials, {k.add(first, k.minU(block, last)), column});
            parts.push_back(k.select(k.ltU(block, count), part, k.f32(0)));
          }
          Value sum = carried[0];
          for (Value part : parts)
            sum = e.add(sum, part);
          return {sum};
        })[0];
    k.store(total, sums, {group, column});
  });
  k.launch(k.hostMul(k.hostSize(sums, 0),
                     k.hostCeilDiv(k.hostSize(sums, 1), kSumColumns)));
}
