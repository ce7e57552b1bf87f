//===- RingPatterns.cpp - Rings and shared memory ---------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Patterns.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::moeq_gpu;

// The time in ns after which a waiting thread looks at a barrier again.
static constexpr int64_t kWaitTicks = 10000000;
static constexpr int64_t kBarrierBytes = 8;
/// The alignment of a stage of a mailbox.
static constexpr int64_t kMailBytes = 16;

static Value emitAddress(Emitter &e, Value pointer) {
  return LLVM::PtrToIntOp::create(e.b, e.loc, e.b.getI32Type(), pointer);
}

// The address `offset` bytes into the dynamic shared memory.
static Value emitSharedMemory(Emitter &e, int64_t offset) {
  Value base = LLVM::AddressOfOp::create(
      e.b, e.loc, LLVM::LLVMPointerType::get(e.b.getContext(), kSharedSpace),
      kSharedMemorySymbol);
  return e.add(emitAddress(e, base), offset);
}

// A pointer to what lies at `address` in the shared memory of CTA `rank` of the
// cluster.
static Value emitInCluster(Emitter &e, Value address, Value rank) {
  return NVVM::MapaOp::create(
      e.b, e.loc, LLVM::LLVMPointerType::get(e.b.getContext(), kClusterSpace),
      e.shared(address), rank);
}

// The address of descriptor `index` of an array of tensor maps.
static Value emitDescriptor(Emitter &e, Value maps, Value index) {
  return e.at(maps, e.b.getI8Type(), e.mul(index, TensorMapType::kBytes));
}

namespace {

/// A ring and a stage of it, lowered.
struct Stage {
  Stage(Emitter &e, RingType type, ValueRange ring, ValueRange cursor)
      : e(e), type(type), data(ring[0]), barriers(ring[1]), slot(cursor[0]),
        phase(cursor[1]) {}

  Value full() { return e.add(barriers, e.mul(slot, kBarrierBytes)); }
  Value empty() { return e.add(full(), type.getStages() * kBarrierBytes); }
  Value tile(int64_t offset) {
    return e.add(e.add(data, e.mul(slot, type.getStageBytes())), offset);
  }
  void wait(Value barrier, Value parity) {
    Value word = arith::ExtUIOp::create(e.b, e.loc, e.b.getI32Type(), parity);
    NVVM::MBarrierTryWaitParityOp::create(e.b, e.loc, e.shared(barrier), word,
                                          e.i32(kWaitTicks));
  }

  Emitter &e;
  RingType type;
  Value data, barriers, slot, phase;
};

struct TensorMapLowering : KernelPattern<TensorMapOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(TensorMapOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter e(rewriter, op.getLoc());
    // A thread for each descriptor.
    TensorMapType type = op.getResult().getType();
    Value thread = e.thread();
    e.when(e.below(thread, type.getNumBoxes()), [&] {
      Value map = type.getStep()
                      ? emitDescriptor(e, adaptor.getParameter(), thread)
                      : adaptor.getParameter();
      NVVM::PrefetchOp::create(rewriter, op.getLoc(),
                               NVVM::PrefetchCacheLevelAttr(),
                               NVVM::CacheEvictionPriorityAttr(), map, Value(),
                               rewriter.getUnitAttr(), UnitAttr(), UnitAttr());
    });
    rewriter.replaceOp(op, adaptor.getParameter());
    return success();
  }
};

struct AllocLowering : KernelPattern<AllocOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(AllocOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter e(rewriter, op.getLoc());
    Value address = emitSharedMemory(e, budget.offsets.lookup(op));
    // Each consumer has its own.
    if (budget.privateTiles.contains(op))
      address = e.add(address, e.mul(e.consumer(budget), op.getBytes()));
    rewriter.replaceOp(op, address);
    return success();
  }
};

