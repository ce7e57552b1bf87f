//===- Tile.cpp - Matmuls to loops over tiles -------------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ScaledSlice.h"
#include "Tiling.h"

#include "moeq/Dialect/Moeq/Transforms/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/TileUsingInterface.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Transforms/CSE.h"

namespace mlir::moeq {
#define GEN_PASS_DEF_MOEQTILE
#include "moeq/Dialect/Moeq/Transforms/Passes.h.inc"
} // namespace mlir::moeq

using namespace mlir;
using namespace mlir::moeq;
using namespace mlir::moeq::detail;

namespace {
/// Rows and columns of a tile.
struct TileShape {
  int64_t rows, columns;
};
} // namespace

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

/// A tile of `size` along dimension `dim` of `operand` must hold whole blocks
/// or lie inside one. A ragged tile starts anywhere.
static LogicalResult verifyTileSize(Operation *op, Value operand, int64_t dim,
                                    StringRef what, int64_t size,
                                    bool isRagged) {
  auto type = cast<RankedTensorType>(operand.getType());
  for (const Cut &cut : getCuts(type, /*isWrite=*/false)) {
    if (cut.dim != dim)
      continue;
    if (cut.rule == CutRule::Whole)
      return op->emitOpError() << "expects scales in row-major layout to tile "
                               << what << ", got " << type;
    if (cut.block == 1)
      continue;
    if (isRagged)
      return op->emitOpError() << "expects no scale blocks across " << what
                               << ", which start anywhere, got blocks of "
                               << cut.block << " of " << type;
    if (size % cut.block != 0 && cut.block % size != 0)
      return op->emitOpError()
             << "expects a tile of " << what
             << " that is a multiple or a divisor of the scale block "
             << cut.block << " of " << type << ", got " << size;
  }
  return success();
}

template <typename OpTy>
static LogicalResult verifyTiles(OpTy op, TileShape tile) {
  bool isGrouped = std::is_same_v<OpTy, GroupedMatmulOp>;
  if (failed(verifyTileable(op)) ||
      failed(verifyTileSize(op, op.getLhs().front(), 0, "rows", tile.rows,
                            isGrouped)))
    return failure();
  if (op.getGated() && tile.columns % kGateGroup != 0)
    return op.emitOpError()
           << "expects a tile of columns that is a multiple of " << kGateGroup
           << ", which a gated epilogue takes together, got " << tile.columns;
  return verifyTileSize(op, op.getRhs().front(), isGrouped ? 1 : 0, "columns",
                        tile.columns * op.getNumAccumulators(),
                        /*isRagged=*/false);
}

//===----------------------------------------------------------------------===//
// The ragged loop
//===----------------------------------------------------------------------===//

namespace {
/// Builds the loop of a grouped matmul: over row tiles, of which each expert
/// has as many as its rows need, and column tiles.
struct RaggedLoop {
  Location loc;
  Value offsets;
  TileShape tile;

  using HeaderInfo = scf::SCFTilingOptions::CustomLoopHeaderInfo;

  /// The number of row tiles at most, from sizes alone: an expert with n rows
  /// has n ceildiv tile, at most n floordiv tile + 1. What is left over is
  /// empty.
  OpFoldResult getNumRowTiles(OpBuilder &builder, OpFoldResult rows,
                              OpFoldResult experts) const;

  /// The expert, first row and number of rows of row tile `index`.
  ValueRange findTile(OpBuilder &builder, Value index,
                      OpFoldResult experts) const;

  /// The columns of the tile at `column`: those that are left, if fewer.
  OpFoldResult getWidth(OpBuilder &builder, Value column,
                        OpFoldResult columns) const;

  HeaderInfo createHeader(RewriterBase &rewriter, ArrayRef<Range> ranges,
                          ValueRange destinations) const;

