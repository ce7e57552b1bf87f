//===- TilingInterfaceImpl.cpp - Tiling of moeq -----------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ops whose iteration domain is that of their result. A tile of the domain is
// the same op on slices of its operands; what differs between the ops is which
// part of each operand a tile takes.
//
//===----------------------------------------------------------------------===//

#include "moeq/Dialect/Moeq/Transforms/TilingInterfaceImpl.h"

#include "ScaledSlice.h"
#include "Tiling.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Utils/StructuredOpsUtils.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"

using namespace mlir;
using namespace mlir::moeq;
using namespace mlir::moeq::detail;

//===----------------------------------------------------------------------===//
// What the models share
//===----------------------------------------------------------------------===//

OpFoldResult moeq::detail::getShapedSize(OpBuilder &builder, Value value,
                                         int64_t dim) {
  Location loc = value.getLoc();
  if (isa<MemRefType>(value.getType()))
    return memref::getMixedSize(builder, loc, value, dim);
  // Ask the init, so that fusion of what computes the value leaves it unused.
  while (auto op = value.getDefiningOp<DestinationStyleOpInterface>())
    value = op.getTiedOpOperand(cast<OpResult>(value))->get();
  return tensor::getMixedSize(builder, loc, value, dim);
}

OperandTile moeq::detail::getDimTile(OpBuilder &builder, Value value,
                                     int64_t dim, OpFoldResult offset,
                                     OpFoldResult size) {
  int64_t rank = cast<ShapedType>(value.getType()).getRank();
  OperandTile tile;
  for (int64_t other = 0; other < rank; ++other) {
    tile.offsets.push_back(other == dim ? offset : builder.getIndexAttr(0));
    tile.sizes.push_back(other == dim ? size
                                      : getShapedSize(builder, value, other));
  }
  return tile;
}

LogicalResult moeq::detail::verifyTileable(Operation *op) {
  auto grouped = dyn_cast<GroupedMatmulOp>(op);
  if (grouped && (grouped.isMasked() || grouped.getRows()))
    return op->emitOpError()
           << "expects neither masked nor gathered rows to tile, got "
           << (grouped.isMasked() ? "counts" : "rows");
  if (grouped && !grouped.hasUsualOperands())
    return op->emitOpError()
           << "expects rows times weights [E, N, K] to tile, got "
           << (grouped.contractsRows() ? "contract(rows)" : "transpose_rhs");
  auto component = cast<ComponentOpInterface>(op);
  bool components =
      llvm::any_of(component.getScaledGroups(), [&](const ScaledGroup &group) {
        return op->hasAttr(group.formatName);
      });
  if (!components &&
      !llvm::any_of(op->getOperandTypes(), llvm::IsaPred<MemRefType>))
    return success();
  return op->emitOpError() << "expects scaled tensors to tile, got "
                           << (components ? "components" : "memrefs");
}

LogicalResult moeq::detail::verifyTile(Operation *op, Value value,
                                       const OperandTile &tile, bool isWrite) {
  auto type = cast<RankedTensorType>(value.getType());
  for (const Cut &cut : getCuts(type, isWrite)) {
    OpFoldResult offset = tile.offsets[cut.dim], size = tile.sizes[cut.dim];
    if (proveCut(value, cut, offset, size).value_or(false))
      continue;
    InFlightDiagnostic diag = op->emitOpError()
                              << "cannot be tiled: a tile cuts " << cut.what
                              << " along dimension " << cut.dim << " of "
                              << type << ": ";
    describeCut(diag, cut, offset, size);
    return diag;
  }
  return success();
}

/// Whether [offset, offset + size) is all of dimension `dim` of `value`.
static bool takesWhole(Value value, int64_t dim, OpFoldResult offset,
                       OpFoldResult size) {
  return proveCut(value, {"", dim, 1, CutRule::Whole}, offset, size)
      .value_or(false);
}