struct RingCreateLowering : KernelPattern<RingCreateOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(RingCreateOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter e(rewriter, op.getLoc());
    RingType type = op.getResult().getType();
    Value data = emitSharedMemory(e, budget.offsets.lookup(op));
    Value barriers = emitSharedMemory(e, budget.barrierOffsets.lookup(op));
    // A stage is full when the producer and its bytes have arrived, and each of
    // its lanes where these gather; empty when each warp that releases it has.
    int64_t arrivals = type.getIsGathered() ? 1 + kWarpThreads : 1;
    int64_t warps =
        std::max<int64_t>(op.getConsumers() * kWarpgroupThreads / kWarpThreads,
                          1) *
        type.getCluster();
    e.when(e.equal(e.thread(), 0), [&] {
      for (int64_t i = 0, stages = type.getStages(); i < 2 * stages; ++i)
        NVVM::MBarrierInitOp::create(
            rewriter, op.getLoc(), e.shared(e.add(barriers, i * kBarrierBytes)),
            e.i32(i < stages ? arrivals : warps), Value());
      NVVM::FenceMbarrierInitOp::create(rewriter, op.getLoc());
    });
    rewriter.replaceOpWithMultiple(op, {{data, barriers}});
    return success();
  }
};

struct RingStartLowering : KernelPattern<RingStartOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(RingStartOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter e(rewriter, op.getLoc());
    rewriter.replaceOpWithMultiple(op, {{e.i32(0), e.i1(false)}});
    return success();
  }
};

struct RingAdvanceLowering : KernelPattern<RingAdvanceOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(RingAdvanceOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter e(rewriter, op.getLoc());
    int64_t stages = op.getRing().getType().getStages();
    Value slot, wraps;
    if (op.getCount()) {
      Value next = e.add(adaptor.getCursor()[0], adaptor.getCount().front());
      slot = e.rem(next, stages);
      wraps = arith::TruncIOp::create(rewriter, op.getLoc(), e.b.getI1Type(),
                                      e.div(next, stages));
    } else {
      Value next = e.add(adaptor.getCursor()[0], 1);
      wraps = e.equal(next, stages);
      slot = e.select(wraps, e.i32(0), next);
    }
    rewriter.replaceOpWithMultiple(
        op, {{slot, e.bitXor(adaptor.getCursor()[1], wraps)}});
    return success();
  }
};

struct RingAcquireLowering : KernelPattern<RingAcquireOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(RingAcquireOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter e(rewriter, op.getLoc());
    Stage stage(e, op.getRing().getType(), adaptor.getRing(),
                adaptor.getCursor());
    // The phase before the first counts as complete.
    stage.wait(stage.empty(), e.bitXor(stage.phase, e.i1(true)));
    rewriter.eraseOp(op);
    return success();
  }
};

/// The copies of one tile of a stage.
struct TileCopy {
  Emitter &e;
  TensorMapType type;
  int64_t tileRows, panels, cluster;
  Value maps, row, column; ///< The descriptors, and the first box.
  Value steps;             ///< The rows, of a map with a step.
  Value target, full;      ///< The tile and its barrier.

  /// Copies so many `rows` from `first` on, counted through all panels, or of a
  /// map with a step its `steps`, to the CTAs of `mask`: to this one where it
  /// is null.
  void emit(Value first, int64_t rows, Value steps, Value mask) const {
    auto copy = [&] {
      Value map =
          type.getStep() ? emitDescriptor(e, maps, e.sub(steps, 1)) : maps;
      for (int64_t done = 0; done < rows; done += type.getRows()) {
        Value at = e.add(target, done * TileType::kPanelBytes),
              boxRow = e.add(row, done % tileRows),
              boxColumn = e.add(column, done / tileRows * type.getColumns());
        if (first) {
          at = e.add(at, e.mul(first, TileType::kPanelBytes));
          boxRow = e.add(boxRow, first);
        }
        // The instruction addresses the cluster, of which this CTA is one.
        Value address = LLVM::AddrSpaceCastOp::create(
            e.b, e.loc,
            LLVM::LLVMPointerType::get(e.b.getContext(), kClusterSpace),
            e.shared(at));
        NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp::create(
            e.b, e.loc, address, map, ValueRange{boxColumn, boxRow}, full,
            ValueRange(), mask, Value(), NVVM::TMALoadMode::TILE,
            /*isCTAOnly=*/false, NVVM::CTAGroupKindAttr(), Value());
      }
    };
    // A CTA of a cluster may have no rows, or no half of them.
    if (type.getStep() && cluster > 1)
      e.when(e.bitXor(e.equal(steps, 0), 1), copy);
    else
      copy();
  }

