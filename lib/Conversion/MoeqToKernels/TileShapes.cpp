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

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::moeq;

/// The chunks of a row that a lane has, at most, and the warps of a CTA where
/// that is free.
static constexpr int64_t kLaneChunks = 4, kMaxWarps = 16;

/// The rows of a lane where blocks are no rows, and from how many codes on it
/// has so many, with rows alone and with columns.
static constexpr int64_t kLaneRows = 4, kFewCodes = 7 << 19,
                         kFewColumnCodes = 3 << 19;

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

/// The shape where blocks are parts of rows or columns; `isSpread` that for few
/// numbers, in which more threads have a row each.
static TileShape getBlockShape(const QuantizeSource &source,
                               const QuantizeResult &rowwise,
                               const QuantizeResult &columnwise,
                               bool isSpread) {
  int64_t lanes = kWarpSize, rows = isSpread ? 8 : 32;
  if (columnwise) {
    bool isTransposed = columnwise.format.getBlockOf(1, 2) != 1;
    rows = columnwise.format.getBlockOf(isTransposed, 2);
    // Transposed codes are stored by 64 bytes at least, and few by sectors.
    if (isTransposed && !isSpread)
      rows = std::max<int64_t>(rows, 64);
    if (isSpread)
      lanes = kSector / kChunk;
    else if (rows > 32)
      lanes = 16;
  }
  int64_t places = source.placesOfTurn;
  if (rowwise)
    places = std::max(places, rowwise.format.getBlockOf(1, 2));
  lanes = std::max(lanes, places / kChunk);
  int64_t laneRows = isSpread ? 1 : kLaneRows;
  int64_t warps = rows * lanes / (laneRows * kWarpSize);
  int64_t more = std::max<int64_t>(warps / kMaxWarps, 1);
  TileShape shape = {warps / more, lanes, laneRows * more, /*laneChunks=*/1};
  shape.isSpread = isSpread;
  shape.isLight = source.isLight && more == 1 &&
                  source.element.getIntOrFloatBitWidth() == 16;
  return shape;
}

bool moeq::coversPadding(const QuantizeSource &source,
                         const QuantizeResults &results) {
  return source.offsets && (results.columnwise || results.sums ||
                            results.rowwise.format.getGroups() != 0);
}

/// Whether these codes are so `few` that all CTAs of the spread shape which
/// have any are at work at once or nearly so, on the host. Padding has CTAs of
/// its own.
static Value areFew(OpBuilder &b, Location loc, Value codes, int64_t few) {
  auto size = [&](int64_t dim) {
    return b.createOrFold<memref::DimOp>(loc, codes, dim);
  };
  Value count = b.createOrFold<arith::MulIOp>(loc, size(0), size(1));
  return b.createOrFold<arith::CmpIOp>(
      loc, arith::CmpIPredicate::ult, count,
      arith::ConstantIndexOp::create(b, loc, few));
}

void moeq::buildQuantizeTiles(Operation *op, gpu::GPUModuleOp module,
                              const QuantizeSource &source,
                              const QuantizeResults &results,
                              RecipeAttr recipe) {
  const QuantizeResult &rowwise = results.rowwise,
                       &columnwise = results.columnwise;
  OpBuilder host(op);
  auto buildOne = [&](TileShape shape) {
    TileQuantizer quantizer(op, module, source, results, recipe, shape);
    quantizer.build(host);
    return quantizer.getPartialSums();
  };
  if (rowwise && ShapedType::isDynamic(rowwise.format.getBlockOf(1, 2))) {
    buildOne(getRowShape(source.staticColumns));
    return;
  }
  TileShape shape = getBlockShape(source, rowwise, columnwise, false),
            spread = getBlockShape(source, rowwise, columnwise, true);
  if (results.sums) {
    Value partials = buildOne(shape);
    buildSumsOfBlocks(op, module, source.offsets, partials, results.sums);
    memref::DeallocOp::create(host, op->getLoc(), partials);
    return;
  }
  // Gradients are those of many rows.
  if (spread.laneRows == shape.laneRows || isa<ActQuantGradOp>(op)) {
    buildOne(shape);
    return;
  }
  Value isFew =
      areFew(host, op->getLoc(), (rowwise ? rowwise : columnwise).outs[0],
             columnwise ? kFewColumnCodes : kFewCodes);
  if (std::optional<int64_t> isKnown = getConstantIntValue(isFew)) {
    buildOne(*isKnown ? spread : shape);
    return;
  }
  TileQuantizer ofMany(op, module, source, results, recipe, shape),
      ofFew(op, module, source, results, recipe, spread, "few");
  auto branch = scf::IfOp::create(host, op->getLoc(), isFew,
                                  /*withElseRegion=*/true);
  OpBuilder thenHost = branch.getThenBodyBuilder(),
            elseHost = branch.getElseBodyBuilder();
  ofFew.build(thenHost);
  ofMany.build(elseHost);
}
