//===- ScaledSlice.h - Slices of scaled tensors -----------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a slice of a scaled tensor means for its components, and whether it may
// be taken:
//
//  - an extract starts at a multiple of the scale block (the rest is a tail
//    block) or lies inside one block; a whole-extent block may be cut;
//  - an insert starts at a multiple of the block and covers whole blocks or
//    reaches the end; a whole-extent block is inserted whole;
//  - packed 4-bit values are cut between bytes, by either;
//  - laid-out dimensions are not cut.
//
//===----------------------------------------------------------------------===//

#ifndef MOEQ_LIB_DIALECT_MOEQ_TRANSFORMS_SCALEDSLICE_H
#define MOEQ_LIB_DIALECT_MOEQ_TRANSFORMS_SCALEDSLICE_H

#include "moeq/Dialect/Moeq/IR/Moeq.h"

namespace mlir::moeq::detail {

/// A divisor of `index` that is known from the ops that compute it: constants,
/// affine.apply and affine.min, sums, products, and loop variables. 0 if the
/// index is 0. Walks intact IR only: a block argument's loop must be its
/// parent.
int64_t getKnownDivisor(OpFoldResult index);

/// `dividend floordiv divisor` and `dividend ceildiv divisor`, folded.
OpFoldResult floorDiv(OpBuilder &builder, Location loc, OpFoldResult dividend,
                      int64_t divisor);
OpFoldResult ceilDiv(OpBuilder &builder, Location loc, OpFoldResult dividend,
                     int64_t divisor);

/// The sizes of component `component` of a tensor of `sizes`.
SmallVector<OpFoldResult> getComponentSizes(OpBuilder &builder, Location loc,
                                            ScaledType type, unsigned component,
                                            ArrayRef<OpFoldResult> sizes);

/// Offsets, sizes and strides, one of each a dimension.
struct SliceRegion {
  SmallVector<OpFoldResult> offsets, sizes, strides;
};

/// The part of component `component` that belongs to `region` of the tensor.
SliceRegion getComponentRegion(OpBuilder &builder, Location loc,
                               ScaledType type, unsigned component,
                               const SliceRegion &region);

/// How a slice may meet the blocks of one dimension.
enum class CutRule {
  /// Starts at a multiple of the block or lies inside one.
  Read,
  /// Starts at a multiple and covers whole blocks or reaches the end.
  Write,
  /// Takes the whole extent.
  Whole,
  /// Reshapes an extent that holds whole blocks.
  Blocks
};

/// A rule of one dimension of a scaled tensor, and what it protects.
struct Cut {
  StringRef what;
  int64_t dim, block;
  CutRule rule;
};

/// The rules that a read or a write of a slice of `whole` obeys.
SmallVector<Cut> getCuts(RankedTensorType whole, bool isWrite);

/// Whether the slice [offset, offset + size) of `cut.dim` of `whole` obeys the
/// rule: true or false where known.
std::optional<bool> proveCut(Value whole, const Cut &cut, OpFoldResult offset,
                             OpFoldResult size);

/// Appends "expects ..., got ..." to an error.
void describeCut(InFlightDiagnostic &diag, const Cut &cut, OpFoldResult offset,
                 OpFoldResult size);

/// A slice that neither obeys a rule for certain nor breaks it.
struct UnprovenCut {
  Operation *op;
  Value whole;
  Cut cut;
  OpFoldResult offset, size;
};

/// Checks that no size is a negative constant: a static size of a component
/// would become of it, which upstream rejects with no word of `op`.
LogicalResult verifyConstantSizes(Operation *op, ArrayRef<OpFoldResult> sizes);

/// Checks tensor.extract_slice, insert_slice and parallel_insert_slice on
/// scaled tensors. What is wrong is an error at `op`. So is what is neither
/// proved nor disproved, unless `unproven` collects it.
LogicalResult verifyScaledSlice(Operation *op,
                                SmallVectorImpl<UnprovenCut> *unproven);

/// Checks tensor.collapse_shape and expand_shape on scaled tensors: in a group
/// of several dimensions only the last may have blocks, which its extent holds
/// whole.
LogicalResult verifyScaledReshape(Operation *op,
                                  SmallVectorImpl<UnprovenCut> *unproven);

/// Creates a cf.assert of what `cut` left unproven, before its op.
void assertCut(OpBuilder &builder, const UnprovenCut &cut);

} // namespace mlir::moeq::detail

#endif // MOEQ_LIB_DIALECT_MOEQ_TRANSFORMS_SCALEDSLICE_H
