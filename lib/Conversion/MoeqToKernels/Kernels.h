//===- Kernels.h - The kernel of each op ------------------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each function makes the kernels of one op on memrefs in `module`, and their
// launches before the op. It emits an error at the op where it has no kernel.
//
//===----------------------------------------------------------------------===//

#ifndef MOEQ_LIB_CONVERSION_MOEQTOKERNELS_KERNELS_H
#define MOEQ_LIB_CONVERSION_MOEQTOKERNELS_KERNELS_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "moeq/Dialect/Moeq/IR/Moeq.h"

namespace mlir::moeq {

LogicalResult buildKernels(RouteOp op, gpu::GPUModuleOp module);
LogicalResult buildKernels(GroupOp op, gpu::GPUModuleOp module);
LogicalResult buildKernels(PlanOp op, gpu::GPUModuleOp module);
LogicalResult buildKernels(PrepackOp op, gpu::GPUModuleOp module);
LogicalResult buildKernels(SmoothOp op, gpu::GPUModuleOp module);
LogicalResult buildKernels(GatherOp op, gpu::GPUModuleOp module);
LogicalResult buildKernels(CombineOp op, gpu::GPUModuleOp module);
LogicalResult buildKernels(QuantizeOp op, gpu::GPUModuleOp module);
LogicalResult buildKernels(DequantizeOp op, gpu::GPUModuleOp module);
LogicalResult buildKernels(ActivateOp op, gpu::GPUModuleOp module);
LogicalResult buildKernels(ActivateGradOp op, gpu::GPUModuleOp module);
LogicalResult buildKernels(ActQuantOp op, gpu::GPUModuleOp module);
LogicalResult buildKernels(ActQuantGradOp op, gpu::GPUModuleOp module);
LogicalResult buildKernels(MatmulOp op, gpu::GPUModuleOp module);
LogicalResult buildKernels(GroupedMatmulOp op, gpu::GPUModuleOp module);
/// Matmuls of any scheme and shape, slowly.
LogicalResult buildGeneralMatmul(MatmulOp op, gpu::GPUModuleOp module);
LogicalResult buildGeneralMatmul(GroupedMatmulOp op, gpu::GPUModuleOp module);
/// Elementwise, on memrefs.
LogicalResult buildKernels(linalg::LinalgOp op, gpu::GPUModuleOp module);
LogicalResult buildKernels(memref::CopyOp op, gpu::GPUModuleOp module);

/// Launches in `host` one of the kernels of `module` in place of each other
/// that is equal to it but for the name, and erases those.
void mergeEqualKernels(Operation *host, gpu::GPUModuleOp module);

} // namespace mlir::moeq

#endif // MOEQ_LIB_CONVERSION_MOEQTOKERNELS_KERNELS_H
