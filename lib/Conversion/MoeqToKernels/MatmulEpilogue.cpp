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

Block &MatmulBuilder::enterMap(MapOp map) {
  Block &body = map.getBody().emplaceBlock();
  for (Value fragment : map.getFragments())
    body.addArgument(cast<FragmentType>(fragment.getType()).getElementType(),
                     b.getLoc());
  body.addArguments({b.getIndexType(), b.getIndexType()},
                    {b.getLoc(), b.getLoc()});
  b.setInsertionPointToStart(&body);
  return body;
}

Value MatmulBuilder::buildToF32(Value x) {
  if (x.getType().isInteger())
    return arith::SIToFPOp::create(b, b.getF32Type(), x);
  return x.getType().isF32()
             ? x
             : Value(arith::ExtFOp::create(b, b.getF32Type(), x));
}

SmallVector<MatmulBuilder::RowOperand, 2> MatmulBuilder::getRowOperands() {
  SmallVector<RowOperand, 2> operands;
  if (spec.lhsScale == ScalePlacement::Vector)
    operands.push_back(
        {getParameter(Kind::LhsScale), getRowIndices(), spec.lhsScaleType});
  for (auto [i, operand] : llvm::enumerate(spec.epilogueOperands))
    if (operand.map == EpilogueMap::Row)
      operands.push_back({getParameter(Kind::EpilogueOperand, i), Value(),
                          operand.elementType});
  return operands;
}

// Loaded early, so that the latency is hidden by the matmul.
MatmulBuilder::Early MatmulBuilder::buildEarly(Tile tile, int64_t width) {
  Early early;
  for (auto [base, indices, element] : getRowOperands()) {
    if (spec.swapAb)
      early.rows.push_back(
          LoadStripedOp::create(b, StripedType::get(context, width, element),
                                base, tile.row, tile.rowEnd, indices));
    else
      early.rows.push_back(LoadOp::create(
          b, FragmentType::get(context, kInstructionRows, 1, element), base,
          tile.row, i32(0), i64(1), tile.rowEnd, Value(), indices));
  }
  if (spec.lhsScale == ScalePlacement::Tensor)
    early.lhsScale =
        buildScaleScalar(Kind::LhsScale, spec.lhsScaleType, getLhsPart(tile));
  if (spec.rhsScale == ScalePlacement::Tensor)
    early.rhsScale =
        buildScaleScalar(Kind::RhsScale, spec.rhsScaleType, tile.group);
  else if (spec.rhsScale == ScalePlacement::Vector && spec.swapAb)
    for (int64_t row = 0; row < getConsumerRows(spec); row += kInstructionRows)
      early.rhsScaleParts.push_back(
          buildColumnOperand(tile, getParameter(Kind::RhsScale),
                             spec.rhsScaleType, {row, 0, width}));
  return early;
}

SmallVector<MatmulPart>
mlir::moeq_gpu::getMatmulParts(const MatmulKernelSpec &spec, int64_t columns,
                               int64_t ofFragment) {
  int64_t rows = getConsumerRows(spec), width = getChunkColumns(spec);
  (spec.swapAb ? rows : columns) /= spec.getNumSums();
  SmallVector<MatmulPart> parts;
  for (int64_t row = 0; row < rows; row += kInstructionRows)
    for (int64_t column = 0, size; column < columns; column += size) {
      // No part is of two fragments.
      size =
          std::min({width, columns - column, ofFragment - column % ofFragment});
      parts.push_back({row, column, size});
    }
  return parts;
}

