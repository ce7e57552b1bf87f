//===- Transforms.h - Rewrites of the moeq dialect --------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The rewrites behind the passes of Passes.td, for other passes to call.
//
//===----------------------------------------------------------------------===//

#ifndef MOEQ_DIALECT_MOEQ_TRANSFORMS_TRANSFORMS_H
#define MOEQ_DIALECT_MOEQ_TRANSFORMS_TRANSFORMS_H

#include "mlir/Support/LogicalResult.h"

namespace mlir {
class RewritePatternSet;
class RewriterBase;
} // namespace mlir

namespace mlir::moeq {

class ExpertsOp;
class GroupedMatmulOp;

/// What `moeq-decompose` makes of a grouped matmul.
enum class DecomposeForm { Grouped, Linear };

/// Replaces a layer on tensors by route, group, gather, quantize,
/// grouped_matmul, activate and combine. Emits an error at a layer on memrefs
/// or with weights in component form.
LogicalResult decomposeExperts(RewriterBase &rewriter, ExpertsOp op);

/// Replaces a grouped matmul on tensors by one moeq.matmul an expert, on the
/// expert's rows of lhs and outs and its slice of rhs; an expert without rows
/// is skipped. Up to `unrollLimit` experts are unrolled, more or a dynamic
/// number make an scf.for. With `deviceOffsets` each expert, of which the
/// number is static, has a grouped matmul of its own instead, of one group
/// whose two offsets the device reads. Bits are those of the grouped matmul.
/// Fails, changing nothing and with a remark, where an operand cannot be
/// sliced: its scales are laid out, or the op is in component form or on
/// memrefs.
LogicalResult decomposeToLinear(RewriterBase &rewriter, GroupedMatmulOp op,
                                int64_t unrollLimit,
                                bool deviceOffsets = false);

/// Merges a quantize with the gather or the activate around it: quantize of
/// gathered rows, act_quant.
void populateFuseQuantizePatterns(RewritePatternSet &patterns);

/// Merges elementwise linalg.generic ops into the epilogue of the matmul that
/// feeds them, and the dequantizes that feed a matmul into its operands.
void populateFuseMatmulPatterns(RewritePatternSet &patterns);

/// Merges an activate, or a gated act_quant but for its quantization, into the
/// epilogue of the matmul that feeds it.
void populateFuseActivationPatterns(RewritePatternSet &patterns);

} // namespace mlir::moeq

#endif // MOEQ_DIALECT_MOEQ_TRANSFORMS_TRANSFORMS_H
