//===- ScaledSlice.cpp - Slices of scaled tensors ---------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ScaledSlice.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/SaveAndRestore.h"

#include <numeric>

using namespace mlir;
using namespace mlir::moeq;
using namespace mlir::moeq::detail;

//===----------------------------------------------------------------------===//
// Divisors
//===----------------------------------------------------------------------===//

static int64_t magnitude(int64_t value) {
  return value == std::numeric_limits<int64_t>::min() ? 1 : std::abs(value);
}

static int64_t productDivisor(int64_t left, int64_t right) {
  int64_t product;
  return llvm::MulOverflow(left, right, product) ? 1 : product;
}

namespace {
/// Walks the ops that compute an index, to a limited depth: values may form
/// cycles in graph regions.
struct DivisorAnalysis {
  unsigned depth = 0;
  static constexpr unsigned maxDepth = 12;

  int64_t get(OpFoldResult index);
  int64_t get(AffineExpr expr, ValueRange operands, unsigned numDims);
  int64_t getOfLoopVariable(BlockArgument argument);
};
} // namespace

int64_t DivisorAnalysis::get(AffineExpr expr, ValueRange operands,
                             unsigned numDims) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return magnitude(constant.getValue());
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return get(operands[dim.getPosition()]);
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return get(operands[numDims + symbol.getPosition()]);
  auto binary = cast<AffineBinaryOpExpr>(expr);
  int64_t left = get(binary.getLHS(), operands, numDims);
  int64_t right = get(binary.getRHS(), operands, numDims);
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return std::gcd(left, right);
  case AffineExprKind::Mul:
    return productDivisor(left, right);
  default:
    return 1;
  }
}

int64_t DivisorAnalysis::getOfLoopVariable(BlockArgument argument) {
  auto loop =
      dyn_cast_or_null<LoopLikeOpInterface>(argument.getOwner()->getParentOp());
  if (!loop)
    return 1;
  std::optional<SmallVector<Value>> variables = loop.getLoopInductionVars();
  std::optional<SmallVector<OpFoldResult>> bounds = loop.getLoopLowerBounds();
  std::optional<SmallVector<OpFoldResult>> steps = loop.getLoopSteps();
  if (!variables || !bounds || !steps)
    return 1;
  for (auto [variable, bound, step] : llvm::zip(*variables, *bounds, *steps))
    if (variable == argument)
      return std::gcd(get(bound), get(step));
  return 1;
}

int64_t DivisorAnalysis::get(OpFoldResult index) {
  if (std::optional<int64_t> constant = getConstantIntValue(index))
    return magnitude(*constant);
  auto value = dyn_cast<Value>(index);
  if (!value || depth == maxDepth)
    return 1;
  llvm::SaveAndRestore deeper(depth, depth + 1);
  if (auto argument = dyn_cast<BlockArgument>(value))
    return getOfLoopVariable(argument);
  Operation *op = value.getDefiningOp();
  if (isa<affine::AffineApplyOp, affine::AffineMinOp>(op)) {
    AffineMap map = isa<affine::AffineApplyOp>(op)
                        ? cast<affine::AffineApplyOp>(op).getAffineMap()
                        : cast<affine::AffineMinOp>(op).getMap();
    int64_t divisor = 0;
    for (AffineExpr expr : map.getResults())
      divisor =
          std::gcd(divisor, get(expr, op->getOperands(), map.getNumDims()));
    return divisor;
  }
  if (isa<arith::AddIOp, arith::SubIOp>(op))
    return std::gcd(get(op->getOperand(0)), get(op->getOperand(1)));
  if (isa<arith::MulIOp>(op))
    return productDivisor(get(op->getOperand(0)), get(op->getOperand(1)));
  return 1;
}

int64_t moeq::detail::getKnownDivisor(OpFoldResult index) {
  return DivisorAnalysis().get(index);
}

//===----------------------------------------------------------------------===//
// Regions of components
//===----------------------------------------------------------------------===//

OpFoldResult moeq::detail::floorDiv(OpBuilder &builder, Location loc,
                                    OpFoldResult dividend, int64_t divisor) {
  if (divisor == 1)
    return dividend;
  AffineExpr symbol = builder.getAffineSymbolExpr(0);
  return affine::makeComposedFoldedAffineApply(
      builder, loc, symbol.floorDiv(divisor), {dividend});
}

OpFoldResult moeq::detail::ceilDiv(OpBuilder &builder, Location loc,
                                   OpFoldResult dividend, int64_t divisor) {
  if (divisor == 1)
    return dividend;
  AffineExpr symbol = builder.getAffineSymbolExpr(0);
  return affine::makeComposedFoldedAffineApply(
      builder, loc, symbol.ceilDiv(divisor), {dividend});
}

