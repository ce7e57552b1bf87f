//===- StorePatterns.cpp - Fragments to global memory -----------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A fragment, or its transpose, is written to a tile in shared memory,
// swizzled, and from there to global memory: by TMA where there is a tensor map
// and all of its rows exist, else in pieces of 16 bytes under a predicate.
//
//===----------------------------------------------------------------------===//

#include "Patterns.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::moeq_gpu;

// Writes a fragment of 16-bit elements, or its transpose: each instruction
// moves four 8x8 matrices of a warp, the rows 0-7 and 8-15 of 8 columns, then
// those of the next 8, of which there may be none (PTX ISA, stmatrix). Lane l
// gives the address of row l mod 8 of matrix l div 8.
static void emitStoreMatrices(Emitter &e, TileType tile, Value address,
                              Value thread, ArrayRef<Value> registers,
                              bool isTransposed) {
  Value lane = e.rem(thread, kWarpThreads), warp = e.div(thread, kWarpThreads);
  Value matrix = e.div(lane, 8);
  Value half = e.rem(matrix, 2), next = e.div(matrix, 2);
  int64_t panelColumns = tile.getPanelColumns();
  Value rowInMatrix = e.rem(lane, 8);
  // One pointer for the same columns of all panels, or for all columns.
  SmallVector<Value> places;
  if (isTransposed)
    places.push_back(e.shared(
        emitChunkAddress(e, address, e.add(e.mul(next, 8), rowInMatrix),
                         e.add(e.mul(warp, 2), half))));
  else
    for (int64_t column = 0; column < panelColumns; column += 16)
      places.push_back(e.shared(emitChunkAddress(
          e, address,
          e.add(e.mul(warp, 16), e.add(e.mul(half, 8), rowInMatrix)),
          e.add(next, column / 8))));
  // Four registers hold 16 columns.
  for (int64_t i = 0, n = registers.size(); i < n; i += 4) {
    int64_t column = i * 4;
    SmallVector<Value> words;
    for (Value reg : registers.slice(i, std::min<int64_t>(4, n - i)))
      words.push_back(
          LLVM::BitcastOp::create(e.b, e.loc, e.b.getI32Type(), reg));
    Value place =
        isTransposed
            ? e.at(places[0], e.b.getI8Type(), column * TileType::kPanelBytes)
            : e.at(places[column % panelColumns / 16], e.b.getI8Type(),
                   column / panelColumns * tile.getRows() *
                       TileType::kPanelBytes);
    NVVM::StMatrixOp::create(
        e.b, e.loc, place, words,
        isTransposed ? NVVM::MMALayout::col : NVVM::MMALayout::row,
        NVVM::LdStMatrixShapeAttr::get(e.b.getContext(), 8, 8),
        NVVM::LdStMatrixEltType::B16);
  }
}

// Writes a fragment, a pair of columns at a time.
static void emitStorePairs(Emitter &e, TileType tile, Value address,
                           Value thread, ArrayRef<Value> registers) {
  FragmentLayout layout =
      getAccumulatorLayout(tile.getRows(), tile.getColumns());
  Value lane = e.rem(thread, kWarpThreads), warp = e.div(thread, kWarpThreads);
  Value quad = e.rem(lane, 4), row = e.add(e.mul(warp, 16), e.div(lane, 4));
  int64_t panelColumns = tile.getPanelColumns();
  int64_t elementBytes = tile.getElementType().getIntOrFloatBitWidth() / 8,
          pairBytes = 2 * elementBytes, pairsPerChunk = kChunkBytes / pairBytes;
  // One pointer for the same 8 columns of all panels, and of the rows 8 further
  // down, whose swizzle is the same.
  SmallVector<Value> places;
  for (int64_t column = 0; column < panelColumns; column += 8) {
    Value chunk =
        e.add(e.div(quad, pairsPerChunk), column * elementBytes / kChunkBytes);
    Value start = emitChunkAddress(e, address, row, chunk);
    places.push_back(
        e.shared(e.add(start, e.mul(e.rem(quad, pairsPerChunk), pairBytes))));
  }
  // A register holds a pair of 16-bit elements, or one element.
  int64_t perPair = elementBytes < 4 ? 1 : 2;
  for (int64_t i = 0, n = registers.size(); i < n; i += perPair) {
    Position at = layout.getRegisterOffset(i / perPair * 2);
    int64_t panel = at.column / panelColumns;
    Value place =
        e.at(places[at.column % panelColumns / 8], e.b.getI8Type(),
             (panel * tile.getRows() + at.row) * TileType::kPanelBytes);
    Value pair = registers[i];
    if (perPair == 2) {
      auto type = VectorType::get({2}, pair.getType());
      pair = vector::FromElementsOp::create(
          e.b, e.loc, type, ValueRange{registers[i], registers[i + 1]});
    }
    LLVM::StoreOp::create(e.b, e.loc, pair, place, pairBytes);
  }
}

