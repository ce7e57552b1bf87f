//===- Passes.td - Passes on the kernel dialect ------------*- tablegen -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOEQ_DIALECT_MOEQGPU_TRANSFORMS_PASSES_TD
#define MOEQ_DIALECT_MOEQGPU_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def MoeqGPUTilesToSCF : Pass<"moeq-gpu-tiles-to-scf"> {
  let summary = "Lower the tile loop to plain loops";
  let description = [{
    Rewrites `moeq_gpu.tiles` to `scf.for` loops over groups, rows and columns, for
    the CPU. Each tile is visited once, as on the GPU.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect"];
}

#endif // MOEQ_DIALECT_MOEQGPU_TRANSFORMS_PASSES_TD