SmallVector<OpFoldResult>
moeq::detail::getComponentSizes(OpBuilder &builder, Location loc,
                                ScaledType type, unsigned component,
                                ArrayRef<OpFoldResult> sizes) {
  SmallVector<OpFoldResult> result(sizes);
  auto rank = static_cast<int64_t>(sizes.size());
  if (component == 0) {
    if (type.isPacked() && rank > 0)
      result.back() = ceilDiv(builder, loc, sizes.back(), 2);
    return result;
  }
  // As ScaledType::getScaleShape pads rows of groups.
  if (int64_t groups = type.getGroups(); groups != 0 && rank >= 2) {
    AffineExpr symbol = builder.getAffineSymbolExpr(0);
    result[rank - 2] = affine::makeComposedFoldedAffineApply(
        builder, loc, (symbol.floorDiv(kPaddedRows) + groups) * kPaddedRows,
        {sizes[rank - 2]});
  }
  for (int64_t dim = 0; dim < rank; ++dim) {
    int64_t block = type.getBlockOf(dim, rank);
    result[dim] = ShapedType::isDynamic(block)
                      ? OpFoldResult(builder.getIndexAttr(1))
                      : ceilDiv(builder, loc, result[dim], block);
  }
  if (type.getLayout() == ScaleLayout::RowMajor || rank < 2)
    return result;
  // As ScaledType::getScaleShape pads and swaps.
  auto pad = [&](OpFoldResult size, int64_t to) {
    AffineExpr symbol = builder.getAffineSymbolExpr(0);
    return affine::makeComposedFoldedAffineApply(
        builder, loc, symbol.ceilDiv(to) * to, {size});
  };
  OpFoldResult &rows = result[rank - 2], &columns = result[rank - 1];
  if (type.getLayout() == ScaleLayout::MnMajor) {
    rows =
        pad(rows,
            16 / llvm::divideCeil(type.getScale().getIntOrFloatBitWidth(), 8));
    std::swap(rows, columns);
  } else {
    rows = pad(rows, 128);
    columns = pad(columns, 4);
  }
  return result;
}

