//===- Passes.td - Passes from kernels to PTX --------------*- tablegen -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOEQ_TARGET_PASSES_TD
#define MOEQ_TARGET_PASSES_TD

include "mlir/Pass/PassBase.td"

def AttachTarget : Pass<"moeq-attach-target", "::mlir::ModuleOp"> {
  let summary = "name the chip that a module is compiled for";
  let description = [{
    Sets `moeq.target` on the module and `#nvvm.target` on each `gpu.module` in
    it, after checking chip and PTX version against the chip table. A chip that
    the module already names has to be the one asked for.
  }];
  let options = [
    Option<"chip", "chip", "std::string", /*default=*/"",
           "Chip, such as sm_90a (default: the module's, else sm_90a)">,
    Option<"ptxVersion", "ptx-version", "int64_t", /*default=*/"0",
           "PTX ISA to emit, such as 80 for 8.0 (default 0: the chip's)">,
    Option<"optLevel", "opt-level", "unsigned", /*default=*/"3",
           "Optimization level of LLVM, 0 to 3 (default 3)">,
  ];
  let dependentDialects = ["::mlir::moeq::MoeqDialect", "::mlir::NVVM::NVVMDialect"];
}

def PrintManifest : Pass<"moeq-print-manifest", "::mlir::ModuleOp"> {
  let summary = "print how to launch the kernels of a module";
  let description = [{
    Prints the manifest (`docs/Manifest.md`) of the public functions of a module
    of level 4, for the module's `moeq.target` and the chip's PTX version. What a
    manifest cannot say is an error.
  }];
}

def SplitKernels : Pass<"moeq-split-kernels", "::mlir::ModuleOp"> {
  let summary = "give each kernel a gpu.module of its own";
  let description = [{
    A `gpu.module @M` of several kernels becomes one `gpu.module @M_K` for each
    kernel `@K`, with copies of the symbols that the kernel uses, and the launches
    follow. The kernels are then lowered in parallel, and each is a PTX file of
    its own.
  }];
  let dependentDialects = ["::mlir::gpu::GPUDialect"];
}

def SerializeKernels : Pass<"moeq-serialize-kernels", "::mlir::ModuleOp"> {
  let summary = "turn each gpu.module into a gpu.binary of PTX or a cubin";
  let description = [{
    Each `gpu.module`, all in the LLVM dialect and with one `#nvvm.target`, is
    translated to LLVM IR, linked with libdevice where it calls it, optimized and
    emitted. What is not in the LLVM dialect, and functions that nothing defines,
    are errors. `format=bin` assembles the PTX by ptxas. A kernel whose wgmma are
    serialized is an error, and one that spills a warning, unless it carries
    `moeq.max_spill_stores`, the bytes of spill stores, at most 24, that were
    measured to be worth it.
  }];
  let options = [
    Option<"format", "format", "std::string", /*default=*/"\"isa\"",
           "isa (PTX, the default) or bin (cubin)">,
    Option<"toolkit", "toolkit", "std::string", /*default=*/"",
           "The only folder to look for the CUDA toolkit in (default: CUDA_HOME, "
           "beside ptxas on PATH, nvidia packages of the Python environment)">,
  ];
  let dependentDialects = ["::mlir::gpu::GPUDialect", "::mlir::NVVM::NVVMDialect"];
}

#endif // MOEQ_TARGET_PASSES_TD
