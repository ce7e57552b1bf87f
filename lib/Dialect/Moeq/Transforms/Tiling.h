//===- Tiling.h - What the tiling models share ------------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOEQ_LIB_DIALECT_MOEQ_TRANSFORMS_TILING_H
#define MOEQ_LIB_DIALECT_MOEQ_TRANSFORMS_TILING_H

#include "moeq/Dialect/Moeq/IR/Moeq.h"

#include "mlir/Interfaces/TilingInterface.h"

namespace mlir::moeq::detail {

/// A part of one operand: an offset and a size for each dimension.
struct OperandTile {
  SmallVector<OpFoldResult> offsets, sizes;
};

/// The size of dimension `dim` of `value`, a tensor or memref.
OpFoldResult getShapedSize(OpBuilder &builder, Value value, int64_t dim);

/// Part of dimension `dim` of `value`, and all of its other dimensions.
OperandTile getDimTile(OpBuilder &builder, Value value, int64_t dim,
                       OpFoldResult offset, OpFoldResult size);

/// Ops are tiled on scaled tensors: an error at `op` on memrefs or components.
LogicalResult verifyTileable(Operation *op);

/// An error at `op` if `tile` of `value` cuts what its scales hold together.
LogicalResult verifyTile(Operation *op, Value value, const OperandTile &tile,
                         bool isWrite);

/// A slice of `value`, or `value` if the tile is all of it. With `rank` it is
/// of that rank, leading dimensions of size 1 dropped. Appends it to `slices`.
Value createSlice(OpBuilder &builder, Location loc, Value value,
                  const OperandTile &tile, SmallVectorImpl<Operation *> &slices,
                  std::optional<int64_t> rank = std::nullopt);

/// `op` on the slices of a tile, regions included.
Operation *cloneTile(OpBuilder &builder, Operation *op, Type resultType,
                     ValueRange operands);

/// Adds the position of a tile to the row and column of a matmul's epilogue.
void shiftEpilogue(OpBuilder &builder, Location loc, Region &epilogue,
                   OpFoldResult row, OpFoldResult column);

/// The weight's columns for [offset, offset + size) of the result's: the same,
/// or those of gate and up. An error at the op where a tile may cut a group of
/// these.
template <typename OpTy>
FailureOr<std::pair<OpFoldResult, OpFoldResult>>
getWeightColumns(OpBuilder &builder, OpTy op, OpFoldResult offset,
                 OpFoldResult size);

/// Attaches TilingInterface to moeq.grouped_matmul.
void attachGroupedMatmulTiling(MLIRContext *context);

} // namespace mlir::moeq::detail

#endif // MOEQ_LIB_DIALECT_MOEQ_TRANSFORMS_TILING_H
