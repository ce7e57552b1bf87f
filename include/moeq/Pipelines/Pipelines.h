//===- Pipelines.h - From a layer to PTX ------------------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The order of the passes. Each `build...` function appends the passes from one
// level of docs/Spec.md to the next; the pipelines string them together.
//
//===----------------------------------------------------------------------===//

#ifndef MOEQ_PIPELINES_PIPELINES_H
#define MOEQ_PIPELINES_PIPELINES_H

#include "moeq/Dialect/Moeq/Transforms/Passes.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"

namespace mlir::moeq {

/// The forms of a grouped matmul on a GPU, for an option.
inline llvm::cl::ValuesClass getDecomposeFormValues() {
  return llvm::cl::values(
      clEnumValN(DecomposeForm::Grouped, "grouped", "a kernel (default)"),
      clEnumValN(DecomposeForm::Linear, "linear",
                 "a kernel an expert, which finds its rows on the device"));
}

/// Options of `moeq-to-kernels`.
struct ToKernelsOptions : PassPipelineOptions<ToKernelsOptions> {
  Option<std::string> chip{
      *this, "chip",
      llvm::cl::desc(
          "Chip, such as sm_90a (default: the module's, else sm_90a)"),
      llvm::cl::init("")};
  Option<DecomposeForm> form{
      *this, "form", llvm::cl::desc("Form of a grouped matmul"),
      llvm::cl::init(DecomposeForm::Grouped), getDecomposeFormValues()};
  Option<int64_t> variants{
      *this, "variants",
      llvm::cl::desc("The most kernels of a matmul, each for a range of rows "
                     "(default 1)"),
      llvm::cl::init(1)};
};

/// Options of `moeq-to-ptx`.
struct ToPtxOptions : PassPipelineOptions<ToPtxOptions> {
  Option<std::string> chip{
      *this, "chip",
      llvm::cl::desc(
          "Chip, such as sm_90a (default: the module's, else sm_90a)"),
      llvm::cl::init("")};
  Option<int64_t> ptxVersion{
      *this, "ptx-version",
      llvm::cl::desc(
          "PTX ISA to emit, such as 80 for 8.0 (default 0: the chip's)"),
      llvm::cl::init(0)};
  Option<DecomposeForm> form{
      *this, "form", llvm::cl::desc("Form of a grouped matmul"),
      llvm::cl::init(DecomposeForm::Grouped), getDecomposeFormValues()};
  Option<int64_t> variants{
      *this, "variants",
      llvm::cl::desc("The most kernels of a matmul, each for a range of rows "
                     "(default 1)"),
      llvm::cl::init(1)};
  Option<unsigned> optLevel{
      *this, "opt-level",
      llvm::cl::desc("Optimization level of LLVM, 0 to 3 (default 3)"),
      llvm::cl::init(3)};
  Option<std::string> format{
      *this, "format", llvm::cl::desc("isa (PTX, the default) or bin (cubin)"),
      llvm::cl::init("isa")};
  Option<std::string> toolkit{
      *this, "toolkit",
      llvm::cl::desc(
          "The only folder to look for the CUDA toolkit in (default: "
          "CUDA_HOME, PATH, the Python environment)"),
      llvm::cl::init("")};
};

/// Level 1 to level 2: layers to ops, merged where the bits stay the same.
void buildToOps(OpPassManager &pm, DecomposeForm form = DecomposeForm::Grouped);
/// Level 2 to level 3: tensors to memrefs, ops to tiles where a kernel has
/// them. The module names its chip. A matmul gets up to `variants` kernels,
/// each for a range of rows.
void buildToTiles(OpPassManager &pm, int64_t variants = 1);
/// Level 3 to level 4: kernels, and a host function that launches them.
void buildToKernels(OpPassManager &pm);
/// Level 4 to level 5: a module for each kernel, its structure to nvgpu, nvvm,
/// scf and arith.
void buildToHardware(OpPassManager &pm, const ToPtxOptions &options);
/// Level 5 to level 6: to `gpu.binary`.
void buildToBinary(OpPassManager &pm, const ToPtxOptions &options);

/// Levels 1 to 3, or what they bufferize to, to the LLVM dialect for the CPU.
/// Fails, naming the op, where one is left.
void buildToCpu(OpPassManager &pm);

/// Registers `moeq-to-kernels`, `moeq-to-ptx` and `moeq-to-cpu`.
void registerPipelines();

} // namespace mlir::moeq

#endif // MOEQ_PIPELINES_PIPELINES_H
