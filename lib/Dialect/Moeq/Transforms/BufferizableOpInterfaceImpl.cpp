//===- BufferizableOpInterfaceImpl.cpp - Bufferization of moeq --*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "moeq/Dialect/Moeq/Transforms/BufferizableOpInterfaceImpl.h"

#include "moeq/Dialect/Moeq/IR/Moeq.h"

#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/DstBufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Utils/StructuredOpsUtils.h"

using namespace mlir;
using namespace mlir::moeq;
using namespace mlir::bufferization;

/// Whether some elements of `op`'s results are those of its inits: rows that no
/// index names, or that are in no group, or what is added to them. All other
/// ops write each element.
static bool keepsInits(Operation *op) {
  if (auto quantize = dyn_cast<QuantizeOp>(op))
    return quantize.getRows() || quantize.getOffsets();
  if (auto actQuant = dyn_cast<ActQuantOp>(op))
    return static_cast<bool>(actQuant.getOffsets());
  if (auto actQuantGrad = dyn_cast<ActQuantGradOp>(op))
    return static_cast<bool>(actQuantGrad.getOffsets());
  if (auto matmul = dyn_cast<GroupedMatmulOp>(op);
      matmul && matmul.contractsRows())
    return matmul.getAddToOuts();
  return isa<GatherOp, GroupedMatmulOp>(op);
}

namespace {
template <typename OpTy>
struct DpsOpModel
    : DstBufferizableOpInterfaceExternalModel<DpsOpModel<OpTy>, OpTy> {
  bool bufferizesToMemoryRead(Operation *op, OpOperand &operand,
                              const AnalysisState &) const {
    return keepsInits(op) ||
           !cast<DestinationStyleOpInterface>(op).isDpsInit(&operand);
  }

  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options,
                          BufferizationState &state) const {
    auto dpsOp = cast<DestinationStyleOpInterface>(op);
    SmallVector<Value> operands, inits;
    for (OpOperand &operand : op->getOpOperands()) {
      Value value = operand.get();
      if (isa<TensorType>(value.getType())) {
        if (getScaledElementType(value.getType()))
          return op->emitOpError()
                 << "expects components to bufferize, got " << value.getType()
                 << ": run moeq-unpack-scaled first";
        FailureOr<Value> buffer = getBuffer(rewriter, value, options, state);
        if (failed(buffer))
          return failure();
        value = *buffer;
      }
      operands.push_back(value);
      if (dpsOp.isDpsInit(&operand))
        inits.push_back(value);
    }
    rewriter.setInsertionPoint(op);
    Operation *buffered =
        cloneWithoutRegions(rewriter, op, TypeRange{}, operands);
    for (auto [to, from] :
         llvm::zip_equal(buffered->getRegions(), op->getRegions()))
      rewriter.inlineRegionBefore(from, to, to.begin());
    replaceOpWithBufferizedValues(rewriter, op, inits);
    return success();
  }
};
} // namespace

template <typename... OpTys>
static void attach(MLIRContext *context) {
  (OpTys::template attachInterface<DpsOpModel<OpTys>>(*context), ...);
}

void moeq::registerBufferizableOpInterfaceExternalModels(
    DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, MoeqDialect *) {
    attach<QuantizeOp, DequantizeOp, RouteOp, GroupOp, PlanOp, PrepackOp,
           GatherOp, CombineOp, ActivateOp, ActivateGradOp, ActQuantOp,
           ActQuantGradOp, MatmulOp, GroupedMatmulOp, SmoothOp, ExpertsOp>(
        context);
  });
}
