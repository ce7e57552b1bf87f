//===- MatmulTiles.cpp - The loops over the tiles of a matmul ---*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// CTAs have the output tiles round robin, or each takes the next one when it is
// free: then the producer takes it, and tells the consumers through a mailbox.
//
// The CTAs of a cluster have neighbouring tiles, one each, and go through the
// same stages, so that each can fill a part of both; or the same tile, where
// they split K. A number stands for the tiles of a cluster then; the first
// producer takes it, and tells the others.
//
//===----------------------------------------------------------------------===//

#include "MatmulBuilder.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::moeq_gpu;

// The tile of a number; in a cluster that of the CTA `rank`, which past the
// last tile has no rows.
MatmulBuilder::Tile MatmulBuilder::buildTile(Value number, Value cta) {
  Value index = number, exists;
  if (sharesCopies()) {
    Value last = arith::SubIOp::create(b, tiles, i32(1));
    index = add(mul(number, i32(spec.cluster)), cta);
    exists = arith::CmpIOp::create(b, arith::CmpIPredicate::ule, index, last);
    index = arith::SelectOp::create(b, exists, index, last);
  }
  auto found = ScheduleTileOp::create(b, schedule, index);
  Tile tile{found.getGroup(), found.getRow(), found.getRowEnd(),
            found.getColumn()};
  if (exists)
    tile.row = arith::SelectOp::create(b, exists, tile.row, tile.rowEnd);
  return spec.contractsRows ? toGroup(tile) : tile;
}

// Whether both CTAs of the cluster copy the same, for each tensor map.
SmallVector<Value, 2> MatmulBuilder::buildShared(Tile tile, Value number) {
  auto equal = [&](Value x, Value y) -> Value {
    return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, x, y);
  };
  auto both = [&](Value x, Value y) -> Value {
    return arith::AndIOp::create(b, x, y);
  };
  Tile other =
      buildTile(number, arith::SubIOp::create(b, i32(spec.cluster - 1), rank));
  Value isGroup = equal(tile.group, other.group);
  SmallVector<Value, 2> shared;
  if (!spec.isGathered)
    shared.push_back(both(isGroup, both(equal(tile.row, other.row),
                                        equal(tile.rowEnd, other.rowEnd))));
  shared.push_back(both(isGroup, equal(tile.column, other.column)));
  return shared;
}

// What `body` gives in the first CTA of the cluster, 0 in the others.
Value MatmulBuilder::buildInFirstCta(function_ref<Value()> body) {
  Value isFirst =
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, rank, i32(0));
  auto split = scf::IfOp::create(b, b.getI32Type(), isFirst,
                                 /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(split.thenBlock());
  scf::YieldOp::create(b, body());
  b.setInsertionPointToStart(split.elseBlock());
  scf::YieldOp::create(b, i32(0));
  return split.getResult(0);
}

// The next number that no CTA has, or in the first CTA of a cluster no cluster,
// in lane 0: it may be under way for as long as nobody asks for it.
Value MatmulBuilder::buildTake() {
  auto take = [&]() -> Value {
    return ScheduleTakeOp::create(b, b.getI32Type(), schedule,
                                  getParameter(Kind::Counter),
                                  spec.getClusterSize(), isSplit());
  };
  return isCluster() ? buildInFirstCta(take) : take();
}

// The number of the first CTA, which it sends to the producers of the cluster,
// itself included.
Value MatmulBuilder::buildShareNumber(Value number, Value mail) {
  auto type = VectorType::get({4}, b.getI32Type());
  buildInFirstCta([&]() -> Value {
    RingAcquireOp::create(b, numbers, mail);
    RingSendOp::create(b, vector::BroadcastOp::create(b, type, number), numbers,
                       mail);
    return number;
  });
  Value sent = RingReceiveOp::create(b, type, numbers, mail);
  RingReleaseOp::create(b, numbers, mail);
  return vector::ExtractOp::create(b, sent, 0);
}

