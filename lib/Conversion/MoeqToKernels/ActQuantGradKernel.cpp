//===- ActQuantGradKernel.cpp - Gradients that are quantized ----*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The gradient of an activation as what is quantized. Of a gated one, the
// gradients by gate and by up have the same operands, and lie in two chunks of
// the input's columns. Tiles take columns of gate and of up in turns, so that a
// pair of lanes has these two chunks: each lane computes both gradients of half
// of the columns, and they swap what belongs to the other's chunk. So all is
// read and computed once.
//
//===----------------------------------------------------------------------===//

#include "Activated.h"
#include "ColumnChunk.h"
#include "Kernels.h"
#include "RoundedGradient.h"
#include "RowTeam.h"
#include "TileQuantizer.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::moeq;

/// The columns for which a lane of a pair computes.
static constexpr int64_t kHalfChunk = kChunk / 2;

/// Rows that are in registers while an element of another is computed in full
/// leave too few for one address or two.
static constexpr int64_t kMaxSpillStores = 8;

namespace {
/// Gradients by the input of one op.
class InputGradient {
public:
  explicit InputGradient(ActQuantGradOp op)
      : op(op), layout(op.getGateLayout()), gated(isGated(op.getFunction())),
        parameters(getActivationParameters(op)) {
    Builder builder(op.getContext());
    element = getIntermediateType(builder, op.getIntermediateRound());
    auto isBF16 = [](Value memref) {
      return getElementTypeOrSelf(memref).isBF16();
    };
    isRounded = element.isBF16() && isBF16(op.getGrad()) &&
                isBF16(op.getInput()) &&
                hasRoundedGradient(parameters, op.getRowWeight() != nullptr);
  }

  /// Reads gate and up for each column of either.
  QuantizeSource getSource();
  /// Reads them once, in tiles that have pairs of lanes, if they can have: for
  /// a rowwise result or none.
  std::optional<QuantizeSource> getPairedSource(const QuantizeResult &rowwise);

private:
  Value features(KernelBuilder &k) { return k.size(op.getGrad(), 1); }
  GatePlace placeOf(KernelBuilder &k, Value column) {
    return emitGatePlace(k, k.getLoc(), layout, column, features(k));
  }
  /// By how much the lanes of a pair differ.
  int64_t pairMask() { return run / kChunk; }
  /// Whether this lane has the chunk of up.
  Value isUp(KernelBuilder &k) {
    return k.negate(
        k.equal(k.bitAnd(k.lane(), k.index(pairMask())), k.index(0)));
  }

  SmallVector<Value> fetch(KernelBuilder &k, Value row, Value column,
                           int64_t width);
  Value compute(KernelBuilder &k, ValueRange fetched, Value weight);
  SmallVector<Value> fetchHalf(KernelBuilder &k, Value row, Value column);
  Value computePair(KernelBuilder &k, ValueRange fetched, Value weight);
  Value columnOfPlace(KernelBuilder &k, Value place);
  SmallVector<Value> fetchAt(KernelBuilder &k, Value row, Value column,
                             int64_t width);
  ActivationGradient emit(KernelBuilder &k, ValueRange fetched, Value weight);

  ActQuantGradOp op;
  GateLayout layout;
  bool gated;
  ActivationParameters parameters;
  Type element;
  /// Whether vectors of gradients are rounded as they are computed.
  bool isRounded;
  /// How many columns of gate, then of up, tiles take in turns.
  int64_t run = kChunk;
};
} // namespace

/// The gradient, gate and up of `width` columns of the activation's result.
SmallVector<Value> InputGradient::fetchAt(KernelBuilder &k, Value row,
                                          Value column, int64_t width) {
  SmallVector<Value> fetched =
      fetchActivated(k, op, row, column, features(k), width);
  fetched.insert(fetched.begin(), k.load(op.getGrad(), {row, column}, width));
  return fetched;
}

/// The gradients, of `element`, of what fetchAt loaded.
ActivationGradient InputGradient::emit(KernelBuilder &k, ValueRange fetched,
                                       Value weight) {
  if (isRounded && isa<VectorType>(fetched[0].getType()))
    return emitRoundedGradient(k, parameters, fetched[0], fetched[1],
                               gated ? fetched[2] : Value(), weight);
  Elementwise e(k, k.getLoc());
  auto emit = [&](ValueRange numbers) -> SmallVector<Value> {
    Value grad = weight ? e.mul(numbers[0], weight) : numbers[0];
    ActivationGradient gradient = emitActivationGradient(
        e, parameters, grad, numbers[1], gated ? numbers[2] : Value());
    if (gated)
      return {gradient.gate, gradient.up};
    return {gradient.gate};
  };
  SmallVector<Value> gradients =
      emitByColumn(k, fetched.take_front(gated ? 3 : 2), emit);
  return {k.fromF32(gradients[0], element),
          gated ? k.fromF32(gradients[1], element) : Value()};
}

SmallVector<Value> InputGradient::fetch(KernelBuilder &k, Value row,
                                        Value column, int64_t width) {
  if (!gated)
    return fetchAt(k, row, column, width);
  if (layout == GateLayout::Interleaved && width > 1)
    return fetchAt(k, row, k.divU(column, k.index(2)), width / 2);
  GatePlace place = placeOf(k, column);
  SmallVector<Value> fetched = fetchAt(k, row, place.column, width);
  fetched.push_back(k.splat(place.isUp, width));
  return fetched;
}

