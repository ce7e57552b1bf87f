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
                       Tile tile = buildTile(index, rank), own = tile;
                       own.row = add(tile.row, consumer.row);
                       Early early = buildEarly(own, spec.tileColumns);
                       SmallVector<Value> accumulators;
                       buildSyncLoop(consumer, tile, own, accumulators);
                       buildEpilogue(consumer, own, accumulators, early);
                       scf::YieldOp::create(b);
                     });
  YieldOp::create(b);
}

// The tile of a stage.
Value MatmulBuilder::buildSlot(Value stages, Value slot, TileType type) {
  return SubtileOp::create(b, type, stages, mul(slot, i32(type.getRows())));
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

void MatmulBuilder::buildSyncLoop(const Consumer &consumer, Tile tile, Tile own,
                                  SmallVectorImpl<Value> &accumulators) {
  Value depth = getExtent(spec.depth, Kind::Depth);
  // The rows of an operand that this thread copies pieces of.
  auto locate = [&](Value row, Value end, TileType type, Value indices) {
    SmallVector<Type> types(type.getRows() * 8 / kernel.threads,
                            b.getI64Type());
    return LocateRowsOp::create(b, types, row, end, depth, indices);
  };
  Value weights = mul(tile.group, columns);
  ValueRange lhsRows =
      locate(tile.row, tile.rowEnd, lhsTile, getRowIndices()).getOffsets();
  ValueRange rhsRows =
      locate(add(weights, tile.column), add(weights, columns), rhsTile, Value())
          .getOffsets();
  // Past the end of K, zeros are copied, which change no sum.
  auto copy = [&](Value k, Value slot) {
    Value column = mul(k, i32(getStageDepth(spec)));
    CopyOp::create(b, getParameter(Kind::Lhs), column, depth, lhsRows,
                   buildSlot(lhsStages, slot, lhsTile));
    CopyOp::create(b, getParameter(Kind::Rhs), column, depth, rhsRows,
                   buildSlot(rhsStages, slot, rhsTile));
    NVVM::CpAsyncCommitGroupOp::create(b);
  };
  auto waitForCopies = [&](int64_t pending) {
    NVVM::CpAsyncWaitGroupOp::create(b, pending);
    NVVM::Barrier0Op::create(b);
  };

  int64_t ahead = spec.stages - 1,
          width = getProductColumns(spec, spec.tileColumns),
          products = spec.tileColumns / width;
  SmallVector<Part> parts;
  for (int64_t i = 0; i < products; ++i)
    parts.push_back({0, i * width, width});
  FragmentType productType = getProductType(width);
  Value zero = ZeroOp::create(b, productType);
  for (int64_t stage = 0; stage < ahead; ++stage)
    copy(i32(stage), i32(stage));
  // The loop carries the sums, the slot that is multiplied and the one before.
  SmallVector<Value> initial(products, zero);
  initial.append({i32(0), i32(ahead)});
  auto loop = scf::ForOp::create(
      b, b.getLoc(), i32(0), depthTiles, i32(1), initial,
      [&](OpBuilder &, Location, Value k, ValueRange carried) {
        SmallVector<Value> sums(carried.drop_back(2));
        Value slot = carried[products], previous = carried[products + 1];
        waitForCopies(ahead - 1);
        copy(add(k, i32(ahead)), previous);
        BlockScales scales;
        Value lhsScales;
        if (spec.lhsBlockScale == ScalePlacement::Vector)
          lhsScales = buildLhsScales(own, k);
        if (spec.promote)
          scales = buildBlockScales(own, k, parts);
        if (lhsScales)
          scales.lhs = lhsScales;
        if (spec.rhsBlockScale == ScalePlacement::Vector)
          for (Part part : parts)
            scales.rhs.push_back(
                buildRhsScales(own, k, part.column, part.width));
        Value lhs = buildPart(buildSlot(lhsStages, slot, lhsTile), consumer.row,
                              kInstructionRows),
              rhs = buildSlot(rhsStages, slot, rhsTile);
        for (auto [i, sum] : llvm::enumerate(sums)) {
          Value product =
              MmaSyncOp::create(b, lhs, buildPart(rhs, i32(i * width), width),
                                spec.promote ? zero : sum);
          sum = spec.promote ? buildPromotion(own, product, sum, scales.lhs,
                                              scales.getRhs(i))
                             : product;
        }
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
