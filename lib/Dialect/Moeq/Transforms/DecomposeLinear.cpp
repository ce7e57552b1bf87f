//===- DecomposeLinear.cpp - One matmul an expert ---------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "moeq/Dialect/Moeq/IR/Moeq.h"
#include "moeq/Dialect/Moeq/Transforms/Transforms.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace mlir::moeq;

/// Why the experts of `op`, and where `slicesRows` its rows, cannot be sliced,
/// or nothing.
static std::optional<std::string> whyNotSliced(GroupedMatmulOp op,
                                               bool slicesRows) {
  if (op.getNumResults() == 0)
    return "it is on memrefs";
  if (op.getLhsFormat() || op.getRhsFormat())
    return "its operands are components";
  if (op.isMasked())
    return "its rows are masked";
  if (slicesRows && op.getRows())
    return "its rows are gathered";
  if (!op.hasUsualOperands())
    return op.contractsRows() ? "it contracts rows"
                              : "its weight is transposed";
  if (!slicesRows &&
      cast<ShapedType>(op.getRhs().front().getType()).isDynamicDim(0))
    return "the number of its experts is not known";
  SmallVector<Value, 2> sliced{op.getRhs().front()};
  if (slicesRows)
    sliced.push_back(op.getLhs().front());
  for (Value operand : sliced) {
    ScaledType scaled = getScaledElementType(operand.getType());
    if (scaled && scaled.getLayout() != ScaleLayout::RowMajor)
      return ("its scales have the layout " +
              stringifyScaleLayout(scaled.getLayout()))
          .str();
  }
  // Upstream has no slice at offset 0 of an extent of 0.
  if (llvm::is_contained(
          cast<ShapedType>(op.getRhs().front().getType()).getShape(), 0))
    return "its weight has an extent of 0";
  return std::nullopt;
}

namespace {

/// Builds the matmul of one expert: on its rows, which the host knows, or on
/// all rows and its own two offsets, which the device reads.
struct ExpertMatmul {
  GroupedMatmulOp op;
  OpFoldResult columns;

  /// A slice [size, other extents whole] from `offset` along dimension 0.
  Value slice(OpBuilder &b, Location loc, Value source, OpFoldResult offset,
              OpFoldResult size, int64_t rank);
  /// `acc` with the rows first to last replaced by the expert's result.
  Value build(OpBuilder &b, Location loc, OpFoldResult expert, Value first,
              Value rows, Value acc);
  /// The same where the expert has rows, else `acc`.
  Value buildUnlessEmpty(OpBuilder &b, Location loc, OpFoldResult expert,
                         Value acc);
  /// `acc` with the expert's rows replaced, whichever they are.
  Value buildGrouped(OpBuilder &b, int64_t expert, Value acc);
};

} // namespace

Value ExpertMatmul::slice(OpBuilder &b, Location loc, Value source,
                          OpFoldResult offset, OpFoldResult size,
                          int64_t rank) {
  auto type = cast<RankedTensorType>(source.getType());
  SmallVector<OpFoldResult> sizes{size};
  for (int64_t dim = 1; dim < type.getRank(); ++dim)
    sizes.push_back(tensor::getMixedSize(b, loc, source, dim));
  SmallVector<OpFoldResult> offsets(type.getRank(), b.getIndexAttr(0));
  SmallVector<OpFoldResult> strides(type.getRank(), b.getIndexAttr(1));
  offsets[0] = offset;
  auto result = tensor::ExtractSliceOp::inferCanonicalRankReducedResultType(
      rank, type, sizes);
  return tensor::ExtractSliceOp::create(b, loc, result, source, offsets, sizes,
                                        strides);
}

Value ExpertMatmul::build(OpBuilder &b, Location loc, OpFoldResult expert,
                          Value first, Value rows, Value acc) {
  auto sliceRows = [&](Value source) {
    return slice(b, loc, source, first, rows,
                 cast<ShapedType>(source.getType()).getRank());
  };
  auto sliceExpert = [&](Value source) {
    return slice(b, loc, source, expert, b.getIndexAttr(1),
                 cast<ShapedType>(source.getType()).getRank() - 1);
  };
  SmallVector<Value> operands;
  for (auto [map, operand] :
       llvm::zip_equal(op.getEpilogueMaps(), op.getEpilogueOperands()))
    operands.push_back(map == static_cast<int32_t>(EpilogueMap::Column)
                           ? sliceExpert(operand)
                           : sliceRows(operand));
  Value lhs = sliceRows(op.getLhs().front());
  Value rhs = sliceExpert(op.getRhs().front());
  Value out = sliceRows(acc);
  auto matmul =
      MatmulOp::create(b, loc, out.getType(), lhs, rhs, operands, out,
                       /*lhs_format=*/TypeAttr(), /*rhs_format=*/TypeAttr(),
                       op.getEpilogueMapsAttr(), op.getAccumulateAttr(),
                       op.getConfigAttr(), op.getGatedAttr());
  if (!op.getEpilogue().empty()) {
    // The region counts the rows of the whole lhs.
    IRMapping mapping;
    op.getEpilogue().cloneInto(&matmul.getEpilogue(), mapping);
    BlockArgument row =
        matmul.getEpilogue().getArgument(matmul.getNumAccumulators());
    if (!row.use_empty()) {
      OpBuilder inner = OpBuilder::atBlockBegin(&matmul.getEpilogue().front());
      auto global = arith::AddIOp::create(inner, loc, row, first);
      row.replaceAllUsesExcept(global, global);
    }
  }
  SmallVector<OpFoldResult> offsets{first, b.getIndexAttr(0)};
  SmallVector<OpFoldResult> sizes{rows, columns};
  SmallVector<OpFoldResult> strides(2, b.getIndexAttr(1));
  return tensor::InsertSliceOp::create(b, loc, matmul.getResult(0), acc,
                                       offsets, sizes, strides);
}

