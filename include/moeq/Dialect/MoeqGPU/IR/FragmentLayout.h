//===- FragmentLayout.h - Which thread holds what ---------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The layouts of fragments, as data: which thread and which register of it hold
// element (i, j). All code that looks into fragments goes through them.
//
//===----------------------------------------------------------------------===//

#ifndef MOEQ_DIALECT_MOEQGPU_IR_FRAGMENTLAYOUT_H
#define MOEQ_DIALECT_MOEQGPU_IR_FRAGMENTLAYOUT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>

namespace mlir::moeq_gpu {

/// A digit of a mixed-radix number and how far a step of it moves.
struct LayoutMode {
  int64_t extent;
  int64_t rowStride;
  int64_t columnStride;
};

/// An element of a matrix.
struct Position {
  int64_t row;
  int64_t column;
  bool operator==(const Position &other) const {
    return row == other.row && column == other.column;
  }
};

/// The position of an element is the sum of what the digits of its thread and
/// those of its register say; the first mode is the lowest digit.
struct FragmentLayout {
  llvm::SmallVector<LayoutMode> thread;
  llvm::SmallVector<LayoutMode> registers;

  int64_t getNumThreads() const;
  int64_t getNumRegisters() const;
  Position getThreadOffset(int64_t thread) const;
  Position getRegisterOffset(int64_t reg) const;
  Position getPosition(int64_t thread, int64_t reg) const;
};

/// The accumulator of `wgmma.mma_async`, of `rows` (a multiple of 64) and
/// `columns` (one of 8), over the 128 threads of a warpgroup (PTX ISA, "wgmma:
/// register fragments and shared memory matrix layouts", matrix D). With one
/// row or one column, the part of it that broadcasts: the registers whose rows
/// (columns) differ, in their order.
FragmentLayout getAccumulatorLayout(int64_t rows, int64_t columns);

} // namespace mlir::moeq_gpu

#endif // MOEQ_DIALECT_MOEQGPU_IR_FRAGMENTLAYOUT_H
