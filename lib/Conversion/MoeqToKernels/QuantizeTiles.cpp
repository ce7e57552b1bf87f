//===- QuantizeTiles.cpp - Quantization of tiles ----------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A CTA has a tile of rows and 256 columns. A warp has some of its rows, of
// which a lane has a chunk each: what a warp loads or stores of a row is
// contiguous, and all loads are in flight before the first is used. Where a
// block is a whole row the warps lie side by side instead, and all have the
// same few rows. Transposed codes go through shared memory.
//
// Rows of groups are counted in padded ones, so that a tile has rows of one
// group, and zeros are stored by the same code as scales and codes.
//
//===----------------------------------------------------------------------===//

#include "TileQuantizer.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::moeq;

/// The bytes of transposed codes that are stored at once.
static constexpr int64_t kPiece = 16;

/// The longest row that the warps of a CTA have together.
static constexpr int64_t kMaxSpan = 16 * kTileColumns;

TileQuantizer::TileQuantizer(Operation *op, gpu::GPUModuleOp module,
                             const QuantizeSource &source,
                             const QuantizeResult &rowwise,
                             const QuantizeResult &columnwise,
                             RecipeAttr recipe, TileShape shape)
    : source(source), shape(shape), k(module, op, shape.threads()),
      e(k, k.getLoc()), chunks(k, source.element),
      hasWholeChunks(source.width >= kChunk) {
  if (rowwise)
    this->rowwise.emplace(rowwise, recipe, /*isColumnwise=*/false,
                          source.offsets != nullptr);
  if (columnwise)
    this->columnwise.emplace(columnwise, recipe, /*isColumnwise=*/true,
                             source.offsets != nullptr);
  hasPaddedRows =
      source.offsets && (columnwise || rowwise.format.getGroups() != 0);
}

/// The rows, or the columns, that tiles have to cover: those of the source, and
/// of groups and layouts those of scales that are padding.
Value TileQuantizer::countToCover(OpBuilder &b, bool onHost, bool ofRows) {
  Location loc = k.getLoc();
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, loc, value);
  };
  auto sizeOf = [&](Value memref, int64_t dim) {
    return onHost ? k.hostSize(memref, dim) : k.size(memref, dim);
  };
  Value count = onHost
                    ? (ofRows ? source.hostCountRows(k) : source.hostColumns(k))
                    : (ofRows ? source.countRows(k) : source.columns(k));
  if (ofRows && hasPaddedRows) {
    Value groups = b.createOrFold<arith::SubIOp>(loc, sizeOf(source.offsets, 0),
                                                 constant(1));
    Value tiles =
        b.createOrFold<arith::DivUIOp>(loc, count, constant(kPaddedRows));
    count = b.createOrFold<arith::MulIOp>(
        loc, b.createOrFold<arith::AddIOp>(loc, tiles, groups),
        constant(kPaddedRows));
  }
  for (const std::optional<TileResult> &result : {rowwise, columnwise}) {
    // Where a row is a block, its columns are those of the source.
    if (!result || (!ofRows && shape.spansRows))
      continue;
    Value extent = b.createOrFold<arith::MulIOp>(
        loc,
        sizeOf(result->scales, ofRows ? result->rowDim : 1 - result->rowDim),
        constant(ofRows ? result->rowBlock : result->columnBlock));
    count = b.createOrFold<arith::MaxUIOp>(loc, count, extent);
  }
  return count;
}

//===----------------------------------------------------------------------===//
// Loads
//===----------------------------------------------------------------------===//

/// What is loaded of a row for this lane's chunk: columns that do not exist
/// repeat the last ones.
SmallVector<Value> TileQuantizer::fetch(Value row) {
  Value columns = source.columns(k);
  if (hasWholeChunks)
    return source.fetch(k, row, k.minU(column, k.sub(columns, k.index(kChunk))),
                        kChunk);
  SmallVector<SmallVector<Value>> parts;
  for (int64_t i = 0; i < kChunk; ++i) {
    Value at = k.minU(k.add(column, k.index(i)), k.sub(columns, k.index(1)));
    SmallVector<Value> fetched = source.fetch(k, row, at, 1);
    parts.resize(fetched.size());
    for (auto [part, value] : llvm::zip_equal(parts, fetched))
      part.push_back(value);
  }
  SmallVector<Value> result;
  for (ArrayRef<Value> part : parts)
    result.push_back(vector::FromElementsOp::create(
        k, VectorType::get(kChunk, part[0].getType()), part));
  return result;
}

