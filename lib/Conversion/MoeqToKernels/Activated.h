//===- Activated.h - Loads of activated rows --------------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOEQ_LIB_CONVERSION_MOEQTOKERNELS_ACTIVATED_H
#define MOEQ_LIB_CONVERSION_MOEQTOKERNELS_ACTIVATED_H

#include "KernelBuilder.h"

#include "moeq/Support/GateColumns.h"
#include "moeq/Support/NumericsMath.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace mlir::moeq {

/// The columns that a thread activates at once. More would take more registers
/// than two CTAs of the largest size have.
constexpr int64_t kActivatedWidth = 4;
static_assert(kGateGroup % kActivatedWidth == 0);

/// What an activation, or its gradient, is rounded to before it is quantized:
/// f32 where it isn't.
inline Type getIntermediateType(Builder &b, IntermediateRound round) {
  switch (round) {
  case IntermediateRound::None:
    return b.getF32Type();
  case IntermediateRound::BF16:
    return b.getBF16Type();
  case IntermediateRound::F16:
    return b.getF16Type();
  }
  llvm_unreachable("unknown rounding");
}

/// Loads what `width` columns of the activated input of an `activate` or
/// `act_quant` are made of, whose result has `columns` columns: as many of the
/// input, or of gate and of up.
template <typename OpTy>
SmallVector<Value> fetchActivated(KernelBuilder &k, OpTy op, Value row,
                                  Value column, Value columns, int64_t width) {
  Value input = op.getInput();
  if (!isGated(op.getFunction()))
    return {k.load(input, {row, column}, width)};
  // `width` columns of each half, which lie side by side unless single ones
  // alternate: `width` divides kGateGroup.
  GateColumns at =
      emitGateColumns(k, k.getLoc(), op.getGateLayout(), column, columns);
  if (op.getGateLayout() == GateLayout::Interleaved && width > 1) {
    auto halves = vector::DeinterleaveOp::create(
        k, k.load(input, {row, at.gate}, 2 * width));
    return {halves.getRes1(), halves.getRes2()};
  }
  return {k.load(input, {row, at.gate}, width),
          k.load(input, {row, at.up}, width)};
}

/// The f32 numbers that `emit` makes of those of `operands`, vectors of as many
/// columns or scalars: column by column, so that few intermediate results are
/// there at a time.
inline SmallVector<Value>
emitByColumn(KernelBuilder &k, ValueRange operands,
             function_ref<SmallVector<Value>(ValueRange)> emit) {
  auto numbersAt = [&](int64_t column) {
    return llvm::map_to_vector(operands, [&](Value operand) {
      bool isVector = isa<VectorType>(operand.getType());
      return k.toF32(isVector ? vector::ExtractOp::create(k, operand, column)
                              : operand);
    });
  };
  auto type = dyn_cast<VectorType>(operands[0].getType());
  if (!type)
    return emit(numbersAt(0));
  SmallVector<SmallVector<Value>> columns;
  for (int64_t column = 0; column < type.getNumElements(); ++column)
    columns.push_back(emit(numbersAt(column)));
  SmallVector<Value> results;
  for (size_t i = 0; i < columns[0].size(); ++i)
    results.push_back(vector::FromElementsOp::create(
        k, VectorType::get(type.getNumElements(), k.getF32Type()),
        llvm::map_to_vector(columns, [&](auto &column) { return column[i]; })));
  return results;
}

/// The activated numbers of what fetchActivated loaded, times `weight`, a
/// scalar, unless that is null: f32, not yet rounded.
template <typename OpTy>
Value computeActivated(KernelBuilder &k, OpTy op, ValueRange fetched,
                       Value weight) {
  Elementwise e(k, k.getLoc());
  auto emit = [&](ValueRange numbers) -> SmallVector<Value> {
    Value value = emitActivation(e, getActivationParameters(op), numbers[0],
                                 numbers.size() > 1 ? numbers[1] : Value());
    return {weight ? e.mul(value, weight) : value};
  };
  return emitByColumn(k, fetched, emit)[0];
}

/// The router weight of a row, or null.
template <typename OpTy>
Value fetchRowWeight(KernelBuilder &k, OpTy op, Value row) {
  Value weight = op.getRowWeight();
  return weight ? k.load(weight, row) : Value();
}

} // namespace mlir::moeq

#endif // MOEQ_LIB_CONVERSION_MOEQTOKERNELS_ACTIVATED_H
