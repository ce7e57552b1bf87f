//===- QuantizeKernels.cpp - Kernels that quantize --------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "QuantizeKernels.h"
#include "BlockCodes.h"
#include "GroupRows.h"
#include "RowTeam.h"

#include "moeq/Support/NumericsRecipe.h"
#include "moeq/Support/ScaleLayout.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::moeq;

/// The CTAs that share a block of all rows, their threads, the CTAs of an SM,
/// and how many loads of a thread are in flight.
static constexpr int64_t kParts = 512, kPartThreads = 256, kPartsOfSM = 4,
                         kPartLoads = 4;

SmallVector<Value> moeq::rowIndices(KernelBuilder &k, Value memref, Value row,
                                    Value column) {
  SmallVector<Value> indices(cast<MemRefType>(memref.getType()).getRank(),
                             k.index(0));
  indices.back() = column;
  if (indices.size() > 1)
    indices[indices.size() - 2] = row;
  return indices;
}

namespace {
/// What all kernels of one quantization share.
class Quantizer {
public:
  Quantizer(Operation *op, gpu::GPUModuleOp module,
            const QuantizeSource &source, ValueRange outs, ScaledType format,
            RecipeAttr recipe)
      : op(op), module(module), source(source), outs(outs), format(format),
        emitter(recipe, format),
        rank(cast<MemRefType>(outs[0].getType()).getRank()) {}

  LogicalResult build();

private:
  int64_t blockOf(int64_t dim) const { return format.getBlockOf(dim, rank); }
  /// The columns of a thread and step, and what it loads of them.
  int64_t getWidth(int64_t block) const;
  Value load(KernelBuilder &k, Value row, Value column, int64_t width);
  void storeScale(KernelBuilder &k, const RecipeEmitter::BlockScale &scale,
                  Value row, Value column, Value isScale);
  void storeValues(KernelBuilder &k, const RecipeEmitter::BlockScale &scale,
                   Value loaded, Value row, Value column);

  bool isLaidOut() const { return format.getLayout() != ScaleLayout::RowMajor; }
  /// Whether there are scales of no block, which are zero bytes.
  bool fillsWithZeros() const { return isLaidOut() || format.getGroups() != 0; }
  /// The row of the result at a row of the scales, and whether it is one, null
  /// for always.
  struct RowPlace {
    Value row, isRow;
  };
  RowPlace placeRow(KernelBuilder &k, Value row);
  void buildInRows();
  LogicalResult buildAcrossRows();
  struct Part;
  void setUp(Part &part);
  void buildPartials(Part &part, SmallVectorImpl<Value> &partials);
  void buildFromPartials(Part &part, ArrayRef<Value> partials);

  Operation *op;
  gpu::GPUModuleOp module;
  const QuantizeSource &source;
  ValueRange outs;
  ScaledType format;
  RecipeEmitter emitter;
  int64_t rank;
};
} // namespace

int64_t Quantizer::getWidth(int64_t block) const {
  int64_t width = source.width;
  auto divides = [&](int64_t extent) {
    return ShapedType::isDynamic(extent) || extent % width == 0;
  };
  while (width > 1 && (!divides(block) || !divides(source.staticColumns)))
    width /= 2;
  // A byte holds two packed values.
  return format.isPacked() ? std::max<int64_t>(width, 2) : width;
}

Value Quantizer::load(KernelBuilder &k, Value row, Value column,
                      int64_t width) {
  bool ragged = width > source.width ||
                (width > 1 && !ShapedType::isDynamic(source.staticColumns) &&
                 source.staticColumns % width != 0);
  if (!ragged)
    return source.load(k, row, column, width);
  // The last byte of an odd row: its second value repeats the first.
  SmallVector<Value> elements;
  Value last = k.sub(source.columns(k), k.index(1));
  for (int64_t i = 0; i < width; ++i)
    elements.push_back(
        source.load(k, row, k.minU(k.add(column, k.index(i)), last), 1));
  return vector::FromElementsOp::create(
      k, VectorType::get(width, source.element), elements);
}

