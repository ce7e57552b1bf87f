//===- MatmulEpilogue.cpp - What follows the matmul in its kernel -*- C++
//-*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The accumulator, a chunk of columns at a time, through scales and epilogue to
// global memory.
//
//===----------------------------------------------------------------------===//

#include "MatmulBuilder.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::moeq_gpu;
using moeq::EpilogueMap;

Value MatmulBuilder::buildScaleScalar(Kind kind, Type type, Value index) {
  Value base = getParameter(kind);
  Value address = LLVM::GEPOp::create(b, base.getType(), type, base, index);
  return LLVM::LoadOp::create(b, type, address, getBytes(type),
                              /*isVolatile=*/false,
                              /*isNonTemporal=*/false, /*isInvariant=*/true);
}

Value MatmulBuilder::buildToF32(Value x) {
  if (x.getType().isInteger())
    return arith::SIToFPOp::create(b, b.getF32Type(), x);
  return x.getType().isF32()
             ? x
             : Value(arith::ExtFOp::create(b, b.getF32Type(), x));
}

void MatmulBuilder::buildEpilogue(Tile tile, ValueRange accumulators,
                                  Value staging, Value lhsScale,
                                  Value rhsScale) {
  int64_t width = getChunkColumns(spec);
  Value pitch = toI64(columns);
  for (int64_t column = 0; column < spec.tileColumns; column += width) {
    Value mapped =
        buildMapped(tile, accumulators, column, width, lhsScale, rhsScale);
    Value columnEnd = reachesBeyondColumns() ? columns : Value();
    StoreOp::create(b, mapped, staging, outMap, getParameter(Kind::Out),
                    tile.row, add(tile.column, i32(column)), pitch, tile.rowEnd,
                    columnEnd);
  }
}

// One element a column, from [E, N] at the tile's group.
Value MatmulBuilder::buildColumnLoad(Tile tile, Value base, Type element,
                                     int64_t offset, int64_t width) {
  auto load =
      LoadOp::create(b, FragmentType::get(context, 1, width, element), base,
                     tile.group, add(tile.column, i32(offset)), toI64(columns),
                     Value(), reachesBeyondColumns() ? columns : Value());
  load.setAligned(true);
  return load;
}

// Columns from `column` on through scales and epilogue: acc * (lhs * rhs), then
// the epilogue's region, or one rounding.
Value MatmulBuilder::buildMapped(Tile tile, ValueRange accumulators,
                                 int64_t column, int64_t width, Value lhsScale,
                                 Value rhsScale) {
  auto whole = cast<FragmentType>(accumulators.front().getType());
  auto part =
      FragmentType::get(context, kConsumerRows, width, whole.getElementType());
  SmallVector<Value> fragments{
      SliceOp::create(b, part, accumulators[column / whole.getColumns()],
                      column % whole.getColumns())};
  if (spec.lhsScale == ScalePlacement::Vector)
    fragments.push_back(lhsScale);
  if (spec.rhsScale == ScalePlacement::Vector)
    fragments.push_back(buildColumnLoad(tile, getParameter(Kind::RhsScale),
                                        spec.rhsScaleType, column, width));
  for (auto [i, operand] : llvm::enumerate(spec.epilogueOperands)) {
    Value base = getParameter(Kind::EpilogueOperand, i);
    if (operand.map == EpilogueMap::Column) {
      fragments.push_back(
          buildColumnLoad(tile, base, operand.elementType, column, width));
      continue;
    }
    bool isRow = operand.map == EpilogueMap::Row;
    auto type = FragmentType::get(context, kConsumerRows, isRow ? 1 : width,
                                  operand.elementType);
    Value at = isRow ? i32(0) : add(tile.column, i32(column));
    auto load = LoadOp::create(b, type, base, tile.row, at,
                               isRow ? i64(1) : toI64(columns), tile.rowEnd,
                               isRow ? Value() : columns);
    load.setAligned(!isRow);
    fragments.push_back(load);
  }

  auto map = MapOp::create(
      b, FragmentType::get(context, kConsumerRows, width, spec.out), fragments,
      tile.row, add(tile.column, i32(column)));
  OpBuilder::InsertionGuard guard(b);
  Block &body = map.getBody().emplaceBlock();
  for (Value fragment : fragments)
    body.addArgument(cast<FragmentType>(fragment.getType()).getElementType(),
                     b.getLoc());
  body.addArguments({b.getIndexType(), b.getIndexType()},
                    {b.getLoc(), b.getLoc()});
  b.setInsertionPointToStart(&body);

  unsigned next = 0;
  Value value = buildToF32(body.getArgument(next++));
  Value scale;
  for (auto [placement, scalar] : {std::pair{spec.lhsScale, lhsScale},
                                   std::pair{spec.rhsScale, rhsScale}}) {
    if (placement == ScalePlacement::None)
      continue;
    Value factor = buildToF32(placement == ScalePlacement::Vector
                                  ? Value(body.getArgument(next++))
                                  : scalar);
    scale = scale ? Value(arith::MulFOp::create(b, scale, factor)) : factor;
  }
  if (scale)
    value = arith::MulFOp::create(b, value, scale);

  if (!spec.epilogue) {
    if (!spec.out.isF32())
      value = arith::TruncFOp::create(b, spec.out, value);
    YieldOp::create(b, value);
    return map;
  }
  // The region's arguments: accumulator, row, column, operands.
  Block &source = spec.epilogue->front();
  size_t fragmentCount = fragments.size();
  IRMapping mapping;
  mapping.map(source.getArgument(0), value);
  mapping.map(source.getArgument(1), body.getArgument(fragmentCount));
  mapping.map(source.getArgument(2), body.getArgument(fragmentCount + 1));
  for (unsigned i = 3, n = source.getNumArguments(); i < n; ++i)
    mapping.map(source.getArgument(i), body.getArgument(next++));
  for (auto [i, captured] : llvm::enumerate(kernel.captured)) {
    Value parameter = getParameter(Kind::Captured, i);
    if (captured.getType().isIndex())
      parameter = arith::IndexCastOp::create(b, b.getIndexType(), parameter);
    mapping.map(captured, parameter);
  }
  for (Operation &op : source.without_terminator())
    b.clone(op, mapping);
  YieldOp::create(
      b, mapping.lookupOrDefault(source.getTerminator()->getOperand(0)));
  return map;
}