Value moeq::detail::createSlice(OpBuilder &builder, Location loc, Value value,
                                const OperandTile &tile,
                                SmallVectorImpl<Operation *> &slices,
                                std::optional<int64_t> rank) {
  auto type = cast<RankedTensorType>(value.getType());
  auto isWhole = [&](int64_t dim) {
    return takesWhole(value, dim, tile.offsets[dim], tile.sizes[dim]);
  };
  if (!rank && llvm::all_of(llvm::seq(type.getRank()), isWhole))
    return value;
  SmallVector<OpFoldResult> strides(type.getRank(), builder.getIndexAttr(1));
  auto sliceType = cast<RankedTensorType>(
      tensor::ExtractSliceOp::inferCanonicalRankReducedResultType(
          rank.value_or(type.getRank()), type, tile.sizes));
  auto slice = tensor::ExtractSliceOp::create(
      builder, loc, sliceType, value, tile.offsets, tile.sizes, strides);
  slices.push_back(slice);
  return slice;
}

Operation *moeq::detail::cloneTile(OpBuilder &builder, Operation *op,
                                   Type resultType, ValueRange operands) {
  Operation *tiled = cloneWithoutRegions(builder, op, resultType, operands);
  for (auto [from, to] :
       llvm::zip_equal(op->getRegions(), tiled->getRegions())) {
    IRMapping mapping;
    from.cloneInto(&to, mapping);
  }
  return tiled;
}

void moeq::detail::shiftEpilogue(OpBuilder &builder, Location loc,
                                 Region &epilogue, OpFoldResult row,
                                 OpFoldResult column) {
  if (epilogue.empty())
    return;
  OpBuilder::InsertionGuard guard(builder);
  Block &block = epilogue.front();
  builder.setInsertionPointToStart(&block);
  // Row and column are its only indices.
  auto positions =
      llvm::make_filter_range(block.getArguments(), [](BlockArgument argument) {
        return argument.getType().isIndex();
      });
  for (auto [position, offset] :
       llvm::zip_equal(SmallVector<BlockArgument>(positions),
                       SmallVector<OpFoldResult>{row, column})) {
    if (isZeroInteger(offset) || position.use_empty())
      continue;
    Value shift = getValueOrCreateConstantIndexOp(builder, loc, offset);
    Value shifted = arith::AddIOp::create(builder, loc, position, shift);
    position.replaceAllUsesExcept(shifted, shifted.getDefiningOp());
  }
}

template <typename OpTy>
FailureOr<std::pair<OpFoldResult, OpFoldResult>>
moeq::detail::getWeightColumns(OpBuilder &builder, OpTy op, OpFoldResult offset,
                               OpFoldResult size) {
  if (!op.getGated())
    return std::pair{offset, size};
  Cut cut{"a group of gates", 1, kGateGroup, CutRule::Write};
  if (!proveCut(op.getOuts(), cut, offset, size).value_or(false)) {
    InFlightDiagnostic diag =
        op.emitOpError() << "cannot be tiled: a tile cuts " << cut.what << ": ";
    describeCut(diag, cut, offset, size);
    return diag;
  }
  AffineExpr twice = builder.getAffineSymbolExpr(0) * 2;
  auto apply = [&](OpFoldResult value) {
    return affine::makeComposedFoldedAffineApply(builder, op.getLoc(), twice,
                                                 {value});
  };
  return std::pair{apply(offset), apply(size)};
}

template FailureOr<std::pair<OpFoldResult, OpFoldResult>>
moeq::detail::getWeightColumns(OpBuilder &, MatmulOp, OpFoldResult,
                               OpFoldResult);
template FailureOr<std::pair<OpFoldResult, OpFoldResult>>
moeq::detail::getWeightColumns(OpBuilder &, GroupedMatmulOp, OpFoldResult,
                               OpFoldResult);

//===----------------------------------------------------------------------===//
// The part of each operand that a tile takes
//===----------------------------------------------------------------------===//

namespace {
/// A tile of the iteration domain, which is that of the result.
struct DomainTile {
  OpBuilder &builder;
  ArrayRef<OpFoldResult> offsets, sizes;

  /// The part of an operand that is indexed as the result is.
  OperandTile same() const {
    return {SmallVector<OpFoldResult>(offsets),
            SmallVector<OpFoldResult>(sizes)};
  }
  /// Dimension 0 of the operand goes with dimension `dim` of the domain.
  OperandTile leading(Value operand, int64_t dim) const {
    return getDimTile(builder, operand, 0, offsets[dim], sizes[dim]);
  }
  /// All rows, and the columns of the tile.
  OperandTile columns(Value operand) const {
    return getDimTile(builder, operand, 1, offsets[1], sizes[1]);
  }
};
} // namespace

