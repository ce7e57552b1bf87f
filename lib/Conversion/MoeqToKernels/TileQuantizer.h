//===- TileQuantizer.h - The kernel of a tile of rows -----------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the parts of the kernel of buildQuantizeTiles share:
// QuantizeTiles.cpp loads, makes codes and stores them, TileScales.cpp forms
// and stores scales, TileSums.cpp sums, TilePadding.cpp stores zeros.
//
//===----------------------------------------------------------------------===//

#ifndef MOEQ_LIB_CONVERSION_MOEQTOKERNELS_TILEQUANTIZER_H
#define MOEQ_LIB_CONVERSION_MOEQTOKERNELS_TILEQUANTIZER_H

#include "ColumnChunk.h"
#include "GroupRows.h"
#include "QuantizeKernels.h"

#include "moeq/Support/NumericsRecipe.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace mlir::moeq {

/// The columns of a warp that is in one row.
inline constexpr int64_t kWarpColumns = kWarpSize * kChunk;

/// The bytes of transposed codes that are stored at once.
inline constexpr int64_t kPiece = 16;

/// The rows and columns of a tile, and who has them: `lanes` neighbouring lanes
/// have a row together, a chunk each, and those after them the rows below. A
/// lane has `laneRows` rows, and of each `laneChunks` chunks, that are as far
/// from one another as all lanes of a row reach.
struct TileShape {
  int64_t warps, lanes, laneRows, laneChunks;
  /// Whether a block is a whole row, which the columns of the tile are then.
  bool spansRows = false;
  /// Whether 48 registers are enough for a thread, or 64.
  bool isLight = false;
  /// Whether there are few CTAs, each of which waits for its loads.
  bool isSpread = false;

  int64_t threads() const { return warps * kWarpSize; }
  /// How many `lanes` there are.
  int64_t teams() const { return threads() / lanes; }
  int64_t rows() const { return teams() * laneRows; }
  /// The columns of the first chunks of a row, and of all.
  int64_t chunkColumns() const { return lanes * kChunk; }
  int64_t columns() const { return chunkColumns() * laneChunks; }
  /// CTAs an SM that leave each thread its registers: 64 for 4 rows, or 48, and
  /// 128 for more.
  int64_t minBlocks() const {
    int64_t ofSM = laneRows > 4 ? 512 : isLight ? 1280 : 1024;
    return std::max<int64_t>(ofSM / threads(), 1);
  }
};

/// Whether tiles cover the rows of groups with their padding.
bool coversPadding(const QuantizeSource &source,
                   const QuantizeResults &results);

/// What the kernel knows of a result.
struct TileResult {
  TileResult(const QuantizeResult &result, RecipeAttr recipe, bool isColumnwise,
             bool hasOffsets)
      : values(result.outs[0]), scales(result.outs[1]), format(result.format),
        emitter(recipe, result.format),
        isTransposed(isColumnwise && result.format.getBlockOf(1, 2) != 1),
        fillsWithZeros(format.getLayout() != ScaleLayout::RowMajor ||
                       format.getGroups() != 0 || (isColumnwise && hasOffsets)),
        // Of the scales, the dimension that goes along the rows.
        rowDim(isTransposed != (format.getLayout() == ScaleLayout::MnMajor)),
        rowBlock(format.getBlockOf(isTransposed, 2)),
        columnBlock(format.getBlockOf(!isTransposed, 2)) {}

  Value values, scales;
  ScaledType format;
  RecipeEmitter emitter;
  bool isTransposed;
  /// Whether scales that belong to nothing are zero bytes.
  bool fillsWithZeros;
  int64_t rowDim, rowBlock, columnBlock;
};

