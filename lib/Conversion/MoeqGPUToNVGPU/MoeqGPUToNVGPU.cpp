//===- MoeqGPUToNVGPU.cpp - Kernel structure to instructions ----*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "moeq/Conversion/Passes.h"

#include "Patterns.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::moeq {
#define GEN_PASS_DEF_CONVERTMOEQGPUTONVGPU
#include "moeq/Conversion/Passes.h.inc"
} // namespace mlir::moeq

using namespace mlir;
using namespace mlir::moeq_gpu;

namespace {

struct KernelTypeConverter : TypeConverter {
  explicit KernelTypeConverter(MLIRContext *context) {
    Type i32 = IntegerType::get(context, 32);
    Type generic = LLVM::LLVMPointerType::get(context);
    addConversion([](Type type) { return type; });
    addConversion([=](TileType) { return i32; });
    addConversion([=](SharedVectorType) { return i32; });
    addConversion([=](ExchangeType) { return i32; });
    addConversion([=](TensorMapType) { return generic; });
    addConversion(
        [](FragmentType type, SmallVectorImpl<Type> &types) -> LogicalResult {
          getFragmentTypes(type, types);
          return success();
        });
    addConversion(
        [](StripedType type, SmallVectorImpl<Type> &types) -> LogicalResult {
          types.append(type.getNumRegisters(), type.getElementType());
          return success();
        });
    addConversion(
        [=](OperandType type, SmallVectorImpl<Type> &types) -> LogicalResult {
          types.append(type.getNumRegisters(), i32);
          return success();
        });
    addConversion([=](RingType, SmallVectorImpl<Type> &types) -> LogicalResult {
      types.append(2, i32);
      return success();
    });
    addConversion(
        [=](CursorType, SmallVectorImpl<Type> &types) -> LogicalResult {
          types.push_back(i32);
          types.push_back(IntegerType::get(context, 1));
          return success();
        });
    addConversion(
        [=](ScheduleType, SmallVectorImpl<Type> &types) -> LogicalResult {
          ScheduleState::getTypes(context, types);
          return success();
        });
  }
};

struct ConvertMoeqGPUToNVGPU
    : moeq::impl::ConvertMoeqGPUToNVGPUBase<ConvertMoeqGPUToNVGPU> {
  void runOnOperation() override {
    gpu::GPUModuleOp module = getOperation();
    bool hasKernel = false;
    for (auto function : module.getOps<LLVM::LLVMFuncOp>()) {
      SmallVector<RolesOp> roles(function.getOps<RolesOp>());
      if (roles.empty())
        continue;
      if (roles.size() > 1) {
        roles[1].emitOpError("expects to be the only one of its kernel");
        return signalPassFailure();
      }
      hasKernel = true;
      if (failed(convertKernel(function, roles.front())))
        return signalPassFailure();
    }
    if (hasKernel)
      declareSharedMemory(module);
  }

  LogicalResult convertKernel(LLVM::LLVMFuncOp function, RolesOp roles) {
    MLIRContext *context = &getContext();
    KernelBudget budget = getKernelBudget(roles);
    KernelTypeConverter converter(context);
    RewritePatternSet patterns(context);
    populateSchedulePatterns(converter, patterns, budget);
    populateRingPatterns(converter, patterns, budget);
    populateRolesPatterns(converter, patterns, budget);
    populateCopyPatterns(converter, patterns, budget);
    populateSharedPatterns(converter, patterns, budget);
    populateGatherPatterns(converter, patterns, budget);
    populateFragmentPatterns(converter, patterns, budget);
    populateMmaSyncPatterns(converter, patterns, budget);
    populateRegisterMmaPatterns(converter, patterns, budget);
    populateDequantPatterns(converter, patterns, budget);
    populateLoadPatterns(converter, patterns, budget);
    populateStorePatterns(converter, patterns, budget);
    populateExchangePatterns(converter, patterns, budget);
    ConversionTarget target(*context);
    target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
    target.addIllegalDialect<MoeqGPUDialect>();
    scf::populateSCFStructuralTypeConversionsAndLegality(converter, patterns,
                                                         target);
    return applyPartialConversion(function, target, std::move(patterns));
  }

  // Declared without a size: the launch gives it.
  void declareSharedMemory(gpu::GPUModuleOp module) {
    if (module.lookupSymbol(kSharedMemorySymbol))
      return;
    OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
    auto type = LLVM::LLVMArrayType::get(builder.getI8Type(), 0);
    LLVM::GlobalOp::create(builder, module.getLoc(), type, /*isConstant=*/false,
                           LLVM::Linkage::External, kSharedMemorySymbol,
                           Attribute(),
                           /*alignment=*/1024, kSharedSpace);
  }
};

} // namespace
