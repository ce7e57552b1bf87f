//===- MatmulToLinalg.cpp - matmul, grouped_matmul to loops -----*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An element of the result is a sum in ascending k, whose order is the
// specification: partial sums by fma from 0, one for each block of K with its
// own scales, `acc = fma(partial, sa * sb, acc)`; what scales span K multiply
// the end. Between integers the partial sums are in i32.
//
//===----------------------------------------------------------------------===//

#include "Detail.h"

#include "moeq/Conversion/MoeqToLinalg.h"
#include "moeq/Support/GateColumns.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"

#include <numeric>

using namespace mlir;
using namespace mlir::moeq;
using namespace mlir::moeq::detail;

namespace {
/// The sum of one element of a matmul.
class DotProduct {
public:
  DotProduct(const Operand &lhs, int64_t lhsRank, const Operand &rhs,
             int64_t rhsRank, std::optional<AccumulateAttr> accumulate)
      : lhs(lhs), rhs(rhs), lhsBlock(lhs.getBlockOf(lhsRank - 1)),
        rhsBlock(rhs.getBlockOf(rhsRank - 1)),
        isInteger(lhs.isInteger() && rhs.isInteger()),
        isMx(hasE8M0Scale(lhs) && hasE8M0Scale(rhs)) {
    if (isMx)
      lhsBlock = rhsBlock = ShapedType::kDynamic;
    for (int64_t block : {lhsBlock, rhsBlock})
      if (!ShapedType::isDynamic(block))
        step = std::gcd(step, block);
    if (accumulate && !isInteger)
      step = std::gcd(step, accumulate->getInterval());
  }

  /// The scaled f32 sum over k < `depth` of `left`, `right` and then k.
  Value emit(Elementwise &e, Value depth, ValueRange left,
             ValueRange right) const {
    OpBuilder &b = e.getBuilder();
    Location loc = e.getLoc();
    Value zero = constantIndex(b, loc, 0);
    if (step == 0) {
      Value sum = emitPartial(e, zero, depth, left, right);
      return scale(e, sum, left, right);
    }
    Value start = arith::ConstantOp::create(b, loc, b.getF32FloatAttr(0));
    Value width = constantIndex(b, loc, step);
    ValueRange sum =
        emitLoop(b, loc, zero, depth, width, start,
                 [&](Elementwise &inner, Value k,
                     ValueRange sums) -> SmallVector<Value> {
                   OpBuilder &ib = inner.getBuilder();
                   Value end = arith::AddIOp::create(ib, loc, k, width);
                   end = arith::MinUIOp::create(ib, loc, end, depth);
                   Value partial = emitPartial(inner, k, end, left, right);
                   Value factor =
                       emitScales(inner, k, left, right, /*ofBlocks=*/true);
                   return {factor ? inner.fma(partial, factor, sums[0])
                                  : inner.add(sums[0], partial)};
                 });
    return scale(e, sum[0], left, right);
  }

private:
  static bool hasE8M0Scale(const Operand &operand) {
    return operand.getScaled() &&
           isa<Float8E8M0FNUType>(operand.getScaled().getScale());
  }

  static SmallVector<Value> append(ValueRange indices, Value k) {
    SmallVector<Value> result(indices);
    result.push_back(k);
    return result;
  }

  /// The sum over [lower, upper), as f32.
  Value emitPartial(Elementwise &e, Value lower, Value upper, ValueRange left,
                    ValueRange right) const {
    OpBuilder &b = e.getBuilder();
    Location loc = e.getLoc();
    TypedAttr zero = isInteger ? TypedAttr(b.getI32IntegerAttr(0))
                               : TypedAttr(b.getF32FloatAttr(0));
    Value start = arith::ConstantOp::create(b, loc, zero);
    ValueRange sum =
        emitLoop(b, loc, lower, upper, constantIndex(b, loc, 1), start,
                 [&](Elementwise &inner, Value k,
                     ValueRange sums) -> SmallVector<Value> {
                   SmallVector<Value> l = append(left, k), r = append(right, k);
                   if (!isInteger)
                     return {inner.fma(emitFactor(inner, lhs, l),
                                       emitFactor(inner, rhs, r), sums[0])};
                   OpBuilder &ib = inner.getBuilder();
                   Value product = arith::MulIOp::create(
                       ib, loc, lhs.readI32(inner, l), rhs.readI32(inner, r));
                   return {inner.addI(sums[0], product)};
                 });
    return isInteger ? e.signedToF32(sum[0]) : sum[0];
  }

