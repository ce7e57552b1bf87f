//===- RouteToLinalg.cpp - route to loops -----------------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Token by token: the scores of all experts, an integer key by which they are
// ordered (emitOrderKey), then k times the largest key.
//
//===----------------------------------------------------------------------===//

#include "Detail.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::moeq;
using namespace mlir::moeq::detail;
using arith::CmpIPredicate;

namespace {
/// The key of an expert that was chosen or may not be: below all others.
constexpr uint32_t takenKey = 0x80000000;
/// How many partial sums a softmax has: as many as a warp has lanes.
constexpr int64_t numPartials = 32;

class Routing {
public:
  Routing(RouteOp op, OpBuilder &b) : op(op), loc(op.getLoc()) {
    experts = memref::DimOp::create(b, loc, op.getLogits(), 1);
    topK = memref::DimOp::create(b, loc, op.getIds(), 1);
    scores = allocate(b, b.getF32Type(), experts);
    keys = allocate(b, b.getI32Type(), experts);
    if (op.getScore() == ScoreFunction::Softmax) {
      Value lanes = constantIndex(b, loc, numPartials);
      partials = allocate(b, b.getF32Type(), lanes);
      partialsLow = allocate(b, b.getF32Type(), lanes);
    }
    if (op.getNGroup())
      groupKeys =
          allocate(b, b.getI32Type(), constantIndex(b, loc, *op.getNGroup()));
  }

  void emitToken(OpBuilder &b, Value token) {
    if (op.getScore() == ScoreFunction::Softmax)
      emitSoftmax(b, token);
    else
      emitSigmoids(b, token);
    emitKeys(b);
    if (groupKeys)
      emitGroups(b);
    emitChoice(b, token);
    emitWeights(b, token);
  }

  void free(OpBuilder &b) {
    for (Value scratch : {scores, keys, partials, partialsLow, groupKeys})
      if (scratch)
        memref::DeallocOp::create(b, loc, scratch);
  }

private:
  Value allocate(OpBuilder &b, Type element, Value size) {
    auto type = MemRefType::get({ShapedType::kDynamic}, element);
    return memref::AllocOp::create(b, loc, type, size);
  }
  static Value load(Elementwise &e, Value memref, ValueRange indices) {
    return memref::LoadOp::create(e.getBuilder(), e.getLoc(), memref, indices);
  }
  static void store(Elementwise &e, Value value, Value memref,
                    ValueRange indices) {
    memref::StoreOp::create(e.getBuilder(), e.getLoc(), value, memref, indices);
  }
  Value f32(OpBuilder &b, float value) {
    return arith::ConstantOp::create(b, loc, b.getF32FloatAttr(value));
  }
  Value i32(OpBuilder &b, uint32_t value) {
    return arith::ConstantIntOp::create(b, loc, static_cast<int32_t>(value),
                                        32);
  }

  void emitSigmoids(OpBuilder &b, Value token) {
    emitLoop(
        b, loc, experts, {},
        [&](Elementwise &e, Value expert, ValueRange) -> SmallVector<Value> {
          Value logit = loadF32(e, op.getLogits(), {token, expert});
          store(e, emitSigmoid(e, logit), scores, expert);
          return {};
        });
  }

