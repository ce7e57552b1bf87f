//===- VerifyScaledUses.h - Uses of scaled tensors --------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOEQ_LIB_DIALECT_MOEQ_TRANSFORMS_VERIFYSCALEDUSES_H
#define MOEQ_LIB_DIALECT_MOEQ_TRANSFORMS_VERIFYSCALEDUSES_H

#include "ScaledSlice.h"

namespace mlir::moeq::detail {

/// Whether `type` is, or holds, a scaled type.
bool containsScaled(Type type);

/// Checks every use of scaled tensors under `root`: what no verifier of
/// upstream can know. Emits an error at each op or block argument whose type is
/// malformed (unranked, rank below the block's, packed values of a dynamic last
/// extent, scaled types anywhere but in tensors), at each op that has no
/// meaning on scaled tensors, and at each slice that cuts a block. Slices that
/// are neither proved nor disproved are errors too, unless `unproven` collects
/// them.
LogicalResult verifyScaledUses(Operation *root,
                               SmallVectorImpl<UnprovenCut> *unproven);

} // namespace mlir::moeq::detail

#endif // MOEQ_LIB_DIALECT_MOEQ_TRANSFORMS_VERIFYSCALEDUSES_H
