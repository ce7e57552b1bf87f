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

// The scales of a stage for `products` sums of `width` columns.
MatmulBuilder::BlockScales MatmulBuilder::buildBlockScales(Tile tile, Value k,
                                                           int64_t products,
                                                           int64_t width) {
  BlockScales scales;
  if (spec.lhsBlockScale == ScalePlacement::Tensor)
    scales.lhs = buildScaleScalar(Kind::LhsScale, spec.lhsScaleType,
                                  add(mul(getLhsPart(tile), depthTiles), k));
  else if (spec.lhsBlockScale == ScalePlacement::Vector)
    scales.lhs = buildLhsScales(tile, k, width);
  if (spec.rhsBlockScale == ScalePlacement::None)
    return scales;
  for (int64_t i = 0; i < products; ++i)
    scales.rhs.push_back(spec.rhsBlockScale == ScalePlacement::Vector
                             ? buildRhsScales(tile, k, i * width, width)
                             : buildBlockScale(tile, k, i * width));
  return scales;
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

// The scales of `count` rows of A or of the weights from `first` on, which are
// the rows or the columns of the accumulator, and those before `end` exist. A
// column of the scales is a stage, or a row where they are along the rows.
Value MatmulBuilder::buildVectorScales(const VectorScales &of, Value first,
                                       Value end, Value k, int64_t count) {
  // Each column of a tile that may reach beyond the end has an address of its
  // own. Hidden from the compiler, the first keeps these in the loop: ahead of
  // it they would take the registers of the accumulator.
  if (!of.areRows && end && !of.isAligned)
    first = buildOpaque(first);
  auto type = FragmentType::get(context, of.areRows ? count : 1,
                                of.areRows ? 1 : count, of.type);
  Value row = of.areRows ? first : k, column = of.areRows ? k : first,
        rowEnd = of.areRows ? end : Value(),
        columnEnd = of.areRows ? Value() : end;
  auto load = LoadOp::create(b, type, of.base, row, column, toI64(of.pitch),
                             rowEnd, columnEnd, of.indices);
  load.setTransposed(of.areRows == of.isMnMajor);
  load.setAligned(of.isAligned);
  return load;
}

// Those of the rows of A: from [M, blocks of K], or from [blocks of K, M] with
// rows of the given pitch, each group apart where they are masked.
Value MatmulBuilder::buildLhsScales(Tile tile, Value k, int64_t width) {
  VectorScales of{getParameter(Kind::LhsScale),
                  getRowIndices(),
                  depthTiles,
                  spec.lhsScaleType,
                  spec.lhsScaleIsMnMajor,
                  /*areRows=*/!spec.swapAb,
                  /*isAligned=*/false};
  Value first = tile.row, end = tile.rowEnd;
  if (of.isMnMajor)
    of.pitch = getParameter(Kind::LhsScalePitch);
  if (of.isMnMajor && spec.isMasked) {
    Value plane = mul(tile.group, depthTiles),
          before = mul(tile.group, getParameter(Kind::Rows));
    of.base = LLVM::GEPOp::create(
        b, of.base.getType(), of.type, of.base,
        ValueRange(arith::MulIOp::create(b, toI64(plane), toI64(of.pitch))));
    first = arith::SubIOp::create(b, first, before);
    end = arith::SubIOp::create(b, end, before);
  }
  return buildVectorScales(of, first, end, k,
                           spec.swapAb ? width : kInstructionRows);
}

// Those of the rows of the weights from `column` of the tile on: from [E, N,
// blocks of K], or with the last two exchanged and N padded to 16 bytes.
Value MatmulBuilder::buildRhsScales(Tile tile, Value k, int64_t column,
                                    int64_t width) {
  VectorScales of{getParameter(Kind::RhsScale),
                  Value(),
                  depthTiles,
                  spec.rhsScaleType,
                  spec.rhsScaleIsMnMajor,
                  /*areRows=*/spec.swapAb,
                  /*isAligned=*/spec.rhsScaleIsMnMajor && !spec.swapAb};
  Value plane = columns;
  if (of.isMnMajor) {
    Value unit = i32(kPitchBytes / getBytes(of.type));
    of.pitch = mul(arith::CeilDivUIOp::create(b, columns, unit), unit);
    plane = of.pitch;
  }
  Value offset = arith::MulIOp::create(b, toI64(mul(tile.group, depthTiles)),
                                       toI64(plane));
  of.base = LLVM::GEPOp::create(b, of.base.getType(), of.type, of.base, offset);
  return buildVectorScales(of, add(tile.column, i32(column)), getColumnEnd(), k,
                           spec.swapAb ? kInstructionRows : width);
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
  int64_t width = getProductColumns(spec, columnCount),
          products = columnCount / width,
          inFlight = getProductsInFlight(spec, columnCount),
          // Of an iteration: as many as it takes to have so many in flight.
      stages = std::max<int64_t>(inFlight / products, 1);
  FragmentType productType = getProductType(width);
  accumulators.assign(
      products,
      Value(ZeroOp::create(b, FragmentType::get(context, kInstructionRows,
                                                width, b.getF32Type()))));

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
            scales.push_back(
                buildBlockScales(tile, add(k, i32(i)), products, width));
          struct Product {
            Value partial, stage;
            int64_t index;
            const BlockScales &scales;
          };
          std::deque<Product> pending;
          Value done;
          auto finish = [&] {
            Product product = pending.front();
            pending.pop_front();
            Value partial = MmaWaitOp::create(b, TypeRange(productType),
                                              pending.size(), product.partial)
                                .getResult(0);
            if (product.index == products - 1)
              RingReleaseOp::create(b, ring, product.stage);
            done = partial;
            const BlockScales &scales = product.scales;
            Value &sum = sums[product.index];
            sum = buildPromotion(tile, partial, sum, scales.lhs,
                                 scales.getRhs(product.index));
          };
          for (const BlockScales &scale : scales) {
            auto stage =
                RingWaitOp::create(b, TypeRange{lhsTile, rhsTile}, ring, at);
            Value lhs = stage.getResult(0), rhs = stage.getResult(1);
            if (spec.swapAb)
              std::swap(lhs, rhs);
            lhs = buildPart(lhs, consumer.row, kInstructionRows);
            for (int64_t i = 0; i < products; ++i) {
              if (static_cast<int64_t>(pending.size()) == inFlight)
                finish();
              // In the registers of a sum that is done, if there is one.
              Value partial = MmaOp::create(
                  b, productType, lhs, buildPart(rhs, i32(i * width), width),
                  done, /*overwrite=*/bool(done));
              done = Value();
              pending.push_back({partial, at, i, scale});
            }
            at = advance(ring, at);
          }
          while (!pending.empty())
            finish();
          sums.push_back(at);
          scf::YieldOp::create(b, sums);
        });
    accumulators.assign(loop.result_begin(), loop.result_begin() + products);
    cursor = loop.getResults().back();
  };
  // Unrolled, the loop would need the registers of several iterations.
  Value end = buildOpaque(depthTiles);
  if (stages == 1 ||
      (isStatic(spec.depth) && spec.depth % (stages * kBlockDepth) == 0)) {
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