void MatmulBuilder::buildEpilogue(const Consumer &consumer, Tile tile,
                                  ValueRange accumulators, const Early &early) {
  auto type = cast<FragmentType>(accumulators.front().getType());
  int64_t columnCount = type.getRows() * type.getColumns() *
                        accumulators.size() / getConsumerRows(spec);
  SmallVector<Part> parts =
      getMatmulParts(spec, columnCount, type.getColumns());
  Value pitch = toI64(outColumns), out = getParameter(Kind::Out),
        firstColumn = toOut(tile.column),
        columnEnd = reachesBeyondColumns() ? outColumns : Value();
  if (spec.swapAb) {
    for (auto [value, vector] :
         llvm::zip_equal(early.rows, consumer.rowVectors))
      StoreStripedOp::create(b, value, vector);
    // The rows are there, and the stores of the last tile are done.
    BarrierOp::create(b);
  }
  // Part `number`, the `count`th that this CTA stores.
  auto store = [&](int64_t number, int64_t count, ValueRange sums) {
    Part part = parts[number];
    Value mapped = buildMapped(consumer, tile, sums, part, early);
    Value staging = consumer.staging[count % consumer.staging.size()];
    if (spec.swapAb)
      StoreTransposedOp::create(
          b, mapped, staging, out, add(tile.row, i32(part.column)),
          add(firstColumn, i32(part.row)), pitch, tile.rowEnd, columnEnd);
    else
      StoreOp::create(b, mapped, staging, out, tile.row,
                      add(firstColumn, i32(part.column)), pitch, tile.rowEnd,
                      columnEnd, outMap);
  };
  if (isSplit())
    return buildAddedUp(consumer, accumulators, parts, store);
  for (int64_t i = 0, n = parts.size(); i < n; ++i)
    store(i, i, buildSums(accumulators, parts[i]));
}

// One element a column of the product, from [E, N] at the tile's group.
Value MatmulBuilder::buildColumnOperand(Tile tile, Value base, Type element,
                                        Part part) {
  // A tile of the last columns may reach beyond them.
  Value columnEnd = getColumnEnd();
  if (spec.swapAb) {
    Value first = mul(tile.group, columns);
    return LoadOp::create(
        b, FragmentType::get(context, kInstructionRows, 1, element), base,
        add(first, add(tile.column, i32(part.row))), i32(0), i64(1),
        columnEnd ? add(first, columnEnd) : Value(), Value(), Value());
  }
  auto load =
      LoadOp::create(b, FragmentType::get(context, 1, part.width, element),
                     base, tile.group, add(tile.column, i32(part.column)),
                     toI64(columns), Value(), columnEnd, Value());
  load.setAligned(true);
  return load;
}

// One element each of C.
Value MatmulBuilder::buildElementOperand(Tile tile, Value base, Type element,
                                         Part part) {
  auto type = FragmentType::get(context, kInstructionRows, part.width, element);
  Value row = tile.row, column = toOut(tile.column), rowEnd = tile.rowEnd,
        columnEnd = outColumns;
  if (spec.swapAb) {
    std::swap(row, column);
    std::swap(rowEnd, columnEnd);
  }
  auto load = LoadOp::create(b, type, base, add(row, i32(part.row)),
                             add(column, i32(part.column)), toI64(outColumns),
                             rowEnd, columnEnd, Value());
  load.setAligned(!spec.swapAb);
  load.setTransposed(spec.swapAb);
  return load;
}

SmallVector<Value, 2> MatmulBuilder::buildSums(ValueRange accumulators,
                                               Part part) {
  auto type = cast<FragmentType>(accumulators.front().getType());
  SmallVector<Value, 2> fragments;
  // Accumulators are side by side in one of the dimensions.
  for (unsigned i = 0; i < spec.getNumSums(); ++i) {
    Part sum = getSum(part, i);
    size_t index = sum.row / type.getRows() + sum.column / type.getColumns();
    fragments.push_back(
        SliceOp::create(b,
                        FragmentType::get(context, kInstructionRows, sum.width,
                                          type.getElementType()),
                        accumulators[index], sum.row % type.getRows(),
                        sum.column % type.getColumns()));
  }
  return fragments;
}

