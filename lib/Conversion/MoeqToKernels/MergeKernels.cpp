//===- MergeKernels.cpp - One kernel for equal ones -------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace mlir::moeq;

/// Whether two functions differ in their names alone.
static bool areEqual(LLVM::LLVMFuncOp left, LLVM::LLVMFuncOp right) {
  auto getAttributes = [](LLVM::LLVMFuncOp function) {
    NamedAttrList attributes(function->getAttrDictionary());
    attributes.erase(function.getSymNameAttrName());
    return attributes.getDictionary(function.getContext());
  };
  return getAttributes(left) == getAttributes(right) &&
         OperationEquivalence::isRegionEquivalentTo(
             &left.getBody(), &right.getBody(),
             OperationEquivalence::IgnoreLocations);
}

void moeq::mergeEqualKernels(Operation *host, gpu::GPUModuleOp module) {
  SmallVector<LLVM::LLVMFuncOp> kept;
  DenseMap<StringAttr, LLVM::LLVMFuncOp> replaced;
  for (auto kernel :
       llvm::make_early_inc_range(module.getOps<LLVM::LLVMFuncOp>())) {
    auto *equal = llvm::find_if(
        kept, [&](LLVM::LLVMFuncOp other) { return areEqual(other, kernel); });
    if (equal == kept.end()) {
      kept.push_back(kernel);
      continue;
    }
    replaced[kernel.getSymNameAttr()] = *equal;
    kernel.erase();
  }
  host->walk([&](gpu::LaunchFuncOp launch) {
    if (LLVM::LLVMFuncOp kernel = replaced.lookup(launch.getKernelName()))
      launch.setKernelAttr(SymbolRefAttr::get(
          module.getNameAttr(),
          {FlatSymbolRefAttr::get(kernel.getSymNameAttr())}));
  });
}
