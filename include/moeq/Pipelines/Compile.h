//===- Compile.h - From a module to files for a launcher --------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What `moeq-compile` and the C API do.
//
//===----------------------------------------------------------------------===//

#ifndef MOEQ_PIPELINES_COMPILE_H
#define MOEQ_PIPELINES_COMPILE_H

#include "moeq/Dialect/Moeq/Transforms/Passes.h"
#include "moeq/Target/CudaToolkit.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/JSON.h"

namespace mlir::moeq {

/// Whether to assemble the PTX.
enum class Cubins { Never, WherePtxasIs, Always };

struct CompileOptions {
  /// As in `moeq-to-ptx`.
  std::string chip;
  int64_t ptxVersion = 0;
  unsigned optLevel = 3;
  std::string toolkit;
  Cubins cubins = Cubins::WherePtxasIs;
  /// A folder for the module after each level, `1-layer.mlir` to
  /// `6-binary.mlir`, written as far as the compilation comes.
  std::string stages;
  /// A file of configs; see `applyConfigs`.
  std::string configs;
  /// The most kernels of a matmul, each for a range of rows.
  int64_t variants = 1;
  DecomposeForm form = DecomposeForm::Grouped;
};

struct CompiledKernel {
  std::string name;
  std::string ptx;
  /// Empty where the PTX was not assembled.
  std::string cubin;
  std::optional<KernelUsage> usage;
};

struct Compiled {
  SmallVector<CompiledKernel> kernels;
  llvm::json::Value manifest = nullptr;
};

/// Lowers a module of level 1 to 5 to PTX, in place: what is left is the host
/// function and a `gpu.binary` for each kernel. Every failure is a diagnostic.
FailureOr<Compiled> compileModule(ModuleOp module,
                                  const CompileOptions &options);

/// Reads configs from a file and sets them on the matmuls of a module of
/// level 2. The file is an attribute dictionary: the n-th matmul or
/// grouped_matmul of function @f is `"f.n"`, counted from 0:
///
///     {"layer.0" = #moeq.config<tile = [128, 256]>}
LogicalResult applyConfigs(ModuleOp module, StringRef file);

/// Writes the files of a directory so that it has all of them, or is as it was:
/// each file is written beside the directory first. An error at `loc` if not.
LogicalResult writeFiles(Location loc, StringRef directory,
                         ArrayRef<std::pair<std::string, StringRef>> files);

/// One line on each launch of a compiled module: name, grid, block, registers,
/// shared memory, spills.
void printKernels(const Compiled &compiled, raw_ostream &os);

} // namespace mlir::moeq

#endif // MOEQ_PIPELINES_COMPILE_H