using OperandTiles = FailureOr<SmallVector<OperandTile>>;

/// Emits an error unless rows of a quantizing op's results can be made by
/// themselves.
template <typename OpTy>
static LogicalResult verifyRowwiseOnly(OpTy op) {
  if (op.isRowwiseOnly())
    return success();
  return op.emitOpError("cannot be tiled: its rows have groups or a columnwise "
                        "result");
}

/// The tiles of an op's operands, in order.
static OperandTiles getOperandTiles(QuantizeOp op, const DomainTile &tile) {
  if (failed(verifyRowwiseOnly(op)))
    return failure();
  if (!op.getRows())
    return SmallVector<OperandTile>{tile.same(), tile.same()};
  return SmallVector<OperandTile>{tile.columns(op.getInput()),
                                  tile.leading(op.getRows(), 0), tile.same()};
}

static OperandTiles getOperandTiles(DequantizeOp op, const DomainTile &tile) {
  return SmallVector<OperandTile>{tile.same(), tile.same()};
}

static OperandTiles getOperandTiles(GatherOp op, const DomainTile &tile) {
  return SmallVector<OperandTile>{tile.columns(op.getInput().front()),
                                  tile.leading(op.getRows(), 0), tile.same()};
}

static OperandTiles getOperandTiles(CombineOp op, const DomainTile &tile) {
  SmallVector<OperandTile> tiles{tile.columns(op.getInput()),
                                 tile.leading(op.getSlots(), 0)};
  if (Value weights = op.getWeights())
    tiles.push_back(tile.leading(weights, 0));
  tiles.push_back(tile.same());
  return tiles;
}

/// A gated activation reads two columns for one of the result: they lie side by
/// side only where they are interleaved.
template <typename OpTy>
static OperandTiles getActivationTiles(OpTy op, Value outs,
                                       const DomainTile &tile) {
  OperandTile input = tile.same();
  if (isGated(op.getFunction())) {
    if (takesWhole(outs, 1, tile.offsets[1], tile.sizes[1])) {
      input = tile.leading(op.getInput(), 0);
    } else if (op.getGateLayout() == GateLayout::Interleaved) {
      AffineExpr twice = tile.builder.getAffineSymbolExpr(0) * 2;
      for (SmallVector<OpFoldResult> *part : {&input.offsets, &input.sizes})
        (*part)[1] = affine::makeComposedFoldedAffineApply(
            tile.builder, op.getLoc(), twice, {(*part)[1]});
    } else {
      op.emitOpError() << "cannot be tiled along its columns: gate and up lie "
                          "apart under gate_layout "
                       << stringifyGateLayout(op.getGateLayout());
      return failure();
    }
  }
  SmallVector<OperandTile> tiles{input};
  if (Value weight = op.getRowWeight())
    tiles.push_back(tile.leading(weight, 0));
  tiles.push_back(tile.same());
  return tiles;
}

static OperandTiles getOperandTiles(ActivateOp op, const DomainTile &tile) {
  return getActivationTiles(op, op.getOuts(), tile);
}

static OperandTiles getOperandTiles(ActQuantOp op, const DomainTile &tile) {
  if (failed(verifyRowwiseOnly(op)))
    return failure();
  return getActivationTiles(op, op.getOuts().front(), tile);
}

static OperandTiles getOperandTiles(MatmulOp op, const DomainTile &tile) {
  auto columns =
      getWeightColumns(tile.builder, op, tile.offsets[1], tile.sizes[1]);
  if (failed(columns))
    return failure();
  auto ofColumns = [&](Value operand) {
    return getDimTile(tile.builder, operand, 0, columns->first,
                      columns->second);
  };
  SmallVector<OperandTile> tiles{tile.leading(op.getLhs().front(), 0),
                                 ofColumns(op.getRhs().front())};
  for (auto [map, operand] :
       llvm::zip_equal(op.getEpilogueMaps(), op.getEpilogueOperands())) {
    switch (static_cast<EpilogueMap>(map)) {
    case EpilogueMap::Row:
      tiles.push_back(tile.leading(operand, 0));
      break;
    case EpilogueMap::Column:
      tiles.push_back(ofColumns(operand));
      break;
    case EpilogueMap::RowColumn:
      tiles.push_back(tile.same());
      break;
    }
  }
  tiles.push_back(tile.same());
  return tiles;
}