  /// A factor of the products: under MX on both sides dequantized to bf16.
  Value emitFactor(Elementwise &e, const Operand &operand,
                   ValueRange indices) const {
    Value value = operand.readF32(e, indices);
    if (!isMx)
      return value;
    value = emitDequantize(e, value, {}, operand.readScale(e, indices));
    Type bf16 = e.getBuilder().getBF16Type();
    return emitToF32(e, emitFromF32(e, value, bf16));
  }

  /// The product of the scales at k: those of blocks of K, or those that span
  /// K. Null if there is none.
  Value emitScales(Elementwise &e, Value k, ValueRange left, ValueRange right,
                   bool ofBlocks) const {
    auto read = [&](const Operand &operand, int64_t block,
                    ValueRange indices) -> Value {
      if (!operand.getScaled() || isMx ||
          ShapedType::isDynamic(block) == ofBlocks)
        return {};
      return operand.readScale(e, append(indices, k));
    };
    Value a = read(lhs, lhsBlock, left), b = read(rhs, rhsBlock, right);
    return a && b ? e.mul(a, b) : a ? a : b;
  }

  Value scale(Elementwise &e, Value sum, ValueRange left,
              ValueRange right) const {
    Value zero = constantIndex(e.getBuilder(), e.getLoc(), 0);
    Value factor = emitScales(e, zero, left, right, /*ofBlocks=*/false);
    return factor ? e.mul(sum, factor) : sum;
  }

  Operand lhs, rhs;
  int64_t lhsBlock, rhsBlock;
  bool isInteger, isMx;
  /// How many k a partial sum has; 0 is all of them.
  int64_t step = 0;
};
} // namespace

namespace {
/// The place of an element of the result: its row, counted over all experts,
/// the indices of the row in C, its column, and the expert, which is null in a
/// plain matmul.
struct Place {
  Value row;
  SmallVector<Value, 2> indices;
  Value column, expert;
};
} // namespace

/// The element that is stored for the sums at a place, those of `columns` of
/// the product: one, or two where the epilogue gates.
template <typename OpTy>
static Value emitEpilogue(Elementwise &e, OpTy op, ArrayRef<Value> sums,
                          ArrayRef<Value> columns, const Place &place) {
  OpBuilder &b = e.getBuilder();
  Location loc = e.getLoc();
  if (op.getEpilogue().empty())
    return emitFromF32(
        e, sums[0], cast<MemRefType>(op.getOuts().getType()).getElementType());
  Block &block = op.getEpilogue().front();
  SmallVector<Value> arguments(sums),
      element(place.indices.begin(), place.indices.end());
  element.push_back(place.column);
  arguments.append({place.row, place.column});
  for (auto [operand, map] :
       llvm::zip(op.getEpilogueOperands(), op.getEpilogueMaps())) {
    auto load = [&, source = operand](ArrayRef<Value> indices) {
      arguments.push_back(memref::LoadOp::create(b, loc, source, indices));
    };
    switch (static_cast<EpilogueMap>(map)) {
    case EpilogueMap::Row:
      load(place.indices);
      break;
    case EpilogueMap::RowColumn:
      load(element);
      break;
    case EpilogueMap::Column:
      for (Value of : columns)
        place.expert ? load({place.expert, of}) : load({of});
      break;
    }
  }
  IRMapping mapping;
  mapping.map(block.getArguments(), arguments);
  for (Operation &inner : block.without_terminator())
    b.clone(inner, mapping);
  return mapping.lookupOrDefault(
      cast<YieldOp>(block.getTerminator()).getValue());
}