  void emitAll() const { emit(Value(), panels * tileRows, steps, Value()); }

  /// The half of this CTA, to both.
  void emitShared() const {
    Value rank = NVVM::ClusterId::create(e.b, e.loc, e.b.getI32Type()), first,
          own;
    if (int64_t step = type.getStep()) {
      first = e.mul(e.mul(e.ceilDiv(steps, cluster), step), rank);
      own = e.div(e.sub(e.add(steps, cluster - 1), rank), cluster);
    } else {
      first = e.mul(rank, tileRows / cluster);
    }
    emit(first, tileRows / cluster, own,
         e.constant(e.b.getI16Type(), (1 << cluster) - 1));
  }
};

struct RingFillLowering : KernelPattern<RingFillOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(RingFillOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter e(rewriter, op.getLoc());
    RingType type = op.getRing().getType();
    Stage stage(e, type, adaptor.getRing(), adaptor.getCursor());
    Value rows = op.getRows() ? adaptor.getRows().front() : Value();
    e.when(e.equal(e.lane(), 0), [&] {
      Value full = e.shared(stage.full());
      NVVM::MBarrierArriveExpectTxOp::create(
          rewriter, op.getLoc(), rewriter.getI64Type(), full,
          emitBytes(e, op, rows), NVVM::MemScopeKind::CTA,
          /*relaxed=*/false, Value());
      int64_t offset =
          type.getIsGathered() ? type.getPayload().front().getBytes() : 0;
      for (auto [i, tile] : llvm::enumerate(type.getMapped())) {
        auto map = cast<TensorMapType>(op.getMaps()[i].getType());
        TileCopy copy{e,
                      map,
                      tile.getRows(),
                      tile.getNumPanels(),
                      type.getCluster(),
                      adaptor.getMaps()[i].front(),
                      adaptor.getCoordinates()[2 * i].front(),
                      adaptor.getCoordinates()[2 * i + 1].front(),
                      map.getStep() ? e.div(rows, map.getStep()) : Value(),
                      stage.tile(offset),
                      full};
        if (op.getShared().empty()) {
          copy.emitAll();
        } else {
          Value isShared = adaptor.getShared()[i].front();
          e.when(isShared, [&] { copy.emitShared(); });
          e.when(e.bitXor(isShared, 1), [&] { copy.emitAll(); });
        }
        offset += tile.getBytes();
      }
      SmallVector<Value> sources =
          llvm::map_to_vector(adaptor.getSources(),
                              [](ValueRange source) { return source.front(); });
      emitVectors(e, stage, sources, offset, full);
    });
    rewriter.eraseOp(op);
    return success();
  }

  // Copies the equal parts of the vectors, which are from `offset` of the stage
  // on.
  static void emitVectors(Emitter &e, Stage &stage, ArrayRef<Value> sources,
                          int64_t offset, Value full) {
    ArrayRef<SharedVectorType> vectors = stage.type.getVectors();
    if (vectors.empty())
      return;
    int64_t parts = sources.size() / vectors.size();
    for (SharedVectorType vector : vectors) {
      int64_t bytes = vector.getBytes() / parts;
      for (Value source : sources.take_front(parts)) {
        Value target = LLVM::AddrSpaceCastOp::create(
            e.b, e.loc,
            LLVM::LLVMPointerType::get(e.b.getContext(), kClusterSpace),
            e.shared(stage.tile(offset)));
        NVVM::CpAsyncBulkGlobalToSharedClusterOp::create(
            e.b, e.loc, target, source, full, e.i32(bytes), Value(), Value());
        offset += bytes;
      }
      sources = sources.drop_front(parts);
    }
  }

  // The bytes of all copies that arrive here.
  static Value emitBytes(Emitter &e, RingFillOp op, Value rows) {
    int64_t fixed = 0, perRow = 0;
    for (auto [map, tile] :
         llvm::zip_equal(op.getMaps(), op.getRing().getType().getMapped())) {
      if (cast<TensorMapType>(map.getType()).getStep())
        perRow += tile.getBytes() / tile.getRows();
      else
        fixed += tile.getBytes();
    }
    for (SharedVectorType vector : op.getRing().getType().getVectors())
      fixed += vector.getBytes();
    return perRow ? e.add(e.mul(rows, perRow), fixed) : e.i32(fixed);
  }
};

