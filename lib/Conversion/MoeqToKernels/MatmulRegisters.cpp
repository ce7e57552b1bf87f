//===- MatmulRegisters.cpp - A main loop on packed weights ------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Packed weights come as they are in memory, and become the first operand of
// the matmul in registers, where the tokens are the second one. A step of the
// loop is a stage of the ring, or as many as share a scale: while its matmuls
// are in flight, the weights of the next step are dequantized. Two sets of
// registers take turns, so that none is copied; ptxas would serialize what it
// had to copy (C7513).
//
// E8M0 scales are part of the dequantized weight. Other scales by groups of K
// multiply the sum of the group in f32: it starts from zero, in as many parts
// of columns as registers allow, and goes by fma to the accumulator.
//
//===----------------------------------------------------------------------===//

#include "MatmulBuilder.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::moeq_gpu;

/// The weights and tokens of a step, in registers and in shared memory.
struct MatmulBuilder::PackedStep {
  SmallVector<Value, 2> operands; ///< Of each stage, or part of it.
  SmallVector<Value, 2> tokens;   ///< Of each stage.
  SmallVector<Value, 2> scales;   ///< Of each group that is promoted.
  SmallVector<Value, 2> cursors;  ///< Of each stage.

  SmallVector<Value> pack() const {
    SmallVector<Value> values;
    for (ArrayRef<Value> of :
         {ArrayRef<Value>(operands), ArrayRef<Value>(tokens),
          ArrayRef<Value>(scales), ArrayRef<Value>(cursors)})
      llvm::append_range(values, of);
    return values;
  }
  /// A step of this one's form.
  PackedStep unpack(ValueRange values) const {
    PackedStep step;
    auto take = [&](SmallVectorImpl<Value> &to, size_t count) {
      llvm::append_range(to, values.take_front(count));
      values = values.drop_front(count);
    };
    take(step.operands, operands.size());
    take(step.tokens, tokens.size());
    take(step.scales, scales.size());
    take(step.cursors, cursors.size());
    return step;
  }
};

/// base[index], of elements of `type`.
static Value getElement(ImplicitLocOpBuilder &b, Value base, Type type,
                        Value index) {
  Type storage = b.getIntegerType(type.getIntOrFloatBitWidth());
  return LLVM::GEPOp::create(b, base.getType(), storage, base, index);
}

// The addresses of what a stage copies of packed weights: of each vector, a
// part for each 64 rows of the tile. Beyond the last rows of a group they are
// those once more.
SmallVector<Value> MatmulBuilder::buildPackedSources(Tile tile, Value k) {
  Value slabsOfGroup =
            arith::DivUIOp::create(b, columns, i32(kInstructionRows)),
        firstSlab =
            arith::DivUIOp::create(b, tile.column, i32(kInstructionRows)),
        lastSlab = arith::SubIOp::create(b, slabsOfGroup, i32(1));
  // The distance of each from the first one, which is constant where it can be:
  // one address is then enough for all.
  SmallVector<Value> distances;
  for (int64_t i = 0; i < getPackedSlabs(spec); ++i) {
    Value distance = i32(i);
    if (reachesBeyondColumns())
      distance = arith::MinUIOp::create(
          b, distance, arith::SubIOp::create(b, lastSlab, firstSlab));
    distances.push_back(toI64(distance));
  }
  Value slab = toI64(add(mul(tile.group, slabsOfGroup), firstSlab));
  // `count` elements of `type` from element `within` of a slab of `size`.
  SmallVector<Value> sources;
  auto multiply = [&](Value x, int64_t y) -> Value {
    return arith::MulIOp::create(b, x, i64(y));
  };
  auto addSources = [&](Kind kind, Type type, int64_t size, Value within) {
    Value index = arith::AddIOp::create(b, multiply(slab, size), toI64(within));
    Value first = getElement(b, getParameter(kind), type, index);
    for (Value distance : distances)
      sources.push_back(getElement(b, first, type, multiply(distance, size)));
  };
  int64_t slabBytes = getPackedSlabBytes(spec);
  addSources(Kind::Rhs, b.getI8Type(),
             spec.depth / getStageDepth(spec) * slabBytes,
             mul(k, i32(slabBytes)));
  int64_t group = getPackedGroup(spec);
  Value firstOfStage = arith::DivUIOp::create(
      b, mul(k, i32(getStageDepth(spec) * kInstructionRows)), i32(group));
  if (group > getStageDepth(spec)) // Several stages have one.
    firstOfStage =
        mul(arith::DivUIOp::create(b, k, i32(group / getStageDepth(spec))),
            i32(kInstructionRows));
  int64_t scalesOfSlab = spec.depth / group * kInstructionRows;
  if (spec.rhsBlockScale != ScalePlacement::None)
    addSources(Kind::RhsScale, spec.rhsScaleType, scalesOfSlab, firstOfStage);
  if (spec.rhsZeroType)
    addSources(Kind::RhsZero, spec.rhsZeroType, scalesOfSlab, firstOfStage);
  return sources;
}

