//===- TileShapes.cpp - Which tiles are quantized ---------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What has a kernel of tiles, and the shape of these. Each CTA waits for its
// own loads, so tiles are as small as blocks and whole lines of stores allow.
//
//===----------------------------------------------------------------------===//

#include "TileQuantizer.h"

using namespace mlir;
using namespace mlir::moeq;

/// The chunks of a lane, at most, and the warps of a CTA where that is free.
static constexpr int64_t kLaneChunks = 4, kMaxWarps = 16;

/// A lane has two chunks of a row of up to so many, so that four warps share it
/// rather than two, with fewer registers each.
static constexpr int64_t kShortRow = 8;

/// The longest row that the lanes of a CTA have together.
static constexpr int64_t kMaxSpan = kMaxWarps * kLaneChunks * kWarpColumns;

/// Whether elements are quantized one to a byte, by the largest magnitude.
static bool isSymmetricByte(ScaledType format, RecipeAttr recipe) {
  return !format.isPacked() && recipe.getZeroPoint() == ZeroPointRule::None;
}

bool moeq::isTiledRowwise(const QuantizeSource &source, ScaledType format,
                          RecipeAttr recipe, int64_t rank) {
  if (rank != 2 || !isSymmetricByte(format, recipe) ||
      format.getBlockOf(0, rank) != 1)
    return false;
  int64_t block = format.getBlockOf(rank - 1, rank);
  if (ShapedType::isDynamic(block))
    return format.getLayout() == ScaleLayout::RowMajor &&
           source.width >= kChunk &&
           !ShapedType::isDynamic(source.staticColumns) &&
           source.staticColumns > 0 && source.staticColumns <= kMaxSpan;
  return block >= kChunk && block <= kWarpColumns && llvm::isPowerOf2_64(block);
}

std::optional<std::string> moeq::whyNotTiledColumnwise(ScaledType format,
                                                       RecipeAttr recipe) {
  if (!isSymmetricByte(format, recipe))
    return "expects a columnwise result of 8-bit values without zero points in "
           "a kernel";
  bool isTransposed = format.getBlockOf(1, 2) != 1;
  int64_t rowBlock = format.getBlockOf(isTransposed, 2);
  if (format.getBlockOf(!isTransposed, 2) == 1 &&
      llvm::is_contained({32, 64, 128}, rowBlock))
    return std::nullopt;
  return "expects a columnwise result with blocks of 32, 64 or 128 rows of one "
         "column in a kernel";
}

/// The shape where a block is a row: a warp a row, or warps side by side.
static TileShape getRowShape(int64_t columns) {
  int64_t chunks = llvm::divideCeil(columns, kWarpColumns);
  if (chunks <= kLaneChunks)
    return {8, kWarpSize, kLaneChunks / chunks, chunks, /*spansRows=*/true};
  // The fewest lanes without a column, of the most chunks.
  int64_t laneChunks = chunks <= kShortRow ? 2 : kLaneChunks;
  auto excess = [&](int64_t count) { return llvm::alignTo(chunks, count); };
  for (int64_t count = laneChunks - 1; count > 1; --count)
    if (excess(count) < excess(laneChunks) &&
        llvm::divideCeil(chunks, count) <= kMaxWarps)
      laneChunks = count;
  int64_t warps = llvm::divideCeil(chunks, laneChunks);
  return {warps, warps * kWarpSize, 1, laneChunks, /*spansRows=*/true};
}

/// The shape where blocks are parts of rows or columns.
static TileShape getBlockShape(const QuantizeSource &source,
                               const QuantizeResult &rowwise,
                               const QuantizeResult &columnwise) {
  int64_t lanes = kWarpSize, rows = 32;
  if (columnwise) {
    bool isTransposed = columnwise.format.getBlockOf(1, 2) != 1;
    rows = columnwise.format.getBlockOf(isTransposed, 2);
    // Transposed codes are stored by 64 bytes at least.
    if (isTransposed)
      rows = std::max<int64_t>(rows, 64);
    if (rows > 32)
      lanes = 16;
  }
  int64_t places = source.placesOfTurn;
  if (rowwise)
    places = std::max(places, rowwise.format.getBlockOf(1, 2));
  lanes = std::max(lanes, places / kChunk);
  int64_t warps = rows * lanes / (kLaneChunks * kWarpSize);
  int64_t more = std::max<int64_t>(warps / kMaxWarps, 1);
  TileShape shape = {warps / more, lanes, kLaneChunks * more, /*laneChunks=*/1};
  shape.isLight = source.isLight && more == 1 &&
                  source.element.getIntOrFloatBitWidth() == 16;
  return shape;
}

static TileShape getTileShape(const QuantizeSource &source,
                              const QuantizeResult &rowwise,
                              const QuantizeResult &columnwise) {
  if (rowwise && ShapedType::isDynamic(rowwise.format.getBlockOf(1, 2)))
    return getRowShape(source.staticColumns);
  return getBlockShape(source, rowwise, columnwise);
}

void moeq::buildQuantizeTiles(Operation *op, gpu::GPUModuleOp module,
                              const QuantizeSource &source,
                              const QuantizeResults &results,
                              RecipeAttr recipe) {
  TileQuantizer quantizer(
      op, module, source, results, recipe,
      getTileShape(source, results.rowwise, results.columnwise));
  quantizer.build();
  if (!results.sums)
    return;
  Value partials = quantizer.getPartialSums();
  buildSumsOfBlocks(op, module, source.offsets, partials, results.sums);
  OpBuilder builder(op);
  memref::DeallocOp::create(builder, op->getLoc(), partials);
}