struct RingGatherLowering : KernelPattern<RingGatherOp> {
  using KernelPattern::KernelPattern;

  // Eight neighbouring lanes copy the pieces of a row, so that a warp has four
  // rows at a time, and 32 rows for the indices that it has in a register.
  LogicalResult
  matchAndRewrite(RingGatherOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Emitter e(rewriter, loc);
    RingType type = op.getRing().getType();
    Stage stage(e, type, adaptor.getRing(), adaptor.getCursor());
    TileType tile = type.getPayload().front();
    Type element =
        e.b.getIntegerType(tile.getElementType().getIntOrFloatBitWidth());
    int64_t chunkColumns = tile.getColumns() / kChunksPerRow;
    constexpr int64_t rowsAtOnce = kWarpThreads / kChunksPerRow;
    Value lane = e.lane(), laneRow = e.div(lane, kChunksPerRow),
          chunk = e.rem(lane, kChunksPerRow);
    Value column =
        e.add(adaptor.getColumn().front(), e.mul(chunk, chunkColumns));
    Value pitch = adaptor.getPitch().front();
    Value isInside = e.below(column, pitch);
    // What is beyond the pitch is not read.
    Value source = e.at(adaptor.getBase().front(), element,
                        e.toI64(e.select(isInside, column, e.i32(0))));
    // The swizzle repeats after two rounds.
    SmallVector<Value, 2> targets;
    for (int64_t i = 0; i < 2; ++i)
      targets.push_back(e.shared(emitChunkAddress(
          e, stage.tile(0), e.add(laneRow, i * rowsAtOnce), chunk)));
    for (auto [i, values] : llvm::enumerate(adaptor.getIndices())) {
      Value indices = values.front();
      int64_t first = i * kWarpThreads,
              count = std::min(tile.getRows() - first, kWarpThreads);
      auto copy = [&] {
        for (int64_t row = 0; row < count; row += rowsAtOnce) {
          Value index = e.broadcast(indices, e.add(laneRow, row));
          Value exists = e.bitAnd(e.isNonNegative(index), isInside);
          Value offset =
              e.mul(e.toI64(e.select(exists, index, e.i32(0))), e.toI64(pitch));
          NVVM::CpAsyncOp::create(
              rewriter, loc,
              e.at(targets[row / rowsAtOnce % 2], e.b.getI8Type(),
                   (first + row / (2 * rowsAtOnce) * (2 * rowsAtOnce)) *
                       TileType::kPanelBytes),
              e.at(source, element, offset), kChunkBytes,
              NVVM::LoadCacheModifierKind::CG,
              e.select(exists, e.i32(kChunkBytes), e.i32(0)));
        }
      };
      if (op.getRows() && i > 0)
        e.when(e.below(e.i32(first), adaptor.getRows().front()), copy);
      else
        copy();
    }
    NVVM::CpAsyncMBarrierArriveOp::create(rewriter, loc, e.shared(stage.full()),
                                          /*noinc=*/true);
    rewriter.eraseOp(op);
    return success();
  }
};

struct RingWaitLowering : KernelPattern<RingWaitOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(RingWaitOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter e(rewriter, op.getLoc());
    Stage stage(e, op.getRing().getType(), adaptor.getRing(),
                adaptor.getCursor());
    stage.wait(stage.full(), stage.phase);
    // Rows that threads have copied become visible to the tensor core.
    if (stage.type.getIsGathered())
      NVVM::FenceProxyOp::create(
          rewriter, op.getLoc(), NVVM::ProxyKind::async_shared,
          NVVM::SharedSpaceAttr::get(getContext(),
                                     NVVM::SharedSpace::shared_cta));
    SmallVector<Value> tiles;
    int64_t offset = 0;
    for (TileType tile : op.getRing().getType().getPayload()) {
      tiles.push_back(stage.tile(offset));
      offset += tile.getBytes();
    }
    for (SharedVectorType vector : op.getRing().getType().getVectors()) {
      tiles.push_back(stage.tile(offset));
      offset += vector.getBytes();
    }
    rewriter.replaceOp(op, tiles);
    return success();
  }
};