Value InputGradient::compute(KernelBuilder &k, ValueRange fetched,
                             Value weight) {
  ActivationGradient gradient = emit(k, fetched, weight);
  Value number = gradient.gate;
  if (fetched.size() == 4)
    number = k.select(fetched[3], gradient.up, gradient.gate);
  else if (gated && isa<VectorType>(number.getType()))
    number = vector::InterleaveOp::create(k, gradient.gate, gradient.up);
  else if (gated)
    number =
        vector::FromElementsOp::create(k, VectorType::get(2, number.getType()),
                                       ValueRange{gradient.gate, gradient.up});
  return number;
}

/// `column` is the first one of this lane's chunk.
SmallVector<Value> InputGradient::fetchHalf(KernelBuilder &k, Value row,
                                            Value column) {
  Value half = k.select(isUp(k), k.index(kHalfChunk), k.index(0));
  return fetchAt(k, row, k.add(placeOf(k, column).column, half), kHalfChunk);
}

Value InputGradient::computePair(KernelBuilder &k, ValueRange fetched,
                                 Value weight) {
  ActivationGradient gradient = emit(k, fetched, weight);
  int64_t count = kHalfChunk * element.getIntOrFloatBitWidth() / 32;
  auto wordsOf = [&](Value numbers) -> Value {
    return vector::BitCastOp::create(k, VectorType::get(count, k.getI32Type()),
                                     numbers);
  };
  Value gate = wordsOf(gradient.gate), up = wordsOf(gradient.up),
        hasUp = isUp(k);
  Value kept = k.select(hasUp, up, gate), given = k.select(hasUp, gate, up);
  SmallVector<Value> words(2 * count);
  for (int64_t i = 0; i < count; ++i) {
    Value own = vector::ExtractOp::create(k, kept, i);
    Value other =
        k.shuffleXor(vector::ExtractOp::create(k, given, i), pairMask());
    words[i] = k.select(hasUp, other, own);
    words[count + i] = k.select(hasUp, own, other);
  }
  Value all = vector::FromElementsOp::create(
      k, VectorType::get(2 * count, k.getI32Type()), words);
  return vector::BitCastOp::create(k, VectorType::get(kChunk, element), all);
}

/// Places past the last column stay there.
Value InputGradient::columnOfPlace(KernelBuilder &k, Value place) {
  Value turn = k.divU(place, k.index(run));
  Value column = k.add(k.mul(k.divU(turn, k.index(2)), k.index(run)),
                       k.remU(place, k.index(run)));
  GateColumns columns =
      emitGateColumns(k, k.getLoc(), layout, column, features(k));
  Value isGate = k.equal(k.remU(turn, k.index(2)), k.index(0));
  return k.select(k.ltU(place, k.size(op.getInput(), 1)),
                  k.select(isGate, columns.gate, columns.up), place);
}

QuantizeSource InputGradient::getSource() {
  QuantizeSource source;
  source.element = element;
  source.setExtents(op.getInput());
  // A chunk is of one half.
  source.width = getCommonWidth({op.getGrad(), op.getInput()}, kChunk,
                                source.staticColumns);
  source.offsets = op.getOffsets();
  if (isRounded)
    source.maxSpillStores = kMaxSpillStores;
  source.fetch = [self = *this](KernelBuilder &k, Value row, Value column,
                                int64_t width) mutable {
    return self.fetch(k, row, column, width);
  };
  source.fetchOfRow = [op = op](KernelBuilder &k, Value row) {
    return fetchRowWeight(k, op, row);
  };
  source.compute = [self = *this](KernelBuilder &k, ValueRange fetched,
                                  Value weight) mutable {
    return self.compute(k, fetched, weight);
  };
  return source;
}

std::optional<QuantizeSource>
InputGradient::getPairedSource(const QuantizeResult &rowwise) {
  QuantizeSource source = getSource();
  if (!gated || layout == GateLayout::Interleaved || source.width != kChunk)
    return std::nullopt;
  // A run has whole blocks of a rowwise result, or is part of one.
  int64_t block = rowwise ? rowwise.format.getBlockOf(1, 2) : 1;
  run = ShapedType::isDynamic(block) ? kChunk : std::max(block, kChunk);
  if (layout == GateLayout::Interleaved64)
    run = std::min(run, kGateGroup);
  if (2 * run > kWarpColumns || kWarpColumns % run != 0 ||
      source.staticColumns % (2 * run) != 0)
    return std::nullopt;
  source.fetch = [self = *this](KernelBuilder &k, Value row, Value column,
                                int64_t) mutable {
    return self.fetchHalf(k, row, column);
  };
  source.compute = [self = *this](KernelBuilder &k, ValueRange fetched,
                                  Value weight) mutable {
    return self.computePair(k, fetched, weight);
  };
  source.placesOfTurn = 2 * run;
  source.columnAt = [self = *this](KernelBuilder &k, Value place) mutable {
    return self.columnOfPlace(k, place);
  };
  return source;
}

LogicalResult moeq::buildKernels(ActQuantGradOp op, gpu::GPUModuleOp module) {
  InputGradient gradient(op);
  QuantizeResults results = getResults(op);
  results.sums = op.getBiasGrad();
  QuantizeSource source = gradient.getSource();
  return buildQuantize(
      op, module, source,
      gradient.getPairedSource(results.rowwise).value_or(source), results,
      op.getRecipe());
}
