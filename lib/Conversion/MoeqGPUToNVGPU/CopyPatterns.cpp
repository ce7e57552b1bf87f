//===- CopyPatterns.cpp - What all threads copy -----------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Vectors in pieces of 16 bytes, and tiles: eight neighbouring threads copy the
// pieces of a row of a tile, so that all of them have an eighth as many rows at
// a time. These are a multiple of 8: the swizzle of a thread's pieces is the
// same in each of its rows.
//
//===----------------------------------------------------------------------===//

#include "Patterns.h"

using namespace mlir;
using namespace mlir::moeq_gpu;

// The rows that all threads copy at a time.
static int64_t getRowsAtOnce(const KernelBudget &budget) {
  return budget.threads / kChunksPerRow;
}

namespace {

struct LocateRowsLowering : KernelPattern<LocateRowsOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(LocateRowsOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter e(rewriter, op.getLoc());
    Value first = e.add(adaptor.getRow(), e.div(e.thread(), kChunksPerRow));
    Value end = adaptor.getEnd(), last = e.sub(end, 1);
    SmallVector<Value> offsets;
    for (int64_t i = 0, n = op.getNumResults(); i < n; ++i) {
      Value row = e.add(first, i * getRowsAtOnce(budget));
      Value exists = e.below(row, end);
      if (Value indices = adaptor.getIndices()) {
        Emitter::Gathered found = e.gather(indices, e.min(row, last));
        row = found.index;
        exists = e.bitAnd(exists, found.exists);
      }
      Value offset = e.mul(e.toI64(row), e.toI64(adaptor.getPitch()));
      offsets.push_back(e.select(exists, offset, e.i64(-1)));
    }
    rewriter.replaceOp(op, offsets);
    return success();
  }
};

struct CopyLowering : KernelPattern<CopyOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(CopyOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter e(rewriter, op.getLoc());
    TileType tile = op.getTile().getType();
    Type element =
        e.b.getIntegerType(tile.getElementType().getIntOrFloatBitWidth());
    Value thread = e.thread(), chunk = e.rem(thread, kChunksPerRow);
    Value column = e.add(adaptor.getColumn(),
                         e.mul(chunk, tile.getColumns() / kChunksPerRow));
    Value isInside = e.below(column, adaptor.getColumns());
    Value target = e.shared(emitChunkAddress(
        e, adaptor.getTile(), e.div(thread, kChunksPerRow), chunk));
    for (auto [i, offset] : llvm::enumerate(adaptor.getOffsets())) {
      Value exists = e.bitAnd(e.isNonNegative(offset), isInside);
      // What does not exist is not read, and its address is that of the base.
      Value place = e.select(exists, e.add(offset, e.toI64(column)), e.i64(0));
      NVVM::CpAsyncOp::create(
          rewriter, op.getLoc(),
          e.at(target, e.b.getI8Type(),
               i * getRowsAtOnce(budget) * TileType::kPanelBytes),
          e.at(adaptor.getBase(), element, place), kChunkBytes,
          NVVM::LoadCacheModifierKind::CG,
          e.select(exists, e.i32(kChunkBytes), e.i32(0)));
    }
    rewriter.eraseOp(op);
    return success();
  }
};

struct CopyVectorLowering : KernelPattern<CopyVectorOp> {
  using KernelPattern::KernelPattern;

  // Neighbouring threads copy neighbouring pieces.
  LogicalResult
  matchAndRewrite(CopyVectorOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter e(rewriter, op.getLoc());
    Type byte = e.b.getI8Type();
    int64_t bytes = op.getVector().getType().getBytes(),
            atOnce = budget.threads * kChunkBytes;
    Value own = e.mul(e.thread(), kChunkBytes);
    Value source = e.at(adaptor.getSource(), byte, own),
          target = e.shared(e.add(adaptor.getVector(), own));
    for (int64_t offset = 0; offset < bytes; offset += atOnce) {
      Value copies = adaptor.getExists();
      if (offset + atOnce > bytes)
        copies = e.bitAnd(copies, e.below(own, bytes - offset));
      e.when(copies, [&] {
        NVVM::CpAsyncOp::create(e.b, e.loc, e.at(target, byte, offset),
                                e.at(source, byte, offset), kChunkBytes,
                                NVVM::LoadCacheModifierKind::CG, Value());
      });
    }
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

void mlir::moeq_gpu::populateCopyPatterns(const TypeConverter &converter,
                                          RewritePatternSet &patterns,
                                          const KernelBudget &budget) {
  patterns.add<LocateRowsLowering, CopyLowering, CopyVectorLowering>(
      converter, patterns.getContext(), budget);
}
