//===- TilingGroupedMatmul.cpp - Tiling of ragged rows ----------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// moeq.grouped_matmul has the domain (expert, row, column), all parallel. A
// tile of one expert is a moeq.matmul on those rows of the tile that the expert
// has, which may be none; a tile of all experts is the same op on a window of
// the rows. With the clamp to the expert's rows every loop and tile size is
// right.
//
//===----------------------------------------------------------------------===//

#include "Tiling.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"

using namespace mlir;
using namespace mlir::moeq;
using namespace mlir::moeq::detail;

/// The rows [row, row + size) that `expert` has: their first and their number.
static std::pair<OpFoldResult, OpFoldResult>
clampRows(OpBuilder &builder, GroupedMatmulOp op, OpFoldResult expert,
          OpFoldResult row, OpFoldResult size) {
  Location loc = op.getLoc();
  auto getIndex = [&](OpFoldResult index) {
    return getValueOrCreateConstantIndexOp(builder, loc, index);
  };
  auto getOffset = [&](Value index) -> Value {
    Value offset =
        tensor::ExtractOp::create(builder, loc, op.getOffsets(), index);
    return arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                      offset);
  };
  Value first = getIndex(expert);
  Value next = arith::AddIOp::create(
      builder, loc, first, arith::ConstantIndexOp::create(builder, loc, 1));
  Value begin = getIndex(row);
  Value end = arith::AddIOp::create(builder, loc, begin, getIndex(size));
  begin = arith::MaxSIOp::create(builder, loc, begin, getOffset(first));
  end = arith::MinSIOp::create(builder, loc, end, getOffset(next));
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Value count = arith::SubIOp::create(builder, loc, end, begin);
  count = arith::MaxSIOp::create(builder, loc, count, zero);
  return {OpFoldResult(begin), OpFoldResult(count)};
}

/// The offsets of the experts' rows in a window: clamp(offset - row, 0, size).
static Value clampOffsets(OpBuilder &builder, GroupedMatmulOp op,
                          OpFoldResult row, OpFoldResult size) {
  Location loc = op.getLoc();
  Type i32 = builder.getI32Type();
  auto getInt = [&](OpFoldResult index) -> Value {
    Value value = getValueOrCreateConstantIndexOp(builder, loc, index);
    return arith::IndexCastOp::create(builder, loc, i32, value);
  };
  Value first = getInt(row), last = getInt(size);
  Value zero = arith::ConstantIntOp::create(builder, loc, i32, 0);
  Value init = tensor::EmptyOp::create(
      builder, loc, tensor::getMixedSizes(builder, loc, op.getOffsets()), i32);
  auto map = linalg::MapOp::create(
      builder, loc, op.getOffsets(), init,
      [&](OpBuilder &builder, Location loc, ValueRange args) {
        Value offset = arith::SubIOp::create(builder, loc, args[0], first);
        offset = arith::MaxSIOp::create(builder, loc, offset, zero);
        offset = arith::MinSIOp::create(builder, loc, offset, last);
        linalg::YieldOp::create(builder, loc, offset);
      });
  return map->getResult(0);
}

/// A tile of one expert, or of all of them.
static bool isOneExpert(ArrayRef<OpFoldResult> sizes) {
  return isConstantIntValue(sizes[0], 1);
}

static LogicalResult verifyExperts(GroupedMatmulOp op,
                                   ArrayRef<OpFoldResult> offsets,
                                   ArrayRef<OpFoldResult> sizes) {
  using Variable = ValueBoundsConstraintSet::Variable;
  if (isOneExpert(sizes))
    return success();
  Value rhs = op.getRhs().front();
  FailureOr<bool> all =
      ValueBoundsConstraintSet::areEqual(Variable(sizes[0]), Variable(rhs, 0));
  if (isConstantIntValue(offsets[0], 0) && succeeded(all) && *all)
    return success();
  return op.emitOpError()
         << "cannot be tiled by several experts: expects tiles of one expert "
            "or of all";
}

