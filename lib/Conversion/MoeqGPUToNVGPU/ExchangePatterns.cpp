//===- ExchangePatterns.cpp - Sums in parts ---------------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A thread leaves its registers for the same thread of the same consumer of
// another CTA, 16 bytes a store, in that CTA's shared memory, so that neither
// needs to know which elements they are. CTAs r and s find each other's at the
// place d - 1, d = r xor s: then all of them add up in the same tree.
//
//===----------------------------------------------------------------------===//

#include "Stage.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::moeq_gpu;

/// 32-bit registers of a store.
static constexpr int64_t kWords = 4;

namespace {
/// An exchange of the consumer of this thread, lowered.
struct Exchange {
  Exchange(Emitter &e, const KernelBudget &budget, ExchangeType type,
           Value address)
      : e(e), type(type) {
    Value consumer = e.consumer(budget);
    data = e.add(address, e.mul(consumer, type.getDataBytes()));
    full = e.add(getBarriers(budget, type, e, address),
                 e.mul(consumer, ExchangeType::kBarrierBytes));
    empty = e.add(full, kBarrierBytes);
    rank = NVVM::ClusterId::create(e.b, e.loc, e.b.getI32Type());
  }

  static int64_t getConsumers(const KernelBudget &budget) {
    return budget.threads / kWarpgroupThreads - budget.producers;
  }
  /// The barriers of the first consumer, behind the data of all.
  static Value getBarriers(const KernelBudget &budget, ExchangeType type,
                           Emitter &e, Value address) {
    return e.add(address, getConsumers(budget) * type.getDataBytes());
  }

  /// Where this thread finds its words of a part from the CTA at a distance, or
  /// in that CTA leaves them.
  Value getPlace(Value distance, int64_t part) {
    Value place =
        e.add(e.mul(e.sub(distance, 1), type.getParts()), part / cluster());
    return e.add(e.add(data, e.mul(place, type.getPartBytes())),
                 e.mul(e.warpgroupThread(), kWords * 4));
  }
  /// The bytes from the first words of a thread to those from `word` on.
  static int64_t getOffset(int64_t word) {
    return word * 4 * kWarpgroupThreads;
  }
  VectorType getWords() {
    return VectorType::get({kWords}, type.getElementType());
  }
  int64_t cluster() { return type.getCluster(); }

  /// Waits for a phase of a barrier, and sees what other CTAs have written
  /// before they arrived.
  void wait(Value barrier, Value parity) {
    NVVM::InlinePtxOp::create(
        e.b, e.loc, TypeRange(), ValueRange{barrier, parity}, ValueRange(),
        "{\n.reg .pred done;\nWAIT:\n"
        "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 done, [$0], "
        "$1;\n@!done bra WAIT;\n}",
        Value());
  }
  /// This warp arrives at a barrier of each other CTA: a lane for each.
  void arrive(Value barrier) {
    NVVM::SyncWarpOp::create(e.b, e.loc, e.i32(-1));
    Value lane = e.lane();
    Value other =
        emitInCluster(e, barrier, e.bitXor(rank, e.rem(lane, cluster())));
    // By lanes 1 to n - 1.
    Value isOther = e.below(e.sub(lane, 1), cluster() - 1);
    NVVM::InlinePtxOp::create(
        e.b, e.loc, TypeRange(), emitAddress(e, other), ValueRange(),
        "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [$0];",
        isOther);
  }

  Emitter &e;
  ExchangeType type;
  Value data, full, empty, rank;
};

struct ExchangeCreateLowering : KernelPattern<ExchangeCreateOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(ExchangeCreateOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter e(rewriter, op.getLoc());
    ExchangeType type = op.getResult().getType();
    Value address = emitSharedMemory(e, budget.offsets.lookup(op));
    Value barriers = Exchange::getBarriers(budget, type, e, address);
    // Each warp of the consumer in the other CTAs arrives.
    int64_t warps = (type.getCluster() - 1) * kWarpgroupThreads / kWarpThreads;
    emitBarriers(
        e, barriers,
        SmallVector<int64_t>(2 * Exchange::getConsumers(budget), warps));
    rewriter.replaceOp(op, address);
    return success();
  }
};

