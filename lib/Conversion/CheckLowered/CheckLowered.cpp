//===- CheckLowered.cpp - Check that nothing is left ------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "moeq/Conversion/Passes.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::moeq {
#define GEN_PASS_DEF_MOEQCHECKLOWERED
#include "moeq/Conversion/Passes.h.inc"
} // namespace mlir::moeq

using namespace mlir;

namespace {
struct CheckLoweredPass
    : public moeq::impl::MoeqCheckLoweredBase<CheckLoweredPass> {
  void runOnOperation() override {
    getOperation()->walk([&](Operation *op) {
      // The cast is only what keeps another op's type.
      if (isa<ModuleOp, UnrealizedConversionCastOp>(op) ||
          isa_and_present<LLVM::LLVMDialect>(op->getDialect()))
        return;
      op->emitError() << "expects nothing but the LLVM dialect, got '"
                      << op->getName() << "'";
      signalPassFailure();
    });
  }
};
} // namespace
