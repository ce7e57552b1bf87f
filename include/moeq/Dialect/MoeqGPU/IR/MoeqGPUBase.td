//===- MoeqGPUBase.td - The moeq_gpu dialect ---------------*- tablegen -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOEQ_DIALECT_MOEQGPU_IR_MOEQGPUBASE_TD
#define MOEQ_DIALECT_MOEQGPU_IR_MOEQGPUBASE_TD

include "mlir/IR/DialectBase.td"

def MoeqGPU_Dialect : Dialect {
  let name = "moeq_gpu";
  let cppNamespace = "::mlir::moeq_gpu";
  let summary = "The structure of a warp-specialized kernel";
  let description = [{
    What a warp-specialized kernel needs beyond the upstream dialects: the tile
    schedule, the ring of shared-memory stages, the roles of its warpgroups, and
    fragments of the tensor core with their asynchronous matmul, their scalar
    maps and their stores.

    A kernel is an `llvm.func` in a `gpu.module`, since tensor maps by value and
    register limits exist only there. Each op of this dialect is executed by all
    threads of the warpgroup (or, for the producer, of the warp) that reaches it.
  }];
  let useDefaultTypePrinterParser = 1;
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
  let extraClassDeclaration = [{
    /// Adds the types: called once.
    void registerTypes();
  }];
}

#endif // MOEQ_DIALECT_MOEQGPU_IR_MOEQGPUBASE_TD
