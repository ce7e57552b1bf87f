//===- CudaToolkit.h - Files and tools of the CUDA toolkit ------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOEQ_TARGET_CUDATOOLKIT_H
#define MOEQ_TARGET_CUDATOOLKIT_H

#include "mlir/IR/Location.h"
#include "mlir/Support/LLVM.h"
#include <optional>

namespace mlir::moeq {

/// The most bytes of spill stores that a kernel may record as worth it.
constexpr int64_t kMaxRecordedSpillStores = 24;

/// The attribute of a kernel that records them.
constexpr StringLiteral kMaxSpillStoresAttr = "moeq.max_spill_stores";

/// The path of a file of the CUDA toolkit, such as `bin/ptxas`. Looked for in
/// `toolkit` alone where that is given; otherwise in CUDA_HOME, in the toolkit
/// whose ptxas is on PATH, and among the nvidia packages of the Python
/// environment in VIRTUAL_ENV and of the one in the build folder that this code
/// was loaded from.
std::optional<std::string> findCudaFile(StringRef file, StringRef toolkit = {});

/// What a kernel takes of a multiprocessor, as ptxas says.
struct KernelUsage {
  std::string name;
  int64_t registers = 0;
  /// Bytes: static shared memory, stack frame, spill stores and loads.
  int64_t sharedMemory = 0, stack = 0, spillStores = 0, spillLoads = 0;
};

struct Assembly {
  std::string cubin;
  SmallVector<KernelUsage> kernels;
  /// Lines of ptxas that are not its usual statistics: warnings, and notes such
  /// as C7510 to C7514 on serialized wgmma.
  SmallVector<std::string> notes;
};

/// Assembles PTX for a chip by ptxas. What ptxas refuses is an error at `loc`.
FailureOr<Assembly> assemblePtx(Location loc, StringRef ptx, StringRef chip,
                                StringRef toolkit = {});

/// Reads what `ptxas -v` printed into `assembly`.
void parsePtxasOutput(StringRef output, Assembly &assembly);

/// Checks that ptxas noted nothing, such as serialized wgmma: an error at `loc`
/// otherwise. Warns of kernels that spill more than `maxSpillStores` bytes:
/// they are right, only slower.
LogicalResult verifyAssembly(Location loc, const Assembly &assembly,
                             int64_t maxSpillStores);

} // namespace mlir::moeq

#endif // MOEQ_TARGET_CUDATOOLKIT_H
