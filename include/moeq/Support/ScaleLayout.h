//===- ScaleLayout.h - Where scales lie -------------------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOEQ_SUPPORT_SCALELAYOUT_H
#define MOEQ_SUPPORT_SCALELAYOUT_H

#include "moeq/Dialect/Moeq/IR/Moeq.h"

namespace mlir::moeq {

/// The last two indices, in memory, of a scale.
struct ScalePlace {
  Value row, column;
};

/// The byte, from the first one of all scales on, where `swizzle_128x4` puts
/// the scale at `row` and `column` of `columns`, a multiple of 4: tiles of 128
/// rows and 4 columns, 512 bytes each, row tiles outer; in a tile the byte is
/// (r mod 32) * 16 + (r div 32) * 4 + c.
Value emitSwizzledByte(OpBuilder &b, Location loc, Value row, Value column,
                       Value columns);

/// Where a layout of !moeq.scaled puts the scale at `row` and `column`, counted
/// in blocks; all are of type index. `columns` is the last extent of the scales
/// in memory; only `swizzle_128x4` needs it.
ScalePlace emitScalePlace(OpBuilder &b, Location loc, ScaleLayout layout,
                          Value row, Value column, Value columns);

} // namespace mlir::moeq

#endif // MOEQ_SUPPORT_SCALELAYOUT_H