void MatmulBuilder::buildTileLoop(bool isProducer, Value initialCount,
                                  TileBody body) {
  if (isDynamic())
    return buildMailboxLoop(isProducer, initialCount, body);
  // Producers have numbers of tiles; consumers may carry a count of their own.
  bool hasCount = !isProducer && initialCount;
  SmallVector<Value> start{
      RingStartOp::create(b, CursorType::get(context)).getResult()};
  if (hasCount)
    start.push_back(initialCount);
  scf::ForOp::create(
      b, b.getLoc(), first, count, step, start,
      [&](OpBuilder &, Location, Value index, ValueRange carried) {
        Carried end = body(buildTile(index, rank),
                           {RingUniformOp::create(b, carried.front()),
                            hasCount ? carried.back() : index});
        SmallVector<Value> next{end.cursor};
        if (hasCount)
          next.push_back(end.count);
        scf::YieldOp::create(b, next);
      });
}

// The fields of a number's tile as mail; where there is no such number, group
// -1.
Value MatmulBuilder::buildFindTile(Value number) {
  auto type = VectorType::get({4}, b.getI32Type());
  Value exists =
      arith::CmpIOp::create(b, arith::CmpIPredicate::ult, number, count);
  auto found = scf::IfOp::create(b, type, exists, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(found.thenBlock());
  Tile tile = buildTile(number, rank);
  Value fields[] = {tile.group, tile.row, tile.rowEnd, tile.column};
  Value mail = vector::FromElementsOp::create(b, type, fields);
  scf::YieldOp::create(b, mail);
  b.setInsertionPointToStart(found.elseBlock());
  Value none =
      arith::ConstantOp::create(b, DenseElementsAttr::get(type, int32_t(-1)));
  scf::YieldOp::create(b, none);
  return found.getResult(0);
}

// The producer sends each tile, and at last one of group -1, which ends the
// loop of both roles.
void MatmulBuilder::buildMailboxLoop(bool isProducer, Value initialCount,
                                     TileBody body) {
  auto mailType = VectorType::get({4}, b.getI32Type());
  Value start = RingStartOp::create(b, CursorType::get(context));
  Type cursorType = start.getType();
  SmallVector<Value> initial{start, start};
  SmallVector<Type> types{cursorType, cursorType, mailType};
  if (initialCount) {
    initial.push_back(initialCount);
    types.push_back(initialCount.getType());
  }
  auto getTile = [&](OpBuilder &, Location, ValueRange carried) {
    Value mail = carried[1], tile;
    SmallVector<Value> kept(carried);
    if (isProducer) {
      kept[2] = isCluster() ? buildShareNumber(carried[2], mail)
                            : buildOfWarp(carried[2]);
      tile = buildFindTile(kept[2]);
      RingAcquireOp::create(b, mailbox, mail);
      RingSendOp::create(b, tile, mailbox, mail);
    } else {
      tile = RingReceiveOp::create(b, mailType, mailbox, mail);
      RingReleaseOp::create(b, mailbox, mail);
    }
    Value group = vector::ExtractOp::create(b, tile, 0);
    Value exists =
        arith::CmpIOp::create(b, arith::CmpIPredicate::ne, group, i32(-1));
    kept.insert(kept.begin() + 2, tile);
    scf::ConditionOp::create(b, exists, kept);
  };
  auto work = [&](OpBuilder &, Location, ValueRange carried) {
    SmallVector<Value, 4> fields;
    for (int64_t i = 0; i < mailType.getNumElements(); ++i)
      fields.push_back(vector::ExtractOp::create(b, carried[2], i));
    Carried end = body({fields[0], fields[1], fields[2], fields[3]},
                       {RingUniformOp::create(b, carried[0]),
                        initialCount ? carried[3] : Value()});
    SmallVector<Value> next{end.cursor, advance(mailbox, carried[1])};
    if (initialCount)
      next.push_back(end.count);
    scf::YieldOp::create(b, next);
  };
  scf::WhileOp::create(b, b.getLoc(), types, initial, getTile, work);
}