/// Builds the kernel of one op.
class TileQuantizer {
public:
  TileQuantizer(Operation *op, gpu::GPUModuleOp module,
                const QuantizeSource &source, const QuantizeResults &results,
                RecipeAttr recipe, TileShape shape, StringRef suffix = {});
  /// Builds the kernel, and its launch where `host` is.
  void build(const OpBuilder &host);
  /// Of the op's sums, those of blocks of padded rows.
  Value getPartialSums() const { return partialSums; }

private:
  Value countToCover(OpBuilder &b, bool onHost, bool ofRows);
  Value toI32(Value index) {
    return arith::IndexCastUIOp::create(k, k.getI32Type(), index);
  }
  Value toIndex(Value number) {
    return arith::IndexCastUIOp::create(k, k.getIndexType(), number);
  }
  /// The column of place `inTile + after` of the tile.
  Value columnAt(Value inTile, int64_t after = 0) {
    Value place = k.add(k.add(firstColumn, inTile), k.index(after));
    return source.columnAt ? source.columnAt(k, place) : place;
  }
  /// Whether a column of a tile exists, or null where all do.
  Value isColumn(Value column) {
    return hasAllColumns ? Value() : k.ltU(column, source.columns(k));
  }
  void findRows();
  Value countFromFirst(Value end);
  Value isTileRow(Value row);
  /// Row `i` of this lane, counted from the first of the tile, as i32.
  Value rowInTile(int64_t i) {
    return arith::AddIOp::create(k, rowInTile0, k.i32(i));
  }
  /// This lane's number among those that have its row.
  Value laneInRow() { return k.remU(k.thread(), k.index(shape.lanes)); }
  void load();
  SmallVector<Value> fetch(Value row, Value column);
  Value maskColumns(Value numbers, Value column);
  Value reduceWarps(Value statistic, Value own, Value hasRow);
  SmallVector<Value> formRowScales();
  void quantizeRows();
  int64_t getScratchBytes();
  void quantizeColumns();
  /// The maxima or sums of a team in shared memory, and 8 more so that lanes
  /// that read those of different teams meet in no bank.
  int64_t partialPitch() const { return shape.columns() + kChunk; }
  void reduceColumns(Value partials, Value factors);
  /// The scales of a column that the tile forms.
  int64_t countColumnScales() const {
    return shape.rows() / columnwise->rowBlock;
  }
  /// The integer type of their bits.
  Type columnScaleBits() {
    return k.getIntegerType(
        getElementTypeOrSelf(columnwise->scales).getIntOrFloatBitWidth());
  }
  void storeColumnScales(function_ref<Value(Value)> scaleAt);
  void storeStagedScales();
  Value allocatePartialSums();
  void sumColumns();
  void storeTransposed(const RecipeEmitter::BlockScale &scale,
                       ArrayRef<Value> numbers, Value tile);
  void storePieces(function_ref<Value(Value, Value)> codesAt);
  RecipeEmitter::BlockScale loadFactors(Value factors);

  void buildTile();
  void buildRows(Value number);
  /// Whether CTAs have tiles of rows of groups, and others the padding: where
  /// there are few rows most tiles of padded rows would have none.
  bool isSplit() const { return shape.isSpread && hasPaddedRows; }
  Value buildSplit(Value number);
  void storePadding(Value number);
  void storeZeroScales(Value begin, Value end);
  Value isScalePlace(const TileResult &result, Value row, Value column);
  void placeScale(const TileResult &result, Value stored, Value row,
                  Value column, Value condition);
  void storeScale(const TileResult &result, Value stored, Value row,
                  Value column, Value isScale, Value condition);
  void storeCodes(const TileResult &result, Value codes, Value row, Value isRow,
                  int64_t chunk);
  Value asBytes(Value codes);

  const QuantizeSource &source;
  TileShape shape;
  KernelBuilder k;
  Elementwise e;
  ChunkEmitter chunks;
  std::optional<TileResult> rowwise, columnwise;
  Value sums;
  /// Whether the columns of a chunk exist or not together, whether all columns
  /// of tiles exist, and whether tiles count the padded rows of groups.
  bool hasWholeChunks, hasAllColumns, hasPaddedRows;

  /// The first row of the tile, counted in padded ones where there are groups,
  /// and the first column.
  Value firstRow, firstColumn;
  /// The tile's rows in the source, up to where rows can be read.
  GroupRows rows;
  Value readEnd;
  /// As i32: the first row of this lane in the tile, how many rows the tile
  /// has, and how many of the first it does not have, or null for none.
  Value rowInTile0, rowCount, rowSkip;
  /// Of each chunk of a row: its first column, and whether that exists.
  SmallVector<Value> columns, hasColumn;
  /// Of each row of this lane: its number, and whether the rowwise result and
  /// the columnwise one have it (the latter has zeros for one that comes from
  /// nowhere).
  SmallVector<Value> rowNumbers, isRow, inColumns;
  /// Row by row: its chunks, and their magnitudes.
  SmallVector<Value> rowChunks, rowMagnitudes;
  /// Shared memory of teams for what they have of columns, or of all codes.
  Value scratch;
  /// Shared memory for the scales of columns [columns, countColumnScales()]
  /// until they are stored together, or null where neighbouring threads store
  /// neighbouring ones at once.
  Value columnScales;
  Value partialSums;
};
} // namespace mlir::moeq

#endif // MOEQ_LIB_CONVERSION_MOEQTOKERNELS_TILEQUANTIZER_H