// Waits for the stages of a step, and dequantizes its weights.
MatmulBuilder::PackedStep
MatmulBuilder::buildPackedStep(const Consumer &consumer, Value &cursor) {
  PackedStep step;
  for (int64_t stage = 0; stage < getStepStages(spec); ++stage) {
    auto wait = RingWaitOp::create(b, ringType.getStageTypes(), ring, cursor);
    step.cursors.push_back(cursor);
    cursor = advance(ring, cursor);
    addPackedStage(step, consumer, wait.getParts());
  }
  return step;
}

// Dequantizes the weights of a stage, whose parts are tiles of tokens and the
// vectors of `getStageVectors`.
void MatmulBuilder::addPackedStage(PackedStep &step, const Consumer &consumer,
                                   ValueRange parts) {
  int64_t rows = getConsumerRows(spec), groups = getStageGroups(spec);
  int64_t tiles = getStageTiles(spec);
  llvm::append_range(step.tokens, parts.take_front(tiles));
  ValueRange vectors = parts.drop_front(tiles);
  // The consumer's part of a vector with so many elements for each 64 rows; of
  // that the one of tile `tile`, of `parts`.
  auto takePart = [&](unsigned vector, int64_t tile, int64_t parts) -> Value {
    auto type = cast<SharedVectorType>(vectors[vector].getType());
    int64_t ofConsumer = type.getSize() * rows / spec.tileColumns,
            size = ofConsumer / parts;
    if (size == type.getSize())
      return vectors[vector];
    Value offset = arith::DivUIOp::create(b, mul(consumer.row, i32(ofConsumer)),
                                          i32(rows));
    if (tile % parts)
      offset = add(offset, i32(tile % parts * size));
    return SubvectorOp::create(
        b, SharedVectorType::get(context, size, type.getElementType()),
        vectors[vector], offset);
  };
  bool hasScales = spec.rhsBlockScale != ScalePlacement::None;
  int64_t groupParts = std::min(groups, tiles);
  // Those of a group that several stages have come with each of them.
  if (hasScales && !foldsScales(spec) && step.scales.empty()) {
    Value scales = takePart(1, 0, 1);
    for (int64_t group = 0; group < groups; ++group)
      for (int64_t row = 0; row < rows; row += kInstructionRows)
        step.scales.push_back(SpreadOp::create(
            b,
            FragmentType::get(context, kInstructionRows, 1, spec.rhsScaleType),
            scales, /*start=*/Value(),
            row * groups + group * kInstructionRows));
  }
  for (int64_t tile = 0; tile < tiles; ++tile) {
    Value values = takePart(0, tile, tiles), scales, zeros;
    if (hasScales && foldsScales(spec))
      scales = takePart(1, tile, groupParts);
    if (spec.rhsZeroType)
      zeros = takePart(1 + hasScales, tile, groupParts);
    step.operands.push_back(DequantOp::create(
        b, OperandType::get(context, rows, lhsTile.getColumns(), spec.lhs),
        values, scales, zeros, TypeAttr::get(spec.rhs)));
  }
}

void MatmulBuilder::buildPackedStage(const Consumer &consumer, Tile tile,
                                     ValueRange parts, FragmentType type,
                                     MutableArrayRef<Value> accumulators) {
  PackedStep step;
  addPackedStage(step, consumer, parts);
  buildPackedProducts(step, tile, type, accumulators, /*isLast=*/false, [] {});
}

// The matmuls of a step; `prefetch` comes while the first is in flight.
void MatmulBuilder::buildPackedProducts(const PackedStep &step, Tile tile,
                                        FragmentType type,
                                        MutableArrayRef<Value> accumulators,
                                        bool isLast,
                                        function_ref<void()> prefetch) {
  auto release = [&] {
    for (Value cursor : step.cursors)
      RingReleaseOp::create(b, ring, cursor);
  };
  bool isFirst = true, byWarp = spec.multipliesByWarp();
  // An operand is of one group, as others may be, or its parts are of several.
  int64_t groups = spec.promote ? step.scales.size() : 1,
          operands = step.operands.size(),
          parts = llvm::divideCeil(groups, operands),
          ofGroup = operands * parts / groups;
  auto multiply = [&](int64_t index, int64_t columnPart, Value sum) -> Value {
    Value operand = step.operands[index / parts],
          tokens =
              buildPart(step.tokens[index / parts],
                        i32(columnPart * type.getColumns()), type.getColumns());
    int64_t part = index % parts;
    if (byWarp)
      return MmaSyncOp::create(b, type, operand, tokens, sum, part, parts);
    return MmaRsOp::create(b, type, operand, tokens, sum, part, parts);
  };
  for (auto [columnPart, accumulator] : llvm::enumerate(accumulators)) {
    for (int64_t group = 0; group < groups; ++group) {
      Value sum = !spec.promote ? accumulator
                  : byWarp      ? Value(ZeroOp::create(b, type))
                                : Value();
      for (int64_t i = 0; i < ofGroup; ++i)
        sum = multiply(group * ofGroup + i, columnPart, sum);
      if (isFirst)
        prefetch();
      isFirst = false;
      // Warps wait for no product; what goes on in the same registers is not
      // read between.
      if (!byWarp && (spec.promote || isLast))
        sum = MmaWaitOp::create(b, TypeRange(type), 0, sum, step.operands)
                  .getResult(0);
      else if (!byWarp)
        MmaWaitOp::create(b, TypeRange(), 0, ValueRange(), step.operands);
      if (columnPart + 1 == accumulators.size() && group + 1 == groups)
        release();
      accumulator = spec.promote ? buildPromotion(tile, sum, accumulator,
                                                  Value(), step.scales[group])
                                 : sum;
    }
  }
}