  static LogicalResult createTerminator(
      RewriterBase &rewriter, Location loc, ArrayRef<LoopLikeOpInterface> loops,
      ValueRange results, ArrayRef<SmallVector<OpFoldResult>> offsets,
      ArrayRef<SmallVector<OpFoldResult>> sizes, ValueRange destinations);
};
} // namespace

OpFoldResult RaggedLoop::getNumRowTiles(OpBuilder &builder, OpFoldResult rows,
                                        OpFoldResult experts) const {
  AffineExpr rowCount, expertCount;
  bindSymbols(builder.getContext(), rowCount, expertCount);
  // The second bound is the tight one for no experts, no rows, and one expert.
  AffineMap bounds = AffineMap::get(0, 2,
                                    {rowCount.floorDiv(tile.rows) + expertCount,
                                     rowCount.ceilDiv(tile.rows) * expertCount},
                                    builder.getContext());
  return affine::makeComposedFoldedAffineMin(builder, loc, bounds,
                                             {rows, experts});
}

ValueRange RaggedLoop::findTile(OpBuilder &builder, Value index,
                                OpFoldResult experts) const {
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  Value tileRows = arith::ConstantIndexOp::create(builder, loc, tile.rows);
  auto body = [&](OpBuilder &builder, Location loc, Value expert,
                  ValueRange found) {
    auto getOffset = [&](Value expert) -> Value {
      Value offset = tensor::ExtractOp::create(builder, loc, offsets, expert);
      return arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                        offset);
    };
    Value begin = getOffset(expert);
    Value end = getOffset(arith::AddIOp::create(builder, loc, expert, one));
    Value rows = arith::SubIOp::create(builder, loc, end, begin);
    // The expert has tiles [first, last) of all.
    Value first = found[0];
    Value last = arith::AddIOp::create(
        builder, loc, first,
        arith::CeilDivUIOp::create(builder, loc, rows, tileRows));
    Value inside = arith::SubIOp::create(builder, loc, index, first);
    Value isHere = arith::AndIOp::create(
        builder, loc,
        arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ule, first,
                              index),
        arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, index,
                              last));
    Value row = arith::AddIOp::create(
        builder, loc, begin,
        arith::MulIOp::create(builder, loc, inside, tileRows));
    Value count = arith::MinUIOp::create(
        builder, loc, tileRows, arith::SubIOp::create(builder, loc, end, row));
    SmallVector<Value> next{last};
    for (auto [here, before] :
         llvm::zip(SmallVector<Value>{expert, row, count}, found.drop_front()))
      next.push_back(
          arith::SelectOp::create(builder, loc, isHere, here, before));
    scf::YieldOp::create(builder, loc, next);
  };
  auto scan =
      scf::ForOp::create(builder, loc, zero,
                         getValueOrCreateConstantIndexOp(builder, loc, experts),
                         one, ValueRange{zero, zero, zero, zero}, body);
  return scan.getResults().drop_front();
}

OpFoldResult RaggedLoop::getWidth(OpBuilder &builder, Value column,
                                  OpFoldResult columns) const {
  std::optional<int64_t> count = getConstantIntValue(columns);
  if (count && *count % tile.columns == 0)
    return builder.getIndexAttr(tile.columns);
  AffineExpr start = builder.getAffineDimExpr(0);
  AffineExpr end = builder.getAffineSymbolExpr(0);
  AffineMap left = AffineMap::get(
      1, 1, {builder.getAffineConstantExpr(tile.columns), end - start},
      builder.getContext());
  return affine::makeComposedFoldedAffineMin(builder, loc, left,
                                             {OpFoldResult(column), columns});
}