  /// exp(x - max) over their sum, which is formed as on a GPU: lane i has the
  /// sum of experts i, i + 32, ..., and the lanes are summed as a tree. The
  /// sums are compensated, so that hundreds of experts cost no digit.
  void emitSoftmax(OpBuilder &b, Value token) {
    Value lowest = f32(b, -std::numeric_limits<float>::infinity());
    Value largest = emitLoop(b, loc, experts, lowest,
                             [&](Elementwise &e, Value expert,
                                 ValueRange carried) -> SmallVector<Value> {
                               Value logit =
                                   loadF32(e, op.getLogits(), {token, expert});
                               return {e.maxNumber(carried[0], logit)};
                             })[0];
    Value lanes = constantIndex(b, loc, numPartials), zero = f32(b, 0);
    emitLoop(b, loc, lanes, {},
             [&](Elementwise &e, Value lane, ValueRange) -> SmallVector<Value> {
               ValueRange sum = emitLoop(
                   e.getBuilder(), loc, lane, experts, lanes, {zero, zero},
                   [&](Elementwise &ie, Value expert,
                       ValueRange carried) -> SmallVector<Value> {
                     Value logit = loadF32(ie, op.getLogits(), {token, expert});
                     Value exp = emitExpDifference(ie, logit, largest);
                     store(ie, exp, scores, expert);
                     CompensatedSum next =
                         emitSum(ie, {carried[0], carried[1]}, {exp, zero});
                     return {next.high, next.low};
                   });
               storeSum(e, {sum[0], sum[1]}, lane);
               return {};
             });
    for (int64_t half = numPartials / 2; half > 0; half /= 2)
      emitLoop(
          b, loc, constantIndex(b, loc, half), {},
          [&](Elementwise &e, Value lane, ValueRange) -> SmallVector<Value> {
            Value other =
                arith::AddIOp::create(e.getBuilder(), loc, lane,
                                      constantIndex(e.getBuilder(), loc, half));
            storeSum(e, emitSum(e, loadSum(e, lane), loadSum(e, other)), lane);
            return {};
          });
    Elementwise outer(b, loc);
    CompensatedSum total = loadSum(outer, constantIndex(b, loc, 0));
    Value sum = outer.add(total.high, total.low);
    emitLoop(
        b, loc, experts, {},
        [&](Elementwise &e, Value expert, ValueRange) -> SmallVector<Value> {
          store(e, e.div(load(e, scores, expert), sum), scores, expert);
          return {};
        });
  }

  CompensatedSum loadSum(Elementwise &e, Value lane) {
    return {load(e, partials, lane), load(e, partialsLow, lane)};
  }
  void storeSum(Elementwise &e, CompensatedSum sum, Value lane) {
    store(e, sum.high, partials, lane);
    store(e, sum.low, partialsLow, lane);
  }

  /// What an expert is chosen by.
  Value emitChoiceScore(Elementwise &e, Value expert) {
    Value score = load(e, scores, expert);
    return op.getBias() ? e.add(score, load(e, op.getBias(), expert)) : score;
  }

  void emitKeys(OpBuilder &b) {
    emitLoop(
        b, loc, experts, {},
        [&](Elementwise &e, Value expert, ValueRange) -> SmallVector<Value> {
          store(e, emitOrderKey(e, emitChoiceScore(e, expert)), keys, expert);
          return {};
        });
  }

  /// The index of the largest of `count` keys, the lowest one of a tie; its key
  /// becomes takenKey.
  Value emitTakeLargest(OpBuilder &b, Value memref, Value count) {
    ValueRange best =
        emitLoop(b, loc, count, {i32(b, takenKey), constantIndex(b, loc, 0)},
                 [&](Elementwise &e, Value index,
                     ValueRange carried) -> SmallVector<Value> {
                   Value key = load(e, memref, index);
                   Value isBetter = arith::CmpIOp::create(e.getBuilder(), loc,
                                                          CmpIPredicate::sgt,
                                                          key, carried[0]);
                   return {e.select(isBetter, key, carried[0]),
                           e.select(isBetter, index, carried[1])};
                 });
    Elementwise e(b, loc);
    store(e, i32(b, takenKey), memref, best[1]);
    return best[1];
  }

  /// The largest choice score of a group, or the sum of its two largest. A NaN
  /// counts as -Inf.
  Value emitGroupScore(Elementwise &e, Value first, Value end) {
    OpBuilder &b = e.getBuilder();
    Value lowest = f32(b, -std::numeric_limits<float>::infinity());
    ValueRange best =
        emitLoop(b, loc, first, end, constantIndex(b, loc, 1), {lowest, lowest},
                 [&](Elementwise &ie, Value expert,
                     ValueRange carried) -> SmallVector<Value> {
                   Value score =
                       ie.maxNumber(emitChoiceScore(ie, expert), lowest);
                   Value second = ie.minNumber(carried[0], score);
                   return {ie.maxNumber(carried[0], score),
                           ie.maxNumber(carried[1], second)};
                 });
    return op.getGroupScore() == GroupScore::Max ? best[0]
                                                 : e.add(best[0], best[1]);
  }

