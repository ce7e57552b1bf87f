//===- FragmentLayout.cpp - Which thread holds what -------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "moeq/Dialect/MoeqGPU/IR/FragmentLayout.h"

using namespace mlir::moeq_gpu;

static int64_t getSize(llvm::ArrayRef<LayoutMode> modes) {
  int64_t size = 1;
  for (const LayoutMode &mode : modes)
    size *= mode.extent;
  return size;
}

static Position getOffset(llvm::ArrayRef<LayoutMode> modes, int64_t index) {
  Position offset{0, 0};
  for (const LayoutMode &mode : modes) {
    offset.row += index % mode.extent * mode.rowStride;
    offset.column += index % mode.extent * mode.columnStride;
    index /= mode.extent;
  }
  return offset;
}

int64_t FragmentLayout::getNumThreads() const { return getSize(thread); }
int64_t FragmentLayout::getNumRegisters() const { return getSize(registers); }

Position FragmentLayout::getThreadOffset(int64_t index) const {
  return getOffset(thread, index);
}

Position FragmentLayout::getRegisterOffset(int64_t index) const {
  return getOffset(registers, index);
}

Position FragmentLayout::getPosition(int64_t threadIndex, int64_t reg) const {
  Position a = getThreadOffset(threadIndex), b = getRegisterOffset(reg);
  return {a.row + b.row, a.column + b.column};
}

FragmentLayout mlir::moeq_gpu::getAccumulatorLayout(int64_t rows,
                                                    int64_t columns) {
  // Four threads along a row, eight rows a warp, warps 16 rows apart.
  FragmentLayout layout;
  layout.thread = {{4, 0, 2}, {8, 1, 0}, {4, 16, 0}};
  // A pair of columns, the rows 8 further down, each 8 columns, each 64 rows.
  layout.registers = {
      {2, 0, 1}, {2, 8, 0}, {columns / 8, 0, 8}, {rows / 64, 64, 0}};
  // A vector has the digits that move along it, and no others.
  auto drop = [](llvm::SmallVector<LayoutMode> &modes, bool isRow,
                 bool isThread) {
    llvm::SmallVector<LayoutMode> kept;
    for (LayoutMode mode : modes) {
      int64_t &stride = isRow ? mode.rowStride : mode.columnStride;
      if (isThread)
        stride = 0;
      if (isThread || stride == 0)
        kept.push_back(mode);
    }
    modes = kept;
  };
  for (bool isRow : {true, false})
    if ((isRow ? rows : columns) == 1)
      for (bool isThread : {true, false})
        drop(isThread ? layout.thread : layout.registers, isRow, isThread);
  return layout;
}
