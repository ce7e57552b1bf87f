//===- FuseMatmul.cpp - Merge a matmul with its neighbours ------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FuseDetail.h"

#include "moeq/Dialect/Moeq/Transforms/Transforms.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::moeq;
using namespace mlir::moeq::detail;

MatmulOp moeq::detail::createMatmul(OpBuilder &b, MatmulOp like, ValueRange lhs,
                                    ValueRange rhs, ValueRange operands,
                                    ArrayRef<int32_t> maps, Value outs,
                                    bool gated) {
  return MatmulOp::create(
      b, like.getLoc(), outs.getType(), lhs, rhs, operands, outs,
      /*lhs_format=*/TypeAttr(), /*rhs_format=*/TypeAttr(), maps,
      like.getAccumulateAttr(), like.getConfigAttr(), gated);
}

GroupedMatmulOp moeq::detail::createMatmul(OpBuilder &b, GroupedMatmulOp like,
                                           ValueRange lhs, ValueRange rhs,
                                           ValueRange operands,
                                           ArrayRef<int32_t> maps, Value outs,
                                           bool gated) {
  return GroupedMatmulOp::create(
      b, like.getLoc(), outs.getType(), lhs, rhs, like.getOffsets(),
      like.getCounts(), like.getRows(), like.getPlan(), operands, outs,
      /*lhs_format=*/TypeAttr(),
      /*rhs_format=*/TypeAttr(), maps, like.getAccumulateAttr(),
      like.getConfigAttr(), gated, like.getContract(), like.getTransposeRhs(),
      like.getAddToOuts());
}

//===----------------------------------------------------------------------===//
// Epilogue
//===----------------------------------------------------------------------===//

/// Whether each result element of `op` is a scalar function of one element of
/// each operand, of its row and its column.
static bool isElementwise(linalg::GenericOp op) {
  if (!op.hasPureTensorSemantics() || op.getNumResults() != 1 ||
      op.getNumLoops() != 2 || op.getNumParallelLoops() != 2 ||
      !op.getIndexingMapsArray().back().isIdentity())
    return false;
  Type element = cast<ShapedType>(op.getResult(0).getType()).getElementType();
  if (!element.isF32() && !element.isBF16() && !element.isF16())
    return false;
  Region &region = op.getRegion();
  auto isScalar = [&](Value value) {
    return value.getType().isIntOrIndexOrFloat() ||
           value.getParentRegion() == &region;
  };
  return llvm::all_of(op.getBody()->without_terminator(),
                      [&](Operation &inner) {
                        return (isa<linalg::IndexOp>(inner) ||
                                isa<arith::ArithDialect, math::MathDialect>(
                                    inner.getDialect())) &&
                               isMemoryEffectFree(&inner) &&
                               inner.getNumRegions() == 0 &&
                               llvm::all_of(inner.getOperands(), isScalar);
                      }) &&
         llvm::all_of(op.getBody()->getTerminator()->getOperands(), isScalar);
}

/// The epilogue's map for an operand that linalg accesses by `map`, if there is
/// one. An operand of map column is [N] of the result: not so in a grouped
/// matmul, nor where the epilogue gates.
static std::optional<EpilogueMap> getEpilogueMap(AffineMap map,
                                                 bool takesColumns) {
  if (map.isIdentity())
    return EpilogueMap::RowColumn;
  if (map.getNumResults() != 1 || !map.isProjectedPermutation())
    return std::nullopt;
  if (map.getDimPosition(0) == 0)
    return EpilogueMap::Row;
  return takesColumns ? std::optional(EpilogueMap::Column) : std::nullopt;
}

namespace {

/// generic(matmul(a, b), x, ..) -> matmul(a, b) with the generic's body as, or
/// behind, its epilogue.
template <typename OpTy>
struct FuseIntoEpilogue : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;
  static constexpr bool grouped = std::is_same_v<OpTy, GroupedMatmulOp>;

  LogicalResult matchAndRewrite(linalg::GenericOp op,
                                PatternRewriter &rewriter) const override {
    if (!isElementwise(op))
      return failure();
    OpTy matmul = findProducer(op);
    if (!matmul)
      return failure();
    // The body may read the init only where that is the matmul's result.
    Value init = op.getDpsInits().front();
    bool inPlace = init == matmul.getResult(0);
    if (!inPlace && !op.getBody()->getArguments().back().use_empty())
      return failure();

    // Each input is the matmul's result, a scalar, or an operand of the
    // epilogue.
    SmallVector<Value> operands(matmul.getEpilogueOperands());
    SmallVector<int32_t> maps(matmul.getEpilogueMaps());
    for (OpOperand *input : op.getDpsInputOperands()) {
      AffineMap map = op.getMatchingIndexingMap(input);
      if (input->get() == matmul.getResult(0)) {
        if (!map.isIdentity())
          return failure();
        continue;
      }
      auto type = dyn_cast<RankedTensorType>(input->get().getType());
      if (!type) {
        if (!input->get().getType().isIntOrIndexOrFloat())
          return failure();
        continue;
      }
      std::optional<EpilogueMap> kind =
          getEpilogueMap(map, !grouped && !matmul.getGated());
      if (!kind || !isEpilogueElement(type.getElementType()))
        return failure();
      operands.push_back(input->get());
      maps.push_back(static_cast<int32_t>(*kind));
    }

    remarkFused(op, "epilogue");
    auto fused = createMatmul(
        rewriter, matmul, matmul.getLhs(), matmul.getRhs(), operands, maps,
        inPlace ? matmul.getOuts() : init, matmul.getGated());
    buildEpilogue(rewriter, matmul, op, fused.getEpilogue());
    rewriter.replaceOp(op, fused.getResult(0));
    rewriter.eraseOp(matmul);
    return success();
  }

private:
  /// A matmul whose result only `op` reads, or null.
  static OpTy findProducer(linalg::GenericOp op) {
    for (Value input : op->getOperands())
      if (OpTy matmul = getFusable<OpTy>(input, op))
        return matmul;
    return {};
  }

