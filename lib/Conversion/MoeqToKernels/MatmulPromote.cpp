//===- MatmulPromote.cpp - A main loop that promotes its sums ---*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The tensor core keeps few bits of a long sum, and does not scale its parts.
// So each stage of K, of 128 elements, starts sums of its own, which go by fma
// with the scales of the stage to the accumulator. A sum takes the columns that
// share a scale; while it is added up, the next one is in flight where
// registers allow, and the other consumer has the tensor core where they do
// not. No sum is in flight from one iteration of the loop to the next: ptxas
// cannot tell there which registers are read, and would serialize all of it.
//
//===----------------------------------------------------------------------===//

#include "MatmulBuilder.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <deque>

using namespace mlir;
using namespace mlir::moeq_gpu;

// The scales of stage `k` of K for each of `products`, but for those that come
// with the stage.
MatmulBuilder::BlockScales
MatmulBuilder::buildBlockScales(Tile tile, Value k, ArrayRef<Part> products) {
  BlockScales scales;
  if (int64_t unit = getLhsScaleUnit(spec))
    scales.lhsStart = arith::AndIOp::create(b, tile.row, i32(unit - 1));
  if (spec.lhsBlockScale == ScalePlacement::Tensor)
    scales.lhs = buildScaleScalar(Kind::LhsScale, spec.lhsScaleType,
                                  add(mul(getLhsPart(tile), depthTiles), k));
  if (spec.rhsBlockScale == ScalePlacement::None ||
      spec.rhsBlockScale == ScalePlacement::Vector)
    return scales;
  for (Part product : products) // All rows are of one block.
    scales.rhs.push_back(product.row != 0
                             ? scales.rhs.front()
                             : buildBlockScale(tile, k, product.column));
  return scales;
}

// Those that come with a stage, in registers.
void MatmulBuilder::addStagedScales(BlockScales &scales,
                                    const Consumer &consumer,
                                    const Stage &stage,
                                    ArrayRef<Part> products) {
  auto spread = [&](Value vector, bool areRows, Value start,
                    Part part) -> Value {
    Type element = cast<SharedVectorType>(vector.getType()).getElementType();
    auto type = areRows
                    ? FragmentType::get(context, kInstructionRows, 1, element)
                    : FragmentType::get(context, 1, part.width, element);
    if (areRows)
      start = start ? add(start, consumer.row) : consumer.row;
    return SpreadOp::create(b, type, vector, start,
                            areRows ? part.row : part.column);
  };
  if (stage.lhsScales)
    scales.lhs = spread(stage.lhsScales, !spec.swapAb, scales.lhsStart,
                        products.front());
  if (!stage.rhsScales)
    return;
  scales.rhs.clear();
  for (Part product : products)
    scales.rhs.push_back(
        spread(stage.rhsScales, spec.swapAb, Value(), product));
}

// The scale of the block of columns that a sum is in, from [E, blocks of N,
// blocks of K].
Value MatmulBuilder::buildBlockScale(Tile tile, Value k, int64_t column) {
  Value row = tile.group;
  if (spec.rhsBlockScale == ScalePlacement::Block) {
    Value blocks = arith::CeilDivUIOp::create(b, columns, i32(kBlockDepth));
    // The tile may begin within a block.
    Value block = arith::DivUIOp::create(b, add(tile.column, i32(column)),
                                         i32(kBlockDepth));
    // A tile of the last columns may reach beyond them.
    block = arith::MinUIOp::create(b, block,
                                   arith::SubIOp::create(b, blocks, i32(1)));
    row = add(mul(tile.group, blocks), block);
  }
  return buildScaleScalar(Kind::RhsScale, spec.rhsScaleType,
                          add(mul(row, depthTiles), k));
}

// The value itself, of which the compiler knows nothing.
Value MatmulBuilder::buildOpaque(Value value) {
  auto copy = LLVM::InlineAsmOp::create(
      b, TypeRange(value.getType()), value, "mov.b32 $0, $1;", "=r,r",
      /*has_side_effects=*/true, /*is_align_stack=*/false,
      LLVM::tailcallkind::TailCallKind::None,
      LLVM::AsmDialectAttr::get(context, LLVM::AsmDialect::AD_ATT),
      /*operand_attrs=*/ArrayAttr());
  return copy.getResult(0);
}

// accumulator + partial * (lhs scale * rhs scale), with one rounding after that
// of the scales. A scale is null, a scalar, or a fragment.
Value MatmulBuilder::buildPromotion(Tile tile, Value partial, Value accumulator,
                                    Value lhsScale, Value rhsScale) {
  SmallVector<Value> fragments{partial, accumulator};
  for (Value scale : {lhsScale, rhsScale})
    if (scale && isa<FragmentType>(scale.getType()))
      fragments.push_back(scale);
  Value row = tile.row, column = tile.column;
  if (spec.swapAb)
    std::swap(row, column);
  auto map = MapOp::create(b, accumulator.getType(), fragments, row, column);
  OpBuilder::InsertionGuard guard(b);
  Block &body = enterMap(map);
  unsigned next = 2;
  Value factor;
  for (Value scale : {lhsScale, rhsScale}) {
    if (!scale)
      continue;
    bool isFragment = isa<FragmentType>(scale.getType());
    scale = buildToF32(isFragment ? Value(body.getArgument(next++)) : scale);
    factor = factor ? Value(arith::MulFOp::create(b, factor, scale)) : scale;
  }
  Value sum = buildToF32(body.getArgument(0)), old = body.getArgument(1);
  YieldOp::create(b, factor ? Value(math::FmaOp::create(b, sum, factor, old))
                            : Value(arith::AddFOp::create(b, old, sum)));
  return map;
}

