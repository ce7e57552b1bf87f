//===- RouteKernel.cpp - Kernel of route ------------------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A warp a token. Lane i holds the experts i, i + 32, ..., which makes it the
// i-th of the 32 partial sums of the softmax.
//
//===----------------------------------------------------------------------===//

#include "KernelBuilder.h"
#include "Kernels.h"

#include "moeq/Support/NumericsMath.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::moeq;

/// Threads of a CTA; more experts or choices would not fit in registers.
static constexpr int64_t kThreads = 128, kMaxExperts = 1024, kMaxChoices = 64;

namespace {
/// The rank of what cannot be chosen, or was already: below that of any number
/// (emitOrderKey).
constexpr int32_t kTaken = INT32_MIN;

class RouteKernel {
public:
  RouteKernel(RouteOp op, gpu::GPUModuleOp module)
      : op(op), k(module, op, kThreads), e(k, op.getLoc()) {}

  void build();

private:
  /// The numbers of the items that a lane holds: lane, lane + 32, ...
  int64_t itemsPerLane(int64_t count) {
    return llvm::divideCeil(count, kWarpSize);
  }
  Value itemOf(int64_t i) {
    return e.addI(lane, static_cast<uint32_t>(i * kWarpSize));
  }
  /// The number of the item of the highest rank, the lowest of several, in all
  /// lanes; its rank becomes kTaken.
  Value takeBest(MutableArrayRef<Value> ranks);
  /// The item `number` of all that the lanes hold, in all lanes.
  Value broadcast(ArrayRef<Value> items, Value number);

  void loadScores(Value token);
  void maskGroups(MutableArrayRef<Value> ranks, ArrayRef<Value> choices);
  void routeToken(Value token);

  RouteOp op;
  KernelBuilder k;
  Elementwise e;
  int64_t experts;
  Value lane;
  SmallVector<Value> isExpert, scores;
};
} // namespace

Value RouteKernel::takeBest(MutableArrayRef<Value> ranks) {
  Value best = ranks[0], bestItem = lane;
  for (size_t i = 1; i < ranks.size(); ++i) {
    Value better =
        arith::CmpIOp::create(k, arith::CmpIPredicate::sgt, ranks[i], best);
    best = e.select(better, ranks[i], best);
    bestItem = e.select(better, itemOf(i), bestItem);
  }
  Value highest = k.reduceWarp(best, NVVM::ReduxKind::MAX);
  Value candidate =
      e.select(k.equal(best, highest), bestItem, k.i32(INT32_MAX));
  Value winner = k.reduceWarp(candidate, NVVM::ReduxKind::MIN);
  for (size_t i = 0; i < ranks.size(); ++i)
    ranks[i] = e.select(k.equal(winner, itemOf(i)), k.i32(kTaken), ranks[i]);
  return winner;
}

Value RouteKernel::broadcast(ArrayRef<Value> items, Value number) {
  Value place = e.shrU(number, llvm::Log2_64(kWarpSize));
  Value item = items[0];
  for (size_t i = 1; i < items.size(); ++i)
    item = e.select(k.equal(place, k.i32(i)), items[i], item);
  Value source = arith::IndexCastOp::create(k, k.getIndexType(),
                                            e.andI(number, kWarpSize - 1));
  return k.shuffle(item, source);
}

void RouteKernel::loadScores(Value token) {
  SmallVector<Value> logits;
  for (int64_t i = 0; i < itemsPerLane(experts); ++i) {
    Value expert = arith::IndexCastUIOp::create(k, k.getIndexType(), itemOf(i));
    isExpert.push_back(k.ltU(expert, k.index(experts)));
    logits.push_back(k.ifElse(
        isExpert[i],
        [&] { return k.toF32(k.load(op.getLogits(), {token, expert})); },
        k.f32(-INFINITY)));
  }
  if (op.getScore() == ScoreFunction::Sigmoid) {
    for (Value logit : logits)
      scores.push_back(emitSigmoid(e, logit));
    return;
  }
  auto larger = [&](Value left, Value right) {
    return e.maxNumber(left, right);
  };
  Value top = logits[0];
  for (Value logit : ArrayRef(logits).drop_front())
    top = larger(top, logit);
  top = k.reduceLanes(top, kWarpSize, larger);
  CompensatedSum total{k.f32(0), k.f32(0)};
  for (auto [logit, valid] : llvm::zip_equal(logits, isExpert)) {
    scores.push_back(
        e.select(valid, emitExpDifference(e, logit, top), k.f32(0)));
    total = emitSum(e, total, {scores.back(), k.f32(0)});
  }
  for (int64_t distance = kWarpSize / 2; distance > 0; distance /= 2)
    total = emitSum(e, total,
                    {k.shuffleXor(total.high, distance),
                     k.shuffleXor(total.low, distance)});
  Value sum = e.add(total.high, total.low);
  for (Value &score : scores)
    score = e.div(score, sum);
}

