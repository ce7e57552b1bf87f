//===- RowTeam.h - Threads that share a row ---------------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The skeleton of the kernels that work row by row, or by blocks of a row:
// gather, quantize, act_quant, dequantize, activate and combine differ in what
// they load, reduce and store.
//
//===----------------------------------------------------------------------===//

#ifndef MOEQ_LIB_CONVERSION_MOEQTOKERNELS_ROWTEAM_H
#define MOEQ_LIB_CONVERSION_MOEQTOKERNELS_ROWTEAM_H

#include "KernelBuilder.h"

namespace mlir::moeq {

/// How the threads of a CTA form teams: `lanes` threads a team, a power of two
/// inside of a warp or all threads of the CTA. Each thread takes `width`
/// neighbouring columns a step. `steps` is 0 where their number is not known or
/// too large to keep what they load in registers.
struct TeamShape {
  int64_t threads, lanes, width, steps;

  int64_t teams() const { return threads / lanes; }
};

/// The shape for units of `extent` columns (or kDynamic).
TeamShape getTeamShape(int64_t extent, int64_t width);

/// The largest power of two up to `limit` by which all memrefs can be accessed
/// (`KernelBuilder::isAligned`), and that divides `extent`, where it is static.
int64_t getCommonWidth(ValueRange memrefs, int64_t limit,
                       int64_t extent = ShapedType::kDynamic);

/// A team at work on its unit, a row or a block of it: number `unit()` of
/// `units`. Where there are fewer units than teams the rest is not active: it
/// neither loads nor stores, but takes part in reductions.
class RowTeam {
public:
  RowTeam(KernelBuilder &k, TeamShape shape, Value units);

  /// The same team with other columns a thread.
  RowTeam withShape(TeamShape shape) const {
    RowTeam other(*this);
    other.shape = shape;
    other.kept.clear();
    return other;
  }

  Value unit() const { return unitIndex; }
  Value active() const { return isActive; }
  /// Whether this thread is the first of its team.
  Value isFirst() { return k.equal(laneIndex, k.index(0)); }
  /// Makes the team inactive unless `condition`, which is the same in all of
  /// it.
  void restrict(Value condition) { isActive = k.both(isActive, condition); }
  /// The columns of the unit.
  void setColumns(Value begin, Value end) {
    this->begin = begin;
    this->end = end;
  }
  /// What a thread loads at a column: `width` elements.
  using Loader = std::function<Value(Value column)>;
  void setLoader(Type element, Loader loader);

  /// Statistics over all columns, in all lanes. `update` takes what was loaded
  /// into statistics of its shape, elementwise; `initial` are those of nothing.
  SmallVector<Value>
  reduce(ValueRange initial,
         function_ref<SmallVector<Value>(ValueRange, Value)> update,
         Merge merge);
  /// Runs `body` at each column of this thread with what is loaded there.
  void forEach(function_ref<void(Value column, Value loaded)> body);
  /// Runs `body` in one thread of an active team.
  void once(function_ref<void()> body);

private:
  /// The statistics of the elements of vectors as one.
  SmallVector<Value> mergeElements(ValueRange vectors, Merge merge);
  Value columnOf(Value step);
  Value inRange(Value column) { return k.both(isActive, k.ltU(column, end)); }

  KernelBuilder &k;
  TeamShape shape;
  Value unitIndex, laneIndex, isActive, begin, end;
  Type loadedType;
  Loader loader;
  /// What was loaded in each step, where it is kept.
  SmallVector<Value> kept;
};

} // namespace mlir::moeq

#endif // MOEQ_LIB_CONVERSION_MOEQTOKERNELS_ROWTEAM_H
