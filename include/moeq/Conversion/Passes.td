//===- Passes.td - Conversion passes -----------------------*- tablegen -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOEQ_CONVERSION_PASSES_TD
#define MOEQ_CONVERSION_PASSES_TD

include "mlir/Pass/PassBase.td"

def MoeqExpandSmallFloats : Pass<"moeq-expand-small-floats"> {
  let summary = "conversions of fp8, E8M0 and fp4 to integer arithmetic";
  let description = [{
    Rewrites `arith.extf`, `arith.truncf`, `arith.sitofp`, `arith.uitofp`,
    `arith.fptosi` and `arith.fptoui`, on scalars and vectors, from or to
    f8E4M3FN, f8E5M2, f8E8M0FNU and f4E2M1FN. Decoding is exact. Encoding rounds
    to nearest, halfway to even, saturates what is out of range, Inf included,
    and gives 0x7f for a NaN; see `moeq/Support/NumericsCasts.h`.

    Fails at an op of `arith` or `math` on such a type that is left, other than
    a constant, `arith.select` and `arith.bitcast`.
  }];
  let options = [
    Option<"expandBF16", "expand-bf16", "bool", /*default=*/"false",
           "also expand arith.truncf from f32 to bf16: some CPUs' own "
           "instruction flushes subnormals (default: false)">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def MoeqToLinalg : Pass<"moeq-to-linalg"> {
  let summary = "moeq ops on memrefs to linalg and loops, for the CPU";
  let description = [{
    The lowering that specifies each op: `docs/Spec.md` says the same in words.
    An op that sets each element of a result by itself becomes a `linalg.generic`
    over the result, with the sum of an element as `scf.for` in its body; the
    others become `scf.for`. Scales are read at `index floordiv block`. A
    `memref.copy` of what is not dense becomes a `linalg.generic` too.

    `moeq.experts`, ops on tensors and an odd block
    of 4-bit values to write are errors.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect"
  ];
}

def MoeqCheckLowered : Pass<"moeq-check-lowered", "::mlir::ModuleOp"> {
  let summary = "fails at each op that is not of the LLVM dialect";
  let description = [{
    Upstream's conversions may leave an op behind an unrealized cast and succeed.
    The last pass of `moeq-to-cpu` names each such op.
  }];
}

def MoeqOutlineKernels : Pass<"moeq-outline-kernels", "::mlir::ModuleOp"> {
  let summary = "ops on memrefs to kernels and their launches";
  let description = [{
    Each moeq op on memrefs of a function @F, in component form, becomes one or
    two kernels in `gpu.module @F_kernels`, and their `gpu.launch_func` in its
    place; elementwise linalg ops and `memref.copy` likewise. Grid sizes are index
    arithmetic over `memref.dim`. Kernels that are equal become one. Memrefs are dense and row-major, of a base that is
    aligned to 16 bytes. A matmul that tensor cores do not do, or not by its config,
    has a kernel without them, and a remark; an error where it is marked by
    `moeq.given_config`.
  }];
  let dependentDialects = [
    "::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect", "::mlir::arith::ArithDialect",
    "::mlir::gpu::GPUDialect", "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect",
    "::mlir::moeq_gpu::MoeqGPUDialect",
    "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"
  ];
}

def MoeqOverlapKernels : Pass<"moeq-overlap-kernels", "::mlir::ModuleOp"> {
  let summary = "let a kernel start before the previous one has ended";
  let description = [{
    Each kernel of a `gpu.module` lets the next one start (`nvvm.griddepcontrol
    launch_dependents`) when it starts itself, and waits until those before it
    have ended and what they wrote is visible (`nvvm.griddepcontrol wait`) before
    the first op that may access memory: the prologue of a matmul, which makes
    barriers and prefetches tensor maps, comes before, as do prefetches of
    memory. Inputs are no longer
    `llvm.noalias` and `llvm.readonly`: they are not constant while the kernel
    runs, and loads of constants could move up across the wait. The manifest has
    `"programmatic": true` then. Launched in the ordinary way such a kernel never
    waits. Does nothing for chips before sm_90.
  }];
  let dependentDialects = ["::mlir::NVVM::NVVMDialect"];
}

def MoeqSmallFloatsToNVVM
    : Pass<"moeq-small-floats-to-nvvm", "::mlir::gpu::GPUModuleOp"> {
  let summary = "conversions of fp8 to the instructions of the chip";
  let description = [{
    Rewrites `arith.truncf` from f32 to f8E4M3FN and f8E5M2, and `arith.extf`
    from them, to `nvvm.convert` of pairs, where the chip of the `#nvvm.target`
    has it: `cvt.rn.satfinite` gives the codes of `moeq-expand-small-floats`,
    which lowers what is left, such as vectors of more than 256 elements.
  }];
  let dependentDialects = [
    "::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect",
    "::mlir::arith::ArithDialect", "::mlir::vector::VectorDialect"
  ];
}

def ConvertMoeqGPUToNVGPU : Pass<"convert-moeq-gpu-to-nvgpu", "::mlir::gpu::GPUModuleOp"> {
  let summary = "the kernel dialect to instructions of its chip";
  let description = [{
    Rewrites each kernel with `moeq_gpu.roles` to nvvm, scf, arith, vector and
    llvm ops: barriers, TMA copies, wgmma, stmatrix, or cp.async, ldmatrix and
    mma.sync. The dynamic shared memory is the external global
    `moeq_shared_memory`; `getKernelBudget` gives its size.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::NVVM::NVVMDialect", "::mlir::scf::SCFDialect",
    "::mlir::vector::VectorDialect"
  ];
}

#endif // MOEQ_CONVERSION_PASSES_TD
