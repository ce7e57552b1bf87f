//===- RowTeam.cpp - Threads that share a row -------------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RowTeam.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::moeq;

/// The largest CTA, and the elements that a thread may keep in registers.
static constexpr int64_t kMaxThreads = 512, kMaxKept = 32;

TeamShape moeq::getTeamShape(int64_t extent, int64_t width) {
  if (ShapedType::isDynamic(extent))
    return {256, 256, width, 0};
  int64_t chunks = llvm::divideCeil(extent, width);
  if (chunks <= kWarpSize)
    return {
        256,
        static_cast<int64_t>(llvm::PowerOf2Ceil(std::max<int64_t>(chunks, 1))),
        width, 1};
  int64_t steps = llvm::divideCeil(chunks, kMaxThreads);
  int64_t threads = llvm::alignTo(llvm::divideCeil(chunks, steps), kWarpSize);
  return {threads, threads, width, steps * width <= kMaxKept ? steps : 0};
}

int64_t moeq::getCommonWidth(ValueRange memrefs, int64_t limit,
                             int64_t extent) {
  int64_t width = llvm::bit_floor(static_cast<uint64_t>(limit));
  auto fits = [&] {
    return (ShapedType::isDynamic(extent) || extent % width == 0) &&
           llvm::all_of(memrefs, [&](Value memref) {
             return KernelBuilder::isAligned(memref, width);
           });
  };
  while (width > 1 && !fits())
    width /= 2;
  return width;
}

RowTeam::RowTeam(KernelBuilder &k, TeamShape shape, Value units)
    : k(k), shape(shape) {
  // 64 registers a thread: enough, and half of the threads of an SM.
  k.setMinBlocks(1024 / shape.threads);
  Value lanes = k.index(shape.lanes);
  unitIndex = k.add(k.mul(k.block(), k.index(shape.teams())),
                    k.divU(k.thread(), lanes));
  laneIndex = shape.teams() == 1 ? k.thread() : k.remU(k.thread(), lanes);
  if (shape.teams() == 1)
    unitIndex = k.block();
  isActive = k.ltU(unitIndex, units);
}

void RowTeam::setLoader(Type element, Loader loader) {
  loadedType =
      shape.width == 1 ? element : VectorType::get(shape.width, element);
  this->loader = std::move(loader);
}

Value RowTeam::columnOf(Value step) {
  Value chunk = k.add(k.mul(step, k.index(shape.lanes)), laneIndex);
  return k.add(begin, k.mul(chunk, k.index(shape.width)));
}

SmallVector<Value>
RowTeam::reduce(ValueRange initial,
                function_ref<SmallVector<Value>(ValueRange, Value)> update,
                Merge merge) {
  SmallVector<Value> result;
  for (Value value : initial)
    result.push_back(k.splat(value, shape.width));
  if (shape.steps == 0) {
    Value stride = k.index(shape.lanes * shape.width);
    Value bound = k.select(isActive, end, begin);
    result = k.forLoop(columnOf(k.index(0)), bound, stride, result,
                       [&](Value column, ValueRange carried) {
                         return update(carried, loader(column));
                       });
  } else {
    Value zero = arith::ConstantOp::create(k, k.getZeroAttr(loadedType));
    kept.clear();
    for (int64_t step = 0; step < shape.steps; ++step) {
      Value column = columnOf(k.index(step));
      kept.push_back(
          k.ifElse(inRange(column), [&] { return loader(column); }, zero));
    }
    for (auto [step, loaded] : llvm::enumerate(kept)) {
      Value guard = inRange(columnOf(k.index(step)));
      SmallVector<Value> next = update(result, loaded);
      for (auto [value, updated] : llvm::zip_equal(result, next))
        value = k.select(guard, updated, value);
    }
  }
  result = mergeElements(result, merge);
  return shape.teams() == 1 && shape.lanes > kWarpSize
             ? k.reduceBlock(result, initial, merge)
             : k.reduceLanes(result, shape.lanes, merge);
}

SmallVector<Value> RowTeam::mergeElements(ValueRange vectors, Merge merge) {
  if (shape.width == 1)
    return SmallVector<Value>(vectors);
  SmallVector<SmallVector<Value>> parts(shape.width);
  for (auto [element, part] : llvm::enumerate(parts))
    for (Value vector : vectors)
      part.push_back(vector::ExtractOp::create(k, vector, element));
  for (int64_t count = shape.width; count > 1; count /= 2)
    for (int64_t i = 0; i < count / 2; ++i)
      parts[i] = merge(parts[i], parts[i + count / 2]);
  return parts[0];
}

void RowTeam::forEach(function_ref<void(Value column, Value loaded)> body) {
  if (shape.steps == 0) {
    Value stride = k.index(shape.lanes * shape.width);
    Value bound = k.select(isActive, end, begin);
    k.forLoop(columnOf(k.index(0)), bound, stride, {},
              [&](Value column, ValueRange) -> SmallVector<Value> {
                body(column, loader(column));
                return {};
              });
    return;
  }
  for (int64_t step = 0; step < shape.steps; ++step) {
    Value column = columnOf(k.index(step));
    k.ifThen(inRange(column),
             [&] { body(column, kept.empty() ? loader(column) : kept[step]); });
  }
}

void RowTeam::once(function_ref<void()> body) {
  k.ifThen(k.both(isActive, isFirst()), body);
}