struct ExchangeSwapLowering : KernelPattern<ExchangeSwapOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(ExchangeSwapOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter e(rewriter, op.getLoc());
    Exchange x(e, budget, op.getExchange().getType(),
               adaptor.getExchange().front());
    Value parity = e.rem(adaptor.getTurn().front(), 2),
          own = adaptor.getOwn().front();
    // The phase before the first counts as complete.
    x.wait(x.empty, e.bitXor(parity, 1));
    int64_t pieces = op.getPieces(), parts = op.getParts().size() / pieces;
    for (int64_t part = 0; part < parts; ++part) {
      Value distance = e.bitXor(own, part % x.cluster());
      e.when(e.bitXor(e.equal(distance, 0), 1), [&] {
        Value target = emitInCluster(e, x.getPlace(distance, part),
                                     e.bitXor(x.rank, distance));
        SmallVector<Value> registers;
        for (int64_t i = 0; i < pieces; ++i)
          llvm::append_range(
              registers,
              unpackFragment(e, adaptor.getParts()[part * pieces + i]));
        for (int64_t i = 0, n = registers.size(); i < n; i += kWords)
          LLVM::StoreOp::create(
              rewriter, op.getLoc(),
              vector::FromElementsOp::create(
                  rewriter, op.getLoc(), x.getWords(),
                  ArrayRef(registers).slice(i, kWords)),
              e.at(target, rewriter.getI8Type(), Exchange::getOffset(i)),
              kWords * 4);
      });
    }
    x.arrive(x.full);
    x.wait(x.full, parity);
    rewriter.eraseOp(op);
    return success();
  }
};

struct ExchangeSumLowering : KernelPattern<ExchangeSumOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(ExchangeSumOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter e(rewriter, op.getLoc());
    Exchange x(e, budget, op.getExchange().getType(),
               adaptor.getExchange().front());
    SmallVector<Value> sources;
    for (int64_t distance = 1; distance < x.cluster(); ++distance)
      sources.push_back(e.shared(x.getPlace(e.i32(distance), op.getNumber())));
    SmallVector<SmallVector<Value>> results;
    int64_t word = 0;
    for (auto [piece, parts] :
         llvm::zip_equal(op.getPieces(), adaptor.getPieces())) {
      SmallVector<Value> registers = unpackFragment(e, parts);
      for (int64_t i = 0, n = registers.size(); i < n;
           i += kWords, word += kWords)
        emitSums(x, sources, word, MutableArrayRef(registers).slice(i, kWords));
      results.push_back(
          packFragment(e, cast<FragmentType>(piece.getType()), registers));
    }
    rewriter.replaceOpWithMultiple(op, std::move(results));
    return success();
  }

  // Adds what the CTAs at each distance have sent, in a tree.
  static void emitSums(Exchange &x, ArrayRef<Value> sources, int64_t word,
                       MutableArrayRef<Value> own) {
    Emitter &e = x.e;
    SmallVector<SmallVector<Value>> terms{SmallVector<Value>(own)};
    for (Value source : sources) {
      Value words = LLVM::LoadOp::create(
          e.b, e.loc, x.getWords(),
          e.at(source, e.b.getI8Type(), Exchange::getOffset(word)), kWords * 4);
      SmallVector<Value> &values = terms.emplace_back();
      for (int64_t i = 0; i < kWords; ++i)
        values.push_back(vector::ExtractOp::create(e.b, e.loc, words, i));
    }
    auto add = [&](Value a, Value b) -> Value {
      return a.getType().isInteger() ? e.add(a, b)
                                     : arith::AddFOp::create(e.b, e.loc, a, b);
    };
    for (int64_t step = 1; step < x.cluster(); step *= 2)
      for (int64_t i = 0; i < x.cluster(); i += 2 * step)
        for (int64_t j = 0; j < kWords; ++j)
          terms[i][j] = add(terms[i][j], terms[i + step][j]);
    llvm::copy(terms.front(), own.begin());
  }
};

struct ExchangeReleaseLowering : KernelPattern<ExchangeReleaseOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(ExchangeReleaseOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter e(rewriter, op.getLoc());
    Exchange x(e, budget, op.getExchange().getType(),
               adaptor.getExchange().front());
    x.arrive(x.empty);
    rewriter.eraseOp(op);
    return success();
  }
};
} // namespace

void mlir::moeq_gpu::populateExchangePatterns(const TypeConverter &converter,
                                              RewritePatternSet &patterns,
                                              const KernelBudget &budget) {
  patterns.add<ExchangeCreateLowering, ExchangeSwapLowering,
               ExchangeSumLowering, ExchangeReleaseLowering>(
      converter, patterns.getContext(), budget);
}
