//===- Detail.cpp - What the patterns to loops share ------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Detail.h"

#include "moeq/Dialect/Moeq/IR/WeightPacking.h"
#include "moeq/Support/ScaleLayout.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::moeq;
using namespace mlir::moeq::detail;

Value moeq::detail::constantIndex(OpBuilder &b, Location loc, int64_t value) {
  return arith::ConstantIndexOp::create(b, loc, value);
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

FailureOr<Operand> moeq::detail::getOperand(Operation *op, ValueRange values,
                                            TypeAttr format, StringRef name) {
  FailureOr<OperandInfo> info = getOperandInfo(op, values, format, name);
  if (failed(info))
    return failure();
  return Operand(*info, values);
}

/// Rows to count digits by: where they are not static, as in a tile, their
/// slowest digit has no end.
static int64_t getPackedRows(int64_t rows) {
  return ShapedType::isDynamic(rows) ? kPackedChunk << 32 : rows;
}

/// The indices of an element [.., row, column] of packed weights, `columns` of
/// them a row in memory.
static SmallVector<Value> getPackedIndices(OpBuilder &b, Location loc,
                                           ArrayRef<PackedDigit> digits,
                                           int64_t columns,
                                           ValueRange indices) {
  SmallVector<Value> result(indices);
  Value &row = result[result.size() - 2], &column = result.back();
  Value place = emitPackedPlace(b, loc, digits, row, column);
  Value pitch = constantIndex(b, loc, columns);
  row = arith::DivUIOp::create(b, loc, place, pitch);
  column = arith::RemUIOp::create(b, loc, place, pitch);
  return result;
}

SmallVector<Value> Operand::getValueIndices(OpBuilder &b, Location loc,
                                            ValueRange indices) const {
  if (!info.scaled || !info.scaled.isReordered())
    return SmallVector<Value>(indices);
  int64_t rows = getPackedRows(info.shape[info.getRank() - 2]),
          columns = info.shape.back();
  return getPackedIndices(
      b, loc,
      getPackedValueDigits(info.getValueType().getIntOrFloatBitWidth(), rows,
                           columns),
      columns, indices);
}

int64_t Operand::getBlockOf(int64_t dim) const {
  return info.scaled ? info.scaled.getBlockOf(dim, info.getRank())
                     : ShapedType::kDynamic;
}

bool Operand::isInteger() const {
  if (!isa<IntegerType>(info.getValueType()))
    return false;
  return !info.scaled || !info.scaled.getZero() ||
         isa<IntegerType>(info.scaled.getZero());
}

Value Operand::readNibble(Elementwise &e, ValueRange indices) const {
  OpBuilder &b = e.getBuilder();
  Location loc = e.getLoc();
  SmallVector<Value> byteIndices(indices);
  Value one = constantIndex(b, loc, 1);
  byteIndices.back() = arith::ShRUIOp::create(b, loc, indices.back(), one);
  Value byte =
      e.extendU8(memref::LoadOp::create(b, loc, getValues(), byteIndices));
  Value parity = arith::AndIOp::create(b, loc, indices.back(), one);
  Value isHigh =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, parity, one);
  return e.andI(e.select(isHigh, e.shrU(byte, 4), byte), 15);
}

Value Operand::readZero(Elementwise &e, ValueRange indices) const {
  if (!getZeros())
    return {};
  return memref::LoadOp::create(
      e.getBuilder(), e.getLoc(), getZeros(),
      getScaleIndices(e.getBuilder(), e.getLoc(), indices));
}

Value Operand::readF32(Elementwise &e, ValueRange indices) const {
  SmallVector<Value> place =
      getValueIndices(e.getBuilder(), e.getLoc(), indices);
  Value value;
  if (info.scaled && info.scaled.isPacked())
    value = emitNibbleToF32(e, readNibble(e, place), info.scaled.getValue());
  else
    value = loadF32(e, getValues(), place);
  if (Value zero = readZero(e, indices))
    value = e.sub(value, emitToF32(e, zero));
  return value;
}

static Value extendSigned(Elementwise &e, Value value) {
  return arith::ExtSIOp::create(e.getBuilder(), e.getLoc(), e.i32Like(value),
                                value);
}

