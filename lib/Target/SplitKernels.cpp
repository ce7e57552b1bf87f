//===- SplitKernels.cpp - Give each kernel a module -------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "moeq/Target/Passes.h"
#include "moeq/Target/Ptx.h"

#include "llvm/ADT/SetVector.h"

namespace mlir::moeq {
#define GEN_PASS_DEF_SPLITKERNELS
#include "moeq/Target/Passes.h.inc"
} // namespace mlir::moeq

using namespace mlir;
using namespace mlir::moeq;

/// `kernel` and the symbols of `module` that it uses, directly or not.
static DenseSet<Operation *> getNeededSymbols(gpu::GPUModuleOp module,
                                              Operation *kernel) {
  llvm::SetVector<Operation *> needed;
  needed.insert(kernel);
  for (size_t i = 0; i < needed.size(); ++i) {
    std::optional<SymbolTable::UseRange> uses =
        SymbolTable::getSymbolUses(needed[i]);
    if (!uses)
      continue;
    for (SymbolTable::SymbolUse use : *uses)
      if (Operation *symbol = SymbolTable::lookupSymbolIn(
              module, use.getSymbolRef().getRootReference()))
        needed.insert(symbol);
  }
  return DenseSet<Operation *>(needed.begin(), needed.end());
}

namespace {
struct SplitKernels : moeq::impl::SplitKernelsBase<SplitKernels> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp root = getOperation();
    SymbolTable symbols(root);
    // The name of a kernel to the name of its own module.
    DenseMap<SymbolRefAttr, SymbolRefAttr> renamed;
    for (auto module :
         llvm::make_early_inc_range(root.getOps<gpu::GPUModuleOp>())) {
      SmallVector<FunctionOpInterface> kernels = getKernels(module);
      if (kernels.size() < 2)
        continue;
      for (FunctionOpInterface kernel : kernels) {
        gpu::GPUModuleOp own = split(module, kernel);
        symbols.insert(own, Block::iterator(module));
        auto leaf = FlatSymbolRefAttr::get(kernel.getNameAttr());
        renamed[SymbolRefAttr::get(module.getNameAttr(), leaf)] =
            SymbolRefAttr::get(own.getNameAttr(), leaf);
      }
      symbols.erase(module);
    }
    root.walk([&](gpu::LaunchFuncOp launch) {
      if (SymbolRefAttr name = renamed.lookup(launch.getKernel()))
        launch.setKernelAttr(name);
    });
  }

  /// A module with `kernel` and what it uses of `module`.
  static gpu::GPUModuleOp split(gpu::GPUModuleOp module,
                                FunctionOpInterface kernel) {
    DenseSet<Operation *> needed = getNeededSymbols(module, kernel);
    auto own = cast<gpu::GPUModuleOp>(module->cloneWithoutRegions());
    own->setLoc(kernel.getLoc());
    own.setName((module.getName() + "_" + kernel.getName()).str());
    OpBuilder builder(own.getContext());
    builder.createBlock(&own.getBodyRegion());
    for (Operation &op : *module.getBody())
      if (needed.contains(&op))
        builder.clone(op);
    return own;
  }
};
} // namespace
