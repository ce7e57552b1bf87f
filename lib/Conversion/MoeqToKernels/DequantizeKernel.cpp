//===- DequantizeKernel.cpp - Kernel of dequantize --------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"
#include "RowTeam.h"

#include "moeq/Support/NumericsCasts.h"

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
  TeamShape shape = getTeamShape(type.getShape().back(), width);
  KernelBuilder k(module, op, shape.threads);
  Elementwise e(k, op.getLoc());

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
    Value numbers = loadValues(k, e, values, format, coordinates, width);
    if (format.getZero()) {
      Value zero = emitToF32(e, k.load(op.getInput()[2], scaleIndices));
      numbers = e.sub(numbers, k.splat(zero, width));
    }
    Value scale = emitToF32(e, k.load(op.getInput()[1], scaleIndices));
    return e.mul(numbers, k.splat(scale, width));
  });
  team.forEach([&](Value column, Value numbers) {
    coordinates.back() = column;
    k.store(k.fromF32(numbers, type.getElementType()), outs, coordinates);
  });
  k.launch(k.hostCeilDiv(hostRows, shape.teams()));
  return success();
}
