//===- DequantizeKernel.cpp - Kernel of dequantize --------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"
#include "RowTeam.h"

#include "moeq/Support/NumericsCasts.h"
#include "moeq/Support/NumericsRecipe.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::moeq;

/// `width` values as f32, all of the row in `indices` from its last one on.
static Value loadValues(KernelBuilder &k, Elementwise &e, Value values,
                        ScaledType format, ArrayRef<Value> indices,
                        int64_t width) {
  if (!format.isPacked())
    return emitToF32(e, k.load(values, indices, width));
  SmallVector<Value> place(indices);
  place.back() = k.divU(indices.back(), k.index(2));
  Value bytes =
      e.extendU8(k.load(values, place, std::max<int64_t>(width / 2, 1)));
  Value low = e.andI(bytes, 0xf), high = e.shrU(bytes, 4);
  Value codes;
  if (width == 1)
    codes = k.select(k.equal(k.remU(indices.back(), k.index(2)), k.index(0)),
                     low, high);
  else if (width == 2)
    codes = vector::FromElementsOp::create(
        k, VectorType::get(2, k.getI32Type()), ValueRange{low, high});
  else
    codes = vector::InterleaveOp::create(k, low, high);
  return emitNibbleToF32(e, codes, format.getValue());
}

namespace {
/// The values at some indices, and where the scale and the zero of them are.
struct Source {
  DequantizeOp op;
  ScaledType format;
  KernelBuilder &k;
  Elementwise e;

  /// `width` values as f32, with the scale at `scaleIndices`.
  Value load(ArrayRef<Value> indices, ArrayRef<Value> scaleIndices,
             int64_t width) {
    Value numbers = loadValues(k, e, op.getInput()[0], format, indices, width);
    auto loadOne = [&](unsigned component) {
      Value one = k.load(op.getInput()[component], scaleIndices);
      return k.splat(emitToF32(e, one), width);
    };
    Value zero = format.getZero() ? loadOne(2) : Value();
    return emitDequantize(e, numbers, zero, loadOne(1));
  }
};
} // namespace

/// The neighbouring elements of a row with one scale, where each row has whole
/// blocks of its own; 0 where it has not.
static int64_t getRun(ScaledType format, MemRefType type) {
  int64_t rank = type.getRank(), extent = type.getShape().back(),
          block = format.getBlockOf(rank - 1, rank);
  for (int64_t dim = 0; dim + 1 < rank; ++dim)
    if (format.getBlockOf(dim, rank) != 1)
      return 0;
  if (ShapedType::isDynamic(extent))
    return 0;
  if (ShapedType::isDynamic(block))
    return extent;
  return extent % block == 0 ? block : 0;
}

/// Elements and scales one after another, whatever the rows: each thread loads
/// `kChunks` times `width` of them before it stores the first.
static LogicalResult buildFlat(DequantizeOp op, gpu::GPUModuleOp module,
                               int64_t width, int64_t run) {
  constexpr int64_t kThreads = 256, kChunks = 4;
  Value outs = op.getOuts();
  auto type = cast<MemRefType>(outs.getType());
  KernelBuilder k(module, op, kThreads);
  k.setMinBlocks(2048 / kThreads);
  Source source{op, cast<ScaledType>(*op.getInputFormat()), k,
                Elementwise(k, op.getLoc())};
  Value chunks = k.index(1), hostChunks = k.hostIndex(1);
  for (int64_t dim = 0, rank = type.getRank(); dim < rank; ++dim) {
    bool isLast = dim + 1 == rank;
    int64_t ofRow = type.getShape().back() / width;
    chunks = k.mul(chunks, isLast ? k.index(ofRow) : k.size(outs, dim));
    hostChunks = k.hostMul(hostChunks,
                           isLast ? k.hostIndex(ofRow) : k.hostSize(outs, dim));
  }
  // The offset of an element is that of its last index, beside zeros.
  auto at = [&](Value offset) {
    SmallVector<Value> indices(type.getRank(), k.index(0));
    indices.back() = offset;
    return indices;
  };
  Value first = k.mul(k.block(), k.index(kThreads * kChunks));
  k.ifThen(k.ltU(first, chunks), [&] {
    SmallVector<Value> offsets, loaded;
    for (int64_t i = 0; i < kChunks; ++i) {
      // Beyond the end it is the last chunk once more.
      Value chunk = k.add(k.add(first, k.index(i * kThreads)), k.thread());
      chunk = k.minU(chunk, k.sub(chunks, k.index(1)));
      offsets.push_back(k.mul(chunk, k.index(width)));
      Value scaleOffset = k.divU(offsets.back(), k.index(run));
      loaded.push_back(source.load(at(offsets.back()), at(scaleOffset), width));
    }
    for (auto [offset, numbers] : llvm::zip_equal(offsets, loaded))
      k.store(k.fromF32(numbers, type.getElementType()), outs, at(offset));
  });
  k.launch(k.hostCeilDiv(hostChunks, kThreads * kChunks));
  return success();
}

/// A team a row, all dimensions but the last counted through.
LogicalResult moeq::buildKernels(DequantizeOp op, gpu::GPUModuleOp module) {
  auto format = cast<ScaledType>(*op.getInputFormat());
  if (!format.isRowMajor())
    return op.emitOpError()
           << "expects scales in row-major layout in a kernel, got " << format;
  Value values = op.getInput()[0], outs = op.getOuts();
  auto type = cast<MemRefType>(outs.getType());
  int64_t rank = type.getRank(), block = format.getBlockOf(rank - 1, rank);
  int64_t limit = 128 / type.getElementTypeBitWidth();
  // The columns of a step are of one scale.
  int64_t width = getCommonWidth(outs, limit, block);
  if (format.isPacked())
    width = std::min(width, 2 * getCommonWidth(values, limit));
  int64_t run = getRun(format, type);
  if (width == limit && run % width == 0 && run != 0 &&
      (format.isPacked() || KernelBuilder::isAligned(values, width)))
    return buildFlat(op, module, width, run);
  TeamShape shape = getTeamShape(type.getShape().back(), width);
  KernelBuilder k(module, op, shape.threads);
  Source source{op, format, k, Elementwise(k, op.getLoc())};

  SmallVector<Value> extents;
  Value rows = k.index(1), hostRows = k.hostIndex(1);
  for (int64_t dim = 0; dim + 1 < rank; ++dim) {
    extents.push_back(k.size(outs, dim));
    rows = k.mul(rows, extents.back());
    hostRows = k.hostMul(hostRows, k.hostSize(outs, dim));
  }
  RowTeam team(k, shape, rows);
  SmallVector<Value> coordinates = k.delinearize(team.unit(), extents);
  coordinates.push_back({});
  team.setColumns(k.index(0), k.size(outs, rank - 1));
  team.setLoader(k.getF32Type(), [&](Value column) {
    coordinates.back() = column;
    SmallVector<Value> scaleIndices;
    for (int64_t dim = 0; dim < rank; ++dim) {
      int64_t size = format.getBlockOf(dim, rank);
      scaleIndices.push_back(ShapedType::isDynamic(size)
                                 ? k.index(0)
                                 : k.divU(coordinates[dim], k.index(size)));
    }
    return source.load(coordinates, scaleIndices, width);
  });
  team.forEach([&](Value column, Value numbers) {
    coordinates.back() = column;
    k.store(k.fromF32(numbers, type.getElementType()), outs, coordinates);
  });
  k.launch(k.hostCeilDiv(hostRows, shape.teams()));
  return success();
}
