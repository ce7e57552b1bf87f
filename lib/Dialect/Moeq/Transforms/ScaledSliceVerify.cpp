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

static void printIndex(InFlightDiagnostic &diag, StringRef name,
                       OpFoldResult index) {
  diag << name << ' ';
  if (std::optional<int64_t> constant = getConstantIntValue(index))
    diag << *constant;
  else if (int64_t divisor = getKnownDivisor(index); divisor > 1)
    diag << "that is a multiple of " << divisor;
  else
    diag << "that is not known";
}

static LogicalResult emitCut(const Slice &slice, StringRef what, int64_t dim,
                             int64_t block, CutRule rule) {
  InFlightDiagnostic diag =
      slice.op->emitOpError()
      << "cuts " << what << " dimension " << dim << " of "
      << slice.whole.getType()
      << (slice.isWrite ? " by the insert of " : " by the extract of ")
      << slice.part << ": expects ";
  if (rule == CutRule::Whole)
    diag << "the whole extent";
  else if (rule == CutRule::Write)
    diag << "an offset that is a multiple of " << block
         << " and a size that is one or reaches the end";
  else
    diag << "an offset that is a multiple of " << block
         << " or a slice inside one block";
  printIndex(diag, ", got an offset", slice.region.offsets[dim]);
  printIndex(diag, " and a size", slice.region.sizes[dim]);
  return diag;
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

LogicalResult
moeq::detail::verifyScaledSlice(Operation *op,
                                SmallVectorImpl<UnprovenCut> *unproven) {
  Slice slice = getSlice(op);
  ScaledType type = getScaledElementType(slice.whole.getType());
  auto whole = cast<RankedTensorType>(slice.whole.getType());
  int64_t rank = whole.getRank();
  if (failed(verifyDropped(slice, type)))
    return failure();

  auto check = [&](StringRef what, int64_t dim, int64_t block,
                   CutRule rule) -> LogicalResult {
    if (!isConstantIntValue(slice.region.strides[dim], 1)) {
      op->emitOpError() << "expects stride 1 along dimension " << dim << " of "
                        << whole;
      return failure();
    }
    OpFoldResult offset = slice.region.offsets[dim];
    OpFoldResult size = slice.region.sizes[dim];
    std::optional<bool> holds =
        proveCut(slice.whole, dim, block, offset, size, rule);
    if (holds && *holds)
      return success();
    if (holds || !unproven)
      return emitCut(slice, what, dim, block, rule);
    unproven->push_back({op, slice.whole, dim, block, offset, size, rule});
    return success();
  };
  bool laidOut = type.getLayout() != ScaleLayout::RowMajor;
  for (int64_t dim = 0; dim < rank; ++dim) {
    int64_t block = type.getBlockOf(dim, rank);
    if (laidOut && dim >= rank - 2) {
      if (failed(check("laid-out scales along", dim, block, CutRule::Whole)))
        return failure();
      continue;
    }
    if (block == 1)
      continue;
    CutRule rule = slice.isWrite ? CutRule::Write : CutRule::Read;
    if (ShapedType::isDynamic(block)) {
      // One scale serves every slice; only its stride is left to check.
      if (slice.isWrite)
        rule = CutRule::Whole;
      else
        block = 1;
    }
    if (failed(check("a scale block along", dim, block, rule)))
      return failure();
  }
  if (type.isPacked())
    return check("a byte of packed values along", rank - 1, 2, CutRule::Write);
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
  if (type.getLayout() != ScaleLayout::RowMajor)
    return op->emitOpError()
           << "expects scales in row-major layout, got " << wideType;

  for (auto [narrowDim, group] : llvm::enumerate(groups)) {
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
        unproven->push_back(
            {op, wide, inner, unit, OpFoldResult(), size, CutRule::Blocks});
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

void moeq::detail::assertCut(OpBuilder &builder, const UnprovenCut &cut) {
  OpBuilder::InsertionGuard guard(builder);
  // Inserts of an scf.forall stand in a terminator that holds nothing else.
  bool inParallel = isa<tensor::ParallelInsertSliceOp>(cut.op);
  builder.setInsertionPoint(inParallel ? cut.op->getParentOp() : cut.op);
  Location loc = cut.op->getLoc();
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
    return tensor::DimOp::create(builder, loc, cut.whole, cut.dim);
  };
  auto getIndex = [&](OpFoldResult index) {
    return getValueOrCreateConstantIndexOp(builder, loc, index);
  };

  std::string message;
  llvm::raw_string_ostream os(message);
  os << "'" << cut.op->getName() << "' cuts scale blocks of dimension "
     << cut.dim << " of '" << cut.whole.getType() << "'";
  Value holds;
  if (cut.rule == CutRule::Blocks) {
    Value extent = cut.size ? getIndex(cut.size) : getExtent();
    holds = isEqual(remainder(extent), constant(0));
  } else {
    Value offset = getIndex(cut.offset), size = getIndex(cut.size);
    if (cut.rule == CutRule::Whole) {
      holds = both(isEqual(offset, constant(0)), isEqual(size, getExtent()));
    } else {
      Value rest = remainder(offset);
      Value aligned = isEqual(rest, constant(0));
      Value end = arith::AddIOp::create(
          builder, loc, cut.rule == CutRule::Read ? rest : offset, size);
      if (cut.rule == CutRule::Read)
        holds = either(aligned, arith::CmpIOp::create(
                                    builder, loc, arith::CmpIPredicate::ule,
                                    end, constant(cut.block)));
      else
        holds = both(aligned, either(isEqual(remainder(size), constant(0)),
                                     isEqual(end, getExtent())));
    }
  }
  cf::AssertOp::create(builder, loc, holds, message);
}