/// Zeros in the columns that do not exist.
Value TileQuantizer::maskColumns(Value numbers) {
  if (hasWholeChunks)
    return numbers;
  SmallVector<Value> elements;
  Value zero = arith::ConstantOp::create(k, k.getZeroAttr(source.element));
  for (int64_t i = 0; i < kChunk; ++i)
    elements.push_back(
        k.select(k.ltU(k.add(column, k.index(i)), source.columns(k)),
                 vector::ExtractOp::create(k, numbers, i), zero));
  return vector::FromElementsOp::create(k, cast<VectorType>(numbers.getType()),
                                        elements);
}

/// Which rows the tile has: where groups are not padded, those from the first
/// offset to the last.
void TileQuantizer::findRows() {
  Value end = source.countRows(k), begin;
  if (hasPaddedRows) {
    rows = findGroupRows(k, source.offsets, firstRow);
  } else {
    rows = {firstRow, end};
    if (source.offsets) {
      Value last = k.sub(k.size(source.offsets, 0), k.index(1));
      begin = k.loadIndex(source.offsets, ValueRange(k.index(0)));
      rows.end = k.loadIndex(source.offsets, last);
    }
  }
  // Rows of no group can be read, but not their places in `source.rows`.
  readEnd = hasPaddedRows || source.rows ? rows.end : end;
  rowInWarp0 = shape.spansRows
                   ? k.i32(0)
                   : toI32(k.mul(k.warp(), k.index(shape.rowsPerWarp)));
  rowCount = countFromFirst(rows.end);
  if (begin)
    rowSkip = countFromFirst(begin);
}

/// How many rows of the tile are before `end`, as i32.
Value TileQuantizer::countFromFirst(Value end) {
  Value count = k.minU(k.sub(end, rows.begin), k.index(shape.rows()));
  return toI32(k.select(k.ltU(rows.begin, end), count, k.index(0)));
}

/// Whether row `row` of the tile, an i32, is one of its rows.
Value TileQuantizer::isTileRow(Value row) {
  Value isRow = k.ltU(row, rowCount);
  return rowSkip ? k.both(isRow, k.negate(k.ltU(row, rowSkip))) : isRow;
}

void TileQuantizer::load() {
  Value columns = source.columns(k);
  hasColumn = k.ltU(column, columns);
  // Loads come first, and are not guarded one by one: rows past the end repeat
  // the last one, which is of the same block, as do columns.
  Value hasRows = k.ltU(rows.begin, readEnd);
  hasRows = k.both(hasRows, k.ltU(k.index(0), source.sourceRows(k)));
  hasRows = k.both(hasRows, k.ltU(k.index(0), columns));
  Value last = arith::SubIOp::create(k, countFromFirst(readEnd), k.i32(1));
  SmallVector<size_t> counts;
  SmallVector<Type> types;
  SmallVector<Value> loaded = k.ifElse(
      hasRows,
      [&] {
        SmallVector<Value> values, sources, hasSource;
        for (int64_t i = 0; i < shape.rowsPerWarp; ++i) {
          Value inTile = arith::MinUIOp::create(k, rowInWarp(i), last);
          sources.push_back(k.add(rows.begin, toIndex(inTile)));
          if (!source.rows)
            continue;
          Value index = k.loadIndex(source.rows, sources[i]);
          hasSource.push_back(k.isNonNegative(index));
          sources[i] = k.select(hasSource[i], index, k.index(0));
        }
        for (int64_t i = 0; i < shape.rowsPerWarp; ++i) {
          llvm::append_range(values, fetch(sources[i]));
          if (Value ofRow = source.fetchOfRow(k, sources[i]))
            values.push_back(ofRow);
          counts.push_back(values.size());
        }
        llvm::append_range(values, hasSource);
        llvm::append_range(types, TypeRange(ValueRange(values)));
        return values;
      },
      [&] {
        SmallVector<Value> zeros;
        for (Type type : types)
          zeros.push_back(arith::ConstantOp::create(
              k, cast<TypedAttr>(k.getZeroAttr(type))));
        return zeros;
      });
  for (int64_t i = 0; i < shape.rowsPerWarp; ++i) {
    size_t begin = i == 0 ? 0 : counts[i - 1];
    ArrayRef<Value> fetched = ArrayRef(loaded).slice(begin, counts[i] - begin);
    Value ofRow;
    if (!isa<VectorType>(fetched.back().getType())) {
      ofRow = fetched.back();
      fetched = fetched.drop_back();
    }
    Value numbers = maskColumns(source.compute(k, fetched, ofRow));
    rowNumbers.push_back(k.add(rows.begin, toIndex(rowInWarp(i))));
    isRow.push_back(k.both(isTileRow(rowInWarp(i)), hasRows));
    inColumns.push_back(isRow.back());
    rowChunks.push_back(chunks.fromElements(numbers));
    if (source.rows) {
      isRow.back() = k.both(isRow.back(), loaded[counts.back() + i]);
      rowChunks.back() =
          k.select(isRow.back(), rowChunks.back(), chunks.zero());
    }
    rowMagnitudes.push_back(chunks.magnitudes(rowChunks.back()));
  }
}