static bool isMasked(MatmulOp) { return false; }
static bool isMasked(GroupedMatmulOp op) { return op.isMasked(); }

template <typename OpTy>
static Value emitDepth(OpBuilder &b, OpTy op) {
  Value lhs = op.getLhs().front();
  return memref::DimOp::create(b, op.getLoc(), lhs,
                               cast<MemRefType>(lhs.getType()).getRank() - 1);
}

/// The element at a place, of sums over `depth` products.
template <typename OpTy>
static FailureOr<Value> emitElement(Elementwise &e, OpTy op, Value depth,
                                    const Place &place) {
  FailureOr<Operand> lhs =
      getOperand(op, op.getLhs(), op.getLhsFormatAttr(), "lhs");
  FailureOr<Operand> rhs =
      getOperand(op, op.getRhs(), op.getRhsFormatAttr(), "rhs");
  if (failed(lhs) || failed(rhs))
    return failure();
  Location loc = op.getLoc();
  SmallVector<Value> columns{place.column}, sums;
  if (op.getGated()) {
    GateColumns gated = emitGateColumns(e.getBuilder(), loc,
                                        GateLayout::Interleaved64, place.column,
                                        /*features=*/Value());
    columns = {gated.gate, gated.up};
  }
  Value source; // The row of A, where the rows are gathered.
  if constexpr (std::is_same_v<OpTy, GroupedMatmulOp>)
    if (op.getRows())
      source = loadIndex(e.getBuilder(), loc, op.getRows(), place.row);
  for (Value of : columns) {
    SmallVector<Value> right;
    if (place.expert)
      right.push_back(place.expert);
    right.push_back(of);
    auto emitSum = [&](Elementwise &inner, ValueRange left) {
      DotProduct dot(*lhs, left.size() + 1, *rhs, right.size() + 1,
                     op.getAccumulate());
      return dot.emit(inner, depth, left, right);
    };
    if (!source) {
      sums.push_back(emitSum(e, place.indices));
      continue;
    }
    // A negative index stands for a row of zeros.
    OpBuilder &b = e.getBuilder();
    Value zero = constantIndex(b, loc, 0);
    Value exists =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge, source, zero);
    auto sum = scf::IfOp::create(
        b, loc, exists,
        [&](OpBuilder &then, Location) {
          Elementwise inner(then, loc);
          scf::YieldOp::create(then, loc, emitSum(inner, source));
        },
        [&](OpBuilder &otherwise, Location) {
          Value none =
              arith::ConstantOp::create(otherwise, loc, b.getF32FloatAttr(0));
          scf::YieldOp::create(otherwise, loc, none);
        });
    sums.push_back(sum.getResult(0));
  }
  return emitEpilogue(e, op, sums, columns, place);
}

/// The rows of `out`, which has the columns of C and of its rows those of one
/// expert, times the weight. `firstRow` is the number of its first row among
/// the rows of C; it and `expert` are null in a plain matmul. Of masked rows
/// `out` has those of the expert.
template <typename OpTy>
static LogicalResult emitRows(OpTy op, OpBuilder &b, Value depth, Value out,
                              Value firstRow, Value expert) {
  Location loc = op.getLoc();
  FailureOr<Value> element;
  emitParallel(
      b, loc, out, [&](Elementwise &e, ValueRange indices, Value old) -> Value {
        Place place{indices[0], {}, indices[1], expert};
        if (firstRow)
          place.row =
              arith::AddIOp::create(e.getBuilder(), loc, place.row, firstRow);
        if (isMasked(op))
          place.indices = {expert, indices[0]};
        else
          place.indices = {place.row};
        element = emitElement(e, op, depth, place);
        return succeeded(element) ? *element : old;
      });
  return element;
}

namespace {
struct LowerMatmul : OpRewritePattern<MatmulOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MatmulOp op,
                                PatternRewriter &rewriter) const override {
    if (failed(emitRows(op, rewriter, emitDepth(rewriter, op), op.getOuts(), {},
                        {})))
      return failure();
    rewriter.eraseOp(op);
    return success();
  }
};

