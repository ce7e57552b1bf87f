//===- FuseActivation.cpp - Activations into epilogues ----------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FuseDetail.h"

#include "moeq/Dialect/Moeq/Transforms/Transforms.h"
#include "moeq/Support/GateColumns.h"
#include "moeq/Support/Numerics.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::moeq;
using namespace mlir::moeq::detail;

namespace {
/// Builds the epilogue that applies the function of an activate or act_quant
/// behind that of a matmul.
template <typename OpTy, typename ActOp>
class ActivationEpilogue {
public:
  ActivationEpilogue(OpTy matmul, ActOp op)
      : matmul(matmul), op(op), halves(isGated(op.getFunction()) ? 2 : 1) {}

  /// The matmul with this epilogue and `outs`.
  OpTy build(RewriterBase &rewriter, Value outs) {
    SmallVector<Value> operands(matmul.getEpilogueOperands());
    SmallVector<int32_t> maps(matmul.getEpilogueMaps());
    if (Value weight = op.getRowWeight()) {
      operands.push_back(weight);
      maps.push_back(static_cast<int32_t>(EpilogueMap::Row));
    }
    auto fused = createMatmul(rewriter, matmul, matmul.getLhs(),
                              matmul.getRhs(), operands, maps, outs,
                              /*gated=*/halves == 2);
    OpBuilder::InsertionGuard guard(rewriter);
    Location loc = op.getLoc();
    Block &block = *rewriter.createBlock(&fused.getEpilogue());
    auto addArguments = [&](Type type, unsigned count) {
      for (unsigned i = 0; i < count; ++i)
        block.addArgument(type, loc);
    };
    addArguments(rewriter.getF32Type(), halves);
    addArguments(rewriter.getIndexType(), 2);
    for (auto [operand, map] : llvm::zip_equal(operands, maps))
      addArguments(getElementTypeOrSelf(operand), isColumn(map) ? halves : 1);

    Elementwise e(rewriter, loc);
    Value gate = emitHalf(e, block, 0);
    Value up = halves == 2 ? emitHalf(e, block, 1) : Value();
    Value value = emitActivation(e, getActivationParameters(op), gate, up);
    if (op.getRowWeight())
      value = e.mul(value, emitToF32(e, block.getArguments().back()));
    YieldOp::create(rewriter, loc,
                    emitFromF32(e, value, getElementTypeOrSelf(outs)));
    return fused;
  }

private:
  static bool isColumn(int32_t map) {
    return map == static_cast<int32_t>(EpilogueMap::Column);
  }

  /// What the matmul stored for accumulator `half`, as f32.
  Value emitHalf(Elementwise &e, Block &block, unsigned half) {
    OpBuilder &b = e.getBuilder();
    if (matmul.getEpilogue().empty())
      return emitToF32(e, emitFromF32(e, block.getArgument(half),
                                      getElementTypeOrSelf(matmul.getOuts())));
    Block &source = matmul.getEpilogue().front();
    Value column = block.getArgument(halves + 1);
    if (halves == 2 && !source.getArgument(2).use_empty()) {
      GateColumns columns =
          emitGateColumns(b, e.getLoc(), GateLayout::Interleaved64, column,
                          /*features=*/Value());
      column = half ? columns.up : columns.gate;
    }
    SmallVector<Value> arguments{block.getArgument(half),
                                 block.getArgument(halves), column};
    unsigned next = halves + 2;
    for (int32_t map : matmul.getEpilogueMaps()) {
      arguments.push_back(block.getArgument(next + (isColumn(map) ? half : 0)));
      next += isColumn(map) ? halves : 1;
    }
    IRMapping mapping;
    mapping.map(source.getArguments(), arguments);
    for (Operation &inner : source.without_terminator())
      b.clone(inner, mapping);
    return emitToF32(e, mapping.lookupOrDefault(
                            cast<YieldOp>(source.getTerminator()).getValue()));
  }

  OpTy matmul;
  ActOp op;
  unsigned halves;
};

/// activate(matmul(a, b)) -> matmul(a, b) whose epilogue activates what it has
/// rounded to its own type.
template <typename OpTy>
struct FuseActivate : OpRewritePattern<ActivateOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ActivateOp op,
                                PatternRewriter &rewriter) const override {
    OpTy matmul = getFusableActivation<OpTy>(op);
    if (!matmul || op.getNumResults() == 0)
      return failure();
    remarkFused(op, "activate-of-matmul");
    OpTy fused = ActivationEpilogue(matmul, op).build(rewriter, op.getOuts());
    rewriter.replaceOp(op, fused.getResult(0));
    rewriter.eraseOp(matmul);
    return success();
  }
};

/// act_quant(matmul(a, b)), gated -> quantize of the matmul that activates, to
/// the type that act_quant rounds to. A matmul that has no whole rows cannot
/// quantize them.
template <typename OpTy>
struct FuseActQuant : OpRewritePattern<ActQuantOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ActQuantOp op,
                                PatternRewriter &rewriter) const override {
    OpTy matmul = getFusableActivation<OpTy>(op);
    if (!matmul || !isGated(op.getFunction()) || op.getOutsFormat() ||
        op.getColumnwiseFormat() || op.getNumResults() == 0)
      return failure();
    Type element = rewriter.getF32Type();
    if (op.getIntermediateRound() == IntermediateRound::BF16)
      element = rewriter.getBF16Type();
    else if (op.getIntermediateRound() == IntermediateRound::F16)
      element = rewriter.getF16Type();
    remarkFused(op, "act-quant-of-matmul");
    auto sizeOf = [&](Value value, int64_t dim) {
      return tensor::getMixedSize(rewriter, op.getLoc(), value, dim);
    };
    SmallVector<OpFoldResult> sizes{sizeOf(matmul.getOuts(), 0)};
    if (op.getOuts().empty()) {
      Value columnwise = op.getColumnwise().front();
      bool isTransposed =
          getScaledElementType(columnwise.getType()).getBlockOf(1, 2) != 1;
      sizes.push_back(sizeOf(columnwise, isTransposed ? 0 : 1));
    } else {
      sizes.push_back(sizeOf(op.getOuts().front(), 1));
    }
    Value init = tensor::EmptyOp::create(rewriter, op.getLoc(), sizes, element);
    OpTy fused = ActivationEpilogue(matmul, op).build(rewriter, init);
    rewriter.replaceOpWithNewOp<QuantizeOp>(
        op, op.getResultTypes(), fused.getResult(0), /*rows=*/Value(),
        op.getOffsets(), op.getOuts(), op.getColumnwise(), op.getRecipeAttr(),
        /*outs_format=*/TypeAttr(), /*columnwise_format=*/TypeAttr());
    rewriter.eraseOp(matmul);
    return success();
  }
};
} // namespace

void moeq::populateFuseActivationPatterns(RewritePatternSet &patterns) {
  patterns.add<FuseActivate<MatmulOp>, FuseActivate<GroupedMatmulOp>,
               FuseActQuant<MatmulOp>, FuseActQuant<GroupedMatmulOp>>(
      patterns.getContext());
}