/// `isScale` says whether there is such a block, null that there is: else zero
/// bytes are stored.
void Quantizer::storeScale(KernelBuilder &k,
                           const RecipeEmitter::BlockScale &scale, Value row,
                           Value column, Value isScale) {
  SmallVector<Value> indices = rowIndices(k, outs[1], row, column);
  if (isLaidOut() && indices.size() > 1) {
    Value columns = k.size(outs[1], rank - 1);
    ScalePlace place =
        emitScalePlace(k, k.getLoc(), format.getLayout(), row, column, columns);
    indices = rowIndices(k, outs[1], place.row, place.column);
  }
  k.store(k.selectOrZero(isScale, scale.stored), outs[1], indices);
  if (scale.zero)
    k.store(k.selectOrZero(isScale, scale.zero), outs[2], indices);
}

void Quantizer::storeValues(KernelBuilder &k,
                            const RecipeEmitter::BlockScale &scale,
                            Value loaded, Value row, Value column) {
  Value codes = emitBlockCodes(k, emitter, scale, loaded)[0];
  if (!format.isPacked())
    return k.store(codes, outs[0], rowIndices(k, outs[0], row, column));
  // Two codes a byte, the first one low.
  auto halves = vector::DeinterleaveOp::create(k, codes);
  Value low = halves.getRes1(), high = halves.getRes2();
  if (cast<VectorType>(codes.getType()).getNumElements() == 2) {
    // The last byte of an odd row has one value.
    low = vector::ExtractOp::create(k, low, 0);
    high = vector::ExtractOp::create(k, high, 0);
    Value hasSecond = k.ltU(k.add(column, k.index(1)), source.columns(k));
    high = k.select(hasSecond, high, k.i32(0));
  }
  Elementwise e(k, k.getLoc());
  Value bytes = e.truncateToI8(e.orI(low, e.shl(high, 4)));
  k.store(bytes, outs[0],
          rowIndices(k, outs[0], row, k.divU(column, k.index(2))));
}

Quantizer::RowPlace Quantizer::placeRow(KernelBuilder &k, Value row) {
  if (format.getGroups() != 0) {
    GroupRows rows = findGroupRows(k, source.offsets, row);
    return {rows.begin, k.ltU(rows.begin, rows.end)};
  }
  if (!source.offsets)
    return {row, isLaidOut() ? k.ltU(row, source.countRows(k)) : Value()};
  Value last = k.sub(k.size(source.offsets, 0), k.index(1));
  Value isAfter =
      k.ltU(row, k.loadIndex(source.offsets, ValueRange(k.index(0))));
  return {row, k.both(k.negate(isAfter),
                      k.ltU(row, k.loadIndex(source.offsets, last)))};
}