RaggedLoop::HeaderInfo RaggedLoop::createHeader(RewriterBase &rewriter,
                                                ArrayRef<Range> ranges,
                                                ValueRange destinations) const {
  OpFoldResult experts = ranges[0].size, rows = ranges[1].size,
               columns = ranges[2].size;
  OpFoldResult zero = rewriter.getIndexAttr(0), one = rewriter.getIndexAttr(1);
  OpFoldResult step = rewriter.getIndexAttr(tile.columns);
  auto forall = scf::ForallOp::create(
      rewriter, loc, {zero, zero},
      {getNumRowTiles(rewriter, rows, experts), columns}, {one, step},
      destinations, /*mapping=*/std::nullopt);
  rewriter.setInsertionPointToStart(forall.getBody());
  Value column = forall.getInductionVar(1);
  ValueRange found = findTile(rewriter, forall.getInductionVar(0), experts);

  HeaderInfo info;
  info.loops = {cast<LoopLikeOpInterface>(forall.getOperation())};
  info.tileOffset = {OpFoldResult(found[0]), OpFoldResult(found[1]),
                     OpFoldResult(column)};
  info.tileSizes = {one, OpFoldResult(found[2]),
                    getWidth(rewriter, column, columns)};
  info.destinationTensors.assign(forall.getRegionIterArgs().begin(),
                                 forall.getRegionIterArgs().end());
  return info;
}