// Writes the transpose of a fragment of 64 rows, an element at a time.
static void emitStoreElements(Emitter &e, TileType tile, Value address,
                              ArrayRef<Value> registers) {
  SmallVector<Value> elements;
  for (Value reg : registers)
    if (auto pair = dyn_cast<VectorType>(reg.getType()))
      for (int64_t i = 0; i < pair.getNumElements(); ++i)
        elements.push_back(vector::ExtractOp::create(e.b, e.loc, reg, i));
    else
      elements.push_back(reg);
  int64_t columns = elements.size() * kWarpgroupThreads / tile.getColumns();
  FragmentLayout layout = getAccumulatorLayout(tile.getColumns(), columns);
  int64_t elementBytes = tile.getElementType().getIntOrFloatBitWidth() / 8,
          chunkElements = kChunkBytes / elementBytes;
  auto [threadRow, threadColumn] = emitThreadOffset(e, layout);
  for (auto [i, element] : llvm::enumerate(elements)) {
    // (row, column) of the fragment is at (column, row) of the tile.
    Position at = layout.getRegisterOffset(i);
    Value row = e.add(threadColumn, at.column),
          column = e.add(threadRow, at.row);
    Value panel = e.add(address, e.mul(e.div(column, tile.getPanelColumns()),
                                       tile.getRows() * TileType::kPanelBytes));
    Value chunk = e.div(e.rem(column, tile.getPanelColumns()), chunkElements);
    Value start = emitChunkAddress(e, panel, row, chunk);
    Value place =
        e.add(start, e.mul(e.rem(column, chunkElements), elementBytes));
    LLVM::StoreOp::create(e.b, e.loc, element, e.shared(place), elementBytes);
  }
}

namespace {
/// A place in global memory, as ops give it.
struct Place {
  template <typename AdaptorTy>
  explicit Place(AdaptorTy op)
      : base(op.getBase()), row(op.getRow()), column(op.getColumn()),
        pitch(op.getPitch()), rowEnd(op.getRowEnd()),
        columnEnd(op.getColumnEnd()) {}
  Value base, row, column, pitch, rowEnd, columnEnd;
};
} // namespace

// Adds the constant part of a coordinate to `constant`, and gives the rest.
static Value takeConstant(Value coordinate, int64_t &constant) {
  APInt part;
  auto sum = coordinate.getDefiningOp<arith::AddIOp>();
  if (!sum || !matchPattern(sum.getRhs(), m_ConstantInt(&part)))
    return coordinate;
  constant += part.getSExtValue();
  return takeConstant(sum.getLhs(), constant);
}

// Stores the 16-byte piece at `source` in shared memory to `place`, (row,
// column) and then `further` away, if it exists there. All pieces of a thread
// have one address and constant distances.
static void emitPiece(Emitter &e, Type element, Value source, Value row,
                      Value column, Position further, const Place &place) {
  row = e.add(takeConstant(place.row, further.row), row);
  column = e.add(takeConstant(place.column, further.column), column);
  Value first = e.add(e.mul(e.toI64(row), place.pitch), e.toI64(column));
  Value distance =
      e.add(e.mul(place.pitch, further.row), e.i64(further.column));
  Value address = e.at(e.at(place.base, element, first), element, distance);
  auto store = [&] {
    Value words =
        LLVM::LoadOp::create(e.b, e.loc, VectorType::get({4}, e.b.getI32Type()),
                             source, kChunkBytes);
    LLVM::StoreOp::create(e.b, e.loc, words, address, kChunkBytes);
  };
  Value exists;
  if (place.rowEnd) // How many rows there are may be negative.
    exists = e.compare(arith::CmpIPredicate::sgt, e.sub(place.rowEnd, row),
                       e.i32(further.row));
  if (place.columnEnd) {
    Value inRow = e.below(e.add(column, further.column), place.columnEnd);
    exists = exists ? e.bitAnd(exists, inRow) : inRow;
  }
  if (exists)
    e.when(exists, store);
  else
    store();
}