/// A team a block. Laid-out scales have blocks without elements too.
void Quantizer::buildInRows() {
  int64_t block = blockOf(rank - 1);
  int64_t extent = ShapedType::isDynamic(block) ? source.staticColumns : block;
  TeamShape shape = getTeamShape(extent, getWidth(block));
  // A warp finds the group of a row together.
  if (format.getGroups() != 0)
    shape.lanes = std::max(shape.lanes, kWarpSize);
  KernelBuilder k(module, op, shape.threads);
  Elementwise e(k, k.getLoc());
  Value columns = source.columns(k), rows = k.index(1),
        hostRows = k.hostIndex(1);
  bool isMnMajor = format.getLayout() == ScaleLayout::MnMajor;
  int64_t blockDim = rank - 1 - isMnMajor;
  for (int64_t dim = 0; dim < rank; ++dim) {
    if (dim == blockDim)
      continue;
    rows = k.mul(rows, k.size(outs[1], dim));
    hostRows = k.hostMul(hostRows, k.hostSize(outs[1], dim));
  }
  // Of each row, the scales have as many columns as the row has blocks.
  Value blocks = k.size(outs[1], blockDim);
  RowTeam team(k, shape, k.mul(rows, blocks));
  Value scaleRow = k.divU(team.unit(), blocks),
        number = k.remU(team.unit(), blocks);
  Value isUnit = team.active();
  RowPlace place = placeRow(k, scaleRow);
  team.restrict(place.isRow);
  Value begin = k.index(0), end = columns;
  if (!ShapedType::isDynamic(block)) {
    begin = k.mul(number, k.index(block));
    end = k.minU(k.add(begin, k.index(block)), columns);
  } else if (isLaidOut()) {
    begin = k.select(k.equal(number, k.index(0)), begin, columns);
  }
  if (isLaidOut())
    team.restrict(k.ltU(begin, columns));
  Value from = place.row;
  if (source.rows) {
    from = k.ifElse(
        team.active(), [&] { return k.loadIndex(source.rows, place.row); },
        k.index(-1));
    team.restrict(k.isNonNegative(from));
  }
  team.setColumns(begin, end);
  team.setLoader(source.element, [&](Value column) {
    return load(k, from, column, shape.width);
  });

  SmallVector<Value> statistics = team.reduce(
      emitter.emitInitialStatistics(e, k.f32(0)),
      [&](ValueRange before, Value loaded) {
        return emitter.emitUpdate(e, before, k.toF32(loaded));
      },
      [&](ValueRange left, ValueRange right) {
        return emitter.emitMerge(e, left, right);
      });
  RecipeEmitter::BlockScale scale = emitter.emitScale(e, statistics);
  if (fillsWithZeros()) {
    k.ifThen(k.both(isUnit, team.isFirst()),
             [&] { storeScale(k, scale, scaleRow, number, team.active()); });
  } else {
    team.once([&] { storeScale(k, scale, scaleRow, number, Value()); });
  }
  team.forEach([&](Value column, Value loaded) {
    storeValues(k, scale, loaded, place.row, column);
  });
  k.launch(k.hostCeilDiv(k.hostMul(hostRows, k.hostSize(outs[1], blockDim)),
                         shape.teams()));
}

//===----------------------------------------------------------------------===//
// Blocks of several rows
//===----------------------------------------------------------------------===//

/// A CTA's part of a block of several rows.
struct Quantizer::Part {
  Part(Quantizer &quantizer, StringRef suffix)
      : k(quantizer.module, quantizer.op, kPartThreads, suffix),
        e(k, k.getLoc()) {
    k.setMinBlocks(kPartsOfSM);
  }

  /// What is done with `width` columns of a row, and what it carries on.
  using Use = function_ref<SmallVector<Value>(Value row, Value column,
                                              Value loaded, ValueRange)>;
  /// A loop over the columns of this thread, `width` at a time. Some are used
  /// more than once.
  SmallVector<Value> forEach(Quantizer &quantizer, ValueRange inits, Use use);

  KernelBuilder k;
  Elementwise e;
  int64_t width;
  /// The number of the block, of the part in it, and of its parts.
  Value block, part, parts;
  /// Where the block's scale is, and its extents.
  Value scaleRow, scaleColumn, rowBegin, rowEnd, columnBegin, columnEnd;
  /// The blocks on the host.
  Value hostBlocks;
};

/// Loads come first in each step; past the last columns they repeat them.
SmallVector<Value> Quantizer::Part::forEach(Quantizer &quantizer,
                                            ValueRange inits, Use use) {
  Value perRow = k.ceilDivU(k.sub(columnEnd, columnBegin), k.index(width));
  Value stride = k.mul(parts, k.index(kPartThreads));
  Value first = k.add(k.mul(part, k.index(kPartThreads)), k.thread());
  Value count = k.mul(k.sub(rowEnd, rowBegin), perRow);
  Value last = k.sub(count, k.index(1));
  return k.forLoop(
      first, count, k.mul(stride, k.index(kPartLoads)), inits,
      [&](Value base, ValueRange carried) {
        SmallVector<Value> rows, columns, loaded;
        for (int64_t i = 0; i < kPartLoads; ++i) {
          Value chunk = k.minU(k.add(base, k.mul(stride, k.index(i))), last);
          Value column = k.mul(k.remU(chunk, perRow), k.index(width));
          rows.push_back(k.add(rowBegin, k.divU(chunk, perRow)));
          columns.push_back(k.add(columnBegin, column));
          loaded.push_back(quantizer.load(k, rows[i], columns[i], width));
        }
        SmallVector<Value> next(carried);
        for (int64_t i = 0; i < kPartLoads; ++i)
          next = use(rows[i], columns[i], loaded[i], next);
        return next;
      });
}

