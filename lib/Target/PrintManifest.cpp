//===- PrintManifest.cpp - Print how to launch kernels ----------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "moeq/Dialect/Moeq/IR/Moeq.h"
#include "moeq/Target/Chips.h"
#include "moeq/Target/Manifest.h"
#include "moeq/Target/Passes.h"

#include "llvm/Support/FormatVariadic.h"

namespace mlir::moeq {
#define GEN_PASS_DEF_PRINTMANIFEST
#include "moeq/Target/Passes.h.inc"
} // namespace mlir::moeq

using namespace mlir;
using namespace mlir::moeq;

namespace {
struct PrintManifest : moeq::impl::PrintManifestBase<PrintManifest> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto target = module->getAttrOfType<TargetAttr>("moeq.target");
    if (!target) {
      module.emitOpError("expects 'moeq.target' on the module");
      return signalPassFailure();
    }
    FailureOr<const Chip *> chip =
        lookupChip(module.getLoc(), target.getChip().getValue());
    if (failed(chip))
      return signalPassFailure();
    FailureOr<llvm::json::Value> manifest =
        buildManifest(module, {*chip, (*chip)->defaultPtxVersion},
                      /*hasCubins=*/false);
    if (failed(manifest))
      return signalPassFailure();
    llvm::outs() << llvm::formatv("{0:2}\n", *manifest);
    markAllAnalysesPreserved();
  }
};
} // namespace