// The columns of a piece.
static int64_t getPieceColumns(Type element) {
  return kChunkBytes * 8 / element.getIntOrFloatBitWidth();
}

namespace {

struct StoreLowering : KernelPattern<StoreOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(StoreOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Emitter e(rewriter, loc);
    TileType tile = op.getStaging().getType();
    Value staging = adaptor.getStaging();
    Value thread = e.warpgroupThread(), isLeader = e.equal(thread, 0);

    // The leader's copies have read the tile before anyone writes it again.
    bool byTensorMap = static_cast<bool>(op.getMap());
    if (byTensorMap)
      e.when(isLeader, [&] {
        NVVM::CpAsyncBulkWaitGroupOp::create(rewriter, loc, 0,
                                             rewriter.getUnitAttr());
      });
    e.consumerBarrier(budget);
    SmallVector<Value> registers = unpackFragment(e, adaptor.getValue());
    if (byTensorMap && tile.getElementType().getIntOrFloatBitWidth() == 16)
      emitStoreMatrices(e, tile, staging, thread, registers,
                        /*isTransposed=*/false);
    else
      emitStorePairs(e, tile, staging, thread, registers);
    if (byTensorMap)
      NVVM::FenceProxyOp::create(
          rewriter, loc, NVVM::ProxyKind::async_shared,
          NVVM::SharedSpaceAttr::get(getContext(),
                                     NVVM::SharedSpace::shared_cta));
    e.consumerBarrier(budget);
    if (!byTensorMap) {
      emitPieces(e, op, adaptor, thread);
      rewriter.eraseOp(op);
      return success();
    }

    auto copyTile = [&] {
      e.when(isLeader, [&] { emitTensorCopies(e, op, adaptor); });
    };
    if (!adaptor.getRowEnd()) {
      copyTile();
    } else {
      Value isFull = e.compare(arith::CmpIPredicate::ule,
                               e.add(adaptor.getRow(), tile.getRows()),
                               adaptor.getRowEnd());
      auto split =
          scf::IfOp::create(rewriter, loc, isFull, /*withElseRegion=*/true);
      OpBuilder::InsertionGuard guard(rewriter);
      rewriter.setInsertionPointToStart(split.thenBlock());
      copyTile();
      rewriter.setInsertionPointToStart(split.elseBlock());
      emitPieces(e, op, adaptor, thread);
    }
    rewriter.eraseOp(op);
    return success();
  }

  // One copy a panel.
  void emitTensorCopies(Emitter &e, StoreOp op, OpAdaptor adaptor) const {
    TileType tile = op.getStaging().getType();
    for (int64_t i = 0; i < tile.getNumPanels(); ++i) {
      Value source = e.add(adaptor.getStaging(),
                           i * tile.getRows() * TileType::kPanelBytes);
      Value column = e.add(adaptor.getColumn(), i * tile.getPanelColumns());
      NVVM::CpAsyncBulkTensorSharedCTAToGlobalOp::create(
          e.b, e.loc, adaptor.getMap(), e.shared(source),
          ValueRange{column, adaptor.getRow()}, Value(),
          NVVM::TMAStoreMode::TILE, Value());
    }
    NVVM::CpAsyncBulkCommitGroupOp::create(e.b, e.loc);
  }