SliceRegion moeq::detail::getComponentRegion(OpBuilder &builder, Location loc,
                                             ScaledType type,
                                             unsigned component,
                                             const SliceRegion &region) {
  SliceRegion result = region;
  result.sizes = getComponentSizes(builder, loc, type, component, region.sizes);
  auto rank = static_cast<int64_t>(region.sizes.size());
  if (component == 0) {
    if (type.isPacked())
      result.offsets.back() = floorDiv(builder, loc, region.offsets.back(), 2);
    return result;
  }
  for (int64_t dim = 0; dim < rank; ++dim) {
    int64_t block = type.getBlockOf(dim, rank);
    if (block == 1)
      continue;
    result.offsets[dim] =
        ShapedType::isDynamic(block)
            ? OpFoldResult(builder.getIndexAttr(0))
            : floorDiv(builder, loc, region.offsets[dim], block);
    result.strides[dim] = builder.getIndexAttr(1);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Cuts
//===----------------------------------------------------------------------===//

using Variable = ValueBoundsConstraintSet::Variable;

/// A constant index that sums of two do not overflow.
static std::optional<int64_t> getConstantExtent(OpFoldResult index) {
  std::optional<int64_t> constant = getConstantIntValue(index);
  if (!constant || *constant < 0 ||
      *constant > std::numeric_limits<int64_t>::max() / 2)
    return std::nullopt;
  return constant;
}

static bool isMultiple(OpFoldResult index, int64_t block) {
  return getKnownDivisor(index) % block == 0;
}

/// Whether `size` is at most `limit`.
static bool isAtMost(OpFoldResult size, int64_t limit) {
  FailureOr<int64_t> bound = ValueBoundsConstraintSet::computeConstantBound(
      presburger::BoundType::UB, Variable(size), nullptr, /*closedUB=*/true);
  return succeeded(bound) && *bound <= limit;
}

static bool areEqual(const Variable &left, const Variable &right) {
  FailureOr<bool> equal = ValueBoundsConstraintSet::areEqual(left, right);
  return succeeded(equal) && *equal;
}

/// Whether `size` is a multiple of the block or `offset + size` is the end of
/// dimension `dim` of `whole`, on each branch of an affine.min.
static bool coversBlocksOrReachesEnd(Value whole, int64_t dim, int64_t block,
                                     OpFoldResult offset, OpFoldResult size) {
  if (isMultiple(size, block))
    return true;
  AffineExpr left, right;
  bindDims(whole.getContext(), left, right);
  auto reachesEnd = [&](const Variable &part) {
    Variable end(AffineMap::get(2, 0, left + right), {Variable(offset), part});
    return areEqual(end, Variable(whole, dim));
  };
  if (reachesEnd(Variable(size)))
    return true;
  auto value = dyn_cast<Value>(size);
  auto min = value ? value.getDefiningOp<affine::AffineMinOp>() : nullptr;
  if (!min)
    return false;
  AffineMap map = min.getMap();
  for (unsigned branch = 0; branch < map.getNumResults(); ++branch) {
    int64_t divisor = DivisorAnalysis().get(
        map.getResult(branch), min.getOperands(), map.getNumDims());
    if (divisor % block != 0 &&
        !reachesEnd(
            Variable(map.getSubMap({branch}), ValueRange(min.getOperands()))))
      return false;
  }
  return true;
}

SmallVector<Cut> moeq::detail::getCuts(RankedTensorType whole, bool isWrite) {
  ScaledType type = getScaledElementType(whole);
  int64_t rank = whole.getRank();
  SmallVector<Cut> cuts;
  CutRule rule = isWrite ? CutRule::Write : CutRule::Read;
  for (int64_t dim = 0; type && dim < rank; ++dim) {
    int64_t block = type.getBlockOf(dim, rank);
    if (type.getLayout() != ScaleLayout::RowMajor && dim >= rank - 2)
      cuts.push_back({"laid-out scales", dim, block, CutRule::Whole});
    else if (type.getGroups() != 0 && dim == rank - 2)
      cuts.push_back({"the rows of groups", dim, block, CutRule::Whole});
    else if (type.isReordered() && dim == rank - 1)
      cuts.push_back({"packed columns", dim, block, CutRule::Whole});
    else if (type.isReordered() && dim == rank - 2)
      cuts.push_back({"packed rows", dim, kPackedChunk, CutRule::Write});
    else if (ShapedType::isDynamic(block) && isWrite)
      cuts.push_back({"a scale block", dim, block, CutRule::Whole});
    else if (ShapedType::isDynamic(block))
      // One scale serves every part.
      cuts.push_back({"a scale block", dim, 1, CutRule::Read});
    else if (block != 1)
      cuts.push_back({"a scale block", dim, block, rule});
  }
  if (type && type.isPacked())
    cuts.push_back({"a byte of packed values", rank - 1, 2, CutRule::Write});
  return cuts;
}

static void printIndex(InFlightDiagnostic &diag, OpFoldResult index) {
  if (std::optional<int64_t> constant = getConstantIntValue(index))
    diag << *constant;
  else if (int64_t divisor = getKnownDivisor(index); divisor > 1)
    diag << "that is a multiple of " << divisor;
  else
    diag << "that is not known";
}

void moeq::detail::describeCut(InFlightDiagnostic &diag, const Cut &cut,
                               OpFoldResult offset, OpFoldResult size) {
  if (cut.rule == CutRule::Whole)
    diag << "expects the whole extent";
  else if (cut.rule == CutRule::Write)
    diag << "expects an offset that is a multiple of " << cut.block
         << " and a size that is one or reaches the end";
  else
    diag << "expects an offset that is a multiple of " << cut.block
         << " or a slice inside one block";
  diag << ", got an offset ";
  printIndex(diag, offset);
  diag << " and a size ";
  printIndex(diag, size);
}

std::optional<bool> moeq::detail::proveCut(Value whole, const Cut &cut,
                                           OpFoldResult offset,
                                           OpFoldResult size) {
  auto [what, dim, block, rule] = cut;
  std::optional<int64_t> start = getConstantExtent(offset);
  std::optional<int64_t> count = getConstantExtent(size);
  int64_t extent = cast<RankedTensorType>(whole.getType()).getDimSize(dim);
  bool isStatic = start && count && !ShapedType::isDynamic(extent);
  switch (rule) {
  case CutRule::Whole:
    if (isStatic)
      return *start == 0 && *count == extent;
    if (start && *start != 0)
      return false;
    if (start && areEqual(Variable(size), Variable(whole, dim)))
      return true;
    return std::nullopt;
  case CutRule::Write:
    if (start && *start % block != 0)
      return false;
    if (isStatic)
      return *count % block == 0 || *start + *count == extent;
    if (isMultiple(offset, block) &&
        coversBlocksOrReachesEnd(whole, dim, block, offset, size))
      return true;
    return std::nullopt;
  case CutRule::Read: {
    if (start && count)
      return *start % block == 0 || *start % block + *count <= block;
    int64_t divisor = getKnownDivisor(offset);
    if (divisor % block == 0)
      return true;
    int64_t room = start ? block - *start % block : divisor;
    if ((start || block % divisor == 0) && isAtMost(size, room))
      return true;
    return std::nullopt;
  }
  case CutRule::Blocks:
    break;
  }
  return std::nullopt;
}