void Quantizer::setUp(Part &p) {
  KernelBuilder &k = p.k;
  int64_t rowBlock = blockOf(rank - 2), columnBlock = blockOf(rank - 1);
  p.width = getWidth(columnBlock);
  // A block of the whole tensor has all dimensions but the last as its rows.
  bool whole = rank > 2 && ShapedType::isDynamic(blockOf(0));
  Value rows = k.size(outs[0], rank - 2), columns = source.columns(k);
  for (int64_t dim = 0; whole && dim + 2 < rank; ++dim)
    rows = k.mul(rows, k.size(outs[0], dim));
  auto countBlocks = [&](Value extent, int64_t size) {
    return ShapedType::isDynamic(size) ? k.index(1)
                                       : k.ceilDivU(extent, k.index(size));
  };
  auto bounds = [&](Value number, int64_t size,
                    Value extent) -> std::pair<Value, Value> {
    if (ShapedType::isDynamic(size))
      return {k.index(0), extent};
    Value begin = k.mul(number, k.index(size));
    return {begin, k.minU(k.add(begin, k.index(size)), extent)};
  };
  Value rowBlocks = countBlocks(rows, rowBlock),
        columnBlocks = countBlocks(columns, columnBlock);
  p.parts = k.index(ShapedType::isDynamic(rowBlock) ? kParts : 1);
  p.block = k.divU(k.block(), p.parts);
  p.part = k.remU(k.block(), p.parts);
  p.scaleRow = k.divU(p.block, columnBlocks);
  p.scaleColumn = k.remU(p.block, columnBlocks);
  Value before = k.mul(k.divU(p.scaleRow, rowBlocks), rows);
  auto [rowBegin, rowEnd] =
      bounds(k.remU(p.scaleRow, rowBlocks), rowBlock, rows);
  p.rowBegin = k.add(before, rowBegin);
  p.rowEnd = k.add(before, rowEnd);
  std::tie(p.columnBegin, p.columnEnd) =
      bounds(p.scaleColumn, columnBlock, columns);
  p.hostBlocks = k.hostIndex(ShapedType::isDynamic(rowBlock) ? kParts : 1);
  for (int64_t dim = 0; dim < rank; ++dim)
    p.hostBlocks = k.hostMul(p.hostBlocks, k.hostSize(outs[1], dim));
}

/// The statistics of each part, to an array on the host each.
void Quantizer::buildPartials(Part &p, SmallVectorImpl<Value> &partials) {
  KernelBuilder &k = p.k;
  SmallVector<Value> initial = emitter.emitInitialStatistics(p.e, k.f32(0));
  auto merge = [&](ValueRange left, ValueRange right) {
    return emitter.emitMerge(p.e, left, right);
  };
  SmallVector<Value> statistics = p.forEach(
      *this, initial, [&](Value, Value, Value loaded, ValueRange carried) {
        loaded = k.toF32(loaded);
        SmallVector<Value> next(carried);
        for (int64_t i = 0; i < p.width; ++i)
          next = emitter.emitUpdate(
              p.e, next,
              p.width == 1 ? loaded
                           : Value(vector::ExtractOp::create(k, loaded, i)));
        return next;
      });
  statistics = k.reduceBlock(statistics, initial, merge);
  std::optional<int64_t> count = getConstantIntValue(p.hostBlocks);
  for (Value statistic : statistics) {
    auto type = MemRefType::get(count.value_or(ShapedType::kDynamic),
                                statistic.getType());
    partials.push_back(memref::AllocOp::create(
        k.host(), type, count ? ValueRange() : ValueRange(p.hostBlocks)));
    k.ifThen(k.equal(k.thread(), k.index(0)),
             [&] { k.store(statistic, partials.back(), k.block()); });
  }
  k.launch(p.hostBlocks);
}