struct LowerGroupedMatmul : OpRewritePattern<GroupedMatmulOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(GroupedMatmulOp op,
                                PatternRewriter &rewriter) const override {
    // Of an extent of 0 there is no slice, not even one at 0.
    ArrayRef<int64_t> shape =
        cast<MemRefType>(op.getOuts().getType()).getShape();
    if (!llvm::is_contained(shape, 0) && failed(emitGroups(op, rewriter)))
      return failure();
    rewriter.eraseOp(op);
    return success();
  }

private:
  /// The first row and the number of rows of an expert in C, or in its rows of
  /// C where they are masked. None is outside, whatever the operands say.
  static std::pair<Value, Value>
  emitExpertRows(OpBuilder &b, GroupedMatmulOp op, Value expert, Value rows) {
    Location loc = op.getLoc();
    Value zero = constantIndex(b, loc, 0), one = constantIndex(b, loc, 1);
    auto limited = [&](Value from, Value at) -> Value {
      Value row = loadIndex(b, loc, from, at);
      row = arith::MaxSIOp::create(b, loc, row, zero);
      return arith::MinSIOp::create(b, loc, row, rows);
    };
    if (op.isMasked())
      return {zero, limited(op.getCounts(), expert)};
    Value next = arith::AddIOp::create(b, loc, expert, one);
    Value first = limited(op.getOffsets(), expert),
          end = limited(op.getOffsets(), next);
    end = arith::MaxSIOp::create(b, loc, end, first);
    return {first, arith::SubIOp::create(b, loc, end, first)};
  }

  static LogicalResult emitGroups(GroupedMatmulOp op, OpBuilder &b) {
    Location loc = op.getLoc();
    Value out = op.getOuts(), depth = emitDepth(b, op);
    auto type = cast<MemRefType>(out.getType());
    int64_t rowDim = type.getRank() - 2;
    Value experts = memref::DimOp::create(b, loc, op.getRhs()[0], 0);
    Value rows = memref::DimOp::create(b, loc, out, rowDim);
    Value columns = memref::DimOp::create(b, loc, out, rowDim + 1);
    LogicalResult result = success();
    emitLoop(
        b, loc, experts, {},
        [&](Elementwise &e, Value expert, ValueRange) -> SmallVector<Value> {
          OpBuilder &inner = e.getBuilder();
          auto [first, count] = emitExpertRows(inner, op, expert, rows);
          SmallVector<OpFoldResult> offsets{first, inner.getIndexAttr(0)},
              sizes{count, columns};
          if (op.isMasked()) {
            offsets.insert(offsets.begin(), expert);
            sizes.insert(sizes.begin(), inner.getIndexAttr(1));
          }
          SmallVector<OpFoldResult> strides(offsets.size(),
                                            inner.getIndexAttr(1));
          MemRefType group = memref::SubViewOp::inferRankReducedResultType(
              {ShapedType::kDynamic, ShapedType::kDynamic}, type, offsets,
              sizes, strides);
          Value view = memref::SubViewOp::create(inner, loc, group, out,
                                                 offsets, sizes, strides);
          if (op.isMasked())
            first = arith::MulIOp::create(inner, loc, expert, rows);
          result = emitRows(op, inner, depth, view, first, expert);
          return {};
        });
    return result;
  }
};
} // namespace

FailureOr<Value> moeq::emitMatmulElement(Elementwise &e, MatmulOp op, Value row,
                                         Value column) {
  return emitElement(e, op, emitDepth(e.getBuilder(), op),
                     {row, {row}, column, Value()});
}

FailureOr<Value> moeq::emitMatmulElement(Elementwise &e, GroupedMatmulOp op,
                                         Value row, ValueRange indices,
                                         Value column, Value expert) {
  return emitElement(e, op, emitDepth(e.getBuilder(), op),
                     {row, llvm::to_vector<2>(indices), column, expert});
}

void moeq::detail::populateMatmulPatterns(RewritePatternSet &patterns) {
  patterns.add<LowerMatmul, LowerGroupedMatmul>(patterns.getContext());
}