LogicalResult RaggedLoop::createTerminator(
    RewriterBase &rewriter, Location loc, ArrayRef<LoopLikeOpInterface> loops,
    ValueRange results, ArrayRef<SmallVector<OpFoldResult>> offsets,
    ArrayRef<SmallVector<OpFoldResult>> sizes, ValueRange destinations) {
  LoopLikeOpInterface loop = loops.front();
  auto forall = cast<scf::ForallOp>(loop.getOperation());
  rewriter.setInsertionPointToEnd(forall.getTerminator().getBody());
  for (auto [result, offset, size, destination] :
       llvm::zip_equal(results, offsets, sizes, destinations)) {
    SmallVector<OpFoldResult> strides(offset.size(), rewriter.getIndexAttr(1));
    tensor::ParallelInsertSliceOp::create(rewriter, loc, result, destination,
                                          offset, size, strides);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// Whether an op that quantizes has but a rowwise result, without groups.
static bool isRowwiseOnly(Operation *op) {
  if (auto quantize = dyn_cast<QuantizeOp>(op))
    return quantize.isRowwiseOnly();
  return cast<ActQuantOp>(op).isRowwiseOnly();
}

/// Whether rows of `lhs` can be quantized tile by tile. A remark says why not.
static bool isFusable(Value lhs) {
  Operation *producer = lhs.getDefiningOp();
  if (!isa_and_nonnull<QuantizeOp, ActQuantOp>(producer))
    return false;
  bool isRowwise = isRowwiseOnly(producer);
  if (isRowwise && getScaledElementType(lhs.getType()).getBlockOf(0, 2) == 1)
    return true;
  remark::missed(producer->getLoc(),
                 remark::RemarkOpts::name("fuse").category("moeq-tile"))
      << remark::reason(isRowwise
                            ? "stays outside the loop: its scales span rows"
                            : "stays outside the loop: its rows have groups "
                              "or a columnwise result");
  return false;
}

namespace {
struct MoeqTile : moeq::impl::MoeqTileBase<MoeqTile> {
  using Base::Base;

  static bool hasEmptyExtent(Type type) {
    auto shaped = dyn_cast<ShapedType>(type);
    return shaped && shaped.hasRank() &&
           llvm::is_contained(shaped.getShape(), 0);
  }

  void runOnOperation() override {
    if (tileM <= 0 || tileN <= 0) {
      getOperation()->emitError()
          << "expects positive tile sizes, got tile-m=" << int64_t(tileM)
          << " and tile-n=" << int64_t(tileN);
      return signalPassFailure();
    }
    // All checks come first: upstream's tiling fails only when it has built the
    // loop.
    SmallVector<Operation *> matmuls;
    bool valid = true;
    getOperation()->walk([&](Operation *op) {
      // Upstream has no slice of an extent of 0, not even at offset 0.
      if (llvm::any_of(op->getOperandTypes(), hasEmptyExtent))
        return;
      if (auto matmul = dyn_cast<MatmulOp>(op))
        valid &= succeeded(verifyTiles(matmul, getTile(matmul)));
      else if (auto matmul = dyn_cast<GroupedMatmulOp>(op);
               matmul && matmul.hasUsualOperands())
        valid &= succeeded(verifyTiles(matmul, getTile(matmul)));
      else
        return;
      matmuls.push_back(op);
    });
    if (!valid)
      return signalPassFailure();
    IRRewriter rewriter(&getContext());
    for (Operation *op : matmuls) {
      rewriter.setInsertionPoint(op);
      if (failed(tile(rewriter, cast<TilingInterface>(op))))
        return signalPassFailure();
    }
    // A slice and the insert of its result are seen to be of one place, and in
    // place, when their offsets are one value.
    DominanceInfo dominance(getOperation());
    eliminateCommonSubExpressions(rewriter, dominance, getOperation());
  }

  /// The op's config wins over the options.
  template <typename OpTy>
  TileShape getTile(OpTy op) {
    if (ConfigAttr config = op.getConfigAttr())
      return {config.getTile()[0], config.getTile()[1]};
    return {tileM, tileN};
  }

  LogicalResult tile(RewriterBase &rewriter, TilingInterface op) {
    scf::SCFTilingOptions options;
    if (auto grouped = dyn_cast<GroupedMatmulOp>(op.getOperation())) {
      RaggedLoop loop{op.getLoc(), grouped.getOffsets(), getTile(grouped)};
      options.setLoopType(scf::SCFTilingOptions::LoopType::CustomOp);
      options.setTileSizes({rewriter.getIndexAttr(1),
                            rewriter.getIndexAttr(loop.tile.rows),
                            rewriter.getIndexAttr(loop.tile.columns)});
      options.setCustomLoopGenerationFns(
          [loop](RewriterBase &rewriter, Location, ArrayRef<Range> ranges,
                 ArrayRef<OpFoldResult>,
                 ValueRange destinations) -> FailureOr<RaggedLoop::HeaderInfo> {
            return loop.createHeader(rewriter, ranges, destinations);
          },
          RaggedLoop::createTerminator);
    } else {
      TileShape shape = getTile(cast<MatmulOp>(op.getOperation()));
      options.setLoopType(scf::SCFTilingOptions::LoopType::ForallOp);
      options.setTileSizes({rewriter.getIndexAttr(shape.rows),
                            rewriter.getIndexAttr(shape.columns)});
    }
    FailureOr<scf::SCFTilingResult> tiled =
        scf::tileUsingSCF(rewriter, op, options);
    if (failed(tiled))
      return failure();
    ++numTiled;
    if (auto config = op->getAttrOfType<ConfigAttr>("config"))
      for (LoopLikeOpInterface loop : tiled->loops)
        loop->setAttr("moeq.config", config);
    Value lhs = op->getOperand(0);
    rewriter.replaceOp(op, tiled->replacements);
    if (fuse && isFusable(lhs))
      fuseProducer(rewriter, lhs, *tiled);
    return success();
  }

  /// Quantizes the rows of `lhs` tile by tile, in each column of tiles again.
  void fuseProducer(RewriterBase &rewriter, Value lhs,
                    scf::SCFTilingResult &tiled) {
    Operation *producer = lhs.getDefiningOp();
    for (Operation *generated : tiled.generatedSlices) {
      auto slice = cast<tensor::ExtractSliceOp>(generated);
      if (slice.getSource() != lhs ||
          !scf::tileAndFuseProducerOfSlice(rewriter, slice, tiled.loops))
        continue;
      ++numFused;
      remark::passed(producer->getLoc(),
                     remark::RemarkOpts::name("fuse").category("moeq-tile"));
      rewriter.eraseOp(slice);
      if (producer->use_empty())
        rewriter.eraseOp(producer);
      return;
    }
  }
};
} // namespace
