//===- PrepackOp.cpp - prepack ----------------------------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OpsDetail.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::moeq;
using namespace mlir::moeq::detail;

LogicalResult PrepackOp::verify() {
  ShapeVerifier verifier{*this};
  FailureOr<OperandInfo> input =
      getOperandInfo(*this, getInput(), getInputFormatAttr(), "input");
  FailureOr<OperandInfo> outs =
      getOperandInfo(*this, getOuts(), getOutsFormatAttr(), "outs");
  if (failed(input) || failed(outs) || failed(verifier.oneKind()) ||
      failed(verifyMoved(*this, *input, *outs)))
    return failure();
  int64_t rank = input->getRank();
  if (rank != 2 && rank != 3)
    return emitOpError() << "expects 'input' of rank 2 or 3, got rank " << rank;
  if (failed(verifier.rank("outs", outs->shape, rank)))
    return failure();
  for (int64_t dim = 0; dim < rank; ++dim)
    if (failed(verifier.same("extent " + Twine(dim) + " of 'input'",
                             input->shape[dim], "that of 'outs'",
                             outs->shape[dim])))
      return failure();
  for (GateLayout layout : {getFrom(), getTo()})
    if (failed(verifyGateColumns(*this, "input", input->shape[1], layout)))
      return failure();
  if (!input->scaled)
    return success();
  if (rank == 2 && input->scaled.isPacked())
    return emitOpError() << "expects columns of whole bytes, got "
                         << input->scaled;
  int64_t block = input->scaled.getBlockOf(1, rank);
  if ((block != 1 && !ShapedType::isDynamic(block)) ||
      input->scaled.getLayout() != ScaleLayout::RowMajor)
    return emitOpError() << "expects row-major scales whose blocks span one "
                            "column or all, got "
                         << input->scaled;
  return success();
}

//===----------------------------------------------------------------------===//
// Canonicalization, on tensors
//===----------------------------------------------------------------------===//

/// The column under `layout` of gate (0) or up (1) of result column `column`.
static int64_t getGateColumn(GateLayout layout, int64_t half, int64_t column,
                             int64_t features) {
  switch (layout) {
  case GateLayout::GateFirst:
    return half * features + column;
  case GateLayout::UpFirst:
    return (1 - half) * features + column;
  case GateLayout::Interleaved:
    return 2 * column + half;
  case GateLayout::Interleaved64:
    return column / kGateGroup * 2 * kGateGroup + half * kGateGroup +
           column % kGateGroup;
  }
  llvm_unreachable("unknown gate layout");
}

/// The elements [E, 2F, ..] of a constant, whole bytes each, in another order.
static DenseElementsAttr moveColumns(DenseElementsAttr elements,
                                     GateLayout from, GateLayout to) {
  ShapedType type = elements.getType();
  int64_t columns = type.getDimSize(1);
  ArrayRef<char> source = elements.getRawData();
  std::vector<char> target(source.size());
  int64_t bytes = source.size() / (type.getDimSize(0) * columns);
  for (int64_t expert = 0; expert < type.getDimSize(0); ++expert)
    for (int64_t half : {0, 1})
      for (int64_t column = 0; column < columns / 2; ++column) {
        auto at = [&](GateLayout layout) {
          return (expert * columns +
                  getGateColumn(layout, half, column, columns / 2)) *
                 bytes;
        };
        std::copy_n(source.begin() + at(from), bytes, target.begin() + at(to));
      }
  return DenseElementsAttr::getFromRawBuffer(type, target);
}

namespace {
/// prepack(x) from one layout to the same -> x.
struct DropPrepack : OpRewritePattern<PrepackOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(PrepackOp op,
                                PatternRewriter &rewriter) const override {
    if (op.getNumResults() == 0 || op.getFrom() != op.getTo() ||
        op.getInput().getTypes() != op.getResultTypes())
      return failure();
    rewriter.replaceOp(op, op.getInput());
    return success();
  }
};

/// prepack(prepack(x)) -> prepack(x).
struct MergePrepacks : OpRewritePattern<PrepackOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(PrepackOp op,
                                PatternRewriter &rewriter) const override {
    auto first = op.getInput().front().getDefiningOp<PrepackOp>();
    if (!first || op.getNumResults() == 0 || first.getTo() != op.getFrom() ||
        first.getResults() != op.getInput())
      return failure();
    rewriter.modifyOpInPlace(op, [&] {
      op.getInputMutable().assign(first.getInput());
      op.setFrom(first.getFrom());
    });
    return success();
  }
};

/// prepack(constant) -> constant.
struct MoveConstant : OpRewritePattern<PrepackOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(PrepackOp op,
                                PatternRewriter &rewriter) const override {
    DenseElementsAttr elements;
    if (op.getNumResults() != 1 || op.getInput().size() != 1 ||
        !matchPattern(op.getInput().front(), m_Constant(&elements)) ||
        elements.getType() != op.getResultTypes().front())
      return failure();
    Attribute moved = elements;
    if (!elements.isSplat() && elements.getNumElements() > 0)
      moved = moveColumns(elements, op.getFrom(), op.getTo());
    rewriter.replaceOpWithNewOp<arith::ConstantOp>(op, cast<TypedAttr>(moved));
    return success();
  }
};

/// prepack(pack(values, scales)) -> pack(prepack(values), prepack(scales)) of
/// constants. A scale for all columns stays as it is.
struct MovePackedConstant : OpRewritePattern<PrepackOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(PrepackOp op,
                                PatternRewriter &rewriter) const override {
    auto pack = op.getInput().front().getDefiningOp<PackOp>();
    if (!pack || op.getNumResults() != 1 || op.getInputFormat() ||
        pack.getResult().getType() != op.getResultTypes().front())
      return failure();
    SmallVector<Value> components;
    for (Value component : pack.getComponents()) {
      if (!matchPattern(component, m_Constant()))
        return failure();
      auto type = cast<RankedTensorType>(component.getType());
      bool moves =
          component == pack.getComponents().front() ||
          pack.getResult().getType().getDimSize(1) == type.getDimSize(1);
      if (moves)
        component = PrepackOp::create(rewriter, op.getLoc(), type, component,
                                      component, op.getFrom(), op.getTo(),
                                      /*input_format=*/TypeAttr(),
                                      /*outs_format=*/TypeAttr())
                        .getResult(0);
      components.push_back(component);
    }
    rewriter.replaceOpWithNewOp<PackOp>(op, op.getResultTypes().front(),
                                        components);
    return success();
  }
};
} // namespace

void PrepackOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                            MLIRContext *context) {
  patterns.add<DropPrepack, MergePrepacks, MoveConstant, MovePackedConstant>(
      context);
}
