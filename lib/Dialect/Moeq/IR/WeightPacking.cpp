//===- WeightPacking.cpp - Where packed weights lie -------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "moeq/Dialect/Moeq/IR/WeightPacking.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::moeq;

/// Appends a digit that follows those before it in memory.
static void append(SmallVectorImpl<PackedDigit> &digits, bool isOfRow,
                   int64_t unit, int64_t extent) {
  int64_t stride =
      digits.empty() ? 1 : digits.back().stride * digits.back().extent;
  digits.push_back({isOfRow, unit, extent, stride});
}

SmallVector<PackedDigit> moeq::getPackedValueDigits(int64_t bits, int64_t rows,
                                                    int64_t columns) {
  SmallVector<PackedDigit> digits;
  // In a word: register i of an m64k16 operand has row i mod 2 of 8 and half i
  // div 2 of the columns.
  if (bits == 4) {
    append(digits, /*isOfRow=*/true, 8, 2);
    append(digits, false, 8, 2);
    append(digits, false, 1, 2);
    append(digits, false, 16, 4); // A word for each instruction.
  } else {
    append(digits, false, 8, 2);
    append(digits, false, 1, 2);
    append(digits, true, 8, 2);
    append(digits, false, 16, 2);
  }
  // The thread: lane and warp.
  append(digits, false, 2, 4);
  append(digits, true, 1, 8);
  append(digits, true, 16, 4);
  if (bits == 8)
    append(digits, false, 32, 2); // The piece.
  append(digits, false, kPackedChunk, columns / kPackedChunk);
  append(digits, true, kPackedChunk, rows / kPackedChunk);
  return digits;
}

SmallVector<PackedDigit> moeq::getPackedScaleDigits(int64_t rows,
                                                    int64_t columns) {
  SmallVector<PackedDigit> digits;
  append(digits, true, 1, kPackedChunk);
  append(digits, false, 1, columns);
  append(digits, true, kPackedChunk, rows / kPackedChunk);
  return digits;
}

int64_t moeq::getPackedPlace(ArrayRef<PackedDigit> digits, int64_t row,
                             int64_t column) {
  int64_t place = 0;
  for (const PackedDigit &digit : digits)
    place += (digit.isOfRow ? row : column) / digit.unit % digit.extent *
             digit.stride;
  return place;
}

std::pair<int64_t, int64_t> moeq::getUnpackedPlace(ArrayRef<PackedDigit> digits,
                                                   int64_t place) {
  int64_t row = 0, column = 0;
  for (const PackedDigit &digit : digits)
    (digit.isOfRow ? row : column) +=
        place / digit.stride % digit.extent * digit.unit;
  return {row, column};
}

/// (value div divisor) mod extent * factor, added to `sum`, which may be null.
static Value emitDigit(OpBuilder &b, Location loc, Value sum, Value value,
                       int64_t divisor, int64_t extent, int64_t factor) {
  auto constant = [&](int64_t x) -> Value {
    return arith::ConstantIndexOp::create(b, loc, x);
  };
  value = b.createOrFold<arith::DivUIOp>(loc, value, constant(divisor));
  value = b.createOrFold<arith::RemUIOp>(loc, value, constant(extent));
  value = b.createOrFold<arith::MulIOp>(loc, value, constant(factor));
  return sum ? b.createOrFold<arith::AddIOp>(loc, sum, value) : value;
}

Value moeq::emitPackedPlace(OpBuilder &b, Location loc,
                            ArrayRef<PackedDigit> digits, Value row,
                            Value column) {
  Value place;
  for (const PackedDigit &digit : digits)
    place = emitDigit(b, loc, place, digit.isOfRow ? row : column, digit.unit,
                      digit.extent, digit.stride);
  return place;
}

std::pair<Value, Value> moeq::emitUnpackedPlace(OpBuilder &b, Location loc,
                                                ArrayRef<PackedDigit> digits,
                                                Value place) {
  Value row, column;
  for (const PackedDigit &digit : digits) {
    Value &part = digit.isOfRow ? row : column;
    part =
        emitDigit(b, loc, part, place, digit.stride, digit.extent, digit.unit);
  }
  return {row, column};
}
