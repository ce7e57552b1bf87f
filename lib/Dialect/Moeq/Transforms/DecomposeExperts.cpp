//===- DecomposeExperts.cpp - A layer to ops --------------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "moeq/Dialect/Moeq/IR/Moeq.h"
#include "moeq/Dialect/Moeq/Transforms/Transforms.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::moeq;

namespace {

/// Builds the ops of one layer, in their order. Extents are those of the
/// letters in the dialect's documentation, static where they are known.
class LayerBuilder {
public:
  LayerBuilder(RewriterBase &rewriter, ExpertsOp op);

  /// Builds all ops and returns the layer's result.
  Value build();

private:
  struct Routing {
    Value ids, weights; // [T, k], shared slots included
  };
  struct Groups {
    Value rows, slots, offsets;
    Value sortedWeights; // null unless the router weight is on the input
  };

  Routing buildRoute();
  Routing appendSharedSlots(Routing routed);
  Groups buildGroup(Routing routing);
  /// The input of the first matmul: the rows in sorted order, weighted where
  /// the weight is on the input, and quantized.
  Value buildInput(const Groups &groups);
  Value buildActivation(Value hidden);
  Value buildQuantize(Value input, OpFoldResult columns);
  /// `lhs` times the weight, plus its bias [E, N]; dropped rows keep `init`.
  Value buildGroupedMatmul(Value lhs, ValueRange weight, Value bias, Value init,
                           const Groups &groups);

  Value buildActivate(Value input, Value rowWeight, OpFoldResult columns,
                      Type element, Activation function);
  Value empty(ArrayRef<OpFoldResult> shape, Type element) {
    return tensor::EmptyOp::create(rewriter, loc, shape, element);
  }
  /// The init [S, columns] of what is quantized and has dropped rows, which
  /// nobody writes: zeros where scales span rows, else nothing.
  Value emptyRows(OpFoldResult columns, Type element);
  /// `op(a)`, folded.
  OpFoldResult apply(AffineExpr expr, OpFoldResult a) {
    return affine::makeComposedFoldedAffineApply(rewriter, loc, expr, {a});
  }

  RewriterBase &rewriter;
  Location loc;
  ExpertsOp op;
  /// The type of hidden and of the matmuls' outputs.
  Type element;
  /// The scaled type of activations, or null.
  ScaledType actType;
  int64_t slotsPerToken;
  OpFoldResult tokens, slots, experts;
};

} // namespace

LayerBuilder::LayerBuilder(RewriterBase &rewriter, ExpertsOp op)
    : rewriter(rewriter), loc(op.getLoc()), op(op),
      element(cast<ShapedType>(op.getHidden().getType()).getElementType()),
      slotsPerToken(op.getTopK() + op.getSharedExperts()) {
  if (op.getActFormat())
    actType = cast<ScaledType>(*op.getActFormat());
  tokens = tensor::getMixedSize(rewriter, loc, op.getHidden(), 0);
  slots = apply(rewriter.getAffineDimExpr(0) * slotsPerToken, tokens);
  experts = tensor::getMixedSize(rewriter, loc, op.getW13().front(), 0);
}

Value LayerBuilder::emptyRows(OpFoldResult columns, Type type) {
  Value init = empty({slots, columns}, type);
  if (!op.getExpertMap() || !actType || actType.getBlockOf(0, 2) == 1)
    return init;
  Value zero =
      arith::ConstantOp::create(rewriter, loc, rewriter.getZeroAttr(type));
  return linalg::FillOp::create(rewriter, loc, zero, init).getResult(0);
}

LayerBuilder::Routing LayerBuilder::buildRoute() {
  SmallVector<OpFoldResult> shape{tokens, rewriter.getIndexAttr(op.getTopK())};
  Value ids = empty(shape, rewriter.getI32Type());
  Value weights = empty(shape, rewriter.getF32Type());
  auto route = RouteOp::create(
      rewriter, loc, TypeRange{ids.getType(), weights.getType()},
      op.getLogits(), op.getRouterBias(), ids, weights, op.getScoreAttr(),
      op.getRenormalizeAttr(), op.getScaleAttr(), op.getNGroupAttr(),
      op.getTopkGroupAttr(), op.getGroupScoreAttr());
  return {route.getResult(0), route.getResult(1)};
}