//===----------------------------------------------------------------------===//
// Stores
//===----------------------------------------------------------------------===//

Value TileQuantizer::asBytes(Value codes) {
  auto vector = cast<VectorType>(codes.getType());
  Type bytes = vector.clone(k.getI8Type());
  return bytes == codes.getType()
             ? codes
             : Value(arith::BitcastOp::create(k, bytes, codes));
}

/// Stores the codes of this lane's chunk.
void TileQuantizer::storeCodes(const TileResult &result, Value codes, Value row,
                               Value isRow) {
  codes = asBytes(codes);
  if (hasWholeChunks && KernelBuilder::isAligned(result.values, kChunk))
    return k.ifThen(k.both(isRow, hasColumn),
                    [&] { k.store(codes, result.values, {row, column}); });
  for (int64_t i = 0; i < kChunk; ++i) {
    Value at = k.add(column, k.index(i));
    k.ifThen(k.both(isRow, k.ltU(at, source.columns(k))), [&] {
      k.store(vector::ExtractOp::create(k, codes, i), result.values, {row, at});
    });
  }
}

/// x / divisor, correctly rounded, of the reciprocal, correctly rounded too:
/// one step from a product that is off by less than 2 units in the last place
/// makes it faithful, and from such a one another makes it exact (P. Markstein,
/// "Computation of elementary functions on the IBM RISC System/6000", 1990).
/// Quotients too small for exact remainders are 0 as codes, with x's sign.
Value TileQuantizer::divideByReciprocal(Value x, Value divisor) {
  Value reciprocal = k.splat(e.div(e.f32(divisor, 1.0f), divisor), kChunk);
  Value minusDivisor = k.splat(e.neg(divisor), kChunk);
  Value quotient = e.mul(x, reciprocal);
  for (int step = 0; step < 2; ++step)
    quotient = e.fma(e.fma(quotient, minusDivisor, x), reciprocal, quotient);
  return e.fromBits(e.orI(e.andI(e.toBits(quotient), 0x7fffffff),
                          e.andI(e.toBits(x), 0x80000000)));
}

/// The codes of a chunk whose scale has the scalar `factor`.
Value TileQuantizer::emitRowCodes(Value factor, Value x) {
  auto emitCodes = [&](Value factor, Value x) -> SmallVector<Value> {
    RecipeEmitter::BlockScale scale;
    scale.factor = k.splat(factor, kChunk);
    return {asBytes(rowwise->emitter.emitCode(e, scale, x))};
  };
  if (!rowwise->emitter.divides())
    return emitCodes(factor, x)[0];
  // The range has what scales are in practice: no overflow, and quotients that
  // underflow are below any code.
  Value isUsual = k.both(e.compare(arith::CmpFPredicate::OGT, factor, 0x1p-60f),
                         e.compare(arith::CmpFPredicate::OLT, factor, 0x1p60f));
  return k.ifElse(
      isUsual,
      [&] { return emitCodes(k.f32(1.0f), divideByReciprocal(x, factor)); },
      [&] { return emitCodes(factor, x); })[0];
}

void TileQuantizer::quantizeRows() {
  for (auto [i, factor] : llvm::enumerate(formRowScales())) {
    Value codes = emitRowCodes(factor, chunks.toF32(rowChunks[i]));
    storeCodes(*rowwise, codes, rowNumbers[i], isRow[i]);
  }
}