/// The tile of the domain that reads `tile` of the op's first operand, and no
/// more of it.
template <typename OpTy>
static FailureOr<OperandTile> getDomainTile(OpBuilder &builder, OpTy op,
                                            const OperandTile &tile) {
  return failure();
}

static FailureOr<OperandTile> getDomainTile(OpBuilder &builder, QuantizeOp op,
                                            const OperandTile &tile) {
  if (op.getRows() || !op.isRowwiseOnly())
    return failure();
  return tile;
}

static FailureOr<OperandTile> getDomainTile(OpBuilder &builder, DequantizeOp op,
                                            const OperandTile &tile) {
  return tile;
}

template <typename OpTy>
static FailureOr<OperandTile> getActivationDomainTile(OpBuilder &builder,
                                                      OpTy op, Value outs,
                                                      const OperandTile &tile) {
  if (!isGated(op.getFunction()))
    return tile;
  if (!takesWhole(op.getInput(), 1, tile.offsets[1], tile.sizes[1]))
    return failure();
  return getDimTile(builder, outs, 0, tile.offsets[0], tile.sizes[0]);
}

static FailureOr<OperandTile> getDomainTile(OpBuilder &builder, ActivateOp op,
                                            const OperandTile &tile) {
  return getActivationDomainTile(builder, op, op.getOuts(), tile);
}

static FailureOr<OperandTile> getDomainTile(OpBuilder &builder, ActQuantOp op,
                                            const OperandTile &tile) {
  if (!op.isRowwiseOnly())
    return failure();
  return getActivationDomainTile(builder, op, op.getOuts().front(), tile);
}

static FailureOr<OperandTile> getDomainTile(OpBuilder &builder, MatmulOp op,
                                            const OperandTile &tile) {
  if (!takesWhole(op.getLhs().front(), 1, tile.offsets[1], tile.sizes[1]))
    return failure();
  return getDimTile(builder, op.getOuts(), 0, tile.offsets[0], tile.sizes[0]);
}

//===----------------------------------------------------------------------===//
// The model
//===----------------------------------------------------------------------===//