  // Neighbouring threads take neighbouring pieces of a row.
  void emitPieces(Emitter &e, StoreOp op, OpAdaptor adaptor,
                  Value thread) const {
    TileType tile = op.getStaging().getType();
    Type element = tile.getElementType();
    int64_t perPanel = tile.getRows() * kChunksPerRow;
    int64_t rounds = tile.getNumPanels() * perPanel / kWarpgroupThreads;
    // A round is 16 rows, so the swizzle of a thread's pieces is the same and
    // their addresses are as far apart in the tile as rounds are.
    Value firstRow = e.div(thread, kChunksPerRow),
          chunk = e.rem(thread, kChunksPerRow);
    Value first =
        e.shared(emitChunkAddress(e, adaptor.getStaging(), firstRow, chunk));
    auto round = [&](OpBuilder &builder, Location loc, Value i, ValueRange) {
      Emitter inner(builder, loc);
      Value piece = inner.add(inner.mul(i, kWarpgroupThreads), thread);
      Value panel = inner.div(piece, perPanel);
      Value row = inner.rem(inner.div(piece, kChunksPerRow), tile.getRows());
      Value column = inner.add(inner.mul(panel, tile.getPanelColumns()),
                               inner.mul(chunk, getPieceColumns(element)));
      Value source = inner.at(first, builder.getI8Type(),
                              inner.mul(i, kWarpgroupThreads * kChunkBytes));
      emitPiece(inner, element, source, row, column, {0, 0}, Place(adaptor));
      scf::YieldOp::create(builder, loc);
    };
    scf::ForOp::create(e.b, e.loc, e.i32(0), e.i32(rounds), e.i32(1),
                       ValueRange(), round);
  }
};

struct StoreTransposedLowering : KernelPattern<StoreTransposedOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(StoreTransposedOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter e(rewriter, op.getLoc());
    TileType tile = op.getStaging().getType();
    Value staging = adaptor.getStaging();
    Value thread = e.warpgroupThread();
    SmallVector<Value> registers = unpackFragment(e, adaptor.getValue());
    // Kernels without a producer are those of chips without stmatrix.
    if (tile.getElementType().getIntOrFloatBitWidth() == 16 &&
        budget.producers != 0)
      emitStoreMatrices(e, tile, staging, thread, registers,
                        /*isTransposed=*/true);
    else
      emitStoreElements(e, tile, staging, registers);
    e.consumerBarrier(budget);

    // A round stores whole rows of a panel; the last one may be partial.
    constexpr int64_t roundRows = kWarpgroupThreads / kChunksPerRow;
    Type element = tile.getElementType();
    Value firstRow = e.div(thread, kChunksPerRow),
          chunk = e.rem(thread, kChunksPerRow);
    Value first = e.shared(emitChunkAddress(e, staging, firstRow, chunk));
    Value firstColumn = e.mul(chunk, getPieceColumns(element));
    int64_t rows = op.getValue().getType().getColumns();
    for (int64_t panel = 0; panel < tile.getNumPanels(); ++panel)
      for (int64_t row = 0; row < rows; row += roundRows) {
        auto store = [&] {
          int64_t offset =
              (panel * tile.getRows() + row) * TileType::kPanelBytes;
          emitPiece(e, element, e.at(first, e.b.getI8Type(), offset), firstRow,
                    firstColumn, {row, panel * tile.getPanelColumns()},
                    Place(adaptor));
        };
        if (row + roundRows <= rows)
          store();
        else
          e.when(e.below(firstRow, rows - row), store);
      }
    rewriter.eraseOp(op);
    return success();
  }
};

struct BarrierLowering : KernelPattern<BarrierOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(BarrierOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter(rewriter, op.getLoc()).consumerBarrier(budget);
    rewriter.eraseOp(op);
    return success();
  }
};

struct StoreWaitLowering : KernelPattern<StoreWaitOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(StoreWaitOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter e(rewriter, op.getLoc());
    e.when(e.equal(e.warpgroupThread(), 0), [&] {
      NVVM::CpAsyncBulkWaitGroupOp::create(rewriter, op.getLoc(), 0,
                                           /*read=*/UnitAttr());
    });
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

void mlir::moeq_gpu::populateStorePatterns(const TypeConverter &converter,
                                           RewritePatternSet &patterns,
                                           const KernelBudget &budget) {
  patterns.add<StoreLowering, StoreTransposedLowering, BarrierLowering,
               StoreWaitLowering>(converter, patterns.getContext(), budget);
}
