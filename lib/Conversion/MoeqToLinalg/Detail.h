//===- Detail.h - What the patterns to loops share --------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOEQ_LIB_CONVERSION_MOEQTOLINALG_DETAIL_H
#define MOEQ_LIB_CONVERSION_MOEQTOLINALG_DETAIL_H

#include "moeq/Dialect/Moeq/IR/Moeq.h"
#include "moeq/Support/Numerics.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::moeq::detail {

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

/// Access to the numbers of an operand group on memrefs, plain or scaled, by
/// logical indices.
class Operand {
public:
  /// `info` is what getOperandInfo tells of `components`.
  Operand(const OperandInfo &info, ValueRange components)
      : info(info), components(components) {}

  ScaledType getScaled() const { return info.scaled; }
  Value getValues() const { return components[0]; }
  Value getScales() const { return components[1]; }
  Value getZeros() const {
    return components.size() > 2 ? components[2] : Value();
  }
  /// The block along `dim`: 1, an extent, or kDynamic for all of it. Of a plain
  /// operand kDynamic.
  int64_t getBlockOf(int64_t dim) const;
  /// Whether value - zero is an integer.
  bool isInteger() const;

  /// value - zero, as f32 or, where isInteger(), as i32.
  Value readF32(Elementwise &e, ValueRange indices) const;
  Value readI32(Elementwise &e, ValueRange indices) const;
  /// The scale of an element, as f32.
  Value readScale(Elementwise &e, ValueRange indices) const;

  /// The indices of an element's scale among the scales, in their layout.
  SmallVector<Value> getScaleIndices(OpBuilder &b, Location loc,
                                     ValueRange indices) const;
  /// The indices among the scales of a block, counted in row-major layout.
  SmallVector<Value> getLayoutIndices(OpBuilder &b, Location loc,
                                      ValueRange block) const;

  /// The indices of an element's value among the values, in their order: of
  /// packed 4-bit values counted in values.
  SmallVector<Value> getValueIndices(OpBuilder &b, Location loc,
                                     ValueRange indices) const;

private:
  /// The byte that holds an element of 4 bits, its element in the low bits.
  Value readNibble(Elementwise &e, ValueRange indices) const;
  Value readZero(Elementwise &e, ValueRange indices) const;

  OperandInfo info;
  SmallVector<Value, 3> components;
};

/// The operand group of an op that its verifier has accepted.
FailureOr<Operand> getOperand(Operation *op, ValueRange values, TypeAttr format,
                              StringRef name);

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

Value constantIndex(OpBuilder &b, Location loc, int64_t value);

/// An element of a memref as f32.
Value loadF32(Elementwise &e, Value memref, ValueRange indices);
/// An element of a memref of i32 as index, sign kept.
Value loadIndex(OpBuilder &b, Location loc, Value memref, ValueRange indices);

/// Sets each element of the memref `out` to what `body` makes of its indices
/// and of what it held, in any order: a `linalg.generic`.
void emitParallel(
    OpBuilder &b, Location loc, Value out,
    llvm::function_ref<Value(Elementwise &, ValueRange, Value)> body);

/// A loop over [lower, upper) with values that are carried.
ValueRange emitLoop(
    OpBuilder &b, Location loc, Value lower, Value upper, Value step,
    ValueRange carried,
    llvm::function_ref<SmallVector<Value>(Elementwise &, Value, ValueRange)>
        body);

/// The same over [0, upper), by 1.
ValueRange emitLoop(
    OpBuilder &b, Location loc, Value upper, ValueRange carried,
    llvm::function_ref<SmallVector<Value>(Elementwise &, Value, ValueRange)>
        body);

//===----------------------------------------------------------------------===//
// Patterns, one file a family
//===----------------------------------------------------------------------===//

void populateActivatePatterns(RewritePatternSet &patterns);
void populateDispatchPatterns(RewritePatternSet &patterns);
void populateMatmulPatterns(RewritePatternSet &patterns);
void populatePlanPatterns(RewritePatternSet &patterns);
void populatePrepackPatterns(RewritePatternSet &patterns);
void populateQuantizePatterns(RewritePatternSet &patterns);
void populateRoutePatterns(RewritePatternSet &patterns);
void populateSmoothPatterns(RewritePatternSet &patterns);
void populateTrainingPatterns(RewritePatternSet &patterns);

/// The f32 value of an activation at row and column of its result.
template <typename OpTy>
Value emitActivationAt(Elementwise &e, OpTy op, Value row, Value column);

/// Sets each element of `out` [E, K], f32, to the sum of the f32 numbers that
/// `element` makes of row and column, over the rows of a group, in the order of
/// docs/Spec.md: of 4 rows, of two such sums, of four of these (kSummedRows),
/// of all of these, ascending each.
void emitColumnSums(
    OpBuilder &b, Location loc, Value offsets, Value out,
    llvm::function_ref<Value(Elementwise &, ValueRange)> element);

/// The f32 gradient of an activation at row and column of its input.
template <typename OpTy>
Value emitGradientAt(Elementwise &e, OpTy op, Value row, Value column);

} // namespace mlir::moeq::detail

#endif // MOEQ_LIB_CONVERSION_MOEQTOLINALG_DETAIL_H