  static bool isEpilogueElement(Type type) {
    return type.isIntOrFloat() &&
           llvm::is_contained({8u, 16u, 32u, 64u},
                              type.getIntOrFloatBitWidth());
  }

  /// Moves the epilogue of `matmul` (or, without one, the rounding to its type)
  /// to `region`, and appends the body of `op`.
  static void buildEpilogue(PatternRewriter &rewriter, OpTy matmul,
                            linalg::GenericOp op, Region &region) {
    OpBuilder::InsertionGuard guard(rewriter);
    Location loc = op.getLoc();
    unsigned accumulators = matmul.getNumAccumulators();
    Value value;
    if (matmul.getEpilogue().empty()) {
      Type index = rewriter.getIndexType();
      Block *block = rewriter.createBlock(
          &region, {}, {rewriter.getF32Type(), index, index}, {loc, loc, loc});
      value = block->getArgument(0);
      Type element =
          cast<ShapedType>(matmul.getOuts().getType()).getElementType();
      if (element != value.getType())
        value =
            arith::TruncFOp::create(rewriter, matmul.getLoc(), element, value);
    } else {
      rewriter.inlineRegionBefore(matmul.getEpilogue(), region, region.end());
      auto yield = cast<YieldOp>(region.front().getTerminator());
      value = yield.getValue();
      rewriter.eraseOp(yield);
    }

    Block &block = region.front();
    rewriter.setInsertionPointToEnd(&block);
    IRMapping mapping;
    for (OpOperand *input : op.getDpsInputOperands()) {
      Value element = input->get();
      if (element == matmul.getResult(0))
        element = value;
      else if (auto type = dyn_cast<RankedTensorType>(element.getType()))
        element = block.addArgument(type.getElementType(), loc);
      mapping.map(op.getMatchingBlockArgument(input), element);
    }
    mapping.map(op.getBody()->getArguments().back(),
                value); // read in place only
    for (Operation &inner : op.getBody()->without_terminator()) {
      if (auto index = dyn_cast<linalg::IndexOp>(inner))
        mapping.map(index.getResult(),
                    block.getArgument(accumulators + index.getDim()));
      else
        rewriter.clone(inner, mapping);
    }
    YieldOp::create(
        rewriter, loc,
        mapping.lookupOrDefault(op.getBody()->getTerminator()->getOperand(0)));
  }
};

} // namespace

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

/// Whether scaled operands have the shapes of plain ones.
static bool takesScaledAsPlain(MatmulOp) { return true; }
static bool takesScaledAsPlain(GroupedMatmulOp op) {
  return op.hasUsualOperands();
}

namespace {

/// matmul(dequantize(a), dequantize(b)) on bf16 -> matmul(a, b), where both
/// have E8M0 scales: such a matmul is defined as the product of the dequantized
/// operands in bf16. With other scales the sum would be another.
template <typename OpTy>
struct FuseDequantize : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;

  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    if (!takesScaledAsPlain(op))
      return failure();
    Value lhs = getQuantized(op.getLhs()), rhs = getQuantized(op.getRhs());
    if (op.getNumResults() == 0 || !lhs || !rhs || !nest(lhs, rhs))
      return failure();
    remarkFused(op, "dequantize");
    auto fused =
        createMatmul(rewriter, op, lhs, rhs, op.getEpilogueOperands(),
                     op.getEpilogueMaps(), op.getOuts(), op.getGated());
    rewriter.inlineRegionBefore(op.getEpilogue(), fused.getEpilogue(),
                                fused.getEpilogue().end());
    rewriter.replaceOp(op, fused.getResults());
    return success();
  }

private:
  /// The FP8 tensor with E8M0 scales of which `operand` holds the bf16 numbers,
  /// or null.
  static Value getQuantized(ValueRange operand) {
    if (operand.size() != 1)
      return {};
    auto dequantize = operand.front().getDefiningOp<DequantizeOp>();
    if (!dequantize || dequantize.getInput().size() != 1 ||
        !cast<ShapedType>(operand.front().getType()).getElementType().isBF16())
      return {};
    Value input = dequantize.getInput().front();
    ScaledType scaled = getScaledElementType(input.getType());
    bool isMx = scaled && isa<Float8E8M0FNUType>(scaled.getScale()) &&
                isa<Float8E4M3FNType, Float8E5M2Type>(scaled.getValue()) &&
                scaled.isRowMajor();
    return isMx ? input : Value();
  }

  /// Whether the blocks along K divide one another.
  static bool nest(Value lhs, Value rhs) {
    auto blockOfK = [](Value value) {
      return getScaledElementType(value.getType()).getBlock().back();
    };
    int64_t left = blockOfK(lhs), right = blockOfK(rhs);
    return ShapedType::isDynamic(left) || ShapedType::isDynamic(right) ||
           left % right == 0 || right % left == 0;
  }
};

} // namespace

void moeq::populateFuseMatmulPatterns(RewritePatternSet &patterns) {
  patterns.add<FuseIntoEpilogue<MatmulOp>, FuseIntoEpilogue<GroupedMatmulOp>,
               FuseDequantize<MatmulOp>, FuseDequantize<GroupedMatmulOp>>(
      patterns.getContext());
}
