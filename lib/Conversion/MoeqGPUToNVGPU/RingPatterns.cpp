//===- RingPatterns.cpp - Rings and shared memory ---------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Stage.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::moeq_gpu;

/// The alignment of a stage of a mailbox.
static constexpr int64_t kMailBytes = 16;

void mlir::moeq_gpu::emitBarriers(Emitter &e, Value address,
                                  ArrayRef<int64_t> arrivals) {
  e.when(e.equal(e.thread(), 0), [&] {
    for (auto [i, count] : llvm::enumerate(arrivals))
      NVVM::MBarrierInitOp::create(
          e.b, e.loc,
          e.shared(e.add(address, static_cast<int64_t>(i) * kBarrierBytes)),
          e.i32(count), Value());
    NVVM::FenceMbarrierInitOp::create(e.b, e.loc);
  });
}

// The address of descriptor `index` of an array of tensor maps.
static Value emitDescriptor(Emitter &e, Value maps, Value index) {
  return e.at(maps, e.b.getI8Type(), e.mul(index, TensorMapType::kBytes));
}

namespace {

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
    // A stage is full when the producer and its bytes have arrived, and each
    // thread of its warpgroup where these gather; empty when each warp that
    // releases it has.
    int64_t arrivals = type.hasGathered() ? 1 + kWarpgroupThreads : 1;
    int64_t warps =
        op.getConsumers() * kWarpgroupThreads / kWarpThreads + op.getWarps();
    warps = std::max<int64_t>(warps, 1) * type.getCluster();
    SmallVector<int64_t> counts(type.getStages(), arrivals);
    counts.append(type.getStages(), warps);
    emitBarriers(e, barriers, counts);
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

struct RingUniformLowering : KernelPattern<RingUniformOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(RingUniformOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter e(rewriter, op.getLoc());
    ValueRange cursor = adaptor.getCursor();
    Value phase = arith::ExtUIOp::create(rewriter, op.getLoc(),
                                         rewriter.getI32Type(), cursor[1]);
    phase = e.broadcast(phase, e.i32(0));
    rewriter.replaceOpWithMultiple(
        op, {{e.broadcast(cursor[0], e.i32(0)),
              arith::TruncIOp::create(rewriter, op.getLoc(),
                                      rewriter.getI1Type(), phase)}});
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

/// The copies of one tile, or vector, of a stage.
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
    Value allRows = op.getRows() ? adaptor.getRows().front() : Value();
    e.when(e.equal(e.lane(), 0), [&] {
      Value full = e.shared(stage.full());
      NVVM::MBarrierArriveExpectTxOp::create(
          rewriter, op.getLoc(), rewriter.getI64Type(), full,
          emitBytes(e, op, allRows), NVVM::MemScopeKind::CTA,
          /*relaxed=*/false, Value());
      size_t next = 0;
      auto getCopy = [&](int64_t rows, int64_t panels, int64_t cluster,
                         Value target) {
        size_t i = next++;
        auto map = cast<TensorMapType>(op.getMaps()[i].getType());
        return TileCopy{e,
                        map,
                        rows,
                        panels,
                        cluster,
                        adaptor.getMaps()[i].front(),
                        adaptor.getCoordinates()[2 * i].front(),
                        adaptor.getCoordinates()[2 * i + 1].front(),
                        map.getStep() ? e.div(allRows, map.getStep()) : Value(),
                        target,
                        full};
      };
      int64_t offset =
          type.getIsGathered() ? type.getPayload().front().getBytes() : 0;
      for (auto [i, tile] : llvm::enumerate(type.getMapped())) {
        TileCopy copy = getCopy(tile.getRows(), tile.getNumPanels(),
                                type.getCluster(), stage.tile(offset));
        if (op.getShared().empty()) {
          copy.emitAll();
        } else {
          Value isShared = adaptor.getShared()[i].front();
          e.when(isShared, [&] { copy.emitShared(); });
          e.when(e.bitXor(isShared, 1), [&] { copy.emitAll(); });
        }
        offset += tile.getBytes();
      }
      if (!op.getSources().empty())
        emitVectors(e, stage, adaptor.getSources(), full);
      while (next < op.getMaps().size()) {
        Value vector = stage.vector(next - type.getMapped().size());
        getCopy(/*rows=*/1, /*panels=*/1, /*cluster=*/1, vector).emitAll();
      }
    });
    rewriter.eraseOp(op);
    return success();
  }

  // Copies the equal parts of the vectors from where they are.
  static void emitVectors(Emitter &e, Stage &stage,
                          ArrayRef<ValueRange> sources, Value full) {
    ArrayRef<SharedVectorType> vectors = stage.type.getVectors();
    int64_t parts = sources.size() / vectors.size();
    for (auto [i, source] : llvm::enumerate(sources)) {
      int64_t bytes = vectors[i / parts].getBytes() / parts;
      Value target = LLVM::AddrSpaceCastOp::create(
          e.b, e.loc,
          LLVM::LLVMPointerType::get(e.b.getContext(), kClusterSpace),
          e.shared(stage.vector(i / parts, i % parts * bytes)));
      NVVM::CpAsyncBulkGlobalToSharedClusterOp::create(
          e.b, e.loc, target, source.front(), full, e.i32(bytes), Value(),
          Value());
    }
  }

  // The bytes of all copies that arrive here.
  static Value emitBytes(Emitter &e, RingFillOp op, Value rows) {
    RingType ring = op.getRing().getType();
    int64_t fixed = 0, perRow = 0;
    for (SharedVectorType vector : ring.getFilledVectors())
      fixed += vector.getBytes();
    for (auto [map, tile] : llvm::zip(op.getMaps(), ring.getMapped())) {
      if (cast<TensorMapType>(map.getType()).getStep())
        perRow += tile.getBytes() / tile.getRows();
      else
        fixed += tile.getBytes();
    }
    return perRow ? e.add(e.mul(rows, perRow), fixed) : e.i32(fixed);
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
    SmallVector<Value> parts;
    int64_t offset = 0;
    for (TileType tile : stage.type.getPayload()) {
      parts.push_back(stage.tile(offset));
      offset += tile.getBytes();
    }
    for (size_t i = 0, n = stage.type.getVectors().size(); i < n; ++i)
      parts.push_back(stage.vector(i));
    rewriter.replaceOp(op, parts);
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
    // One lane arrives for its warp, which has read the vectors.
    if (!stage.type.getVectors().empty())
      NVVM::SyncWarpOp::create(rewriter, op.getLoc(), e.i32(-1));
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
               RingStartLowering, RingAdvanceLowering, RingUniformLowering,
               RingAcquireLowering, RingFillLowering, RingWaitLowering,
               RingSendLowering, RingReceiveLowering, RingReleaseLowering>(
      converter, patterns.getContext(), budget);
}
