//===- QuantizeToLinalg.cpp - Quantization to loops -------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// quantize, act_quant and dequantize. Quantization goes block by block: its
// statistics, its scale, then its codes.
//
//===----------------------------------------------------------------------===//

#include "Detail.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::moeq;
using namespace mlir::moeq::detail;

namespace {
/// Loops that quantize the elements of `result`.
class Quantization {
public:
  /// The f32 element at logical indices of the result.
  using Element = llvm::function_ref<Value(Elementwise &, ValueRange)>;

  /// `extents` are those of the logical result.
  Quantization(Location loc, const Operand &result, RecipeAttr recipe,
               ArrayRef<Value> extents)
      : loc(loc), result(result), scaled(result.getScaled()),
        emitter(recipe, scaled), extents(extents) {}

  /// With `rows` (i32), rows whose entry is negative are left alone.
  void emit(OpBuilder &b, Value rows, Element element) const {
    if (scaled.getLayout() != ScaleLayout::RowMajor)
      emitPadding(b);
    SmallVector<Value> lower, upper, step;
    for (auto [dim, extent] : llvm::enumerate(extents)) {
      lower.push_back(constantIndex(b, loc, 0));
      step.push_back(constantIndex(b, loc, 1));
      int64_t block = result.getBlockOf(dim);
      if (ShapedType::isDynamic(block))
        upper.push_back(step.back());
      else
        upper.push_back(arith::CeilDivUIOp::create(
            b, loc, extent, constantIndex(b, loc, block)));
    }
    scf::buildLoopNest(
        b, loc, lower, upper, step,
        [&](OpBuilder &inner, Location, ValueRange block) {
          if (!rows)
            return emitBlock(inner, block, element);
          Value row = memref::LoadOp::create(inner, loc, rows, block[0]);
          Value isRow = arith::CmpIOp::create(
              inner, loc, arith::CmpIPredicate::sge, row,
              arith::ConstantIntOp::create(inner, loc, 0, 32));
          scf::IfOp::create(inner, loc, isRow, [&](OpBuilder &then, Location) {
            emitBlock(then, block, element);
            scf::YieldOp::create(then, loc);
          });
        });
  }

private:
  /// Zeros in laid-out scales, of which some belong to no element.
  void emitPadding(OpBuilder &b) const {
    Type type = scaled.getScale();
    Value zero = arith::ConstantOp::create(
        b, loc,
        b.getIntegerAttr(b.getIntegerType(type.getIntOrFloatBitWidth()), 0));
    zero = arith::BitcastOp::create(b, loc, type, zero);
    emitParallel(b, loc, result.getScales(),
                 [&](Elementwise &, ValueRange, Value) { return zero; });
  }

  void emitBlock(OpBuilder &b, ValueRange block, Element element) const {
    SmallVector<Value> lower, upper, step;
    for (auto [dim, extent] : llvm::enumerate(extents)) {
      int64_t size = result.getBlockOf(dim);
      step.push_back(constantIndex(b, loc, 1));
      if (ShapedType::isDynamic(size)) {
        lower.push_back(constantIndex(b, loc, 0));
        upper.push_back(extent);
        continue;
      }
      Value width = constantIndex(b, loc, size);
      lower.push_back(arith::MulIOp::create(b, loc, block[dim], width));
      Value end = arith::AddIOp::create(b, loc, lower.back(), width);
      upper.push_back(arith::MinUIOp::create(b, loc, end, extent));
    }

    Elementwise e(b, loc);
    Value scalar = arith::ConstantOp::create(b, loc, b.getF32FloatAttr(0));
    scf::LoopNest statistics = scf::buildLoopNest(
        b, loc, lower, upper, step, emitter.emitInitialStatistics(e, scalar),
        [&](OpBuilder &inner, Location, ValueRange indices,
            ValueRange values) -> scf::ValueVector {
          Elementwise ie(inner, loc);
          SmallVector<Value> next =
              emitter.emitUpdate(ie, values, element(ie, indices));
          return scf::ValueVector(next.begin(), next.end());
        });
    RecipeEmitter::BlockScale scale = emitter.emitScale(e, statistics.results);
    SmallVector<Value> at = result.getLayoutIndices(b, loc, block);
    memref::StoreOp::create(b, loc, scale.stored, result.getScales(), at);
    if (scale.zero)
      memref::StoreOp::create(b, loc, scale.zero, result.getZeros(), at);

    // A step along the last dimension writes a byte.
    if (scaled.isPacked())
      step.back() = constantIndex(b, loc, 2);
    scf::buildLoopNest(
        b, loc, lower, upper, step,
        [&](OpBuilder &inner, Location, ValueRange indices) {
          Elementwise ie(inner, loc);
          if (scaled.isPacked())
            return emitByte(ie, scale, indices, upper.back(), element);
          Value code = emitter.emitCode(ie, scale, element(ie, indices));
          memref::StoreOp::create(inner, loc, code, result.getValues(),
                                  indices);
        });
  }