//===----------------------------------------------------------------------===//
// Blocks along columns
//===----------------------------------------------------------------------===//

void TileQuantizer::quantizeColumns() {
  const TileResult &result = *columnwise;
  // Maxima of all warps are there before the codes that are transposed are.
  int64_t partialBytes = shape.warps * kTileColumns *
                         chunks.getMagnitudeType().getIntOrFloatBitWidth() / 8;
  int64_t tileBytes =
      result.isTransposed ? shape.rows() * kTileColumns : int64_t(0);
  Value memory = k.shared(k.getI8Type(), std::max(partialBytes, tileBytes));
  Value factors =
      k.shared(k.getF32Type(), shape.rows() / result.rowBlock * kTileColumns);

  Value maxima = rowMagnitudes[0];
  for (Value magnitudes : ArrayRef(rowMagnitudes).drop_front())
    maxima = chunks.maximum(maxima, magnitudes);
  k.storeShared(maxima, memory,
                k.add(k.mul(k.warp(), k.index(kTileColumns)),
                      k.mul(k.lane(), k.index(kChunk))));
  k.barrier();
  reduceColumns(memory, factors);
  k.barrier();
  RecipeEmitter::BlockScale scale = loadFactors(factors);
  // Numbers that the rowwise result needed are unpacked again.
  if (rowwise)
    for (Value &chunk : rowChunks)
      chunk = chunks.opaque(chunk);
  if (result.isTransposed)
    return storeTransposed(scale, memory);
  for (int64_t i = 0; i < shape.rowsPerWarp; ++i)
    storeCodes(result,
               result.emitter.emitCode(e, scale, chunks.toF32(rowChunks[i])),
               rowNumbers[i], inColumns[i]);
}

/// Codes go through a tile [columns, rows] in shared memory: a lane writes
/// those of its rows of a column at once, and stores pieces of columns. Column
/// c is in row c mod 8 * 32 + c div 8 of the tile, and the pieces of a row
/// change places, so that lanes meet in few banks.
void TileQuantizer::storeTransposed(const RecipeEmitter::BlockScale &scale,
                                    Value tile) {
  const TileResult &result = *columnwise;
  int64_t tileRows = shape.rows(), pieces = tileRows / kPiece;
  int64_t linesOfRow = std::max<int64_t>(128 / tileRows, 1);
  auto place = [&](Value line, Value piece) {
    Value turn = k.remU(k.divU(line, k.index(linesOfRow)), k.index(pieces));
    Value turned = arith::XOrIOp::create(k, piece, turn);
    return k.add(k.mul(line, k.index(tileRows)),
                 k.mul(turned, k.index(kPiece)));
  };

  auto byte = [&](int64_t value) {
    return arith::ConstantIntOp::create(k, k.getI8Type(), value);
  };
  SmallVector<Value> numbers, masks;
  for (int64_t i = 0; i < shape.rowsPerWarp; ++i) {
    numbers.push_back(chunks.toF32(rowChunks[i]));
    masks.push_back(k.select(inColumns[i], byte(-1), byte(0)));
  }
  // Padding is zero whatever the scale is.
  auto codeType = VectorType::get(shape.rowsPerWarp, k.getI8Type());
  Value mask = vector::FromElementsOp::create(k, codeType, masks);
  Value warpRow = k.mul(k.warp(), k.index(shape.rowsPerWarp));
  Value piece = k.divU(warpRow, k.index(kPiece)),
        inPiece = k.remU(warpRow, k.index(kPiece));
  auto vectorType = VectorType::get(shape.rowsPerWarp, k.getF32Type());
  for (int64_t i = 0; i < kChunk; ++i) {
    SmallVector<Value> ofColumn;
    for (Value row : numbers)
      ofColumn.push_back(vector::ExtractOp::create(k, row, i));
    RecipeEmitter::BlockScale ofRows;
    ofRows.factor = k.splat(vector::ExtractOp::create(k, scale.factor, i),
                            shape.rowsPerWarp);
    Value codes = asBytes(result.emitter.emitCode(
        e, ofRows, vector::FromElementsOp::create(k, vectorType, ofColumn)));
    codes = arith::AndIOp::create(k, codes, mask);
    Value line = k.add(k.index(i * kWarpSize), k.lane());
    k.storeShared(codes, tile, k.add(place(line, piece), inPiece));
  }
  k.barrier();

  // Padded rows are multiples of 128; of others the extent tells.
  bool isAligned =
      hasPaddedRows || KernelBuilder::isAligned(result.values, kPiece);
  int64_t count = kTileColumns * pieces;
  Value end = k.size(result.values, 1);
  for (int64_t base = 0; base < count; base += shape.threads()) {
    Value number = k.add(k.thread(), k.index(base));
    Value piece = k.remU(number, k.index(pieces)),
          line = k.divU(number, k.index(pieces));
    Value at =
        columnAt(k.add(k.mul(k.remU(line, k.index(kWarpSize)), k.index(kChunk)),
                       k.divU(line, k.index(kWarpSize))));
    Value row = k.add(firstRow, k.mul(piece, k.index(kPiece)));
    Value isNumber = base + shape.threads() <= count
                         ? Value()
                         : k.ltU(number, k.index(count));
    Value condition =
        k.both(isNumber, k.both(k.ltU(at, source.columns(k)), k.ltU(row, end)));
    k.ifThen(condition, [&] {
      Value codes =
          k.loadShared(k.getI8Type(), tile, place(line, piece), kPiece);
      if (isAligned)
        return k.store(codes, result.values, {at, row});
      for (int64_t i = 0; i < kPiece; ++i) {
        Value to = k.add(row, k.index(i));
        k.ifThen(k.ltU(to, end), [&] {
          k.store(vector::ExtractOp::create(k, codes, i), result.values,
                  {at, to});
        });
      }
    });
  }
}