namespace {
struct GroupedMatmulModel
    : TilingInterface::ExternalModel<GroupedMatmulModel, GroupedMatmulOp> {
  SmallVector<utils::IteratorType> getLoopIteratorTypes(Operation *) const {
    return SmallVector<utils::IteratorType>(3, utils::IteratorType::parallel);
  }

  SmallVector<Range> getIterationDomain(Operation *op,
                                        OpBuilder &builder) const {
    auto matmul = cast<GroupedMatmulOp>(op);
    OpFoldResult zero = builder.getIndexAttr(0), one = builder.getIndexAttr(1);
    return {{zero, getShapedSize(builder, matmul.getRhs().front(), 0), one},
            {zero, getShapedSize(builder, matmul.getOuts(), 0), one},
            {zero, getShapedSize(builder, matmul.getOuts(), 1), one}};
  }

  FailureOr<TilingResult>
  getTiledImplementation(Operation *op, OpBuilder &builder,
                         ArrayRef<OpFoldResult> offsets,
                         ArrayRef<OpFoldResult> sizes) const {
    auto matmul = cast<GroupedMatmulOp>(op);
    if (failed(verifyTileable(op)) ||
        failed(verifyExperts(matmul, offsets, sizes)))
      return failure();
    Location loc = op->getLoc();
    Value lhs = matmul.getLhs().front(), rhs = matmul.getRhs().front();
    OpFoldResult row = offsets[1], rows = sizes[1];
    if (isOneExpert(sizes))
      std::tie(row, rows) = clampRows(builder, matmul, offsets[0], row, rows);

    // Tensors by expert, row and column; those by expert lose that dimension in
    // a tile of one.
    std::optional<int64_t> matrix, vector;
    if (isOneExpert(sizes))
      matrix = 2, vector = 1;
    OperandTile lhsTile = getDimTile(builder, lhs, 0, row, rows);
    auto columns = getWeightColumns(builder, matmul, offsets[2], sizes[2]);
    if (failed(columns))
      return failure();
    OperandTile rhsTile =
        getDimTile(builder, rhs, 1, columns->first, columns->second);
    rhsTile.offsets[0] = offsets[0];
    rhsTile.sizes[0] = sizes[0];
    OperandTile rowTile{{row}, {rows}};
    OperandTile columnTile{{offsets[0], columns->first},
                           {sizes[0], columns->second}};
    OperandTile outsTile{{row, offsets[2]}, {rows, sizes[2]}};
    if (failed(verifyTile(op, lhs, lhsTile, /*isWrite=*/false)) ||
        failed(verifyTile(op, rhs, rhsTile, /*isWrite=*/false)))
      return failure();

    TilingResult result;
    auto slice = [&](Value value, const OperandTile &tile,
                     std::optional<int64_t> rank = std::nullopt) {
      return createSlice(builder, loc, value, tile, result.generatedSlices,
                         rank);
    };
    Value lhsSlice = slice(lhs, lhsTile);
    Value rhsSlice = slice(rhs, rhsTile, matrix);
    SmallVector<Value> epilogueSlices;
    for (auto [map, operand] : llvm::zip_equal(matmul.getEpilogueMaps(),
                                               matmul.getEpilogueOperands())) {
      switch (static_cast<EpilogueMap>(map)) {
      case EpilogueMap::Row:
        epilogueSlices.push_back(slice(operand, rowTile));
        break;
      case EpilogueMap::Column:
        epilogueSlices.push_back(slice(operand, columnTile, vector));
        break;
      case EpilogueMap::RowColumn:
        epilogueSlices.push_back(slice(operand, outsTile));
        break;
      }
    }
    Value outsSlice = slice(matmul.getOuts(), outsTile);

    Operation *tiled;
    if (isOneExpert(sizes)) {
      auto one = MatmulOp::create(
          builder, loc, outsSlice.getType(), lhsSlice, rhsSlice, epilogueSlices,
          outsSlice, /*lhs_format=*/nullptr,
          /*rhs_format=*/nullptr, matmul.getEpilogueMapsAttr(),
          matmul.getAccumulateAttr(), /*config=*/nullptr,
          matmul.getGatedAttr());
      one->setDiscardableAttrs(op->getDiscardableAttrDictionary());
      IRMapping mapping;
      matmul.getEpilogue().cloneInto(&one.getEpilogue(), mapping);
      tiled = one;
    } else {
      SmallVector<Value> operands{
          lhsSlice, rhsSlice,
          clampOffsets(builder, matmul, offsets[1], sizes[1])};
      if (matmul.getPlan())
        operands.push_back(matmul.getPlan());
      llvm::append_range(operands, epilogueSlices);
      operands.push_back(outsSlice);
      auto window = cast<GroupedMatmulOp>(
          cloneTile(builder, op, outsSlice.getType(), operands));
      window.removeConfigAttr(); // it was of the loop, as the plan
      window.getPlanMutable().clear();
      tiled = window;
    }
    shiftEpilogue(builder, loc, tiled->getRegion(0), row, offsets[2]);
    result.tiledOps.push_back(tiled);
    result.tiledValues.push_back(tiled->getResult(0));
    return result;
  }

  LogicalResult
  getResultTilePosition(Operation *op, OpBuilder &builder, unsigned,
                        ArrayRef<OpFoldResult> offsets,
                        ArrayRef<OpFoldResult> sizes,
                        SmallVector<OpFoldResult> &resultOffsets,
                        SmallVector<OpFoldResult> &resultSizes) const {
    OpFoldResult row = offsets[1], rows = sizes[1];
    if (isOneExpert(sizes))
      std::tie(row, rows) =
          clampRows(builder, cast<GroupedMatmulOp>(op), offsets[0], row, rows);
    resultOffsets = {row, offsets[2]};
    resultSizes = {rows, sizes[2]};
    return success();
  }

  LogicalResult getIterationDomainTileFromResultTile(
      Operation *op, OpBuilder &builder, unsigned,
      ArrayRef<OpFoldResult> offsets, ArrayRef<OpFoldResult> sizes,
      SmallVectorImpl<OpFoldResult> &domainOffsets,
      SmallVectorImpl<OpFoldResult> &domainSizes) const {
    OpFoldResult experts =
        getShapedSize(builder, cast<GroupedMatmulOp>(op).getRhs().front(), 0);
    domainOffsets.assign({builder.getIndexAttr(0), offsets[0], offsets[1]});
    domainSizes.assign({experts, sizes[0], sizes[1]});
    return success();
  }

  FailureOr<TilingResult>
  generateResultTileValue(Operation *op, OpBuilder &builder, unsigned result,
                          ArrayRef<OpFoldResult> offsets,
                          ArrayRef<OpFoldResult> sizes) const {
    SmallVector<OpFoldResult> domainOffsets, domainSizes;
    if (failed(getIterationDomainTileFromResultTile(
            op, builder, result, offsets, sizes, domainOffsets, domainSizes)))
      return failure();
    return getTiledImplementation(op, builder, domainOffsets, domainSizes);
  }
};
} // namespace

void moeq::detail::attachGroupedMatmulTiling(MLIRContext *context) {
  GroupedMatmulOp::attachInterface<GroupedMatmulModel>(*context);
}
