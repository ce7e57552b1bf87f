//===- OutlineKernels.cpp - Ops on memrefs to kernels -----------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelBuilder.h"
#include "Kernels.h"

#include "moeq/Conversion/Passes.h"
#include "moeq/Dialect/MoeqGPU/IR/MoeqGPU.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace mlir::moeq {
#define GEN_PASS_DEF_MOEQOUTLINEKERNELS
#include "moeq/Conversion/Passes.h.inc"
} // namespace mlir::moeq

using namespace mlir;
using namespace mlir::moeq;

static LogicalResult checkOperands(Operation *op) {
  for (Type type : op->getOperandTypes()) {
    if (isa<TensorType>(type))
      return op->emitOpError()
             << "expects memrefs, got " << type << ": bufferize first";
    auto memref = dyn_cast<BaseMemRefType>(type);
    if (memref && failed(checkMemory(op, memref)))
      return failure();
  }
  return success();
}

/// Makes the kernels of `op`, if it is of those that run in kernels: then it is
/// erased. Scalar ops and allocations stay.
static LogicalResult outline(Operation *op, gpu::GPUModuleOp module) {
  std::optional<LogicalResult> built =
      llvm::TypeSwitch<Operation *, std::optional<LogicalResult>>(op)
          .Case<RouteOp, GroupOp, PlanOp, PrepackOp, GatherOp, CombineOp,
                QuantizeOp, DequantizeOp, ActivateOp, ActivateGradOp,
                ActQuantOp, ActQuantGradOp, MatmulOp, GroupedMatmulOp, SmoothOp,
                linalg::LinalgOp, memref::CopyOp>(
              [&](auto typed) -> LogicalResult {
                return failed(checkOperands(op)) ? failure()
                                                 : buildKernels(typed, module);
              })
          .Default(std::nullopt);
  if (!built) {
    if (isa_and_nonnull<MoeqDialect>(op->getDialect()) && !isa<YieldOp>(op))
      return op->emitOpError("expects an op that has a kernel");
    return success();
  }
  if (succeeded(*built))
    op->erase();
  return *built;
}

namespace {
struct OutlineKernels : moeq::impl::MoeqOutlineKernelsBase<OutlineKernels> {
  void runOnOperation() override {
    ModuleOp root = getOperation();
    for (func::FuncOp function : llvm::to_vector(root.getOps<func::FuncOp>())) {
      OpBuilder builder(function);
      auto module = gpu::GPUModuleOp::create(
          builder, function.getLoc(), (function.getName() + "_kernels").str());
      SmallVector<Operation *> ops;
      function.walk<WalkOrder::PreOrder>([&](Operation *op) {
        ops.push_back(op);
        // What is in an epilogue or in a linalg op belongs to its kernel.
        return isa<MatmulOp, GroupedMatmulOp, linalg::LinalgOp>(op)
                   ? WalkResult::skip()
                   : WalkResult::advance();
      });
      for (Operation *op : ops)
        if (failed(outline(op, module)))
          return signalPassFailure();
      mergeEqualKernels(function, module);
      if (module.getBody()->empty())
        module.erase();
      else
        root->setAttr(gpu::GPUDialect::getContainerModuleAttrName(),
                      builder.getUnitAttr());
    }
  }
};
} // namespace