namespace {
template <typename OpTy>
struct ResultDomainModel
    : TilingInterface::ExternalModel<ResultDomainModel<OpTy>, OpTy> {
  static Value getInit(Operation *op) {
    return cast<DestinationStyleOpInterface>(op).getDpsInits().front();
  }

  SmallVector<utils::IteratorType> getLoopIteratorTypes(Operation *op) const {
    return SmallVector<utils::IteratorType>(
        cast<ShapedType>(getInit(op).getType()).getRank(),
        utils::IteratorType::parallel);
  }

  SmallVector<Range> getIterationDomain(Operation *op,
                                        OpBuilder &builder) const {
    Value init = getInit(op);
    int64_t rank = cast<ShapedType>(init.getType()).getRank();
    SmallVector<Range> domain;
    for (int64_t dim = 0; dim < rank; ++dim)
      domain.push_back({builder.getIndexAttr(0),
                        getShapedSize(builder, init, dim),
                        builder.getIndexAttr(1)});
    return domain;
  }

  FailureOr<TilingResult>
  getTiledImplementation(Operation *op, OpBuilder &builder,
                         ArrayRef<OpFoldResult> offsets,
                         ArrayRef<OpFoldResult> sizes) const {
    if (failed(verifyTileable(op)))
      return failure();
    OperandTiles tiles =
        getOperandTiles(cast<OpTy>(op), DomainTile{builder, offsets, sizes});
    if (failed(tiles))
      return failure();
    auto dpsOp = cast<DestinationStyleOpInterface>(op);
    for (auto [operand, tile] : llvm::zip_equal(op->getOpOperands(), *tiles))
      if (failed(
              verifyTile(op, operand.get(), tile, dpsOp.isDpsInit(&operand))))
        return failure();

    TilingResult result;
    SmallVector<Value> operands;
    for (auto [operand, tile] : llvm::zip_equal(op->getOperands(), *tiles))
      operands.push_back(createSlice(builder, op->getLoc(), operand, tile,
                                     result.generatedSlices));
    Operation *tiled =
        cloneTile(builder, op, operands.back().getType(), operands);
    if (auto matmul = dyn_cast<MatmulOp>(tiled)) {
      matmul.removeConfigAttr(); // it was of the loop
      shiftEpilogue(builder, op->getLoc(), matmul.getEpilogue(), offsets[0],
                    offsets[1]);
    }
    result.tiledOps.push_back(tiled);
    result.tiledValues.assign(tiled->result_begin(), tiled->result_end());
    return result;
  }

  LogicalResult getResultTilePosition(
      Operation *, OpBuilder &, unsigned, ArrayRef<OpFoldResult> offsets,
      ArrayRef<OpFoldResult> sizes, SmallVector<OpFoldResult> &resultOffsets,
      SmallVector<OpFoldResult> &resultSizes) const {
    llvm::append_range(resultOffsets, offsets);
    llvm::append_range(resultSizes, sizes);
    return success();
  }

  LogicalResult getIterationDomainTileFromResultTile(
      Operation *, OpBuilder &, unsigned, ArrayRef<OpFoldResult> offsets,
      ArrayRef<OpFoldResult> sizes,
      SmallVectorImpl<OpFoldResult> &domainOffsets,
      SmallVectorImpl<OpFoldResult> &domainSizes) const {
    llvm::append_range(domainOffsets, offsets);
    llvm::append_range(domainSizes, sizes);
    return success();
  }

  FailureOr<TilingResult>
  generateResultTileValue(Operation *op, OpBuilder &builder, unsigned,
                          ArrayRef<OpFoldResult> offsets,
                          ArrayRef<OpFoldResult> sizes) const {
    return getTiledImplementation(op, builder, offsets, sizes);
  }

  LogicalResult getIterationDomainTileFromOperandTiles(
      Operation *op, OpBuilder &builder, ArrayRef<unsigned> operandNumbers,
      ArrayRef<SmallVector<OpFoldResult>> offsets,
      ArrayRef<SmallVector<OpFoldResult>> sizes,
      SmallVectorImpl<OpFoldResult> &domainOffsets,
      SmallVectorImpl<OpFoldResult> &domainSizes) const {
    // Of two tiles each would ask for its own.
    if (operandNumbers.size() != 1 || failed(verifyTileable(op)))
      return failure();
    OperandTile tile{offsets.front(), sizes.front()};
    OpOperand &operand = op->getOpOperand(operandNumbers.front());
    if (!cast<DestinationStyleOpInterface>(op).isDpsInit(&operand)) {
      if (operandNumbers.front() != 0)
        return failure();
      FailureOr<OperandTile> domain =
          getDomainTile(builder, cast<OpTy>(op), tile);
      if (failed(domain))
        return failure();
      tile = *domain;
    }
    llvm::append_range(domainOffsets, tile.offsets);
    llvm::append_range(domainSizes, tile.sizes);
    return success();
  }

  FailureOr<TilingResult> getTiledImplementationFromOperandTiles(
      Operation *op, OpBuilder &builder, ArrayRef<unsigned> operandNumbers,
      ArrayRef<SmallVector<OpFoldResult>> offsets,
      ArrayRef<SmallVector<OpFoldResult>> sizes) const {
    SmallVector<OpFoldResult> domainOffsets, domainSizes;
    if (failed(getIterationDomainTileFromOperandTiles(
            op, builder, operandNumbers, offsets, sizes, domainOffsets,
            domainSizes)))
      return failure();
    return getTiledImplementation(op, builder, domainOffsets, domainSizes);
  }
};
} // namespace

template <typename... OpTys>
static void attach(MLIRContext *context) {
  (OpTys::template attachInterface<ResultDomainModel<OpTys>>(*context), ...);
}

void moeq::registerTilingInterfaceExternalModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, MoeqDialect *) {
    attach<QuantizeOp, DequantizeOp, GatherOp, CombineOp, ActivateOp,
           ActQuantOp, MatmulOp>(context);
    attachGroupedMatmulTiling(context);
    context->loadDialect<affine::AffineDialect, arith::ArithDialect,
                         linalg::LinalgDialect, memref::MemRefDialect,
                         tensor::TensorDialect>();
  });
}