  /// The element at even `indices` in the low and the next one in the high
  /// nibble, which is zero past `end`.
  void emitByte(Elementwise &e, const RecipeEmitter::BlockScale &scale,
                ValueRange indices, Value end, Element element) const {
    OpBuilder &b = e.getBuilder();
    Value low = emitter.emitCode(e, scale, element(e, indices));
    Value one = constantIndex(b, loc, 1);
    Value next = arith::AddIOp::create(b, loc, indices.back(), one);
    Value isElement =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, next, end);
    SmallVector<Value> nextIndices(indices);
    nextIndices.back() =
        arith::SelectOp::create(b, loc, isElement, next, indices.back());
    Value high = emitter.emitCode(e, scale, element(e, nextIndices));
    high = e.select(isElement, high, e.i32(high, 0));
    Value byte = e.truncateToI8(e.orI(low, e.shl(high, 4)));
    SmallVector<Value> byteIndices(indices);
    byteIndices.back() = arith::ShRUIOp::create(b, loc, indices.back(), one);
    memref::StoreOp::create(b, loc, byte, result.getValues(), byteIndices);
  }

  Location loc;
  const Operand &result;
  ScaledType scaled;
  RecipeEmitter emitter;
  ArrayRef<Value> extents;
};

struct LowerQuantize : OpRewritePattern<QuantizeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(QuantizeOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value input = op.getInput(), rows = op.getRows();
    int64_t rank = cast<MemRefType>(input.getType()).getRank();
    FailureOr<Operand> result =
        getOperand(op, op.getOuts(), op.getOutsFormatAttr(), "outs");
    if (failed(result))
      return failure();
    SmallVector<Value> extents;
    for (int64_t dim = 0; dim < rank; ++dim)
      extents.push_back(memref::DimOp::create(
          rewriter, loc, dim == 0 && rows ? rows : input, dim));
    Quantization(loc, *result, op.getRecipe(), extents)
        .emit(rewriter, rows, [&](Elementwise &e, ValueRange indices) {
          SmallVector<Value> from(indices);
          if (rows)
            from[0] = loadIndex(e.getBuilder(), loc, rows, indices[0]);
          return loadF32(e, input, from);
        });
    rewriter.eraseOp(op);
    return success();
  }
};

struct LowerActQuant : OpRewritePattern<ActQuantOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ActQuantOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    FailureOr<Operand> result =
        getOperand(op, op.getOuts(), op.getOutsFormatAttr(), "outs");
    if (failed(result))
      return failure();
    Value columns = memref::DimOp::create(rewriter, loc, op.getInput(), 1);
    if (isGated(op.getFunction()))
      columns = arith::DivUIOp::create(rewriter, loc, columns,
                                       constantIndex(rewriter, loc, 2));
    Value extents[] = {memref::DimOp::create(rewriter, loc, op.getInput(), 0),
                       columns};
    Quantization(loc, *result, op.getRecipe(), extents)
        .emit(rewriter, {}, [&](Elementwise &e, ValueRange indices) {
          Value value = emitActivationAt(e, op, indices[0], indices[1]);
          OpBuilder &b = e.getBuilder();
          switch (op.getIntermediateRound()) {
          case IntermediateRound::None:
            return value;
          case IntermediateRound::BF16:
            return emitToF32(e, emitFromF32(e, value, b.getBF16Type()));
          case IntermediateRound::F16:
            return emitToF32(e, emitFromF32(e, value, b.getF16Type()));
          }
          llvm_unreachable("unknown rounding");
        });
    rewriter.eraseOp(op);
    return success();
  }
};

struct LowerDequantize : OpRewritePattern<DequantizeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(DequantizeOp op,
                                PatternRewriter &rewriter) const override {
    FailureOr<Operand> input =
        getOperand(op, op.getInput(), op.getInputFormatAttr(), "input");
    if (failed(input))
      return failure();
    Type element = cast<MemRefType>(op.getOuts().getType()).getElementType();
    emitParallel(rewriter, op.getLoc(), op.getOuts(),
                 [&](Elementwise &e, ValueRange indices, Value) {
                   Value value = input->readF32(e, indices);
                   Value scale = input->readScale(e, indices);
                   return emitFromF32(e, emitDequantize(e, value, {}, scale),
                                      element);
                 });
    rewriter.eraseOp(op);
    return success();
  }
};
} // namespace

void moeq::detail::populateQuantizePatterns(RewritePatternSet &patterns) {
  patterns.add<LowerActQuant, LowerDequantize, LowerQuantize>(
      patterns.getContext());
}