LayerBuilder::Routing LayerBuilder::appendSharedSlots(Routing routed) {
  if (op.getSharedExperts() == 0)
    return routed;
  int64_t topK = op.getTopK(), shared = op.getSharedExperts();
  SmallVector<OpFoldResult> shape{tokens, rewriter.getIndexAttr(slotsPerToken)};
  Value firstShared = getValueOrCreateConstantIndexOp(
      rewriter, loc,
      apply(rewriter.getAffineDimExpr(0) - (shared + topK), experts));
  SmallVector<Value> inits{empty(shape, rewriter.getI32Type()),
                           empty(shape, rewriter.getF32Type())};
  SmallVector<AffineMap> maps(2, rewriter.getMultiDimIdentityMap(2));
  SmallVector<utils::IteratorType> iterators(2, utils::IteratorType::parallel);
  auto body = [&](OpBuilder &b, Location loc, ValueRange) {
    Value token = linalg::IndexOp::create(b, loc, 0),
          slot = linalg::IndexOp::create(b, loc, 1);
    Value numRouted = arith::ConstantIndexOp::create(b, loc, topK);
    Value lastRouted = arith::ConstantIndexOp::create(b, loc, topK - 1);
    Value isRouted = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult,
                                           slot, numRouted);
    Value source = arith::MinUIOp::create(b, loc, slot, lastRouted);
    Value id = tensor::ExtractOp::create(b, loc, routed.ids,
                                         ValueRange{token, source});
    Value weight = tensor::ExtractOp::create(b, loc, routed.weights,
                                             ValueRange{token, source});
    Value sharedId = arith::IndexCastOp::create(
        b, loc, b.getI32Type(),
        arith::AddIOp::create(b, loc, slot, firstShared));
    Value one = arith::ConstantOp::create(b, loc, b.getF32FloatAttr(1.0f));
    linalg::YieldOp::create(
        b, loc,
        {arith::SelectOp::create(b, loc, isRouted, id, sharedId).getResult(),
         arith::SelectOp::create(b, loc, isRouted, weight, one).getResult()});
  };
  auto generic =
      linalg::GenericOp::create(rewriter, loc, TypeRange(ValueRange(inits)),
                                ValueRange{}, inits, maps, iterators, body);
  return {generic.getResult(0), generic.getResult(1)};
}

LayerBuilder::Groups LayerBuilder::buildGroup(Routing routing) {
  Type i32 = rewriter.getI32Type();
  SmallVector<Value> inits{
      empty({slots}, i32),
      empty({tokens, rewriter.getIndexAttr(slotsPerToken)}, i32),
      empty({apply(rewriter.getAffineDimExpr(0) + 1, experts)}, i32)};
  Value weights, sortedWeights;
  if (op.getWeightOnInput()) {
    weights = routing.weights;
    sortedWeights = empty({slots}, rewriter.getF32Type());
    inits.push_back(sortedWeights);
  }
  auto group =
      GroupOp::create(rewriter, loc, TypeRange(ValueRange(inits)), routing.ids,
                      op.getExpertMap(), weights, inits[0], inits[1], inits[2],
                      /*padded_offsets=*/Value(), sortedWeights);
  return {group.getResult(0), group.getResult(1), group.getResult(2),
          sortedWeights ? group.getResult(3) : Value()};
}

Value LayerBuilder::buildInput(const Groups &groups) {
  OpFoldResult columns = tensor::getMixedSize(rewriter, loc, op.getHidden(), 1);
  Value init = emptyRows(columns, element);
  Value input =
      GatherOp::create(rewriter, loc, init.getType(), op.getHidden(),
                       groups.rows, init,
                       /*input_format=*/TypeAttr(), /*outs_format=*/TypeAttr())
          .getResult(0);
  if (groups.sortedWeights)
    input = buildActivate(input, groups.sortedWeights, columns, element,
                          Activation::Identity);
  return buildQuantize(input, columns);
}

Value LayerBuilder::buildQuantize(Value input, OpFoldResult columns) {
  if (!actType)
    return input;
  Value init = empty({slots, columns}, actType);
  return QuantizeOp::create(rewriter, loc, init.getType(), input,
                            /*rows=*/Value(), /*offsets=*/Value(), init,
                            /*columnwise=*/ValueRange(), op.getRecipeAttr(),
                            /*outs_format=*/TypeAttr(),
                            /*columnwise_format=*/TypeAttr())
      .getResult(0);
}