Value ExpertMatmul::buildUnlessEmpty(OpBuilder &b, Location loc,
                                     OpFoldResult expert, Value acc) {
  Value index = getValueOrCreateConstantIndexOp(b, loc, expert);
  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  Value next = arith::AddIOp::create(b, loc, index, one);
  auto offsetOf = [&](Value expert) -> Value {
    Value offset = tensor::ExtractOp::create(b, loc, op.getOffsets(), expert);
    return arith::IndexCastOp::create(b, loc, b.getIndexType(), offset);
  };
  Value first = offsetOf(index), end = offsetOf(next);
  Value rows = arith::SubIOp::create(b, loc, end, first);
  Value hasRows =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, first, end);
  auto ifOp = scf::IfOp::create(
      b, loc, hasRows,
      [&](OpBuilder &b, Location loc) {
        scf::YieldOp::create(b, loc, build(b, loc, expert, first, rows, acc));
      },
      [&](OpBuilder &b, Location loc) { scf::YieldOp::create(b, loc, acc); });
  return ifOp.getResult(0);
}

Value ExpertMatmul::buildGrouped(OpBuilder &b, int64_t expert, Value acc) {
  auto sliceFrom = [&](Value source, int64_t count) {
    return slice(b, op.getLoc(), source, b.getIndexAttr(expert),
                 b.getIndexAttr(count),
                 cast<ShapedType>(source.getType()).getRank());
  };
  SmallVector<Value> operands(op.getEpilogueOperands());
  for (auto [map, operand] : llvm::zip_equal(op.getEpilogueMaps(), operands))
    if (map == static_cast<int32_t>(EpilogueMap::Column))
      operand = sliceFrom(operand, 1);
  Value rhs = sliceFrom(op.getRhs().front(), 1);
  Value offsets = sliceFrom(op.getOffsets(), 2);
  auto matmul = cast<GroupedMatmulOp>(b.clone(*op));
  matmul.getRhsMutable().assign(rhs);
  matmul.getOffsetsMutable().assign(offsets);
  matmul.getPlanMutable().clear();
  matmul.getEpilogueOperandsMutable().assign(operands);
  matmul.getOutsMutable().assign(acc);
  return matmul.getResult(0);
}

LogicalResult moeq::decomposeToLinear(RewriterBase &rewriter,
                                      GroupedMatmulOp op, int64_t unrollLimit,
                                      bool deviceOffsets) {
  if (std::optional<std::string> reason =
          whyNotSliced(op, /*slicesRows=*/!deviceOffsets)) {
    remark::missed(op.getLoc(), remark::RemarkOpts::name("linear").category(
                                    "moeq-decompose"))
        << remark::reason("keeps moeq.grouped_matmul: {0}", *reason);
    return failure();
  }
  Location loc = op.getLoc();
  rewriter.setInsertionPoint(op);
  Value rhs = op.getRhs().front();
  ExpertMatmul expertMatmul{
      op, tensor::getMixedSize(rewriter, loc, op.getOuts(), 1)};
  OpFoldResult experts = tensor::getMixedSize(rewriter, loc, rhs, 0);
  Value acc = op.getOuts();
  std::optional<int64_t> staticExperts = getConstantIntValue(experts);
  if (deviceOffsets) {
    for (int64_t expert = 0; expert < *staticExperts; ++expert)
      acc = expertMatmul.buildGrouped(rewriter, expert, acc);
  } else if (staticExperts && *staticExperts <= unrollLimit) {
    for (int64_t expert = 0; expert < *staticExperts; ++expert)
      acc = expertMatmul.buildUnlessEmpty(rewriter, loc,
                                          rewriter.getIndexAttr(expert), acc);
  } else {
    Value zero = arith::ConstantIndexOp::create(rewriter, loc, 0);
    Value one = arith::ConstantIndexOp::create(rewriter, loc, 1);
    Value bound = getValueOrCreateConstantIndexOp(rewriter, loc, experts);
    auto loop = scf::ForOp::create(
        rewriter, loc, zero, bound, one, acc,
        [&](OpBuilder &b, Location loc, Value expert, ValueRange iterArgs) {
          Value next =
              expertMatmul.buildUnlessEmpty(b, loc, expert, iterArgs.front());
          scf::YieldOp::create(b, loc, next);
        });
    acc = loop.getResult(0);
  }
  rewriter.replaceOp(op, acc);
  return success();
}
