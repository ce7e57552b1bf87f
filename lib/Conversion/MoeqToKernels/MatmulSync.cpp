//===- MatmulSync.cpp - A main loop without a producer ----------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Chips without wgmma: all threads start the copies of a stage, as many stages
// ahead as there are but one, and then multiply the stage that has arrived. One
// barrier a stage suffices: past it, the stage is there for all, and all are
// done with the one before, which is the next to be filled.
//
//===----------------------------------------------------------------------===//

#include "MatmulBuilder.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::moeq_gpu;

void MatmulBuilder::buildSyncConsumer(Region &region) {
  OpBuilder::InsertionGuard guard(b);
  Block &block = region.emplaceBlock();
  Value number = block.addArgument(b.getI32Type(), b.getLoc());
  b.setInsertionPointToStart(&block);
  Consumer consumer = buildConsumerState(number);
  scf::ForOp::create(b, b.getLoc(), first, count, step, ValueRange(),
                     [&](OpBuilder &, Location, Value index, ValueRange) {
                       Tile tile = toConsumer(consumer, buildTile(index, rank));
                       if (spec.swapAb)
                         buildWidths(consumer, tile, /*cursor=*/Value());
                       else
                         buildActive(consumer, tile, /*cursor=*/Value(),
                                     spec.tileColumns);
                       scf::YieldOp::create(b);
                     });
  YieldOp::create(b);
}

// The tile of a stage.
Value MatmulBuilder::buildSlot(Value stages, Value slot, TileType type) {
  return SubtileOp::create(b, type, stages, mul(slot, i32(type.getRows())));
}

// The tiles of rows of a stage.
SmallVector<Value> MatmulBuilder::buildLhsSlots(Value slot) {
  SmallVector<Value> tiles;
  int64_t count = getStageTiles(spec);
  for (int64_t i = 0; i < count; ++i)
    tiles.push_back(
        buildSlot(lhsStages, add(mul(slot, i32(count)), i32(i)), lhsTile));
  return tiles;
}

// The vectors of a stage.
SmallVector<Value> MatmulBuilder::buildVectorSlots(Value slot) {
  SmallVector<Value> vectors;
  for (auto [stages, type] :
       llvm::zip_equal(vectorStages, getStageVectors(spec)))
    vectors.push_back(
        SubvectorOp::create(b, type, stages, mul(slot, i32(type.getSize()))));
  return vectors;
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
Value MatmulBuilder::buildLhsScales(Tile tile, Value k) {
  VectorScales of{getParameter(Kind::LhsScale),
                  getRowIndices(),
                  depthTiles,
                  spec.lhsScaleType,
                  spec.lhsScaleIsMnMajor,
                  /*areRows=*/true,
                  /*isAligned=*/false};
  Value first = tile.row, end = tile.rowEnd;
  if (of.isMnMajor) {
    of.pitch = getParameter(Kind::LhsScalePitch);
    Value plane = mul(getLhsPart(tile), depthTiles);
    of.base = LLVM::GEPOp::create(
        b, of.base.getType(), of.type, of.base,
        ValueRange(arith::MulIOp::create(b, toI64(plane), toI64(of.pitch))));
    first = buildRowInPart(tile, first);
    end = buildRowInPart(tile, end);
  }
  return buildVectorScales(of, first, end, k, kInstructionRows);
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
                  /*areRows=*/false,
                  /*isAligned=*/spec.rhsScaleIsMnMajor};
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
                           width);
}

// The copies of stage `k` of a CTA's tile, as one group. Past the end of K,
// zeros are copied for rows, and nothing for packed weights, where no sum
// looks.
void MatmulBuilder::buildSyncCopies(Tile tile, Value k, Value slot,
                                    ValueRange lhsRows, ValueRange rhsRows) {
  // Addresses are made for each stage, not kept in registers.
  if (spec.isPacked)
    k = buildOpaque(k);
  Value depth = getExtent(spec.depth, Kind::Depth),
        column = mul(k, i32(getStageDepth(spec)));
  for (auto [i, lhs] : llvm::enumerate(buildLhsSlots(slot)))
    CopyOp::create(b, getParameter(Kind::Lhs),
                   add(column, i32(i * lhsTile.getColumns())), depth, lhsRows,
                   lhs);
  if (spec.isPacked) {
    Value exists =
        arith::CmpIOp::create(b, arith::CmpIPredicate::ult, k, depthTiles);
    SmallVector<Value> sources = buildPackedSources(tile, k);
    int64_t slabs = getPackedSlabs(spec);
    for (auto [i, vector] : llvm::enumerate(buildVectorSlots(slot))) {
      auto type = cast<SharedVectorType>(vector.getType());
      auto ofSlab = SharedVectorType::get(context, type.getSize() / slabs,
                                          type.getElementType());
      for (int64_t slab = 0; slab < slabs; ++slab)
        CopyVectorOp::create(b, sources[i * slabs + slab], exists,
                             SubvectorOp::create(b, ofSlab, vector,
                                                 i32(slab * ofSlab.getSize())));
    }
  } else {
    CopyOp::create(b, getParameter(Kind::Rhs), column, depth, rhsRows,
                   buildSlot(rhsStages, slot, rhsTile));
  }
  NVVM::CpAsyncCommitGroupOp::create(b);
}