Value MatmulBuilder::buildPackedLoop(const Consumer &consumer, Tile tile,
                                     Value cursor, int64_t width,
                                     SmallVectorImpl<Value> &accumulators) {
  int64_t parts = getPackedParts(spec, width);
  auto type = FragmentType::get(context, getConsumerRows(spec), width / parts,
                                b.getF32Type());
  // The first asynchronous matmul starts a sum that goes on in its registers:
  // ptxas serializes what begins with zeros from elsewhere.
  bool byWarp = spec.multipliesByWarp();
  accumulators.assign(
      parts, spec.promote || byWarp ? Value(ZeroOp::create(b, type)) : Value());
  int64_t steps = getPartStages(spec) / getStepStages(spec);
  auto buildStep = [&](const PackedStep &step, bool isLast, bool prefetches) {
    PackedStep next;
    buildPackedProducts(step, tile, type, accumulators, isLast, [&] {
      if (prefetches)
        next = buildPackedStep(consumer, cursor);
    });
    return next;
  };
  // Runs `body`, which goes on with the accumulators, the cursor and what else
  // it carries, `count` times.
  auto repeat = [&](int64_t count, SmallVector<Value> carried,
                    function_ref<SmallVector<Value>(ValueRange)> body) {
    if (count <= 0)
      return carried;
    carried.insert(carried.begin(), accumulators.begin(), accumulators.end());
    carried.append({cursor, i32(0)});
    auto setState = [&](ValueRange values) {
      accumulators = llvm::to_vector(values.take_front(parts));
      cursor = values.drop_back().back();
      return values.drop_front(parts).drop_back(2);
    };
    // The test is at the end: where code after the loop is like that in it,
    // LLVM would join them, and leave the loop while a matmul is in flight.
    // Unrolled, a short loop would need the registers of several iterations.
    auto loop = scf::WhileOp::create(
        b, b.getLoc(), TypeRange(ValueRange(carried)), carried,
        [&](OpBuilder &, Location, ValueRange values) {
          SmallVector<Value> rest = body(setState(values));
          SmallVector<Value> next(accumulators.begin(), accumulators.end());
          llvm::append_range(next, rest);
          Value done = add(values.back(), i32(1));
          next.append({cursor, done});
          Value goesOn = arith::CmpIOp::create(b, arith::CmpIPredicate::ult,
                                               done, buildOpaque(i32(count)));
          scf::ConditionOp::create(b, goesOn, next);
        },
        [&](OpBuilder &, Location, ValueRange values) {
          scf::YieldOp::create(b, values);
        });
    return llvm::to_vector(setState(loop.getResults()));
  };

  auto buildAlone = [&](bool isLast) {
    buildStep(buildPackedStep(consumer, cursor), isLast, /*prefetches=*/false);
  };
  auto repeatAlone = [&](int64_t count) {
    repeat(count, {}, [&](ValueRange) -> SmallVector<Value> {
      buildAlone(/*isLast=*/false);
      return {};
    });
  };
  if (byWarp) {
    repeatAlone(steps);
  } else if (!prefetchesPacked(spec, width)) {
    buildAlone(steps == 1);
    repeatAlone(steps - 2);
    if (steps > 1)
      buildAlone(/*isLast=*/true);
  } else {
    PackedStep step = buildPackedStep(consumer, cursor);
    // The first matmul of a sum that goes on comes before the loop. Promoted
    // sums start anew at each step: there it leaves one step behind the loop,
    // of two ptxas moves the registers of both together, and spills.
    int64_t first = spec.promote ? (steps + 1) % 2 : steps > 1;
    if (first)
      step = buildStep(step, /*isLast=*/false, /*prefetches=*/true);
    int64_t pairs = (steps - first - 1) / 2, rest = steps - first - 2 * pairs;
    SmallVector<Value> left =
        repeat(pairs, step.pack(), [&](ValueRange carried) {
          PackedStep current = step.unpack(carried);
          for (int i = 0; i < 2; ++i)
            current = buildStep(current, /*isLast=*/false, /*prefetches=*/true);
          return current.pack();
        });
    step = step.unpack(left);
    for (; rest > 0; --rest)
      step = buildStep(step, /*isLast=*/rest == 1, /*prefetches=*/rest > 1);
  }
  buildPassTurn(consumer);
  return cursor;
}
