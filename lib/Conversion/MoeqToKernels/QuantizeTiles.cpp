//===- QuantizeTiles.cpp - Quantization of tiles ----------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A CTA has a tile of rows and columns. Lanes side by side have a chunk each of
// some of its rows: what a warp loads or stores of a row is contiguous, and all
// loads are in flight before the first is used. Where a block is a whole row,
// so is a tile, or a few. Transposed codes go through shared memory.
//
// Rows of groups are counted in padded ones, so that a tile has rows of one
// group, and zeros are stored by the same code as scales and codes.
//
//===----------------------------------------------------------------------===//

#include "BlockCodes.h"
#include "TileQuantizer.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::moeq;

TileQuantizer::TileQuantizer(Operation *op, gpu::GPUModuleOp module,
                             const QuantizeSource &source,
                             const QuantizeResults &results, RecipeAttr recipe,
                             TileShape shape, StringRef suffix)
    : source(source), shape(shape), k(module, op, shape.threads(), suffix),
      e(k, k.getLoc()), chunks(k, source.element), sums(results.sums),
      hasWholeChunks(source.width >= kChunk) {
  if (results.rowwise)
    rowwise.emplace(results.rowwise, recipe, /*isColumnwise=*/false,
                    source.offsets != nullptr);
  if (results.columnwise)
    columnwise.emplace(results.columnwise, recipe, /*isColumnwise=*/true,
                       source.offsets != nullptr);
  hasPaddedRows = coversPadding(source, results);
  // No scales are there for more columns than the source has.
  Value covered = countToCover(k.host(), /*onHost=*/true, /*ofRows=*/false);
  hasAllColumns = source.staticColumns > 0 &&
                  source.staticColumns % shape.columns() == 0 &&
                  getConstantIntValue(covered) == source.staticColumns;
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

/// What is loaded of a row for the chunk at `column`: columns that do not exist
/// repeat the last ones.
SmallVector<Value> TileQuantizer::fetch(Value row, Value column) {
  if (hasAllColumns)
    return source.fetch(k, row, column, kChunk);
  Value end = source.columns(k);
  if (hasWholeChunks)
    return source.fetch(k, row, k.minU(column, k.sub(end, k.index(kChunk))),
                        kChunk);
  SmallVector<SmallVector<Value>> parts;
  for (int64_t i = 0; i < kChunk; ++i) {
    Value at = k.minU(k.add(column, k.index(i)), k.sub(end, k.index(1)));
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

/// The numbers of the chunk at `column` with zeros in the columns that do not
/// exist.
Value TileQuantizer::maskColumns(Value numbers, Value column) {
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
  if (!hasPaddedRows) {
    rows = {firstRow, end};
    if (source.offsets) {
      Value last = k.sub(k.size(source.offsets, 0), k.index(1));
      begin = k.loadIndex(source.offsets, ValueRange(k.index(0)));
      rows.end = k.loadIndex(source.offsets, last);
    }
  }
  // Rows of no group can be read, but not their places in `source.rows`.
  readEnd = hasPaddedRows || source.rows ? rows.end : end;
  rowInTile0 = shape.teams() == 1
                   ? k.i32(0)
                   : toI32(k.mul(k.divU(k.thread(), k.index(shape.lanes)),
                                 k.index(shape.laneRows)));
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
  Value end = source.columns(k);
  Value inChunks = k.mul(laneInRow(), k.index(kChunk));
  for (int64_t i = 0; i < shape.laneChunks; ++i) {
    columns.push_back(columnAt(inChunks, i * shape.chunkColumns()));
    hasColumn.push_back(isColumn(columns[i]));
  }
  // Loads come first, and are not guarded one by one: rows past the end repeat
  // the last one, which is of the same block, as do columns.
  Value hasRows = k.ltU(rows.begin, readEnd);
  hasRows = k.both(hasRows, k.ltU(k.index(0), source.sourceRows(k)));
  hasRows = k.both(hasRows, k.ltU(k.index(0), end));
  Value count = countFromFirst(readEnd);
  Value first = k.add(rows.begin, toIndex(rowInTile0));
  // What was loaded: each chunk's values, then what belongs to rows, and
  // whether these come from somewhere.
  SmallVector<size_t> chunkEnds;
  size_t ofRowsBegin, hasSourceBegin;
  SmallVector<Type> types;
  auto read = [&](bool hasAllRows) {
    chunkEnds.clear();
    SmallVector<Value> values, sources, hasSource;
    Value last = arith::SubIOp::create(k, count, k.i32(1));
    for (int64_t i = 0; i < shape.laneRows; ++i) {
      Value inTile = arith::MinUIOp::create(k, rowInTile(i), last);
      sources.push_back(hasAllRows ? k.add(first, k.index(i))
                                   : k.add(rows.begin, toIndex(inTile)));
      if (!source.rows)
        continue;
      Value index = k.loadIndex(source.rows, sources[i]);
      hasSource.push_back(k.isNonNegative(index));
      sources[i] = k.select(hasSource[i], index, k.index(0));
    }
    for (Value row : sources)
      for (Value column : columns) {
        llvm::append_range(values, fetch(row, column));
        chunkEnds.push_back(values.size());
      }
    ofRowsBegin = values.size();
    for (Value row : sources)
      if (Value ofRow = source.fetchOfRow(k, row))
        values.push_back(ofRow);
    hasSourceBegin = values.size();
    llvm::append_range(values, hasSource);
    types = llvm::to_vector(TypeRange(ValueRange(values)));
    return values;
  };
  SmallVector<Value> loaded = k.ifElse(
      hasRows,
      [&] {
        if (source.rows)
          return read(/*hasAllRows=*/false);
        Value isFull = e.compareI(arith::CmpIPredicate::eq, count,
                                  static_cast<int32_t>(shape.rows()));
        return k.ifElse(
            isFull, [&] { return read(/*hasAllRows=*/true); },
            [&] { return read(/*hasAllRows=*/false); });
      },
      [&] {
        SmallVector<Value> zeros;
        for (Type type : types)
          zeros.push_back(arith::ConstantOp::create(
              k, cast<TypedAttr>(k.getZeroAttr(type))));
        return zeros;
      });
  ArrayRef<Value> chunkValues(loaded);
  for (int64_t i = 0; i < shape.laneRows; ++i) {
    rowNumbers.push_back(k.add(first, k.index(i)));
    inColumns.push_back(k.both(isTileRow(rowInTile(i)), hasRows));
    isRow.push_back(inColumns[i]);
    if (source.rows)
      isRow[i] = k.both(isRow[i], loaded[hasSourceBegin + i]);
    Value ofRow;
    if (hasSourceBegin > ofRowsBegin)
      ofRow = loaded[ofRowsBegin + i];
    for (Value column : columns) {
      size_t begin = rowChunks.empty() ? 0 : chunkEnds[rowChunks.size() - 1];
      size_t size = chunkEnds[rowChunks.size()] - begin;
      Value numbers = source.compute(k, chunkValues.slice(begin, size), ofRow);
      Value chunk = chunks.fromElements(maskColumns(numbers, column));
      if (source.rows)
        chunk = k.select(isRow[i], chunk, chunks.zero());
      rowChunks.push_back(chunk);
      rowMagnitudes.push_back(chunks.magnitudes(chunk, source.isUnsigned));
    }
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

/// Stores the codes of chunk `chunk` of a row.
void TileQuantizer::storeCodes(const TileResult &result, Value codes, Value row,
                               Value isRow, int64_t chunk) {
  codes = asBytes(codes);
  Value column = columns[chunk];
  if (hasWholeChunks && KernelBuilder::isAligned(result.values, kChunk))
    return k.ifThen(k.both(isRow, hasColumn[chunk]),
                    [&] { k.store(codes, result.values, {row, column}); });
  for (int64_t i = 0; i < kChunk; ++i) {
    Value at = k.add(column, k.index(i));
    k.ifThen(k.both(isRow, isColumn(at)), [&] {
      k.store(vector::ExtractOp::create(k, codes, i), result.values, {row, at});
    });
  }
}

void TileQuantizer::quantizeRows() {
  for (auto [i, factor] : llvm::enumerate(formRowScales())) {
    SmallVector<Value> numbers;
    for (Value chunk :
         ArrayRef(rowChunks).slice(i * shape.laneChunks, shape.laneChunks))
      numbers.push_back(chunks.toElements(chunk));
    RecipeEmitter::BlockScale scale;
    scale.factor = factor;
    for (auto [chunk, codes] :
         llvm::enumerate(emitBlockCodes(k, rowwise->emitter, scale, numbers)))
      storeCodes(*rowwise, codes, rowNumbers[i], isRow[i], chunk);
  }
}

//===----------------------------------------------------------------------===//
// Blocks along columns
//===----------------------------------------------------------------------===//

void TileQuantizer::quantizeColumns() {
  const TileResult &result = *columnwise;
  Value factors = k.shared(k.getF32Type(),
                           shape.rows() / result.rowBlock * shape.columns());

  Value maxima = rowMagnitudes[0];
  for (Value magnitudes : ArrayRef(rowMagnitudes).drop_front())
    maxima = chunks.maximum(maxima, magnitudes);
  Value team = k.divU(k.thread(), k.index(shape.lanes));
  k.storeShared(maxima, scratch,
                k.add(k.mul(team, k.index(partialPitch())),
                      k.mul(laneInRow(), k.index(kChunk))));
  k.barrier();
  reduceColumns(scratch, factors);
  k.barrier();
  RecipeEmitter::BlockScale scale = loadFactors(factors);
  // Numbers that the rowwise result needed are unpacked again.
  if (rowwise)
    for (Value &chunk : rowChunks)
      chunk = chunks.opaque(chunk);
  SmallVector<Value> numbers;
  for (Value chunk : rowChunks)
    numbers.push_back(chunks.toElements(chunk));
  foldFactor(k, result.emitter, scale, numbers);
  for (Value &number : numbers)
    number = k.toF32(number);
  if (result.isTransposed)
    return storeTransposed(scale, numbers, scratch);
  for (auto [i, number] : llvm::enumerate(numbers))
    storeCodes(result, result.emitter.emitCode(e, scale, number), rowNumbers[i],
               inColumns[i], /*chunk=*/0);
}

/// Codes go through a tile [columns, rows] in shared memory: a lane writes
/// those of its rows of a column at once, and stores pieces of columns. Columns
/// of different chunks that have the same place in them lie together, and the
/// pieces of a line change places, so that lanes meet in few banks.
void TileQuantizer::storeTransposed(const RecipeEmitter::BlockScale &scale,
                                    ArrayRef<Value> numbers, Value tile) {
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
  SmallVector<Value> masks;
  for (int64_t i = 0; i < shape.laneRows; ++i)
    masks.push_back(k.select(inColumns[i], byte(-1), byte(0)));
  // Padding is zero whatever the scale is.
  auto codeType = VectorType::get(shape.laneRows, k.getI8Type());
  Value mask = vector::FromElementsOp::create(k, codeType, masks);
  Value first = toIndex(rowInTile0);
  Value piece = k.divU(first, k.index(kPiece)),
        inPiece = k.remU(first, k.index(kPiece));
  auto vectorType = VectorType::get(shape.laneRows, k.getF32Type());
  for (int64_t i = 0; i < kChunk; ++i) {
    SmallVector<Value> ofColumn;
    for (Value row : numbers)
      ofColumn.push_back(vector::ExtractOp::create(k, row, i));
    RecipeEmitter::BlockScale ofRows;
    if (scale.factor)
      ofRows.factor = vector::BroadcastOp::create(
          k, vectorType, vector::ExtractOp::create(k, scale.factor, i));
    Value codes = asBytes(result.emitter.emitCode(
        e, ofRows, vector::FromElementsOp::create(k, vectorType, ofColumn)));
    codes = arith::AndIOp::create(k, codes, mask);
    Value line = k.add(k.index(i * shape.lanes), laneInRow());
    k.storeShared(codes, tile, k.add(place(line, piece), inPiece));
  }
  k.barrier();

  storePieces([&](Value line, Value piece) {
    return k.loadShared(k.getI8Type(), tile, place(line, piece), kPiece);
  });
}

/// Stores the transposed codes of the tile, 16 of a column at once: those that
/// `codesAt` gives for a piece of a line of storeTransposed.
void TileQuantizer::storePieces(function_ref<Value(Value, Value)> codesAt) {
  const TileResult &result = *columnwise;
  int64_t pieces = shape.rows() / kPiece;
  // Padded rows are multiples of 128; of others the extent tells.
  bool isAligned =
      hasPaddedRows || KernelBuilder::isAligned(result.values, kPiece);
  int64_t count = shape.columns() * pieces;
  Value end = k.size(result.values, 1);
  for (int64_t base = 0; base < count; base += shape.threads()) {
    Value number = k.add(k.thread(), k.index(base));
    Value piece = k.remU(number, k.index(pieces)),
          line = k.divU(number, k.index(pieces));
    Value at = columnAt(
        k.add(k.mul(k.remU(line, k.index(shape.lanes)), k.index(kChunk)),
              k.divU(line, k.index(shape.lanes))));
    Value row = k.add(firstRow, k.mul(piece, k.index(kPiece)));
    Value isNumber = base + shape.threads() <= count
                         ? Value()
                         : k.ltU(number, k.index(count));
    Value condition = k.both(isNumber, k.both(isColumn(at), k.ltU(row, end)));
    k.ifThen(condition, [&] {
      Value codes = codesAt(line, piece);
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

/// Maxima and sums of all teams are read before the codes that are transposed
/// are there.
int64_t TileQuantizer::getScratchBytes() {
  int64_t ofTeams = shape.teams() * partialPitch();
  int64_t bytes = sums ? 4 * ofTeams : 0;
  if (columnwise)
    bytes = std::max(
        bytes, ofTeams * chunks.getMagnitudeType().getIntOrFloatBitWidth() / 8);
  if (columnwise && columnwise->isTransposed)
    bytes = std::max(bytes, shape.rows() * shape.columns());
  return bytes;
}

/// Builds the tile that has `rows`.
void TileQuantizer::buildTile() {
  findRows();
  load();
  if (int64_t bytes = getScratchBytes())
    scratch = k.shared(k.getI8Type(), bytes);
  if (columnwise && columnwise->isTransposed)
    columnScales =
        k.shared(columnScaleBits(), shape.columns() * countColumnScales());
  if (sums)
    sumColumns();
  if (rowwise)
    quantizeRows();
  if (columnwise)
    quantizeColumns();
  if (columnScales)
    storeStagedScales();
}

void TileQuantizer::build(const OpBuilder &hostBuilder) {
  ImplicitLocOpBuilder &host = k.host();
  host.restoreInsertionPoint(hostBuilder.saveInsertionPoint());
  k.setMinBlocks(shape.minBlocks());
  k.setMaxSpillStores(source.maxSpillStores);
  if (shape.isSpread) {
    for (Value input : source.inputs)
      k.prefetch(input, shape.laneRows * kSector);
    if (source.offsets)
      k.prefetch(source.offsets, kSector);
  }
  Value columnTiles = k.ceilDivU(countToCover(k, false, /*ofRows=*/false),
                                 k.index(shape.columns()));
  Value hostColumnTiles = k.hostCeilDiv(
      countToCover(host, true, /*ofRows=*/false), shape.columns());
  Value number = k.divU(k.block(), columnTiles);
  firstColumn = k.mul(k.remU(k.block(), columnTiles), k.index(shape.columns()));
  if (sums)
    partialSums = allocatePartialSums();
  Value rowTiles =
      k.hostCeilDiv(countToCover(host, true, /*ofRows=*/true), shape.rows());
  if (isSplit()) {
    rowTiles = buildSplit(number);
  } else {
    firstRow = k.mul(number, k.index(shape.rows()));
    if (hasPaddedRows)
      rows = findGroupRows(k, source.offsets, firstRow);
    buildTile();
  }
  k.launch(k.hostMul(rowTiles, hostColumnTiles));
}