struct RingSendLowering : KernelPattern<RingSendOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(RingSendOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter e(rewriter, op.getLoc());
    Stage stage(e, op.getRing().getType(), adaptor.getRing(),
                adaptor.getCursor());
    // The arrival releases the store.
    e.when(e.equal(e.lane(), 0), [&] {
      LLVM::StoreOp::create(rewriter, op.getLoc(), adaptor.getValue().front(),
                            e.shared(stage.tile(0)), kMailBytes);
      for (int64_t rank = 1; rank < stage.type.getCluster(); ++rank)
        emitForward(e, stage, e.i32(rank));
      NVVM::MBarrierArriveOp::create(
          rewriter, op.getLoc(), rewriter.getI64Type(), e.shared(stage.full()));
    });
    rewriter.eraseOp(op);
    return success();
  }

  // Copies the mail of this CTA to another one, and arrives there.
  static void emitForward(Emitter &e, Stage &stage, Value rank) {
    NVVM::FenceProxyOp::create(
        e.b, e.loc, NVVM::ProxyKind::async_shared,
        NVVM::SharedSpaceAttr::get(e.b.getContext(),
                                   NVVM::SharedSpace::shared_cta));
    Value full = emitInCluster(e, stage.full(), rank),
          bytes = e.i32(kMailBytes);
    NVVM::MBarrierArriveExpectTxOp::create(e.b, e.loc, Type(), full, bytes,
                                           NVVM::MemScopeKind::CTA,
                                           /*relaxed=*/false, Value());
    NVVM::CpAsyncBulkSharedCTAToSharedClusterOp::create(
        e.b, e.loc, emitInCluster(e, stage.tile(0), rank),
        e.shared(stage.tile(0)), e.shared(emitAddress(e, full)), bytes);
  }
};

struct RingReceiveLowering : KernelPattern<RingReceiveOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(RingReceiveOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter e(rewriter, op.getLoc());
    Stage stage(e, op.getRing().getType(), adaptor.getRing(),
                adaptor.getCursor());
    stage.wait(stage.full(), stage.phase);
    VectorType type = op.getValue().getType();
    Value words = LLVM::LoadOp::create(rewriter, op.getLoc(), type,
                                       e.shared(stage.tile(0)), kMailBytes,
                                       /*isVolatile=*/true);
    // From lane 0, which is the one that releases the stage.
    SmallVector<Value> values;
    for (int64_t i = 0; i < type.getNumElements(); ++i)
      values.push_back(e.broadcast(
          vector::ExtractOp::create(rewriter, op.getLoc(), words, i),
          e.i32(0)));
    rewriter.replaceOpWithNewOp<vector::FromElementsOp>(op, type, values);
    return success();
  }
};

struct RingReleaseLowering : KernelPattern<RingReleaseOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(RingReleaseOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter e(rewriter, op.getLoc());
    Stage stage(e, op.getRing().getType(), adaptor.getRing(),
                adaptor.getCursor());
    // By predicate, since a branch in the main loop costs registers.
    auto arrive = [&](Value barrier, StringRef code, Value isActive) {
      NVVM::InlinePtxOp::create(rewriter, op.getLoc(), TypeRange(), barrier,
                                ValueRange(), code, isActive);
    };
    Value lane = e.lane();
    int64_t cluster = stage.type.getCluster();
    if (cluster == 1)
      arrive(stage.empty(), "mbarrier.arrive.shared::cta.b64 _, [$0];",
             e.equal(lane, 0));
    else // A lane for each CTA.
      arrive(
          emitAddress(e, emitInCluster(e, stage.empty(), e.rem(lane, cluster))),
          "mbarrier.arrive.shared::cluster.b64 _, [$0];",
          e.below(lane, cluster));
    rewriter.eraseOp(op);
    return success();
  }
};
} // namespace

void mlir::moeq_gpu::populateRingPatterns(const TypeConverter &converter,
                                          RewritePatternSet &patterns,
                                          const KernelBudget &budget) {
  patterns.add<TensorMapLowering, AllocLowering, RingCreateLowering,
               RingStartLowering, RingAdvanceLowering, RingAcquireLowering,
               RingFillLowering, RingGatherLowering, RingWaitLowering,
               RingSendLowering, RingReceiveLowering, RingReleaseLowering>(
      converter, patterns.getContext(), budget);
}
