//===- RolesPatterns.cpp - Roles and their turns ----------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Patterns.h"

using namespace mlir;
using namespace mlir::moeq_gpu;

// A consumer waits at a barrier of its own, where the one before arrives.
static Value emitTurnBarrier(Emitter &e, const KernelBudget &budget,
                             Value consumer) {
  return e.add(consumer, budget.threads / kWarpgroupThreads);
}

namespace {
struct TurnWaitLowering : KernelPattern<TurnWaitOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(TurnWaitOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter e(rewriter, op.getLoc());
    NVVM::BarrierOp::create(rewriter, op.getLoc(), TypeRange(),
                            emitTurnBarrier(e, budget, adaptor.getConsumer()),
                            e.i32(2 * kWarpgroupThreads),
                            NVVM::BarrierReductionAttr(), Value());
    rewriter.eraseOp(op);
    return success();
  }
};

struct TurnPassLowering : KernelPattern<TurnPassOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(TurnPassOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter e(rewriter, op.getLoc());
    Value next = e.add(adaptor.getConsumer(), 1);
    int64_t consumers = budget.threads / kWarpgroupThreads - 1;
    next = e.select(e.equal(next, consumers), e.i32(0), next);
    NVVM::BarrierArriveOp::create(rewriter, op.getLoc(),
                                  emitTurnBarrier(e, budget, next),
                                  e.i32(2 * kWarpgroupThreads));
    rewriter.eraseOp(op);
    return success();
  }
};

struct RolesLowering : KernelPattern<RolesOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(RolesOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Emitter e(rewriter, loc);
    auto meetCluster = [&] {
      NVVM::ClusterArriveOp::create(rewriter, loc, UnitAttr());
      NVVM::ClusterWaitOp::create(rewriter, loc, UnitAttr());
    };
    bool hasProducer = budget.producers != 0;
    if (budget.cluster > 1)
      meetCluster();
    else if (hasProducer)
      NVVM::Barrier0Op::create(rewriter, loc);
    // From lane 0, so that the compiler sees a number that is the same in a
    // warp.
    Value warpgroup =
        e.broadcast(e.div(e.thread(), kWarpgroupThreads), e.i32(0));
    // What each thread has at launch: an equal share.
    int64_t atLaunch =
        getLaunchRegisters(budget.threads, budget.ctas) / budget.threads;
    auto setRegisters = [&](int64_t registers) {
      NVVM::SetMaxRegisterOp::create(
          rewriter, loc, registers,
          registers < atLaunch ? NVVM::SetMaxRegisterAction::decrease
                               : NVVM::SetMaxRegisterAction::increase);
    };
    auto inlineBody = [&](Region &region, ValueRange arguments) {
      Block *body = &region.front();
      rewriter.eraseOp(body->getTerminator());
      rewriter.inlineBlockBefore(body, rewriter.getInsertionBlock(),
                                 rewriter.getInsertionPoint(), arguments);
    };
    if (!hasProducer) {
      inlineBody(op.getConsumer(), warpgroup);
      rewriter.eraseOp(op);
      return success();
    }
    auto split = scf::IfOp::create(rewriter, loc, e.equal(warpgroup, 0),
                                   /*withElseRegion=*/true);
    rewriter.setInsertionPointToStart(split.thenBlock());
    setRegisters(op.getProducerRegisters());
    bool hasHelpers = !op.getHelpers().empty();
    auto warps =
        scf::IfOp::create(rewriter, loc, e.below(e.thread(), kWarpThreads),
                          /*withElseRegion=*/hasHelpers);
    rewriter.setInsertionPointToStart(warps.thenBlock());
    inlineBody(op.getProducer(), {});
    if (hasHelpers) {
      rewriter.setInsertionPointToStart(warps.elseBlock());
      inlineBody(op.getHelpers(), {});
    }
    rewriter.setInsertionPointToStart(split.elseBlock());
    setRegisters(op.getConsumerRegisters());
    inlineBody(op.getConsumer(), e.sub(warpgroup, 1));
    // The other CTA may still copy to this one, and arrive at its barriers.
    rewriter.setInsertionPointAfter(split);
    if (budget.cluster != 1)
      meetCluster();
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

void mlir::moeq_gpu::populateRolesPatterns(const TypeConverter &converter,
                                           RewritePatternSet &patterns,
                                           const KernelBudget &budget) {
  patterns.add<TurnWaitLowering, TurnPassLowering, RolesLowering>(
      converter, patterns.getContext(), budget);
}
