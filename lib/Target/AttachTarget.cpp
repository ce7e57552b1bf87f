//===- AttachTarget.cpp - Name the chip of a module -------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "moeq/Dialect/Moeq/IR/Moeq.h"
#include "moeq/Target/Chips.h"
#include "moeq/Target/Passes.h"
#include "moeq/Target/Ptx.h"

namespace mlir::moeq {
#define GEN_PASS_DEF_ATTACHTARGET
#include "moeq/Target/Passes.h.inc"
} // namespace mlir::moeq

using namespace mlir;
using namespace mlir::moeq;

static constexpr StringLiteral kTargetAttr = "moeq.target";

namespace {
struct AttachTarget : moeq::impl::AttachTargetBase<AttachTarget> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    Location loc = module.getLoc();
    auto named = module->getAttrOfType<TargetAttr>(kTargetAttr);
    StringRef name = chip;
    if (name.empty())
      name = named ? named.getChip().getValue() : StringRef(kDefaultChip);
    FailureOr<const Chip *> found = lookupChip(loc, name);
    if (failed(found))
      return signalPassFailure();
    if (named && named.getChip() != name) {
      emitError(loc) << "expects the chip that the module names, "
                     << named.getChip() << ", got '" << name << "'";
      return signalPassFailure();
    }
    FailureOr<int64_t> version = selectPtxVersion(loc, **found, ptxVersion);
    if (failed(version))
      return signalPassFailure();
    if (optLevel > 3) {
      emitError(loc) << "expects an optimization level of 0 to 3, got "
                     << optLevel.getValue();
      return signalPassFailure();
    }

    MLIRContext *context = &getContext();
    if (!named)
      module->setAttr(kTargetAttr,
                      TargetAttr::get(context, StringAttr::get(context, name),
                                      /*sms=*/0, /*shared_memory=*/0));
    auto target = ArrayAttr::get(
        context, getTargetAttr(context, {*found, *version}, optLevel));
    for (auto kernels : module.getOps<gpu::GPUModuleOp>())
      kernels.setTargetsAttr(target);
  }
};
} // namespace
