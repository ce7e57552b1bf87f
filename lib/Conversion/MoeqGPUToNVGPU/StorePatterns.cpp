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
                              ArrayRef<Value> registers) {
  Value lane = e.lane(), warp = e.div(e.warpgroupThread(), kWarpThreads);
  Value matrix = e.div(lane, 8);
  Value rowInWarp = e.add(e.mul(e.rem(matrix, 2), 8), e.rem(lane, 8));
  Value row = e.add(e.mul(warp, 16), rowInWarp);
  int64_t panelColumns = tile.getPanelColumns();
  for (int64_t column = 0; column < tile.getColumns(); column += 16) {
    Value panel = e.add(address, column / panelColumns * tile.getRows() *
                                     TileType::kPanelBytes);
    Value chunk = e.add(e.div(matrix, 2), column % panelColumns / 8);
    SmallVector<Value> words;
    for (Value reg : registers.slice(column / 4, 4))
      words.push_back(
          LLVM::BitcastOp::create(e.b, e.loc, e.b.getI32Type(), reg));
    NVVM::StMatrixOp::create(
        e.b, e.loc, e.shared(emitChunkAddress(e, panel, row, chunk)), words,
        NVVM::MMALayout::row,
        NVVM::LdStMatrixShapeAttr::get(e.b.getContext(), 8, 8),
        NVVM::LdStMatrixEltType::B16);
  }
}

// Writes a fragment of 32-bit elements, a pair of columns at a time.
static void emitStorePairs(Emitter &e, TileType tile, Value address,
                           ArrayRef<Value> registers) {
  FragmentLayout layout =
      getAccumulatorLayout(tile.getRows(), tile.getColumns());
  Value lane = e.lane(), warp = e.div(e.warpgroupThread(), kWarpThreads);
  Value quad = e.rem(lane, 4), row = e.add(e.mul(warp, 16), e.div(lane, 4));
  int64_t panelColumns = tile.getPanelColumns();
  constexpr int64_t elementBytes = 4;
  for (int64_t i = 0, n = registers.size(); i < n; i += 2) {
    Position at = layout.getRegisterOffset(i);
    Value panel = e.add(address, at.column / panelColumns * tile.getRows() *
                                     TileType::kPanelBytes);
    Value chunk = e.add(e.div(quad, 2),
                        at.column % panelColumns * elementBytes / kChunkBytes);
    Value start = emitChunkAddress(e, panel, e.add(row, at.row), chunk);
    Value place = e.add(start, e.mul(e.rem(quad, 2), 2 * elementBytes));
    auto type = VectorType::get({2}, registers[i].getType());
    Value pair = LLVM::PoisonOp::create(e.b, e.loc, type);
    for (int64_t j = 0; j < 2; ++j)
      pair = LLVM::InsertElementOp::create(e.b, e.loc, pair, registers[i + j],
                                           e.i32(j));
    LLVM::StoreOp::create(e.b, e.loc, pair, e.shared(place), 2 * elementBytes);
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
    Value isLeader = e.equal(e.warpgroupThread(), 0);

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
      emitStoreMatrices(e, tile, staging, registers);
    else
      emitStorePairs(e, tile, staging, registers);
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
      emitPieces(e, op, adaptor);
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
  void emitPieces(Emitter &e, StoreOp op, OpAdaptor adaptor) const {
    TileType tile = op.getStaging().getType();
    Type element = tile.getElementType();
    int64_t pieceColumns = kChunkBytes * 8 / element.getIntOrFloatBitWidth();
    int64_t perPanel = tile.getRows() * kChunksPerRow;
    int64_t rounds = tile.getNumPanels() * perPanel / kWarpgroupThreads;
    Value thread = e.warpgroupThread();
    auto round = [&](OpBuilder &builder, Location loc, Value i, ValueRange) {
      Emitter inner(builder, loc);
      Value piece = inner.add(inner.mul(i, kWarpgroupThreads), thread);
      Value panel = inner.div(piece, perPanel);
      Value rowInTile =
          inner.rem(inner.div(piece, kChunksPerRow), tile.getRows());
      Value chunk = inner.rem(piece, kChunksPerRow);
      Value row = inner.add(adaptor.getRow(), rowInTile);
      Value column =
          inner.add(inner.add(adaptor.getColumn(),
                              inner.mul(panel, tile.getPanelColumns())),
                    inner.mul(chunk, pieceColumns));
      Value exists = inner.below(row, adaptor.getRowEnd());
      if (adaptor.getColumnEnd())
        exists =
            inner.bitAnd(exists, inner.below(column, adaptor.getColumnEnd()));
      inner.when(exists, [&] {
        Value start =
            inner.add(adaptor.getStaging(),
                      inner.mul(panel, tile.getRows() * TileType::kPanelBytes));
        auto type = VectorType::get({4}, builder.getI32Type());
        Value words = LLVM::LoadOp::create(
            builder, loc, type,
            inner.shared(emitChunkAddress(inner, start, rowInTile, chunk)),
            kChunkBytes);
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
