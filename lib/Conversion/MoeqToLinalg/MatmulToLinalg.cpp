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
// the end. Between integers the partial sums are in i32. Where rows are
// contracted, k is a row of the expert.
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
/// An operand of a matmul, and its dimension that is summed over.
struct Factor {
  Operand operand;
  int64_t depthDim;

  int64_t getBlock() const { return operand.getBlockOf(depthDim); }
  /// The indices of element k, given those in the other dimensions.
  SmallVector<Value> at(ValueRange others, Value k) const {
    SmallVector<Value> indices(others);
    indices.insert(indices.begin() + depthDim, k);
    return indices;
  }
};

/// The sum of one element of a matmul.
class DotProduct {
public:
  DotProduct(const Factor &lhs, const Factor &rhs,
             std::optional<AccumulateAttr> accumulate)
      : lhs(lhs), rhs(rhs), lhsBlock(lhs.getBlock()), rhsBlock(rhs.getBlock()),
        isInteger(lhs.operand.isInteger() && rhs.operand.isInteger()),
        isMx(hasE8M0Scale(lhs.operand) && hasE8M0Scale(rhs.operand)) {
    if (isMx)
      lhsBlock = rhsBlock = ShapedType::kDynamic;
    for (int64_t block : {lhsBlock, rhsBlock})
      if (!ShapedType::isDynamic(block))
        step = std::gcd(step, block);
    if (accumulate && !isInteger)
      step = std::gcd(step, accumulate->getInterval());
  }

