//===- WeightPacking.h - Where packed weights lie ---------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The order `packing = fragments` of a weight [N, K], as data: the place of an
// element is a number in mixed radix whose digits are those of its row and its
// column in another order. Values lie in chunks of 64 rows and 64 columns,
// along K first: [pieces][128 threads][16 bytes], the bytes that a thread of a
// warpgroup has of the A operand of four m64k16 instructions (PTX ISA, "wgmma:
// register fragments", matrix A). In a 32-bit word of them
// - byte 2 h + c of an 8-bit value is the (column + h, half c of the columns)
// of
//   a register of two columns, and a word has one row;
// - nibble 4 h + i of a 4-bit value is half h of register i.
// So a shift and a mask take the two values of a register out of a word at
// once.
//
//===----------------------------------------------------------------------===//

#ifndef MOEQ_DIALECT_MOEQ_IR_WEIGHTPACKING_H
#define MOEQ_DIALECT_MOEQ_IR_WEIGHTPACKING_H

#include "moeq/Dialect/Moeq/IR/Moeq.h"

namespace mlir::moeq {

/// A digit of a row (or of a column): (row div unit) mod extent. A step of it
/// moves by `stride` elements.
struct PackedDigit {
  bool isOfRow;
  int64_t unit, extent, stride;
};

/// The digits of a component of packed weights [rows, columns]: of their values
/// in `bits` each, or of scales (or zeros), of which `columns` are the blocks
/// along K. Both extents are multiples of 64, but for the blocks.
SmallVector<PackedDigit> getPackedValueDigits(int64_t bits, int64_t rows,
                                              int64_t columns);
SmallVector<PackedDigit> getPackedScaleDigits(int64_t rows, int64_t columns);

/// The number of an element in memory order, and its inverse: the row and the
/// column of element `place`.
int64_t getPackedPlace(ArrayRef<PackedDigit> digits, int64_t row,
                       int64_t column);
std::pair<int64_t, int64_t> getUnpackedPlace(ArrayRef<PackedDigit> digits,
                                             int64_t place);

/// The same on index values.
Value emitPackedPlace(OpBuilder &b, Location loc, ArrayRef<PackedDigit> digits,
                      Value row, Value column);
std::pair<Value, Value> emitUnpackedPlace(OpBuilder &b, Location loc,
                                          ArrayRef<PackedDigit> digits,
                                          Value place);

} // namespace mlir::moeq

#endif // MOEQ_DIALECT_MOEQ_IR_WEIGHTPACKING_H