// Multiplies a stage.
void MatmulBuilder::buildSyncStage(const Consumer &consumer, Tile tile, Value k,
                                   Value slot, FragmentType type,
                                   MutableArrayRef<Value> accumulators) {
  SmallVector<Value> lhsSlots = buildLhsSlots(slot);
  if (spec.isPacked) {
    llvm::append_range(lhsSlots, buildVectorSlots(slot));
    return buildPackedStage(consumer, tile, lhsSlots, type, accumulators);
  }
  int64_t width = type.getColumns();
  SmallVector<Part> parts;
  for (int64_t i = 0, n = accumulators.size(); i < n; ++i)
    parts.push_back({0, i * width, width});
  BlockScales scales;
  Value lhsScales;
  if (spec.lhsBlockScale == ScalePlacement::Vector)
    lhsScales = buildLhsScales(tile, k);
  if (spec.promote)
    scales = buildBlockScales(tile, k, parts);
  if (lhsScales)
    scales.lhs = lhsScales;
  if (spec.rhsBlockScale == ScalePlacement::Vector)
    for (Part part : parts)
      scales.rhs.push_back(buildRhsScales(tile, k, part.column, part.width));
  Value lhs = buildPart(lhsSlots.front(), consumer.row, kInstructionRows),
        rhs = buildSlot(rhsStages, slot, rhsTile),
        zero = spec.promote ? Value(ZeroOp::create(b, type)) : Value();
  for (auto [i, sum] : llvm::enumerate(accumulators)) {
    Value product =
        MmaSyncOp::create(b, type, lhs, buildPart(rhs, i32(i * width), width),
                          spec.promote ? zero : sum);
    sum = spec.promote
              ? buildPromotion(tile, product, sum, scales.lhs, scales.getRhs(i))
              : product;
  }
}

void MatmulBuilder::buildSyncLoop(const Consumer &consumer, Tile tile,
                                  int64_t width,
                                  SmallVectorImpl<Value> &accumulators) {
  // The CTA's tile, and the rows of an operand that this thread copies pieces
  // of.
  Tile all = tile;
  Value &start = spec.swapAb ? all.column : all.row;
  start = arith::SubIOp::create(b, start, consumer.row);
  Value depth = getExtent(spec.depth, Kind::Depth);
  auto locate = [&](Value row, Value end, TileType type, Value indices) {
    SmallVector<Type> types(type.getRows() * 8 / kernel.threads,
                            b.getI64Type());
    return LocateRowsOp::create(b, types, row, end, depth, indices);
  };
  ValueRange lhsRows =
      locate(all.row, all.rowEnd, lhsTile, getRowIndices()).getOffsets();
  ValueRange rhsRows;
  if (!spec.isPacked) {
    Value weights = mul(all.group, columns);
    rhsRows = locate(add(weights, all.column), add(weights, columns), rhsTile,
                     Value())
                  .getOffsets();
  }
  auto waitForCopies = [&](int64_t pending) {
    NVVM::CpAsyncWaitGroupOp::create(b, pending);
    NVVM::Barrier0Op::create(b);
  };

  int64_t ahead = spec.stages - 1, ofFragment = getFragmentColumns(spec, width),
          products = width / ofFragment;
  FragmentType type = getProductType(ofFragment);
  for (int64_t stage = 0; stage < ahead; ++stage)
    buildSyncCopies(all, i32(stage), i32(stage), lhsRows, rhsRows);
  // The loop carries the sums, the slot that is multiplied and the one before.
  SmallVector<Value> initial(products, ZeroOp::create(b, type));
  initial.append({i32(0), i32(ahead)});
  // Unrolled, a short loop would need the registers of several iterations.
  Value end = spec.isPacked ? buildOpaque(depthTiles) : depthTiles;
  auto loop = scf::ForOp::create(
      b, b.getLoc(), i32(0), end, i32(1), initial,
      [&](OpBuilder &, Location, Value k, ValueRange carried) {
        SmallVector<Value> sums(carried.drop_back(2));
        Value slot = carried[products], previous = carried[products + 1];
        waitForCopies(ahead - 1);
        buildSyncCopies(all, add(k, i32(ahead)), previous, lhsRows, rhsRows);
        buildSyncStage(consumer, tile, k, slot, type, sums);
        Value next = add(slot, i32(1));
        Value wraps = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, next,
                                            i32(spec.stages));
        sums.append({arith::SelectOp::create(b, wraps, i32(0), next), slot});
        scf::YieldOp::create(b, sums);
      });
  // The stages are free for the next tile.
  waitForCopies(0);
  accumulators.append(loop.result_begin(), loop.result_begin() + products);
}