  /// Takes the experts of all groups but the best.
  void emitGroups(OpBuilder &b) {
    Value groups = constantIndex(b, loc, *op.getNGroup());
    Value size = arith::DivUIOp::create(b, loc, experts, groups);
    emitLoop(
        b, loc, groups, {},
        [&](Elementwise &e, Value group, ValueRange) -> SmallVector<Value> {
          OpBuilder &inner = e.getBuilder();
          Value first = arith::MulIOp::create(inner, loc, group, size);
          Value end = arith::AddIOp::create(inner, loc, first, size);
          Value score = emitGroupScore(e, first, end);
          store(e, emitOrderKey(e, score), groupKeys, group);
          return {};
        });
    emitLoop(b, loc, constantIndex(b, loc, *op.getTopkGroup()), {},
             [&](Elementwise &e, Value, ValueRange) -> SmallVector<Value> {
               emitTakeLargest(e.getBuilder(), groupKeys, groups);
               return {};
             });
    emitLoop(
        b, loc, experts, {},
        [&](Elementwise &e, Value expert, ValueRange) -> SmallVector<Value> {
          Value group =
              arith::DivUIOp::create(e.getBuilder(), loc, expert, size);
          Value isChosen = e.compareI(CmpIPredicate::eq,
                                      load(e, groupKeys, group), takenKey);
          Value key = load(e, keys, expert);
          store(e, e.select(isChosen, key, e.i32(key, takenKey)), keys, expert);
          return {};
        });
  }

  void emitChoice(OpBuilder &b, Value token) {
    emitLoop(b, loc, topK, {},
             [&](Elementwise &e, Value j, ValueRange) -> SmallVector<Value> {
               OpBuilder &inner = e.getBuilder();
               Value expert = emitTakeLargest(inner, keys, experts);
               Value id = arith::IndexCastOp::create(
                   inner, loc, inner.getI32Type(), expert);
               store(e, id, op.getIds(), {token, j});
               store(e, load(e, scores, expert), op.getWeights(), {token, j});
               return {};
             });
  }

  void emitWeights(OpBuilder &b, Value token) {
    std::optional<APFloat> factor = op.getScale();
    if (!op.getRenormalize() && !factor)
      return;
    Value sum;
    if (op.getRenormalize())
      sum = emitLoop(
          b, loc, topK, f32(b, 0),
          [&](Elementwise &e, Value j,
              ValueRange carried) -> SmallVector<Value> {
            return {e.add(carried[0], load(e, op.getWeights(), {token, j}))};
          })[0];
    emitLoop(b, loc, topK, {},
             [&](Elementwise &e, Value j, ValueRange) -> SmallVector<Value> {
               Value weight = load(e, op.getWeights(), {token, j});
               if (sum) {
                 Value isZero = e.compare(arith::CmpFPredicate::OEQ, sum, 0.0f);
                 weight =
                     e.select(isZero, e.f32(weight, 0.0f), e.div(weight, sum));
               }
               if (factor)
                 weight = e.mul(weight, factor->convertToFloat());
               store(e, weight, op.getWeights(), {token, j});
               return {};
             });
  }

  RouteOp op;
  Location loc;
  Value experts, topK;
  /// Scratch of one token: scores and keys of the experts, the lanes' sums, the
  /// keys of the groups.
  Value scores, keys, partials, partialsLow, groupKeys;
};

struct LowerRoute : OpRewritePattern<RouteOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(RouteOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Routing routing(op, rewriter);
    Value tokens = memref::DimOp::create(rewriter, loc, op.getLogits(), 0);
    emitLoop(
        rewriter, loc, tokens, {},
        [&](Elementwise &e, Value token, ValueRange) -> SmallVector<Value> {
          routing.emitToken(e.getBuilder(), token);
          return {};
        });
    routing.free(rewriter);
    rewriter.eraseOp(op);
    return success();
  }
};
} // namespace

void moeq::detail::populateRoutePatterns(RewritePatternSet &patterns) {
  patterns.add<LowerRoute>(patterns.getContext());
}