void TileQuantizer::build() {
  k.setMinBlocks(shape.minBlocks);
  Value columnTiles = k.ceilDivU(countToCover(k, false, /*ofRows=*/false),
                                 k.index(shape.columns()));
  firstRow = k.mul(k.divU(k.block(), columnTiles), k.index(shape.rows()));
  firstColumn = k.mul(k.remU(k.block(), columnTiles), k.index(shape.columns()));
  column =
      columnAt(k.mul(shape.spansRows ? k.thread() : k.lane(), k.index(kChunk)));
  findRows();
  load();
  if (rowwise)
    quantizeRows();
  if (columnwise)
    quantizeColumns();

  ImplicitLocOpBuilder &host = k.host();
  Value rowTiles =
      k.hostCeilDiv(countToCover(host, true, /*ofRows=*/true), shape.rows());
  Value hostColumnTiles = k.hostCeilDiv(
      countToCover(host, true, /*ofRows=*/false), shape.columns());
  k.launch(k.hostMul(rowTiles, hostColumnTiles));
}

//===----------------------------------------------------------------------===//
// What has a kernel
//===----------------------------------------------------------------------===//

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
  return block >= kChunk && block <= kTileColumns && llvm::isPowerOf2_64(block);
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

/// How many rows a tile has: those of a block along columns at least.
static TileShape getTileShape(const QuantizeSource &source,
                              const QuantizeResult &rowwise,
                              const QuantizeResult &columnwise) {
  if (rowwise && ShapedType::isDynamic(rowwise.format.getBlockOf(1, 2))) {
    int64_t warps = llvm::divideCeil(source.staticColumns, kTileColumns);
    return {warps, 4, std::max<int64_t>(32 / warps, 1), /*spansRows=*/true};
  }
  if (!columnwise)
    return {8, 4, 4};
  ScaledType format = columnwise.format;
  bool isTransposed = format.getBlockOf(1, 2) != 1;
  int64_t rowBlock = format.getBlockOf(isTransposed, 2);
  // Transposed codes are stored by 64 bytes at least.
  if (rowBlock == 128)
    return {16, 8, 1};
  return isTransposed || rowBlock == 64 ? TileShape{16, 4, 2}
                                        : TileShape{8, 4, 4};
}

void moeq::buildQuantizeTiles(Operation *op, gpu::GPUModuleOp module,
                              const QuantizeSource &source,
                              const QuantizeResult &rowwise,
                              const QuantizeResult &columnwise,
                              RecipeAttr recipe) {
  TileQuantizer(op, module, source, rowwise, columnwise, recipe,
                getTileShape(source, rowwise, columnwise))
      .build();
}
