//===- VerifyScaledUses.cpp - Uses of scaled tensors ------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "VerifyScaledUses.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::moeq;
using namespace mlir::moeq::detail;

bool moeq::detail::containsScaled(Type type) {
  return type.walk([](ScaledType) { return WalkResult::interrupt(); })
      .wasInterrupted();
}

/// Checks a type that contains a scaled one.
static LogicalResult
verifyScaledType(function_ref<InFlightDiagnostic()> emitError, Type type) {
  auto unranked = dyn_cast<UnrankedTensorType>(type);
  if (unranked && isa<ScaledType>(unranked.getElementType()))
    return emitError() << "expects a ranked tensor of !moeq.scaled, got "
                       << type;
  ScaledType scaled = getScaledElementType(type);
  if (!scaled)
    return emitError()
           << "expects !moeq.scaled only as the element of a tensor, got "
           << type;
  auto tensor = cast<RankedTensorType>(type);
  if (tensor.getEncoding())
    return emitError() << "expects no encoding of a scaled tensor, got "
                       << type;
  if (tensor.getRank() < static_cast<int64_t>(scaled.getBlock().size()))
    return emitError() << "expects a tensor of rank at least "
                       << scaled.getBlock().size()
                       << ", that of its scale block, got " << type;
  if (scaled.isPacked() && tensor.isDynamicDim(tensor.getRank() - 1))
    return emitError() << "expects a static last dimension of packed 4-bit "
                          "values, got "
                       << type;
  return success();
}

static LogicalResult verifyTypes(Operation *op) {
  bool valid = true;
  for (auto [index, result] : llvm::enumerate(op->getResultTypes()))
    if (containsScaled(result))
      valid &= succeeded(
          verifyScaledType([op] { return op->emitOpError(); }, result));
  for (Region &region : op->getRegions())
    for (BlockArgument argument : region.getArguments())
      if (containsScaled(argument.getType()))
        valid &= succeeded(verifyScaledType(
            [&] { return emitError(argument.getLoc()); }, argument.getType()));
  for (Region &region : op->getRegions())
    for (Block &block : llvm::drop_begin(region))
      for (BlockArgument argument : block.getArguments())
        if (containsScaled(argument.getType()))
          valid &= succeeded(
              verifyScaledType([&] { return emitError(argument.getLoc()); },
                               argument.getType()));
  return success(valid);
}

/// The signature of a function: its results, and the arguments where it has no
/// body that holds them.
static LogicalResult verifySignature(func::FuncOp func) {
  bool valid = true;
  auto verify = [&](TypeRange types, StringRef what) {
    for (auto [index, type] : llvm::enumerate(types)) {
      auto emit = [&, index = index] {
        return func.emitOpError() << what << ' ' << index << ' ';
      };
      if (containsScaled(type))
        valid &= succeeded(verifyScaledType(emit, type));
    }
  };
  if (func.isExternal())
    verify(func.getArgumentTypes(), "argument");
  verify(func.getResultTypes(), "result");
  return success(valid);
}

/// Whether `op` has a meaning on scaled tensors that unpacking knows.
static bool isSupported(Operation *op) {
  if (auto select = dyn_cast<arith::SelectOp>(op))
    return !isa<ShapedType>(select.getCondition().getType());
  return isa<ComponentOpInterface, PackOp, UnpackOp,
             // Shapes and slices.
             tensor::CastOp, tensor::CollapseShapeOp, tensor::DimOp,
             tensor::EmptyOp, tensor::ExpandShapeOp, tensor::ExtractSliceOp,
             tensor::InsertSliceOp, tensor::ParallelInsertSliceOp,
             // Functions and control flow.
             func::FuncOp, func::CallOp, func::ReturnOp, cf::BranchOp,
             cf::CondBranchOp, scf::ConditionOp, scf::ForOp, scf::ForallOp,
             scf::IfOp, scf::IndexSwitchOp, scf::WhileOp, scf::YieldOp>(op);
}

/// A type with a scaled one among `op`'s operands, results, block arguments and
/// type attribute of a function; null if there is none.
static Type findScaled(Operation *op) {
  auto find = [](TypeRange types) -> Type {
    auto it = llvm::find_if(types, containsScaled);
    return it == types.end() ? Type() : *it;
  };
  if (Type type = find(op->getOperandTypes()))
    return type;
  if (Type type = find(op->getResultTypes()))
    return type;
  if (auto function = dyn_cast<FunctionOpInterface>(op))
    if (containsScaled(function.getFunctionType()))
      return function.getFunctionType();
  for (Region &region : op->getRegions())
    for (Block &block : region)
      for (BlockArgument argument : block.getArguments())
        if (containsScaled(argument.getType()))
          return argument.getType();
  return {};
}

/// Checks an op that is supported on scaled tensors.
static LogicalResult verifyOp(Operation *op,
                              SmallVectorImpl<UnprovenCut> *unproven) {
  if (failed(verifyTypes(op)))
    return failure();
  return TypeSwitch<Operation *, LogicalResult>(op)
      .Case([](func::FuncOp func) { return verifySignature(func); })
      .Case<tensor::ExtractSliceOp, tensor::InsertSliceOp,
            tensor::ParallelInsertSliceOp>(
          [&](Operation *op) { return verifyScaledSlice(op, unproven); })
      .Case([](tensor::EmptyOp op) {
        return verifyConstantSizes(op, op.getMixedSizes());
      })
      .Case<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(
          [&](Operation *op) { return verifyScaledReshape(op, unproven); })
      .Default(success());
}

/// Upstream's value bounds, which proofs ask, read past the shape otherwise.
static LogicalResult verifyDim(Operation *op) {
  auto dim = dyn_cast<ShapedDimOpInterface>(op);
  if (!dim)
    return success();
  auto type = cast<ShapedType>(dim.getShapedValue().getType());
  std::optional<int64_t> index = getConstantIntValue(dim.getDimension());
  if (!index || !type.hasRank() || (*index >= 0 && *index < type.getRank()))
    return success();
  return op->emitOpError() << "expects a dimension of 0 to "
                           << type.getRank() - 1 << ", got " << *index;
}

LogicalResult
moeq::detail::verifyScaledUses(Operation *root,
                               SmallVectorImpl<UnprovenCut> *unproven) {
  bool valid = true;
  root->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (failed(verifyDim(op))) {
      valid = false;
      return WalkResult::interrupt();
    }
    Type found = findScaled(op);
    if (!found)
      return WalkResult::advance();
    if (isSupported(op)) {
      valid &= succeeded(verifyOp(op, unproven));
      return WalkResult::advance();
    }
    op->emitOpError() << "expects plain tensors, got " << found
                      << ": the op has no form on components";
    valid = false;
    return WalkResult::skip();
  });
  return success(valid);
}
