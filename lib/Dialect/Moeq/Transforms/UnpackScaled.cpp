//===- UnpackScaled.cpp - Scaled tensors to components ----------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "UnpackScaledPatterns.h"
#include "VerifyScaledUses.h"

#include "moeq/Dialect/Moeq/Transforms/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/RegionUtils.h"

namespace mlir::moeq {
#define GEN_PASS_DEF_MOEQUNPACKSCALED
#include "moeq/Dialect/Moeq/Transforms/Passes.h.inc"
} // namespace mlir::moeq

using namespace mlir;
using namespace mlir::moeq;
using namespace mlir::moeq::detail;

static constexpr StringLiteral kNameAttr = "moeq.name";
/// What the names of components after the values end with.
static constexpr StringLiteral kSuffixes[] = {".scale", ".zero"};

//===----------------------------------------------------------------------===//
// Attributes of arguments and results
//===----------------------------------------------------------------------===//

namespace {
/// The attributes of a function's arguments and results before unpacking.
/// Conversion to components would leave each at its old index, on another
/// argument.
struct Signature {
  func::FuncOp func;
  SmallVector<Type> arguments, results;
  SmallVector<DictionaryAttr> argumentAttrs, resultAttrs;
};
} // namespace

/// Takes the attributes off a function's arguments and results.
static Signature takeSignature(func::FuncOp func) {
  Signature signature{func,
                      llvm::to_vector(func.getArgumentTypes()),
                      llvm::to_vector(func.getResultTypes()),
                      {},
                      {}};
  func.getAllArgAttrs(signature.argumentAttrs);
  func.getAllResultAttrs(signature.resultAttrs);
  func.removeArgAttrsAttr();
  func.removeResAttrsAttr();
  return signature;
}

/// The attributes of the components of what had `types` and `attrs`: those of a
/// tensor go to its values, those that bufferization reads to each component.
/// Where an index has moved, each component is named after what it was, by its
/// `moeq.name` or else `prefix` and its old index.
static SmallVector<Attribute> unpackAttrs(ArrayRef<Type> types,
                                          ArrayRef<DictionaryAttr> attrs,
                                          StringRef prefix) {
  bool moved = llvm::any_of(types, [](Type type) {
    return static_cast<bool>(getScaledElementType(type));
  });
  SmallVector<Attribute> unpacked;
  for (auto [index, type] : llvm::enumerate(types)) {
    MLIRContext *context = type.getContext();
    NamedAttrList values(attrs.empty() ? DictionaryAttr() : attrs[index]);
    auto name = dyn_cast_or_null<StringAttr>(values.get(kNameAttr));
    if (!name)
      name = StringAttr::get(context, prefix + Twine(index));
    if (moved)
      values.set(kNameAttr, name);
    unpacked.push_back(values.getDictionary(context));
    ScaledType scaled = getScaledElementType(type);
    if (!scaled)
      continue;
    NamedAttrList other;
    for (NamedAttribute attr : values)
      if (isa_and_nonnull<bufferization::BufferizationDialect>(
              attr.getNameDialect()))
        other.push_back(attr);
    for (StringRef suffix :
         ArrayRef(kSuffixes).take_front(scaled.getNumComponents() - 1)) {
      other.set(kNameAttr, StringAttr::get(context, name.getValue() + suffix));
      unpacked.push_back(other.getDictionary(context));
    }
  }
  return unpacked;
}

/// Gives the arguments and results of an unpacked function their attributes.
static void restoreSignature(const Signature &signature) {
  MLIRContext *context = signature.func->getContext();
  auto isEmpty = [](Attribute attr) {
    return cast<DictionaryAttr>(attr).empty();
  };
  SmallVector<Attribute> arguments =
      unpackAttrs(signature.arguments, signature.argumentAttrs, "arg");
  func::FuncOp func = signature.func;
  if (!llvm::all_of(arguments, isEmpty))
    func.setArgAttrsAttr(ArrayAttr::get(context, arguments));
  SmallVector<Attribute> results =
      unpackAttrs(signature.results, signature.resultAttrs, "result");
  if (!llvm::all_of(results, isEmpty))
    func.setResAttrsAttr(ArrayAttr::get(context, results));
}

//===----------------------------------------------------------------------===//
// Conversion
//===----------------------------------------------------------------------===//

static void addConversions(TypeConverter &converter) {
  converter.addConversion([](Type type) { return type; });
  converter.addConversion(
      [](RankedTensorType type,
         SmallVectorImpl<Type> &components) -> std::optional<LogicalResult> {
        if (!getScaledElementType(type))
          return std::nullopt;
        llvm::append_range(components, getComponentTypes(type));
        return success();
      });
  converter.addSourceMaterialization([](OpBuilder &builder, Type type,
                                        ValueRange components,
                                        Location loc) -> Value {
    return PackOp::create(builder, loc, type, components);
  });
  converter.addTargetMaterialization([](OpBuilder &builder, TypeRange types,
                                        ValueRange tensor,
                                        Location loc) -> SmallVector<Value> {
    if (tensor.size() != 1 || !isScaledTensor(tensor.front().getType()))
      return {};
    auto unpack = UnpackOp::create(builder, loc, types, tensor.front());
    return SmallVector<Value>(unpack.getComponents());
  });
}

/// Whether `op` and the blocks that it owns are free of scaled types. Blocks
/// other than a function's entry belong to the branches to them.
static bool isUnpacked(Operation *op) {
  auto isFree = [](TypeRange types) {
    return llvm::none_of(types, containsScaled);
  };
  if (auto func = dyn_cast<func::FuncOp>(op))
    return !containsScaled(func.getFunctionType()) &&
           (func.isExternal() || isFree(func.front().getArgumentTypes()));
  if (isa<BranchOpInterface>(op))
    for (Block *successor : op->getSuccessors())
      if (!isFree(successor->getArgumentTypes()))
        return false;
  for (Region &region : op->getRegions())
    if (!isFree(region.getArgumentTypes()))
      return false;
  return isFree(op->getOperandTypes()) && isFree(op->getResultTypes());
}

namespace {
struct MoeqUnpackScaled : moeq::impl::MoeqUnpackScaledBase<MoeqUnpackScaled> {
  using Base::Base;

  void runOnOperation() override {
    MLIRContext *context = &getContext();
    // All checks come first, on intact IR: inside the conversion a block
    // argument has lost its loop.
    SmallVector<UnprovenCut> unproven;
    if (failed(
            verifyScaledUses(getOperation(), assertCuts ? &unproven : nullptr)))
      return signalPassFailure();
    IRRewriter rewriter(context);
    for (const UnprovenCut &cut : unproven)
      assertCut(rewriter, cut);
    // The conversion does not visit them.
    (void)eraseUnreachableBlocks(rewriter, getOperation()->getRegions());

    SmallVector<Signature, 0> signatures;
    getOperation()->walk([&](func::FuncOp func) {
      if (containsScaled(func.getFunctionType()))
        signatures.push_back(takeSignature(func));
    });

    TypeConverter converter;
    addConversions(converter);
    RewritePatternSet patterns(context);
    populateUnpackScaledPatterns(converter, patterns);
    ConversionTarget target(*context);
    target.markUnknownOpDynamicallyLegal(isUnpacked);
    if (failed(
            applyFullConversion(getOperation(), target, std::move(patterns))))
      return signalPassFailure();

    for (const Signature &signature : signatures)
      restoreSignature(signature);
  }
};
} // namespace