// Sums through scales and epilogue to a part of C: acc * (lhs * rhs), then the
// epilogue's region, or one rounding.
Value MatmulBuilder::buildMapped(const Consumer &consumer, Tile tile,
                                 ValueRange ofPart, Part part,
                                 const Early &early) {
  SmallVector<Part, 2> sums;
  for (unsigned sum = 0; sum < spec.getNumSums(); ++sum)
    sums.push_back(getSum(part, sum));
  SmallVector<Value> fragments(ofPart);
  unsigned rowOperand = 0;
  auto addRowOperand = [&] {
    unsigned i = rowOperand++;
    if (!spec.swapAb)
      return fragments.push_back(early.rows[i]);
    Value vector = consumer.rowVectors[i];
    Type element = cast<SharedVectorType>(vector.getType()).getElementType();
    fragments.push_back(
        SpreadOp::create(b, FragmentType::get(context, 1, part.width, element),
                         vector, /*start=*/Value(), part.column));
  };
  if (spec.lhsScale == ScalePlacement::Vector)
    addRowOperand();
  if (spec.rhsScale == ScalePlacement::Vector)
    for (Part sum : sums)
      fragments.push_back(
          spec.swapAb ? early.rhsScaleParts[sum.row / kInstructionRows]
                      : buildColumnOperand(tile, getParameter(Kind::RhsScale),
                                           spec.rhsScaleType, sum));
  for (auto [i, operand] : llvm::enumerate(spec.epilogueOperands)) {
    Value base = getParameter(Kind::EpilogueOperand, i);
    Type element = operand.elementType;
    if (operand.map == EpilogueMap::Row)
      addRowOperand();
    else if (operand.map == EpilogueMap::Column)
      for (Part sum : sums)
        fragments.push_back(buildColumnOperand(tile, base, element, sum));
    else
      fragments.push_back(buildElementOperand(tile, base, element, part));
  }

  if (spec.addsToOut)
    fragments.push_back(
        buildElementOperand(tile, getParameter(Kind::Out), spec.out, part));

  // The place of the part in C, or in its transpose.
  Value row = tile.row, column = toOut(tile.column);
  if (spec.swapAb)
    std::swap(row, column);
  auto map = MapOp::create(
      b, FragmentType::get(context, kInstructionRows, part.width, spec.out),
      fragments, add(row, i32(part.row)), add(column, i32(part.column)));
  OpBuilder::InsertionGuard guard(b);
  Block &body = enterMap(map);

  unsigned next = 0;
  SmallVector<Value, 2> values;
  for (size_t sum = 0; sum < sums.size(); ++sum)
    values.push_back(buildToF32(body.getArgument(next++)));
  auto buildFactor = [&](ScalePlacement placement, Value scalar) -> Value {
    if (placement == ScalePlacement::None)
      return {};
    return buildToF32(placement == ScalePlacement::Vector
                          ? Value(body.getArgument(next++))
                          : scalar);
  };
  Value lhsFactor = buildFactor(spec.lhsScale, early.lhsScale);
  for (Value &value : values) {
    Value factor = buildFactor(spec.rhsScale, early.rhsScale);
    if (lhsFactor && factor)
      factor = arith::MulFOp::create(b, lhsFactor, factor);
    else if (!factor)
      factor = lhsFactor;
    if (factor)
      value = arith::MulFOp::create(b, value, factor);
  }

  if (!spec.epilogue) {
    Value value = values.front();
    if (spec.addsToOut)
      value =
          arith::AddFOp::create(b, buildToF32(body.getArgument(next)), value);
    if (!spec.out.isF32())
      value = arith::TruncFOp::create(b, spec.out, value);
    YieldOp::create(b, value);
    return map;
  }
  // The region's arguments: accumulators, row, column, operands.
  Block &source = spec.epilogue->front();
  size_t fragmentCount = fragments.size();
  IRMapping mapping;
  unsigned argument = 0;
  for (Value value : values)
    mapping.map(source.getArgument(argument++), value);
  unsigned rowArgument = spec.swapAb ? 1 : 0;
  mapping.map(source.getArgument(argument++),
              body.getArgument(fragmentCount + rowArgument));
  mapping.map(source.getArgument(argument++),
              body.getArgument(fragmentCount + 1 - rowArgument));
  while (argument < source.getNumArguments())
    mapping.map(source.getArgument(argument++), body.getArgument(next++));
  for (auto [i, captured] : llvm::enumerate(kernel.captured)) {
    Value parameter = getParameter(Kind::Captured, i);
    if (captured.getType().isIndex())
      parameter = arith::IndexCastOp::create(b, b.getIndexType(), parameter);
    mapping.map(captured, parameter);
  }
  for (Operation *constant : constants)
    mapping.map(constant->getResults(), b.clone(*constant)->getResults());
  for (Operation &op : source.without_terminator())
    b.clone(op, mapping);
  YieldOp::create(
      b, mapping.lookupOrDefault(source.getTerminator()->getOperand(0)));
  return map;
}