/// Masks the experts of all groups but the best.
void RouteKernel::maskGroups(MutableArrayRef<Value> ranks,
                             ArrayRef<Value> choices) {
  int64_t groups = *op.getNGroup(), size = experts / groups;
  bool topTwo = op.getGroupScore() == GroupScore::Top2Sum;
  auto larger = [&](Value left, Value right) {
    return e.maxNumber(left, right);
  };
  auto smaller = [&](Value left, Value right) {
    return e.minNumber(left, right);
  };
  Value lowest = k.f32(-INFINITY);

  SmallVector<Value> groupOf, groupRanks(itemsPerLane(groups), k.i32(kTaken));
  for (size_t i = 0; i < ranks.size(); ++i)
    groupOf.push_back(arith::DivUIOp::create(k, itemOf(i), k.i32(size)));
  for (int64_t group = 0; group < groups; ++group) {
    // The two best of this lane, then of the warp.
    Value first = lowest, second = lowest;
    auto merge = [&](Value otherFirst, Value otherSecond) {
      second = larger(smaller(first, otherFirst), larger(second, otherSecond));
      first = larger(first, otherFirst);
    };
    for (size_t i = 0; i < ranks.size(); ++i) {
      Value mine = k.both(isExpert[i], k.equal(groupOf[i], k.i32(group)));
      merge(e.select(k.both(mine, e.compare(arith::CmpFPredicate::ORD,
                                            choices[i], choices[i])),
                     choices[i], lowest),
            lowest);
    }
    for (int64_t distance = kWarpSize / 2; distance > 0; distance /= 2)
      merge(k.shuffleXor(first, distance),
            topTwo ? k.shuffleXor(second, distance) : lowest);
    Value rank = emitOrderKey(e, topTwo ? e.add(first, second) : first);
    Value &place = groupRanks[group / kWarpSize];
    place = e.select(k.equal(lane, k.i32(group % kWarpSize)), rank, place);
  }

  SmallVector<Value> kept(ranks.size());
  for (uint64_t i = 0; i < *op.getTopkGroup(); ++i) {
    Value group = takeBest(groupRanks);
    for (auto [of, isKept] : llvm::zip_equal(groupOf, kept)) {
      Value same = k.equal(of, group);
      isKept = isKept ? Value(arith::OrIOp::create(k, isKept, same)) : same;
    }
  }
  for (auto [rank, isKept] : llvm::zip_equal(ranks, kept))
    rank = e.select(isKept, rank, k.i32(kTaken));
}

void RouteKernel::routeToken(Value token) {
  loadScores(token);
  SmallVector<Value> choices(scores), ranks;
  for (size_t i = 0; i < scores.size(); ++i) {
    if (Value bias = op.getBias()) {
      Value expert =
          arith::IndexCastUIOp::create(k, k.getIndexType(), itemOf(i));
      Value of =
          k.ifElse(isExpert[i], [&] { return k.load(bias, expert); }, k.f32(0));
      choices[i] = e.add(choices[i], of);
    }
    ranks.push_back(
        e.select(isExpert[i], emitOrderKey(e, choices[i]), k.i32(kTaken)));
  }
  if (op.getNGroup())
    maskGroups(ranks, choices);

  int64_t count = cast<MemRefType>(op.getIds().getType()).getDimSize(1);
  SmallVector<Value> ids, weights;
  Value total = k.f32(0);
  for (int64_t i = 0; i < count; ++i) {
    ids.push_back(takeBest(ranks));
    weights.push_back(broadcast(scores, ids.back()));
    total = e.add(total, weights.back());
  }
  Value isZero = e.compare(arith::CmpFPredicate::OEQ, total, 0.0f);
  for (Value &weight : weights) {
    if (op.getRenormalize())
      weight = e.select(isZero, k.f32(0), e.div(weight, total));
    if (std::optional<APFloat> scale = op.getScale())
      weight = e.mul(weight, scale->convertToFloat());
  }
  k.ifThen(k.equal(lane, k.i32(0)), [&] {
    for (int64_t i = 0; i < count; ++i) {
      k.store(ids[i], op.getIds(), {token, k.index(i)});
      k.store(weights[i], op.getWeights(), {token, k.index(i)});
    }
  });
}

void RouteKernel::build() {
  experts = cast<MemRefType>(op.getLogits().getType()).getDimSize(1);
  lane = arith::IndexCastOp::create(k, k.getI32Type(), k.lane());
  int64_t tokensPerBlock = kThreads / kWarpSize;
  Value token = k.add(k.mul(k.block(), k.index(tokensPerBlock)), k.warp());
  k.ifThen(k.ltU(token, k.size(op.getLogits(), 0)), [&] { routeToken(token); });
  k.launch(k.hostCeilDiv(k.hostSize(op.getLogits(), 0), tokensPerBlock));
}

LogicalResult moeq::buildKernels(RouteOp op, gpu::GPUModuleOp module) {
  int64_t experts = cast<MemRefType>(op.getLogits().getType()).getDimSize(1);
  int64_t choices = cast<MemRefType>(op.getIds().getType()).getDimSize(1);
  if (ShapedType::isDynamic(experts) || experts > kMaxExperts)
    return op.emitOpError()
           << "expects a static number of up to " << kMaxExperts
           << " experts in a kernel, got " << op.getLogits().getType();
  if (choices > kMaxChoices)
    return op.emitOpError() << "expects a top_k of up to " << kMaxChoices
                            << " in a kernel, got " << op.getIds().getType();
  RouteKernel(op, module).build();
  return success();
}
