//===- OverlapKernels.cpp - Let kernels start early -------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "moeq/Conversion/Passes.h"
#include "moeq/Dialect/Moeq/IR/Moeq.h"
#include "moeq/Dialect/MoeqGPU/IR/MoeqGPU.h"
#include "moeq/Target/Chips.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::moeq {
#define GEN_PASS_DEF_MOEQOVERLAPKERNELS
#include "moeq/Conversion/Passes.h.inc"
} // namespace mlir::moeq

using namespace mlir;
using namespace mlir::moeq;

/// Whether no kernel can write what the op reads, or read what it writes.
/// Caches hold what was written last.
static bool isPrologue(Operation &op) {
  if (isa<scf::IfOp>(op))
    return llvm::all_of(op.getRegions(), [](Region &region) {
      return region.empty() ||
             llvm::all_of(region.front().without_terminator(), isPrologue);
    });
  return !op.hasTrait<OpTrait::IsTerminator>() &&
         (isMemoryEffectFree(&op) ||
          isa<moeq_gpu::TensorMapOp, moeq_gpu::RingCreateOp, NVVM::PrefetchOp>(
              op));
}

/// The memory that an input is in may be written while the kernel runs, until
/// it has waited. LLVM would take a pointer that is noalias and only read from
/// for one of constant memory (ld.global.nc), whose loads ptxas moves up,
/// across the wait.
static void markWritable(LLVM::LLVMFuncOp kernel) {
  for (unsigned i = 0, n = kernel.getNumArguments(); i < n; ++i)
    if (kernel.removeArgAttr(i, LLVM::LLVMDialect::getReadonlyAttrName()))
      kernel.removeArgAttr(i, LLVM::LLVMDialect::getNoAliasAttrName());
}

/// Every kernel waits, so all before the previous one have ended as well.
static void overlap(LLVM::LLVMFuncOp kernel) {
  Block &entry = kernel.getBody().front();
  OpBuilder builder = OpBuilder::atBlockBegin(&entry);
  auto control = [&](NVVM::GridDepActionKind kind) {
    NVVM::GriddepcontrolOp::create(builder, kernel.getLoc(), kind);
  };
  auto first = llvm::find_if_not(entry, isPrologue);
  control(NVVM::GridDepActionKind::launch_dependents);
  builder.setInsertionPoint(&*first);
  control(NVVM::GridDepActionKind::wait);
}

namespace {
struct OverlapKernels : moeq::impl::MoeqOverlapKernelsBase<OverlapKernels> {
  void runOnOperation() override {
    ModuleOp root = getOperation();
    auto target = root->getAttrOfType<TargetAttr>("moeq.target");
    FailureOr<const Chip *> chip =
        lookupChip(root.getLoc(), target ? target.getChip().getValue()
                                         : StringRef(kDefaultChip));
    if (failed(chip))
      return signalPassFailure();
    if (!(*chip)->hasDependentLaunch)
      return markAllAnalysesPreserved();
    for (auto module : root.getOps<gpu::GPUModuleOp>())
      for (auto function : module.getOps<LLVM::LLVMFuncOp>())
        if (function->hasAttr(NVVM::NVVMDialect::getKernelFuncAttrName())) {
          markWritable(function);
          overlap(function);
        }
  }
};
} // namespace