Value MatmulBuilder::buildPromotedLoop(const Consumer &consumer, Tile tile,
                                       Value cursor, int64_t columnCount,
                                       SmallVectorImpl<Value> &accumulators) {
  Promotion promotion = getPromotion(spec, columnCount);
  int64_t width = getProductColumns(spec, columnCount),
          inFlight = promotion.inFlight;
  SmallVector<Part> products;
  for (int64_t row = 0; row < getConsumerRows(spec); row += kInstructionRows)
    for (int64_t column = 0; column < columnCount; column += width)
      products.push_back({row, column, width});
  // Of an iteration: as many as it takes to have so many in flight.
  int64_t count = products.size(),
          stages = std::max<int64_t>(inFlight / count, 1);
  auto getType = [&](Type element) {
    return FragmentType::get(context, kInstructionRows, width, element);
  };
  FragmentType productType = getType(getProductType(width).getElementType());
  accumulators.assign(count, Value(ZeroOp::create(b, getType(b.getF32Type()))));

  Depth depth = buildDepth(tile);
  // A loop over [lower, upper), `stages` of them an iteration, that goes on
  // with the accumulators and the cursor.
  auto buildLoop = [&](Value lower, Value upper, int64_t stages) {
    SmallVector<Value> initial(accumulators.begin(), accumulators.end());
    initial.push_back(cursor);
    auto loop = scf::ForOp::create(
        b, b.getLoc(), lower, upper, i32(stages), initial,
        [&](OpBuilder &, Location, Value k, ValueRange carried) {
          SmallVector<Value> sums(carried.drop_back());
          Value at = carried.back();
          // The loads of scales have returned when the matmul has ended.
          SmallVector<BlockScales> scales;
          for (int64_t i = 0; i < stages; ++i)
            scales.push_back(buildBlockScales(
                tile, buildStageOfAll(depth, add(k, i32(i))), products));
          struct Product {
            Value partial, cursor;
            int64_t index;
            BlockScales &scales;
            Stage stage;
          };
          std::deque<Product> pending;
          Value done;
          auto finish = [&] {
            Product product = pending.front();
            pending.pop_front();
            Value partial = MmaWaitOp::create(b, TypeRange(productType),
                                              pending.size(), product.partial)
                                .getResult(0);
            BlockScales &scales = product.scales;
            if (!promotion.holdsScales)
              addStagedScales(scales, consumer, product.stage, products);
            if (product.index == count - 1)
              RingReleaseOp::create(b, ring, product.cursor);
            done = partial;
            Value &sum = sums[product.index];
            sum = buildPromotion(tile, partial, sum, scales.lhs,
                                 scales.getRhs(product.index));
          };
          for (BlockScales &scale : scales) {
            Stage stage = buildWait(at);
            for (auto [i, part] : llvm::enumerate(products)) {
              if (static_cast<int64_t>(pending.size()) == inFlight)
                finish();
              Value row = add(consumer.row, i32(part.row));
              // In the registers of a sum that is done, if there is one.
              Value partial = MmaOp::create(
                  b, productType, buildPart(stage.a, row, kInstructionRows),
                  buildPart(stage.b, i32(part.column), width), done,
                  /*overwrite=*/bool(done));
              done = Value();
              if (i == 0 && promotion.holdsScales)
                addStagedScales(scale, consumer, stage, products);
              pending.push_back(
                  {partial, at, static_cast<int64_t>(i), scale, stage});
            }
            at = advance(ring, at);
          }
          while (!pending.empty())
            finish();
          sums.push_back(at);
          scf::YieldOp::create(b, sums);
        });
    accumulators.assign(loop.result_begin(), loop.result_begin() + count);
    cursor = loop.getResults().back();
  };
  // Unrolled, the loop would need the registers of several iterations.
  Value end = buildOpaque(depth.stages);
  if (stages == 1 || (!spec.contractsRows && isStatic(spec.depth) &&
                      spec.depth % (spec.splitK * stages * kBlockDepth) == 0)) {
    buildLoop(i32(0), end, stages);
    buildPassTurn(consumer);
    return cursor;
  }
  // The stages that are no whole iteration come last.
  Value rest = arith::RemUIOp::create(b, end, i32(stages));
  Value whole = arith::SubIOp::create(b, end, rest);
  buildLoop(i32(0), whole, stages);
  buildLoop(whole, end, 1);
  buildPassTurn(consumer);
  return cursor;
}
