//===- TargetChip.h - The chip that an op is compiled for -------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOEQ_TARGET_TARGETCHIP_H
#define MOEQ_TARGET_TARGETCHIP_H

#include "moeq/Target/Chips.h"

#include "mlir/IR/Operation.h"

namespace mlir::moeq {

/// The chip of `moeq.target` on a module around `op`, or the one of the name
/// `fallback`, with the multiprocessors and the shared memory that the target
/// says otherwise; rates follow the multiprocessors. An error at `op` where the
/// chip is not known.
FailureOr<Chip> getTargetChip(Operation *op, StringRef fallback = kDefaultChip);

} // namespace mlir::moeq

#endif // MOEQ_TARGET_TARGETCHIP_H
