//===- ScaledSliceVerify.cpp - Checks of scaled slices ----------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ScaledSlice.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::moeq;
using namespace mlir::moeq::detail;

//===----------------------------------------------------------------------===//
// Slices
//===----------------------------------------------------------------------===//

namespace {
/// An extract or insert, seen from the tensor that it cuts.
struct Slice {
  Operation *op;
  Value whole;
  RankedTensorType part;
  SliceRegion region;
  llvm::SmallBitVector dropped;
  bool isWrite;
};
} // namespace

template <typename OpTy>
static Slice getSlice(OpTy op, Value whole, RankedTensorType part,
                      bool isWrite) {
  return {op,
          whole,
          part,
          {op.getMixedOffsets(), op.getMixedSizes(), op.getMixedStrides()},
          op.getDroppedDims(),
          isWrite};
}

static Slice getSlice(Operation *op) {
  return TypeSwitch<Operation *, Slice>(op)
      .Case([](tensor::ExtractSliceOp op) {
        return getSlice(op, op.getSource(), op.getType(), /*isWrite=*/false);
      })
      .Case<tensor::InsertSliceOp, tensor::ParallelInsertSliceOp>([](auto op) {
        return getSlice(op, op.getDest(), op.getSourceType(), /*isWrite=*/true);
      });
}

/// Dropping dimensions must leave each block at its dimension, counted from the
/// last one.
static LogicalResult verifyDropped(const Slice &slice, ScaledType type) {
  auto whole = cast<RankedTensorType>(slice.whole.getType());
  int64_t kept = 0;
  for (int64_t dim = 0, rank = whole.getRank(); dim < rank; ++dim) {
    if (slice.dropped.test(dim))
      continue;
    int64_t before = type.getBlockOf(dim, rank);
    int64_t after = type.getBlockOf(kept++, slice.part.getRank());
    if (before != after)
      return slice.op->emitOpError()
             << "moves scale blocks between dimensions of " << whole << " and "
             << slice.part
             << ": expects dropped dimensions before those with blocks";
  }
  return success();
}

LogicalResult moeq::detail::verifyConstantSizes(Operation *op,
                                                ArrayRef<OpFoldResult> sizes) {
  for (auto [dim, size] : llvm::enumerate(sizes))
    if (std::optional<int64_t> constant = getConstantIntValue(size);
        constant && *constant < 0)
      return op->emitOpError("expects a size of at least 0 along dimension ")
             << dim << ", got " << *constant;
  return success();
}