/// Each CTA forms the statistics of its block of those of the parts, and
/// quantizes its own part.
void Quantizer::buildFromPartials(Part &p, ArrayRef<Value> partials) {
  KernelBuilder &k = p.k;
  SmallVector<Value> initial = emitter.emitInitialStatistics(p.e, k.f32(0));
  auto merge = [&](ValueRange left, ValueRange right) {
    return emitter.emitMerge(p.e, left, right);
  };
  SmallVector<Value> statistics =
      k.forLoop(k.thread(), p.parts, k.index(kPartThreads), initial,
                [&](Value part, ValueRange carried) {
                  Value place = k.add(k.mul(p.block, p.parts), part);
                  SmallVector<Value> loaded;
                  for (Value partial : partials)
                    loaded.push_back(k.load(partial, place));
                  return merge(carried, loaded);
                });
  RecipeEmitter::BlockScale scale =
      emitter.emitScale(p.e, k.reduceBlock(statistics, initial, merge));
  k.ifThen(k.both(k.equal(k.thread(), k.index(0)), k.equal(p.part, k.index(0))),
           [&] { storeScale(k, scale, p.scaleRow, p.scaleColumn, Value()); });
  p.forEach(*this, {}, [&](Value row, Value column, Value loaded, ValueRange) {
    storeValues(k, scale, loaded, row, column);
    return SmallVector<Value>();
  });
  k.launch(p.hostBlocks);
}

LogicalResult Quantizer::buildAcrossRows() {
  bool whole = true, inLast = true;
  for (int64_t dim = 0; dim + 1 < rank; ++dim) {
    whole &= ShapedType::isDynamic(blockOf(dim));
    inLast &= dim + 2 == rank || blockOf(dim) == 1;
  }
  if (!whole && !inLast)
    return op->emitOpError() << "expects blocks of the last two dimensions or "
                                "of the whole tensor "
                                "in a kernel, got "
                             << format;
  SmallVector<Value> partials;
  Part amax(*this, "amax");
  setUp(amax);
  buildPartials(amax, partials);
  Part values(*this, "");
  setUp(values);
  buildFromPartials(values, partials);
  for (Value partial : partials)
    memref::DeallocOp::create(values.k.host(), partial);
  return success();
}

LogicalResult Quantizer::build() {
  bool isInRows = true;
  for (int64_t dim = 0; dim + 1 < rank; ++dim)
    isInRows &= blockOf(dim) == 1;
  if (isLaidOut() && (rank != 2 || !isInRows))
    return op->emitOpError()
           << "expects scales in row-major layout in a kernel, unless blocks "
              "lie in the rows of a matrix, got "
           << format;
  if (format.isPacked() && !ShapedType::isDynamic(blockOf(rank - 1)) &&
      blockOf(rank - 1) % 2 != 0)
    return op->emitOpError()
           << "expects blocks of whole bytes in a kernel, got " << format;
  if (!isInRows)
    return buildAcrossRows();
  buildInRows();
  return success();
}

LogicalResult moeq::buildQuantize(Operation *op, gpu::GPUModuleOp module,
                                  const QuantizeSource &source,
                                  const QuantizeSource &ofTiles,
                                  const QuantizeResults &results,
                                  RecipeAttr recipe) {
  const QuantizeResult &rowwise = results.rowwise,
                       &columnwise = results.columnwise;
  if (columnwise)
    if (std::optional<std::string> reason =
            whyNotTiledColumnwise(columnwise.format, recipe))
      return op->emitOpError() << *reason << ", got " << columnwise.format;
  int64_t rank =
      rowwise ? cast<MemRefType>(rowwise.outs[0].getType()).getRank() : 2;
  bool isTiled = rowwise &&
                 isTiledRowwise(source, rowwise.format, recipe, rank) &&
                 !((columnwise || results.sums) &&
                   ShapedType::isDynamic(rowwise.format.getBlockOf(1, 2)));
  // Tiles of padded rows do not come to laid-out scales of rows of no group.
  if (isTiled && (columnwise || results.sums) && source.offsets)
    isTiled = rowwise.format.getGroups() != 0 ||
              rowwise.format.getLayout() == ScaleLayout::RowMajor;
  if (isTiled || columnwise || results.sums)
    buildQuantizeTiles(
        op, module, ofTiles,
        {isTiled ? rowwise : QuantizeResult(), columnwise, results.sums},
        recipe);
  if (!rowwise || isTiled)
    return success();
  return Quantizer(op, module, source, rowwise.outs, rowwise.format, recipe)
      .build();
}
