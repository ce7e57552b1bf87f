//===- FuseDetail.h - What the patterns of moeq-fuse share ------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOEQ_LIB_DIALECT_MOEQ_TRANSFORMS_FUSEDETAIL_H
#define MOEQ_LIB_DIALECT_MOEQ_TRANSFORMS_FUSEDETAIL_H

#include "moeq/Dialect/Moeq/IR/Moeq.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/Remarks.h"

namespace mlir::moeq::detail {

/// Whether the elements of `value` are undefined.
inline bool isUndefined(Value value) {
  return value.getDefiningOp<tensor::EmptyOp>() != nullptr;
}

/// Tells that `name` was merged at `op`.
inline void remarkFused(Operation *op, StringRef name) {
  remark::passed(op->getLoc(),
                 remark::RemarkOpts::name(name).category("moeq-fuse"));
}

} // namespace mlir::moeq::detail

#endif // MOEQ_LIB_DIALECT_MOEQ_TRANSFORMS_FUSEDETAIL_H
