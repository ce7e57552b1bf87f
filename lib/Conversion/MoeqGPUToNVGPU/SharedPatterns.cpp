//===- SharedPatterns.cpp - Parts of shared memory --------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Patterns.h"

using namespace mlir;
using namespace mlir::moeq_gpu;

namespace {
struct SubtileLowering : KernelPattern<SubtileOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(SubtileOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter e(rewriter, op.getLoc());
    // By rows of a panel, or by columns of all rows, which are panels.
    TileType source = op.getSource().getType(),
             result = op.getResult().getType();
    bool arePanels = source.getColumns() != result.getColumns();
    int64_t unit = arePanels ? source.getBytes() / source.getColumns()
                             : TileType::kPanelBytes;
    rewriter.replaceOp(
        op, e.add(adaptor.getSource(), e.mul(adaptor.getOffset(), unit)));
    return success();
  }
};

struct SubvectorLowering : KernelPattern<SubvectorOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(SubvectorOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter e(rewriter, op.getLoc());
    Type element = op.getSource().getType().getElementType();
    Value offset =
        e.mul(adaptor.getOffset(), element.getIntOrFloatBitWidth() / 8);
    rewriter.replaceOp(op, e.add(adaptor.getSource(), offset));
    return success();
  }
};

struct ClearRowsLowering : KernelPattern<ClearRowsOp> {
  using KernelPattern::KernelPattern;

  // Eight threads a row of a panel, so that a round clears 16 rows. A row is
  // cleared as a whole, however it is swizzled.
  LogicalResult
  matchAndRewrite(ClearRowsOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Emitter e(rewriter, loc);
    constexpr int64_t roundRows = kWarpgroupThreads / kChunksPerRow;
    Value thread = e.warpgroupThread();
    Value first = e.add(adaptor.getRow().front(), e.div(thread, kChunksPerRow));
    Value inRow = e.mul(e.rem(thread, kChunksPerRow), kChunkBytes);
    Value zero = e.zero(VectorType::get({4}, e.b.getI32Type()));
    for (auto [tile, address] :
         llvm::zip_equal(op.getTiles(), adaptor.getTiles())) {
      auto type = cast<TileType>(tile.getType());
      Value start = e.add(address.front(), inRow);
      scf::ForOp::create(
          rewriter, loc, first, e.i32(type.getRows()), e.i32(roundRows),
          ValueRange(),
          [&](OpBuilder &builder, Location, Value row, ValueRange) {
            Emitter inner(builder, loc);
            Value target =
                inner.add(start, inner.mul(row, TileType::kPanelBytes));
            for (int64_t i = 0; i < type.getNumPanels(); ++i)
              LLVM::StoreOp::create(
                  builder, loc, zero,
                  inner.shared(inner.add(target, i * type.getRows() *
                                                     TileType::kPanelBytes)),
                  kChunkBytes);
            scf::YieldOp::create(builder, loc);
          });
    }
    NVVM::FenceProxyOp::create(
        rewriter, loc, NVVM::ProxyKind::async_shared,
        NVVM::SharedSpaceAttr::get(getContext(),
                                   NVVM::SharedSpace::shared_cta));
    e.consumerBarrier(budget);
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

void mlir::moeq_gpu::populateSharedPatterns(const TypeConverter &converter,
                                            RewritePatternSet &patterns,
                                            const KernelBudget &budget) {
  patterns.add<SubtileLowering, SubvectorLowering, ClearRowsLowering>(
      converter, patterns.getContext(), budget);
}