LogicalResult
moeq::detail::verifyScaledSlice(Operation *op,
                                SmallVectorImpl<UnprovenCut> *unproven) {
  Slice slice = getSlice(op);
  ScaledType type = getScaledElementType(slice.whole.getType());
  auto whole = cast<RankedTensorType>(slice.whole.getType());
  if (failed(verifyDropped(slice, type)))
    return failure();
  if (failed(verifyConstantSizes(op, slice.region.sizes)))
    return failure();
  for (const Cut &cut : getCuts(whole, slice.isWrite)) {
    if (!isConstantIntValue(slice.region.strides[cut.dim], 1))
      return op->emitOpError() << "expects stride 1 along dimension " << cut.dim
                               << " of " << whole;
    OpFoldResult offset = slice.region.offsets[cut.dim];
    OpFoldResult size = slice.region.sizes[cut.dim];
    std::optional<bool> holds = proveCut(slice.whole, cut, offset, size);
    if (holds && *holds)
      continue;
    if (!holds && unproven) {
      unproven->push_back({op, slice.whole, cut, offset, size});
      continue;
    }
    InFlightDiagnostic diag = op->emitOpError()
                              << "cuts " << cut.what << " along dimension "
                              << cut.dim << " of " << whole
                              << (slice.isWrite ? " by the insert of "
                                                : " by the extract of ")
                              << slice.part << ": ";
    describeCut(diag, cut, offset, size);
    return diag;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Reshapes
//===----------------------------------------------------------------------===//

/// The size of dimension `dim` where the op that makes `tensor` gives it.
static OpFoldResult getKnownSize(Value tensor, int64_t dim) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (!type.isDynamicDim(dim))
    return IntegerAttr::get(IndexType::get(type.getContext()),
                            type.getDimSize(dim));
  Operation *op = tensor.getDefiningOp();
  if (auto empty = dyn_cast_or_null<tensor::EmptyOp>(op))
    return empty.getMixedSizes()[dim];
  if (auto expand = dyn_cast_or_null<tensor::ExpandShapeOp>(op))
    return expand.getMixedOutputShape()[dim];
  return {};
}

LogicalResult
moeq::detail::verifyScaledReshape(Operation *op,
                                  SmallVectorImpl<UnprovenCut> *unproven) {
  // `wide` has the dimensions that groups hold, `narrow` one for each group.
  bool collapse = isa<tensor::CollapseShapeOp>(op);
  Value wide = collapse ? op->getOperand(0) : op->getResult(0);
  auto wideType = cast<RankedTensorType>(wide.getType());
  auto narrowType = cast<RankedTensorType>(
      (collapse ? op->getResult(0) : op->getOperand(0)).getType());
  auto groups =
      collapse ? cast<tensor::CollapseShapeOp>(op).getReassociationIndices()
               : cast<tensor::ExpandShapeOp>(op).getReassociationIndices();
  ScaledType type = getScaledElementType(wideType);
  if (!type.isRowMajor())
    return op->emitOpError()
           << "expects values and scales in row-major layout, got " << wideType;
  if (type.getGroups() != 0)
    return op->emitOpError() << "expects rows without groups, got " << wideType;

  for (auto [narrowDim, group] : llvm::enumerate(groups)) {
    // Upstream verifies indices after cutting them to 32 bits.
    for (int64_t dim : group)
      if (dim < 0 || dim >= wideType.getRank())
        return op->emitOpError() << "expects groups of dimensions 0 to "
                                 << wideType.getRank() - 1 << ", got " << dim;
    int64_t inner = group.back();
    int64_t block = type.getBlockOf(inner, wideType.getRank());
    bool outerUnit = true, outerBlocks = false;
    for (int64_t dim : ArrayRef<int64_t>(group).drop_back()) {
      outerUnit &= wideType.getDimSize(dim) == 1;
      outerBlocks |= type.getBlockOf(dim, wideType.getRank()) != 1;
    }
    if (type.getBlockOf(narrowDim, narrowType.getRank()) != block ||
        outerBlocks || (ShapedType::isDynamic(block) && !outerUnit))
      return op->emitOpError()
             << "expects scale blocks only in the last dimension of a group, "
                "got "
             << wideType << " and " << narrowType;
    bool packedInner = type.isPacked() && inner == wideType.getRank() - 1;
    SmallVector<int64_t, 2> units;
    if (!ShapedType::isDynamic(block))
      units.push_back(block);
    if (packedInner)
      units.push_back(2);
    for (int64_t unit : units) {
      OpFoldResult size = getKnownSize(wide, inner);
      if (outerUnit || (size && getKnownDivisor(size) % unit == 0))
        continue;
      if (wideType.isDynamicDim(inner) && unproven) {
        unproven->push_back({op,
                             wide,
                             {"a scale block", inner, unit, CutRule::Blocks},
                             OpFoldResult(),
                             size});
        continue;
      }
      InFlightDiagnostic diag =
          op->emitOpError()
          << "expects dimension " << inner << " of " << wideType
          << " to be a multiple of "
          << (unit == block ? "the scale block " : "the packing ") << unit;
      if (!wideType.isDynamicDim(inner))
        return diag << ", got " << wideType.getDimSize(inner);
      return diag << ", got one that is not known";
    }
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Run-time checks
//===----------------------------------------------------------------------===//

void moeq::detail::assertCut(OpBuilder &builder, const UnprovenCut &unproven) {
  Operation *op = unproven.op;
  Value whole = unproven.whole;
  const Cut &cut = unproven.cut;
  OpBuilder::InsertionGuard guard(builder);
  // Inserts of an scf.forall stand in a terminator that holds nothing else.
  bool inParallel = isa<tensor::ParallelInsertSliceOp>(op);
  builder.setInsertionPoint(inParallel ? op->getParentOp() : op);
  Location loc = op->getLoc();
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  auto isEqual = [&](Value left, Value right) -> Value {
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, left,
                                 right);
  };
  auto remainder = [&](Value value) -> Value {
    return arith::RemUIOp::create(builder, loc, value, constant(cut.block));
  };
  auto both = [&](Value left, Value right) -> Value {
    return arith::AndIOp::create(builder, loc, left, right);
  };
  auto either = [&](Value left, Value right) -> Value {
    return arith::OrIOp::create(builder, loc, left, right);
  };
  auto getExtent = [&]() -> Value {
    return tensor::DimOp::create(builder, loc, whole, cut.dim);
  };
  auto getIndex = [&](OpFoldResult index) {
    return getValueOrCreateConstantIndexOp(builder, loc, index);
  };

  Value holds;
  if (cut.rule == CutRule::Blocks) {
    Value extent = unproven.size ? getIndex(unproven.size) : getExtent();
    holds = isEqual(remainder(extent), constant(0));
  } else {
    Value offset = getIndex(unproven.offset), size = getIndex(unproven.size);
    Value isAligned = isEqual(remainder(offset), constant(0));
    if (cut.rule == CutRule::Whole) {
      holds = both(isEqual(offset, constant(0)), isEqual(size, getExtent()));
    } else if (cut.rule == CutRule::Write) {
      Value end = arith::AddIOp::create(builder, loc, offset, size);
      holds = both(isAligned, either(isEqual(remainder(size), constant(0)),
                                     isEqual(end, getExtent())));
    } else {
      Value end = arith::AddIOp::create(builder, loc, remainder(offset), size);
      Value isInside = arith::CmpIOp::create(
          builder, loc, arith::CmpIPredicate::ule, end, constant(cut.block));
      holds = either(isAligned, isInside);
    }
  }
  std::string message;
  llvm::raw_string_ostream(message)
      << "'" << op->getName() << "' cuts scale blocks of dimension " << cut.dim
      << " of '" << whole.getType() << "'";
  cf::AssertOp::create(builder, loc, holds, message);
}
