//===- ExpandSmallFloats.cpp - Lowering of small floats ---------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "moeq/Conversion/Passes.h"
#include "moeq/Support/NumericsCasts.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

namespace mlir::moeq {
#define GEN_PASS_DEF_MOEQEXPANDSMALLFLOATS
#include "moeq/Conversion/Passes.h.inc"
} // namespace mlir::moeq

using namespace mlir;
using namespace mlir::moeq;

static bool isSmall(Value value) {
  return isSmallFloat(getElementTypeOrSelf(value.getType()));
}

/// The f32 of a value of a small float type.
static Value decode(Elementwise &e, Value value) {
  OpBuilder &b = e.getBuilder();
  auto format = cast<FloatType>(getElementTypeOrSelf(value.getType()));
  Type bits = Elementwise::shapedLike(value.getType(),
                                      b.getIntegerType(format.getWidth()));
  return emitDecode(
      e, e.extendU8(arith::BitcastOp::create(b, e.getLoc(), bits, value)),
      format);
}

/// An f32 in `type`, whose elements are of a small float type.
static Value encode(Elementwise &e, Value value, Type type) {
  OpBuilder &b = e.getBuilder();
  auto format = cast<FloatType>(getElementTypeOrSelf(type));
  Type bits =
      Elementwise::shapedLike(type, b.getIntegerType(format.getWidth()));
  Value code = arith::TruncIOp::create(b, e.getLoc(), bits,
                                       emitEncode(e, value, format));
  return arith::BitcastOp::create(b, e.getLoc(), type, code);
}

static bool isNearestEven(arith::TruncFOp op) {
  return op.getRoundingmode().value_or(arith::RoundingMode::to_nearest_even) ==
         arith::RoundingMode::to_nearest_even;
}

namespace {
struct ExpandExtF : OpRewritePattern<arith::ExtFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::ExtFOp op,
                                PatternRewriter &rewriter) const override {
    if (!isSmall(op.getIn()) || isSmall(op.getOut()))
      return failure();
    Elementwise e(rewriter, op.getLoc());
    Value result = decode(e, op.getIn());
    Type element = getElementTypeOrSelf(op.getType());
    if (element.getIntOrFloatBitWidth() < 32)
      result =
          arith::TruncFOp::create(rewriter, op.getLoc(), op.getType(), result);
    else if (!element.isF32())
      result =
          arith::ExtFOp::create(rewriter, op.getLoc(), op.getType(), result);
    rewriter.replaceOp(op, result);
    return success();
  }
};

struct ExpandTruncF : OpRewritePattern<arith::TruncFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::TruncFOp op,
                                PatternRewriter &rewriter) const override {
    // A wider source would round twice.
    unsigned width =
        getElementTypeOrSelf(op.getIn().getType()).getIntOrFloatBitWidth();
    if (!isSmall(op.getOut()) || width > 32 || !isNearestEven(op))
      return failure();
    Elementwise e(rewriter, op.getLoc());
    Value source =
        isSmall(op.getIn()) ? decode(e, op.getIn()) : emitToF32(e, op.getIn());
    rewriter.replaceOp(op, encode(e, source, op.getType()));
    return success();
  }
};

/// A conversion from an integer that f32 holds exactly.
template <typename Op>
struct ExpandFromInteger : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    if (!isSmall(op.getOut()) ||
        getElementTypeOrSelf(op.getIn().getType()).getIntOrFloatBitWidth() > 24)
      return failure();
    Elementwise e(rewriter, op.getLoc());
    Value source =
        Op::create(rewriter, op.getLoc(), e.f32Like(op.getIn()), op.getIn());
    rewriter.replaceOp(op, encode(e, source, op.getType()));
    return success();
  }
};

template <typename Op>
struct ExpandToInteger : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    if (!isSmall(op.getIn()))
      return failure();
    Elementwise e(rewriter, op.getLoc());
    rewriter.replaceOpWithNewOp<Op>(op, op.getType(), decode(e, op.getIn()));
    return success();
  }
};

struct ExpandTruncToBF16 : OpRewritePattern<arith::TruncFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::TruncFOp op,
                                PatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getType()).isBF16() ||
        !getElementTypeOrSelf(op.getIn().getType()).isF32() ||
        !isNearestEven(op))
      return failure();
    Elementwise e(rewriter, op.getLoc());
    Type bits = Elementwise::shapedLike(op.getType(), rewriter.getI16Type());
    Value code = arith::TruncIOp::create(rewriter, op.getLoc(), bits,
                                         emitEncodeBF16(e, op.getIn()));
    rewriter.replaceOpWithNewOp<arith::BitcastOp>(op, op.getType(), code);
    return success();
  }
};

struct ExpandSmallFloatsPass
    : public moeq::impl::MoeqExpandSmallFloatsBase<ExpandSmallFloatsPass> {
  using MoeqExpandSmallFloatsBase::MoeqExpandSmallFloatsBase;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<ExpandExtF, ExpandTruncF, ExpandFromInteger<arith::SIToFPOp>,
                 ExpandFromInteger<arith::UIToFPOp>,
                 ExpandToInteger<arith::FPToSIOp>,
                 ExpandToInteger<arith::FPToUIOp>>(&getContext());
    walkAndApplyPatterns(getOperation(), std::move(patterns));
    if (expandBF16) {
      RewritePatternSet bf16(&getContext());
      bf16.add<ExpandTruncToBF16>(&getContext());
      walkAndApplyPatterns(getOperation(), std::move(bf16));
    }
    WalkResult result = getOperation()->walk([](Operation *op) {
      if (!isa<arith::ArithDialect, math::MathDialect>(op->getDialect()) ||
          isa<arith::ConstantOp, arith::SelectOp, arith::BitcastOp>(op))
        return WalkResult::advance();
      for (Value value :
           llvm::concat<Value>(op->getOperands(), op->getResults()))
        if (isSmall(value)) {
          op->emitError() << "expects no arithmetic on small floats but "
                             "conversions from at most "
                             "32 bits, rounded to nearest even, got '"
                          << op->getName() << "' on " << value.getType();
          return WalkResult::interrupt();
        }
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};
} // namespace