Value Operand::readI32(Elementwise &e, ValueRange indices) const {
  SmallVector<Value> place =
      getValueIndices(e.getBuilder(), e.getLoc(), indices);
  Value value;
  if (info.scaled && info.scaled.isPacked())
    value = emitNibbleToI32(e, readNibble(e, place), info.scaled.getValue());
  else
    value = extendSigned(e, memref::LoadOp::create(e.getBuilder(), e.getLoc(),
                                                   getValues(), place));
  if (Value zero = readZero(e, indices))
    value = e.subI(value, extendSigned(e, zero));
  return value;
}

Value Operand::readScale(Elementwise &e, ValueRange indices) const {
  return loadF32(e, getScales(),
                 getScaleIndices(e.getBuilder(), e.getLoc(), indices));
}

SmallVector<Value> Operand::getScaleIndices(OpBuilder &b, Location loc,
                                            ValueRange indices) const {
  SmallVector<Value> block(indices);
  for (auto [dim, index] : llvm::enumerate(block)) {
    int64_t extent = getBlockOf(dim);
    if (ShapedType::isDynamic(extent))
      index = constantIndex(b, loc, 0);
    else if (extent != 1)
      index =
          arith::DivUIOp::create(b, loc, index, constantIndex(b, loc, extent));
  }
  return getLayoutIndices(b, loc, block);
}

SmallVector<Value> Operand::getLayoutIndices(OpBuilder &b, Location loc,
                                             ValueRange block) const {
  SmallVector<Value> result(block);
  if (result.size() < 2)
    return result;
  if (info.scaled.isReordered()) {
    SmallVector<int64_t> shape = info.scaled.getScaleShape(info.shape);
    if (shape.back() == 1) // One for all of K: as many as rows, in their order.
      return result;
    return getPackedIndices(
        b, loc,
        getPackedScaleDigits(getPackedRows(shape[shape.size() - 2]),
                             shape.back()),
        shape.back(), block);
  }
  ScaleLayout layout = info.scaled.getLayout();
  Value columns;
  if (layout == ScaleLayout::Swizzle128x4)
    columns = memref::DimOp::create(b, loc, getScales(), result.size() - 1);
  ScalePlace place = emitScalePlace(b, loc, layout, result[result.size() - 2],
                                    result.back(), columns);
  result[result.size() - 2] = place.row;
  result.back() = place.column;
  return result;
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

Value moeq::detail::loadF32(Elementwise &e, Value memref, ValueRange indices) {
  return emitToF32(
      e, memref::LoadOp::create(e.getBuilder(), e.getLoc(), memref, indices));
}

Value moeq::detail::loadIndex(OpBuilder &b, Location loc, Value memref,
                              ValueRange indices) {
  Value value = memref::LoadOp::create(b, loc, memref, indices);
  return arith::IndexCastOp::create(b, loc, b.getIndexType(), value);
}

void moeq::detail::emitParallel(
    OpBuilder &b, Location loc, Value out,
    llvm::function_ref<Value(Elementwise &, ValueRange, Value)> body) {
  int64_t rank = cast<MemRefType>(out.getType()).getRank();
  SmallVector<utils::IteratorType> iterators(rank,
                                             utils::IteratorType::parallel);
  linalg::GenericOp::create(
      b, loc, TypeRange(), ValueRange(), ValueRange(out),
      ArrayRef<AffineMap>(b.getMultiDimIdentityMap(rank)), iterators,
      [&](OpBuilder &inner, Location, ValueRange arguments) {
        Elementwise e(inner, loc);
        SmallVector<Value> indices;
        for (int64_t dim = 0; dim < rank; ++dim)
          indices.push_back(linalg::IndexOp::create(inner, loc, dim));
        linalg::YieldOp::create(inner, loc, body(e, indices, arguments[0]));
      });
}

ValueRange moeq::detail::emitLoop(
    OpBuilder &b, Location loc, Value lower, Value upper, Value step,
    ValueRange carried,
    llvm::function_ref<SmallVector<Value>(Elementwise &, Value, ValueRange)>
        body) {
  auto loop = scf::ForOp::create(
      b, loc, lower, upper, step, carried,
      [&](OpBuilder &inner, Location, Value index, ValueRange values) {
        Elementwise e(inner, loc);
        scf::YieldOp::create(inner, loc, body(e, index, values));
      });
  return loop.getResults();
}

ValueRange moeq::detail::emitLoop(
    OpBuilder &b, Location loc, Value upper, ValueRange carried,
    llvm::function_ref<SmallVector<Value>(Elementwise &, Value, ValueRange)>
        body) {
  return emitLoop(b, loc, constantIndex(b, loc, 0), upper,
                  constantIndex(b, loc, 1), carried, body);
}
