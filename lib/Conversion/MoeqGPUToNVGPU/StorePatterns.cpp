//===- StorePatterns.cpp - Fragments to global memory -----------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A fragment is written to a tile in shared memory, swizzled, and from there to
// global memory: by TMA where all of its rows exist, else in pieces of 16 bytes
// under a predicate.
//
//===----------------------------------------------------------------------===//

#include "Patterns.h"

using namespace mlir;
using namespace mlir::moeq_gpu;

// The bytes of a piece, which the swizzle moves as a whole.
static constexpr int64_t kChunkBytes = 16;
static constexpr int64_t kChunksPerRow = TileType::kPanelBytes / kChunkBytes;

// The address of a piece of a tile: (row, chunk) of a panel that starts at
// `panel`.
static Value emitChunkAddress(Emitter &e, Value panel, Value row, Value chunk) {
  Value swizzled = e.bitXor(chunk, e.rem(row, kChunksPerRow));
  return e.add(panel, e.add(e.mul(row, TileType::kPanelBytes),
                            e.mul(swizzled, kChunkBytes)));
}

// Writes a fragment of 16-bit elements: each instruction moves four 8x8
// matrices of a warp, the rows 0-7 and 8-15 of 8 columns, then those of the
// next 8 (PTX ISA, stmatrix). Lane l gives the address of row l mod 8 of matrix
// l div 8.
static void emitStoreMatrices(Emitter &e, TileType tile, Value address,
                              Value thread, ArrayRef<Value> registers) {
  Value lane = e.rem(thread, kWarpThreads), warp = e.div(thread, kWarpThreads);
  Value matrix = e.div(lane, 8);
  Value rowInWarp = e.add(e.mul(e.rem(matrix, 2), 8), e.rem(lane, 8));
  Value row = e.add(e.mul(warp, 16), rowInWarp);
  int64_t panelColumns = tile.getPanelColumns();
  // One pointer for the same columns of all panels.
  SmallVector<Value> places;
  for (int64_t column = 0; column < panelColumns; column += 16)
    places.push_back(e.shared(emitChunkAddress(
        e, address, row, e.add(e.div(matrix, 2), column / 8))));
  for (int64_t column = 0; column < tile.getColumns(); column += 16) {
    SmallVector<Value> words;
    for (Value reg : registers.slice(column / 4, 4))
      words.push_back(
          LLVM::BitcastOp::create(e.b, e.loc, e.b.getI32Type(), reg));
    int64_t panel =
        column / panelColumns * tile.getRows() * TileType::kPanelBytes;
    NVVM::StMatrixOp::create(
        e.b, e.loc,
        e.at(places[column % panelColumns / 16], e.b.getI8Type(), panel), words,
        NVVM::MMALayout::row,
        NVVM::LdStMatrixShapeAttr::get(e.b.getContext(), 8, 8),
        NVVM::LdStMatrixEltType::B16);
  }
}

// Writes a fragment of 32-bit elements, a pair of columns at a time.
static void emitStorePairs(Emitter &e, TileType tile, Value address,
                           Value thread, ArrayRef<Value> registers) {
  FragmentLayout layout =
      getAccumulatorLayout(tile.getRows(), tile.getColumns());
  Value lane = e.rem(thread, kWarpThreads), warp = e.div(thread, kWarpThreads);
  Value quad = e.rem(lane, 4), row = e.add(e.mul(warp, 16), e.div(lane, 4));
  int64_t panelColumns = tile.getPanelColumns();
  constexpr int64_t elementBytes = 4;
  // One pointer for the same 8 columns of all panels, and of the rows 8 further
  // down, whose swizzle is the same.
  SmallVector<Value> places;
  for (int64_t column = 0; column < panelColumns; column += 8) {
    Value chunk = e.add(e.div(quad, 2), column * elementBytes / kChunkBytes);
    Value start = emitChunkAddress(e, address, row, chunk);
    places.push_back(
        e.shared(e.add(start, e.mul(e.rem(quad, 2), 2 * elementBytes))));
  }
  for (int64_t i = 0, n = registers.size(); i < n; i += 2) {
    Position at = layout.getRegisterOffset(i);
    int64_t panel = at.column / panelColumns;
    Value place =
        e.at(places[at.column % panelColumns / 8], e.b.getI8Type(),
             (panel * tile.getRows() + at.row) * TileType::kPanelBytes);
    auto type = VectorType::get({2}, registers[i].getType());
    Value pair = LLVM::PoisonOp::create(e.b, e.loc, type);
    for (int64_t j = 0; j < 2; ++j)
      pair = LLVM::InsertElementOp::create(e.b, e.loc, pair, registers[i + j],
                                           e.i32(j));
    LLVM::StoreOp::create(e.b, e.loc, pair, place, 2 * elementBytes);
  }
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
    e.when(isLeader, [&] {
      NVVM::CpAsyncBulkWaitGroupOp::create(rewriter, loc, 0,
                                           rewriter.getUnitAttr());
    });
    e.warpgroupBarrier();
    SmallVector<Value> registers;
    for (int64_t i = 0, n = getRegisterTypes(op.getValue().getType()).size();
         i < n; ++i)
      registers.push_back(
          LLVM::ExtractValueOp::create(rewriter, loc, adaptor.getValue(), i));
    if (tile.getElementType().getIntOrFloatBitWidth() == 16)
      emitStoreMatrices(e, tile, staging, thread, registers);
    else
      emitStorePairs(e, tile, staging, thread, registers);
    NVVM::FenceProxyOp::create(
        rewriter, loc, NVVM::ProxyKind::async_shared,
        NVVM::SharedSpaceAttr::get(getContext(),
                                   NVVM::SharedSpace::shared_cta));
    e.warpgroupBarrier();

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
    int64_t pieceColumns = kChunkBytes * 8 / element.getIntOrFloatBitWidth();
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
      Value row =
          inner.add(adaptor.getRow(),
                    inner.rem(inner.div(piece, kChunksPerRow), tile.getRows()));
      Value column =
          inner.add(inner.add(adaptor.getColumn(),
                              inner.mul(panel, tile.getPanelColumns())),
                    inner.mul(chunk, pieceColumns));
      Value exists = inner.below(row, adaptor.getRowEnd());
      if (adaptor.getColumnEnd())
        exists =
            inner.bitAnd(exists, inner.below(column, adaptor.getColumnEnd()));
      inner.when(exists, [&] {
        auto type = VectorType::get({4}, builder.getI32Type());
        Value place = inner.at(first, builder.getI8Type(),
                               inner.mul(i, kWarpgroupThreads * kChunkBytes));
        Value words =
            LLVM::LoadOp::create(builder, loc, type, place, kChunkBytes);
        Value offset =
            inner.add(inner.mul(inner.toI64(row), adaptor.getPitch()),
                      inner.toI64(column));
        LLVM::StoreOp::create(builder, loc, words,
                              inner.at(adaptor.getBase(), element, offset),
                              kChunkBytes);
      });
      scf::YieldOp::create(builder, loc);
    };
    scf::ForOp::create(e.b, e.loc, e.i32(0), e.i32(rounds), e.i32(1),
                       ValueRange(), round);
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
  patterns.add<StoreLowering, StoreWaitLowering>(converter,
                                                 patterns.getContext(), budget);
}
