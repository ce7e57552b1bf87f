//===- GroupRows.h - Which rows are at a padded row -------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOEQ_LIB_CONVERSION_MOEQTOKERNELS_GROUPROWS_H
#define MOEQ_LIB_CONVERSION_MOEQTOKERNELS_GROUPROWS_H

#include "KernelBuilder.h"

namespace mlir::moeq {

/// Rows [begin, end) of which the first is that of a padded row; none where
/// begin >= end.
struct GroupRows {
  Value begin, end;
};

/// A tile of rows of one group: the padded row of its first, and the rows from
/// that on to the end of the group.
struct GroupTile {
  Value padded;
  GroupRows rows;
};

/// Tile `number` of those into which the rows of each group are cut by the
/// `offsets` of groups, whose rows are padded to multiples of kPaddedRows, of
/// which `tileRows` is a divisor. All lanes of a warp call it with the same
/// `number`.
GroupTile findGroupTile(KernelBuilder &k, Value offsets, Value number,
                        int64_t tileRows);

/// The rows from the padded row `padded` on to the end of its group. All lanes
/// of a warp call it with the same `padded`.
GroupRows findGroupRows(KernelBuilder &k, Value offsets, Value padded);

} // namespace mlir::moeq

#endif // MOEQ_LIB_CONVERSION_MOEQTOKERNELS_GROUPROWS_H