  /// The scaled f32 sum over k in [lower, upper), a range of whole blocks but
  /// for the last, of the elements `left` and `right` in the other dimensions.
  Value emit(Elementwise &e, Value lower, Value upper, ValueRange left,
             ValueRange right) const {
    OpBuilder &b = e.getBuilder();
    Location loc = e.getLoc();
    if (step == 0) {
      Value sum = emitPartial(e, lower, upper, left, right);
      return scale(e, sum, left, right);
    }
    Value start = arith::ConstantOp::create(b, loc, b.getF32FloatAttr(0));
    Value width = constantIndex(b, loc, step);
    ValueRange sum =
        emitLoop(b, loc, lower, upper, width, start,
                 [&](Elementwise &inner, Value k,
                     ValueRange sums) -> SmallVector<Value> {
                   OpBuilder &ib = inner.getBuilder();
                   Value end = arith::AddIOp::create(ib, loc, k, width);
                   end = arith::MinUIOp::create(ib, loc, end, upper);
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

  /// The sum over [lower, upper), as f32.
  Value emitPartial(Elementwise &e, Value lower, Value upper, ValueRange left,
                    ValueRange right) const {
    OpBuilder &b = e.getBuilder();
    Location loc = e.getLoc();
    TypedAttr zero = isInteger ? TypedAttr(b.getI32IntegerAttr(0))
                               : TypedAttr(b.getF32FloatAttr(0));
    Value start = arith::ConstantOp::create(b, loc, zero);
    ValueRange sum = emitLoop(
        b, loc, lower, upper, constantIndex(b, loc, 1), start,
        [&](Elementwise &inner, Value k,
            ValueRange sums) -> SmallVector<Value> {
          SmallVector<Value> l = lhs.at(left, k), r = rhs.at(right, k);
          if (!isInteger)
            return {inner.fma(emitFactor(inner, lhs.operand, l),
                              emitFactor(inner, rhs.operand, r), sums[0])};
          OpBuilder &ib = inner.getBuilder();
          Value product =
              arith::MulIOp::create(ib, loc, lhs.operand.readI32(inner, l),
                                    rhs.operand.readI32(inner, r));
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
    auto read = [&](const Factor &factor, int64_t block,
                    ValueRange indices) -> Value {
      if (!factor.operand.getScaled() || isMx ||
          ShapedType::isDynamic(block) == ofBlocks)
        return {};
      return factor.operand.readScale(e, factor.at(indices, k));
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

  Factor lhs, rhs;
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

/// What is added to the sums: null, or the element at `indices` of C.
static Value emitAdded(Elementwise &, MatmulOp, ValueRange) { return {}; }
static Value emitAdded(Elementwise &e, GroupedMatmulOp op, ValueRange indices) {
  return op.getAddToOuts() ? loadF32(e, op.getOuts(), indices) : Value();
}

/// The element that is stored for the sums at a place, those of `columns` of
/// the product: one, or two where the epilogue gates.
template <typename OpTy>
static Value emitEpilogue(Elementwise &e, OpTy op, ArrayRef<Value> sums,
                          ArrayRef<Value> columns, const Place &place) {
  OpBuilder &b = e.getBuilder();
  Location loc = e.getLoc();
  SmallVector<Value> element(place.indices.begin(), place.indices.end());
  element.push_back(place.column);
  if (op.getEpilogue().empty()) {
    Value sum = sums[0];
    if (Value added = emitAdded(e, op, element))
      sum = e.add(added, sum);
    return emitFromF32(
        e, sum, cast<MemRefType>(op.getOuts().getType()).getElementType());
  }
  Block &block = op.getEpilogue().front();
  SmallVector<Value> arguments(sums);
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

/// Whether the sums are those of an expert's rows.
static bool contractsRows(MatmulOp) { return false; }
static bool contractsRows(GroupedMatmulOp op) { return op.contractsRows(); }

/// Whether C is [E, .., ..].
template <typename OpTy>
static bool hasExpertDim(OpTy op) {
  return cast<MemRefType>(op.getOuts().getType()).getRank() == 3;
}

/// The lhs or the rhs, with the dimension that the sums run over. Rows that are
/// contracted come first, but for scaled operands, which are transposed.
template <typename OpTy>
static FailureOr<Factor> getFactor(OpTy op, bool isRhs) {
  ValueRange values = isRhs ? op.getRhs() : op.getLhs();
  TypeAttr format = isRhs ? op.getRhsFormatAttr() : op.getLhsFormatAttr();
  FailureOr<Operand> operand =
      getOperand(op, values, format, isRhs ? "rhs" : "lhs");
  if (failed(operand))
    return failure();
  int64_t dim = cast<MemRefType>(values.front().getType()).getRank() - 1;
  if constexpr (std::is_same_v<OpTy, GroupedMatmulOp>)
    if ((op.contractsRows() && !format) || (op.getTransposeRhs() && isRhs))
      --dim;
  return Factor{*operand, dim};
}

/// A range of what the sums run over.
struct DepthRange {
  Value lower, upper;
};

/// All that the lhs has.
template <typename OpTy>
static DepthRange emitDepth(OpBuilder &b, OpTy op) {
  Location loc = op.getLoc();
  Value lhs = op.getLhs().front();
  int64_t last = cast<MemRefType>(lhs.getType()).getRank() - 1;
  bool isFirst = contractsRows(op) && !op.getLhsFormat();
  return {constantIndex(b, loc, 0),
          memref::DimOp::create(b, loc, lhs, isFirst ? 0 : last)};
}

/// The rows that the offsets give an expert, of `rows` in all. None is outside,
/// whatever the offsets say.
static DepthRange emitExpertRows(OpBuilder &b, GroupedMatmulOp op, Value expert,
                                 Value rows) {
  Location loc = op.getLoc();
  Value zero = constantIndex(b, loc, 0), one = constantIndex(b, loc, 1);
  auto limited = [&](Value at) -> Value {
    Value row = loadIndex(b, loc, op.getOffsets(), at);
    row = arith::MaxSIOp::create(b, loc, row, zero);
    return arith::MinSIOp::create(b, loc, row, rows);
  };
  Value first = limited(expert);
  Value end = limited(arith::AddIOp::create(b, loc, expert, one));
  return {first, arith::MaxSIOp::create(b, loc, end, first)};
}

/// What the sums of an expert run over.
static DepthRange emitExpertDepth(OpBuilder &b, GroupedMatmulOp op,
                                  Value expert) {
  DepthRange depth = emitDepth(b, op);
  return op.contractsRows() ? emitExpertRows(b, op, expert, depth.upper)
                            : depth;
}

/// The element at a place, of sums over `depth`.
template <typename OpTy>
static FailureOr<Value> emitElement(Elementwise &e, OpTy op, DepthRange depth,
                                    const Place &place) {
  FailureOr<Factor> lhs = getFactor(op, /*isRhs=*/false),
                    rhs = getFactor(op, /*isRhs=*/true);
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
    if (place.expert && !contractsRows(op))
      right.push_back(place.expert);
    right.push_back(of);
    auto emitSum = [&](Elementwise &inner, ValueRange left) {
      DotProduct dot(*lhs, *rhs, op.getAccumulate());
      return dot.emit(inner, depth.lower, depth.upper, left, right);
    };
    if (!source) {
      ValueRange left = place.indices;
      sums.push_back(emitSum(e, contractsRows(op) ? left.take_back() : left));
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
/// the rows of C; it and `expert` are null in a plain matmul. Where C is by
/// expert, `out` has the rows of the expert.
template <typename OpTy>
static LogicalResult emitRows(OpTy op, OpBuilder &b, DepthRange depth,
                              Value out, Value firstRow, Value expert) {
  Location loc = op.getLoc();
  FailureOr<Value> element;
  emitParallel(
      b, loc, out, [&](Elementwise &e, ValueRange indices, Value old) -> Value {
        Place place{indices[0], {}, indices[1], expert};
        if (firstRow)
          place.row =
              arith::AddIOp::create(e.getBuilder(), loc, place.row, firstRow);
        if (hasExpertDim(op))
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
  /// C where these are by expert.
  static std::pair<Value, Value> emitRowsOf(OpBuilder &b, GroupedMatmulOp op,
                                            Value expert, Value rows) {
    Location loc = op.getLoc();
    Value zero = constantIndex(b, loc, 0);
    if (op.contractsRows())
      return {zero, rows};
    if (op.isMasked()) {
      Value count = loadIndex(b, loc, op.getCounts(), expert);
      count = arith::MaxSIOp::create(b, loc, count, zero);
      return {zero, arith::MinSIOp::create(b, loc, count, rows)};
    }
    auto [first, end] = emitExpertRows(b, op, expert, rows);
    return {first, arith::SubIOp::create(b, loc, end, first)};
  }

  static LogicalResult emitGroups(GroupedMatmulOp op, OpBuilder &b) {
    Location loc = op.getLoc();
    Value out = op.getOuts();
    auto type = cast<MemRefType>(out.getType());
    int64_t rowDim = type.getRank() - 2;
    Value experts = memref::DimOp::create(
        b, loc, op.contractsRows() ? out : op.getRhs()[0], 0);
    Value rows = memref::DimOp::create(b, loc, out, rowDim);
    Value columns = memref::DimOp::create(b, loc, out, rowDim + 1);
    LogicalResult result = success();
    emitLoop(
        b, loc, experts, {},
        [&](Elementwise &e, Value expert, ValueRange) -> SmallVector<Value> {
          OpBuilder &inner = e.getBuilder();
          auto [first, count] = emitRowsOf(inner, op, expert, rows);
          SmallVector<OpFoldResult> offsets{first, inner.getIndexAttr(0)},
              sizes{count, columns};
          if (hasExpertDim(op)) {
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
          if (hasExpertDim(op))
            first = arith::MulIOp::create(inner, loc, expert, rows);
          result = emitRows(op, inner, emitExpertDepth(inner, op, expert), view,
                            first, expert);
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
  return emitElement(e, op, emitExpertDepth(e.getBuilder(), op, expert),
                     {row, llvm::to_vector<2>(indices), column, expert});
}

void moeq::detail::populateMatmulPatterns(RewritePatternSet &patterns) {
  patterns.add<LowerMatmul, LowerGroupedMatmul>(patterns.getContext());
}
