//===- UnpackScaledPatterns.cpp - Ops on components -------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "UnpackScaledPatterns.h"
#include "ScaledSlice.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/Transforms/StructuralTypeConversions.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Func/Transforms/FuncConversions.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::moeq;
using namespace mlir::moeq::detail;

static SmallVector<Value> flatten(ArrayRef<ValueRange> groups) {
  SmallVector<Value> values;
  for (ValueRange group : groups)
    llvm::append_range(values, group);
  return values;
}

/// `value` as a tensor of `type`, which differs in static extents only.
static Value castTo(OpBuilder &builder, Location loc, Type type, Value value) {
  return value.getType() == type
             ? value
             : Value(tensor::CastOp::create(builder, loc, type, value));
}

namespace {
template <typename OpTy>
struct UnpackPattern : OpConversionPattern<OpTy> {
  using OpConversionPattern<OpTy>::OpConversionPattern;
  using Adaptor = typename OpConversionPattern<OpTy>::OneToNOpAdaptor;

  /// The component types of a scaled tensor type.
  SmallVector<RankedTensorType, 3> getComponents(Type type) const {
    return getComponentTypes(cast<RankedTensorType>(type));
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Slices
//===----------------------------------------------------------------------===//

/// The region of a slice op. Its index operands are not converted.
template <typename OpTy>
static SliceRegion getRegion(OpTy op) {
  return {op.getMixedOffsets(), op.getMixedSizes(), op.getMixedStrides()};
}

/// The type of the part that a slice of `sizes` has: static where they are
/// attributes, as upstream's slices want it.
static RankedTensorType getPartType(Type element, ArrayRef<OpFoldResult> sizes,
                                    const llvm::SmallBitVector &dropped) {
  SmallVector<int64_t> shape;
  for (auto [dim, size] : llvm::enumerate(sizes))
    if (!dropped.test(dim))
      shape.push_back(isa<Attribute>(size) ? *getConstantIntValue(size)
                                           : ShapedType::kDynamic);
  return RankedTensorType::get(shape, element);
}

namespace {
struct UnpackExtractSlice : UnpackPattern<tensor::ExtractSliceOp> {
  using UnpackPattern::UnpackPattern;

  LogicalResult
  matchAndRewrite(tensor::ExtractSliceOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    ScaledType scaled = getScaledElementType(op.getType());
    SmallVector<Value> parts;
    for (auto [index, type] : llvm::enumerate(getComponents(op.getType()))) {
      SliceRegion region =
          getComponentRegion(rewriter, loc, scaled, index, getRegion(op));
      Value part = tensor::ExtractSliceOp::create(
          rewriter, loc,
          getPartType(type.getElementType(), region.sizes, op.getDroppedDims()),
          adaptor.getSource()[index], region.offsets, region.sizes,
          region.strides);
      parts.push_back(castTo(rewriter, loc, type, part));
    }
    rewriter.replaceOpWithMultiple(op, {parts});
    return success();
  }
};

/// tensor.insert_slice and tensor.parallel_insert_slice.
template <typename OpTy>
struct UnpackInsertSlice : UnpackPattern<OpTy> {
  using UnpackPattern<OpTy>::UnpackPattern;
  static constexpr bool isParallel =
      std::is_same_v<OpTy, tensor::ParallelInsertSliceOp>;

  LogicalResult
  matchAndRewrite(OpTy op, typename UnpackPattern<OpTy>::Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    ScaledType scaled = getScaledElementType(op.getDestType());
    OpBuilder::InsertionGuard guard(rewriter);
    SmallVector<Value> results;
    for (auto [index, part, whole] :
         llvm::enumerate(adaptor.getSource(), adaptor.getDest())) {
      // The terminator of an scf.forall holds nothing but the inserts.
      if (isParallel)
        rewriter.setInsertionPoint(op->getParentOp());
      SliceRegion region =
          getComponentRegion(rewriter, loc, scaled, index, getRegion(op));
      RankedTensorType type = getPartType(getElementTypeOrSelf(part),
                                          region.sizes, op.getDroppedDims());
      Value source = castTo(rewriter, loc, type, part);
      if (isParallel)
        rewriter.setInsertionPoint(op);
      auto insert = OpTy::create(rewriter, loc, source, whole, region.offsets,
                                 region.sizes, region.strides);
      if constexpr (!isParallel)
        results.push_back(insert.getResult());
    }
    if constexpr (isParallel)
      rewriter.eraseOp(op);
    else
      rewriter.replaceOpWithMultiple(op, {results});
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

struct UnpackEmpty : UnpackPattern<tensor::EmptyOp> {
  using UnpackPattern::UnpackPattern;

  LogicalResult
  matchAndRewrite(tensor::EmptyOp op, Adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ScaledType scaled = getScaledElementType(op.getType());
    SmallVector<Value> components;
    for (auto [index, type] : llvm::enumerate(getComponents(op.getType()))) {
      Value empty = tensor::EmptyOp::create(
          rewriter, op.getLoc(),
          getComponentSizes(rewriter, op.getLoc(), scaled, index,
                            op.getMixedSizes()),
          type.getElementType());
      components.push_back(castTo(rewriter, op.getLoc(), type, empty));
    }
    rewriter.replaceOpWithMultiple(op, {components});
    return success();
  }
};

struct UnpackDim : UnpackPattern<tensor::DimOp> {
  using UnpackPattern::UnpackPattern;

  LogicalResult
  matchAndRewrite(tensor::DimOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto type = cast<RankedTensorType>(op.getSource().getType());
    Value size = tensor::DimOp::create(rewriter, loc, adaptor.getSource()[0],
                                       op.getIndex());
    if (getScaledElementType(type).isPacked()) {
      // Two values a byte: the last extent is that of the type.
      auto constant = [&](int64_t value) -> Value {
        return arith::ConstantIndexOp::create(rewriter, loc, value);
      };
      Value isLast =
          arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::eq,
                                op.getIndex(), constant(type.getRank() - 1));
      size = arith::SelectOp::create(rewriter, loc, isLast,
                                     constant(type.getShape().back()), size);
    }
    rewriter.replaceOp(op, size);
    return success();
  }
};

struct UnpackCast : UnpackPattern<tensor::CastOp> {
  using UnpackPattern::UnpackPattern;

  LogicalResult
  matchAndRewrite(tensor::CastOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    SmallVector<Value> components;
    for (auto [type, component] :
         llvm::zip_equal(getComponents(op.getType()), adaptor.getSource()))
      components.push_back(castTo(rewriter, op.getLoc(), type, component));
    rewriter.replaceOpWithMultiple(op, {components});
    return success();
  }
};

struct UnpackCollapseShape : UnpackPattern<tensor::CollapseShapeOp> {
  using UnpackPattern::UnpackPattern;

  LogicalResult
  matchAndRewrite(tensor::CollapseShapeOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    SmallVector<Value> components;
    for (auto [type, component] :
         llvm::zip_equal(getComponents(op.getType()), adaptor.getSrc())) {
      Value collapsed = tensor::CollapseShapeOp::create(
          rewriter, op.getLoc(), component, op.getReassociationIndices());
      components.push_back(castTo(rewriter, op.getLoc(), type, collapsed));
    }
    rewriter.replaceOpWithMultiple(op, {components});
    return success();
  }
};

struct UnpackExpandShape : UnpackPattern<tensor::ExpandShapeOp> {
  using UnpackPattern::UnpackPattern;

  LogicalResult
  matchAndRewrite(tensor::ExpandShapeOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    ScaledType scaled = getScaledElementType(op.getType());
    SmallVector<Value> components;
    for (auto [index, type] : llvm::enumerate(getComponents(op.getType())))
      components.push_back(tensor::ExpandShapeOp::create(
          rewriter, loc, type, adaptor.getSrc()[index],
          op.getReassociationIndices(),
          getComponentSizes(rewriter, loc, scaled, index,
                            op.getMixedOutputShape())));
    rewriter.replaceOpWithMultiple(op, {components});
    return success();
  }
};

struct UnpackSelect : UnpackPattern<arith::SelectOp> {
  using UnpackPattern::UnpackPattern;

  LogicalResult
  matchAndRewrite(arith::SelectOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    SmallVector<Value> components;
    for (auto [left, right] :
         llvm::zip_equal(adaptor.getTrueValue(), adaptor.getFalseValue()))
      components.push_back(arith::SelectOp::create(
          rewriter, op.getLoc(), op.getCondition(), left, right));
    rewriter.replaceOpWithMultiple(op, {components});
    return success();
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

/// `values` cut into one group for each of `types`, of its components.
static SmallVector<SmallVector<Value>>
groupByType(const TypeConverter &converter, TypeRange types,
            ValueRange values) {
  SmallVector<SmallVector<Value>> groups;
  for (Type type : types) {
    SmallVector<Type> converted;
    (void)converter.convertType(type, converted);
    groups.emplace_back(values.take_front(converted.size()));
    values = values.drop_front(converted.size());
  }
  return groups;
}

namespace {
/// Upstream's pattern drops the attributes.
struct UnpackCall : UnpackPattern<func::CallOp> {
  using UnpackPattern::UnpackPattern;

  LogicalResult
  matchAndRewrite(func::CallOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    SmallVector<Type> types;
    if (failed(getTypeConverter()->convertTypes(op.getResultTypes(), types)))
      return failure();
    auto call = func::CallOp::create(rewriter, op.getLoc(), op.getCallee(),
                                     types, flatten(adaptor.getOperands()));
    call.setNoInline(op.getNoInline());
    call->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    rewriter.replaceOpWithMultiple(op, groupByType(*getTypeConverter(),
                                                   op.getResultTypes(),
                                                   call.getResults()));
    return success();
  }
};

struct UnpackForall : UnpackPattern<scf::ForallOp> {
  using UnpackPattern::UnpackPattern;

  LogicalResult
  matchAndRewrite(scf::ForallOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (failed(
            rewriter.convertRegionTypes(&op.getRegion(), *getTypeConverter())))
      return failure();
    auto forall = scf::ForallOp::create(
        rewriter, op.getLoc(), op.getMixedLowerBound(), op.getMixedUpperBound(),
        op.getMixedStep(), flatten(adaptor.getOutputs()), op.getMapping(),
        [](OpBuilder &, Location, ValueRange) {});
    forall->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    rewriter.eraseBlock(forall.getBody());
    rewriter.inlineRegionBefore(op.getRegion(), forall.getRegion(),
                                forall.getRegion().end());
    rewriter.replaceOpWithMultiple(op, groupByType(*getTypeConverter(),
                                                   op.getResultTypes(),
                                                   forall.getResults()));
    return success();
  }
};

//===----------------------------------------------------------------------===//
// moeq
//===----------------------------------------------------------------------===//

struct UnpackPack : UnpackPattern<PackOp> {
  using UnpackPattern::UnpackPattern;

  LogicalResult
  matchAndRewrite(PackOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithMultiple(op, {flatten(adaptor.getComponents())});
    return success();
  }
};

struct UnpackUnpack : UnpackPattern<UnpackOp> {
  using UnpackPattern::UnpackPattern;

  LogicalResult
  matchAndRewrite(UnpackOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOp(op, adaptor.getSource());
    return success();
  }
};

/// Any moeq op: the same op in component form.
struct UnpackComponentOp : OpInterfaceConversionPattern<ComponentOpInterface> {
  using OpInterfaceConversionPattern::OpInterfaceConversionPattern;

  LogicalResult
  matchAndRewrite(ComponentOpInterface op, ArrayRef<ValueRange> operands,
                  ConversionPatternRewriter &rewriter) const override {
    NamedAttrList attributes(op->getAttrDictionary());
    auto segments = op->getAttrOfType<DenseI32ArrayAttr>("operandSegmentSizes");
    SmallVector<int32_t> segmentSizes;
    if (segments)
      segmentSizes.assign(segments.asArrayRef().begin(),
                          segments.asArrayRef().end());
    for (const ScaledGroup &group : op.getScaledGroups()) {
      auto [first, length] = op.getOperandSegment(group.segment);
      if (length != 1)
        continue;
      ScaledType scaled = getScaledElementType(op->getOperand(first).getType());
      if (!scaled)
        continue;
      attributes.set(group.formatName, TypeAttr::get(scaled));
      if (segments)
        segmentSizes[group.segment] = scaled.getNumComponents();
    }
    if (segments)
      attributes.set("operandSegmentSizes",
                     rewriter.getDenseI32ArrayAttr(segmentSizes));

    SmallVector<Type> resultTypes;
    if (failed(getTypeConverter()->convertTypes(op->getResultTypes(),
                                                resultTypes)))
      return failure();
    OperationState state(op->getLoc(), op->getName(), flatten(operands),
                         resultTypes, attributes);
    for (unsigned i = 0; i < op->getNumRegions(); ++i)
      state.addRegion();
    Operation *unpacked = rewriter.create(state);
    for (auto [to, from] :
         llvm::zip_equal(unpacked->getRegions(), op->getRegions()))
      rewriter.inlineRegionBefore(from, to, to.end());
    rewriter.replaceOpWithMultiple(op, groupByType(*getTypeConverter(),
                                                   op->getResultTypes(),
                                                   unpacked->getResults()));
    return success();
  }
};
} // namespace

void moeq::detail::populateUnpackScaledPatterns(const TypeConverter &converter,
                                                RewritePatternSet &patterns) {
  populateFunctionOpInterfaceTypeConversionPattern<func::FuncOp>(patterns,
                                                                 converter);
  populateReturnOpTypeConversionPattern(patterns, converter);
  scf::populateSCFStructuralTypeConversions(converter, patterns);
  cf::populateCFStructuralTypeConversions(converter, patterns);
  patterns.add<UnpackExtractSlice, UnpackInsertSlice<tensor::InsertSliceOp>,
               UnpackInsertSlice<tensor::ParallelInsertSliceOp>, UnpackEmpty,
               UnpackDim, UnpackCast, UnpackCollapseShape, UnpackExpandShape,
               UnpackSelect, UnpackCall, UnpackForall, UnpackPack, UnpackUnpack,
               UnpackComponentOp>(converter, patterns.getContext());
}
