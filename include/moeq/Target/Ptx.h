//===- Ptx.h - PTX from kernels in the LLVM dialect -------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOEQ_TARGET_PTX_H
#define MOEQ_TARGET_PTX_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

namespace mlir::moeq {

struct Chip;

/// The chip and the PTX version of a target attribute; an error at `loc` where
/// the chip table does not have them.
struct PtxTarget {
  const Chip *chip;
  int64_t ptxVersion;

  /// Whether there are instructions that convert 8-bit floats (PTX ISA, "cvt"),
  /// and that multiply them within a warp ("mma.sync").
  bool convertsFloat8() const;
  bool multipliesFloat8() const;
};
FailureOr<PtxTarget> getPtxTarget(Location loc, NVVM::NVVMTargetAttr target);
/// That of a module, if it names one and no other.
FailureOr<std::optional<PtxTarget>> getPtxTarget(gpu::GPUModuleOp module);

/// The target attribute for a chip and a PTX version.
NVVM::NVVMTargetAttr getTargetAttr(MLIRContext *context,
                                   const PtxTarget &target, unsigned optLevel);

/// PTX of a module whose operations are all of the LLVM and NVVM dialects.
/// libdevice is linked where a function of it is called; `toolkit` as in
/// `findCudaFile`. Errors: an operation of another dialect is left, a function
/// is called that nothing defines, libdevice is needed and not found, LLVM
/// cannot emit an instruction for the target.
FailureOr<std::string> emitPtx(gpu::GPUModuleOp module,
                               NVVM::NVVMTargetAttr target,
                               StringRef toolkit = {});

/// The kernels of a module, in order.
SmallVector<FunctionOpInterface> getKernels(gpu::GPUModuleOp module);

} // namespace mlir::moeq

#endif // MOEQ_TARGET_PTX_H