Value LayerBuilder::buildGroupedMatmul(Value lhs, ValueRange weight, Value bias,
                                       Value init, const Groups &groups) {
  SmallVector<Value> operands;
  SmallVector<int32_t> maps;
  if (bias) {
    operands.push_back(bias);
    maps.push_back(static_cast<int32_t>(EpilogueMap::Column));
  }
  auto matmul = GroupedMatmulOp::create(
      rewriter, loc, init.getType(), lhs, weight, groups.offsets,
      /*counts=*/Value(), /*rows=*/Value(), /*plan=*/Value(), operands, init,
      /*lhs_format=*/TypeAttr(),
      /*rhs_format=*/TypeAttr(), maps, op.getAccumulateAttr(),
      /*config=*/ConfigAttr());
  if (!bias)
    return matmul.getResult(0);
  OpBuilder::InsertionGuard guard(rewriter);
  Type f32 = rewriter.getF32Type(), index = rewriter.getIndexType();
  Block *block =
      rewriter.createBlock(&matmul.getEpilogue(), {}, {f32, index, index, f32},
                           {loc, loc, loc, loc});
  Value sum = arith::AddFOp::create(rewriter, loc, block->getArgument(0),
                                    block->getArgument(3));
  if (element != f32)
    sum = arith::TruncFOp::create(rewriter, loc, element, sum);
  YieldOp::create(rewriter, loc, sum);
  return matmul.getResult(0);
}

Value LayerBuilder::buildActivate(Value input, Value rowWeight,
                                  OpFoldResult columns, Type type,
                                  Activation function) {
  Value init = empty({slots, columns}, type);
  bool weighting = function == Activation::Identity && rowWeight;
  return ActivateOp::create(
             rewriter, loc, init.getType(), input, rowWeight, init, function,
             weighting ? GateLayout::GateFirst : op.getGateLayout(),
             op.getExp(), weighting ? FloatAttr() : op.getLimitAttr(),
             weighting ? FloatAttr() : op.getAlphaAttr())
      .getResult(0);
}

Value LayerBuilder::buildActivation(Value hidden) {
  Type type = element;
  if (actType) {
    switch (op.getIntermediateRound()) {
    case IntermediateRound::None:
      type = rewriter.getF32Type();
      break;
    case IntermediateRound::BF16:
      type = rewriter.getBF16Type();
      break;
    case IntermediateRound::F16:
      type = rewriter.getF16Type();
      break;
    }
  }
  OpFoldResult columns =
      tensor::getMixedSize(rewriter, loc, op.getW2().front(), 2);
  return buildQuantize(buildActivate(hidden, /*rowWeight=*/Value(), columns,
                                     type, op.getFunction()),
                       columns);
}

Value LayerBuilder::build() {
  Routing routing = appendSharedSlots(buildRoute());
  Groups groups = buildGroup(routing);
  Value input = buildInput(groups);
  OpFoldResult upColumns =
      tensor::getMixedSize(rewriter, loc, op.getW13().front(), 1);
  Value up = buildGroupedMatmul(input, op.getW13(), op.getBias13(),
                                emptyRows(upColumns, element), groups);
  Value activation = buildActivation(up);
  OpFoldResult downColumns =
      tensor::getMixedSize(rewriter, loc, op.getW2().front(), 1);
  Value down = buildGroupedMatmul(activation, op.getW2(), op.getBias2(),
                                  empty({slots, downColumns}, element), groups);
  Value weights = op.getWeightOnInput() ? Value() : routing.weights;
  return CombineOp::create(rewriter, loc, op.getOuts().getType(), down,
                           groups.slots, weights, op.getOuts())
      .getResult(0);
}

LogicalResult moeq::decomposeExperts(RewriterBase &rewriter, ExpertsOp op) {
  if (op.getNumResults() == 0)
    return op.emitOpError() << "expects to be decomposed on tensors, got "
                            << op.getOuts().getType();
  if (op.getW13Format() || op.getW2Format())
    return op.emitOpError()
           << "expects scaled weights to be decomposed, got components";
  rewriter.setInsertionPoint(op);
  rewriter.replaceOp(op, LayerBuilder(rewriter, op).build());
  return success();
}
