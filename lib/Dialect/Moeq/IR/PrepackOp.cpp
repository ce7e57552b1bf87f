//===- PrepackOp.cpp - prepack ----------------------------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OpsDetail.h"

#include "moeq/Dialect/Moeq/IR/WeightPacking.h"

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
  if (failed(input) || failed(outs) || failed(verifier.oneKind()))
    return failure();
  bool isPacked = false;
  OperandInfo plain = *input, plainOuts = *outs;
  for (OperandInfo *info : {&plain, &plainOuts})
    if (info->scaled && info->scaled.isReordered()) {
      info->scaled = info->scaled.withPacking(Packing::None);
      isPacked = true;
    }
  if (failed(verifyMoved(*this, plain, plainOuts)))
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
  if (getFrom().has_value() != getTo().has_value())
    return emitOpError() << "expects both or neither of 'from' and 'to'";
  if (getFrom()) {
    if (rank == 2 && isPacked)
      return emitOpError() << "expects packed 'input' of rank 3 to move gate "
                              "and up, got rank 2";
    for (GateLayout layout : {*getFrom(), *getTo()})
      if (failed(verifyGateColumns(*this, "input", input->shape[1], layout)))
        return failure();
  }
  if (!input->scaled || !getFrom())
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

/// Elements of whole bytes in another order: `getSource` gives for each where
/// it was.
static std::vector<char>
reorder(ArrayRef<char> source, int64_t bytes,
        llvm::function_ref<int64_t(int64_t)> getSource) {
  std::vector<char> target(source.size());
  for (int64_t i = 0, n = source.size() / bytes; i < n; ++i)
    std::copy_n(source.begin() + getSource(i) * bytes, bytes,
                target.begin() + i * bytes);
  return target;
}

/// The elements [E, 2F, ..] of a constant, whole bytes each, in another order.
static std::vector<char> moveColumns(ArrayRef<char> source,
                                     ArrayRef<int64_t> shape, int64_t bytes,
                                     GateLayout from, GateLayout to) {
  int64_t columns = shape[1], size = source.size() / bytes,
          inner = size / (shape[0] * columns);
  // Where each column of the result was.
  SmallVector<int64_t> sources(columns);
  for (int64_t half : {0, 1})
    for (int64_t column = 0; column < columns / 2; ++column)
      sources[getGateColumn(to, half, column, columns / 2)] =
          getGateColumn(from, half, column, columns / 2);
  return reorder(source, bytes, [&](int64_t i) {
    int64_t column = i / inner % columns;
    return i + (sources[column] - column) * inner;
  });
}

/// The elements [.., rows, columns] of a constant, whole bytes each, packed or
/// unpacked.
static std::vector<char> movePacked(ArrayRef<char> source, int64_t bytes,
                                    int64_t rows, int64_t columns,
                                    ArrayRef<PackedDigit> digits, bool packs) {
  return reorder(source, bytes, [&](int64_t i) {
    int64_t matrix = i / (rows * columns) * (rows * columns), at = i - matrix;
    if (!packs)
      return matrix + getPackedPlace(digits, at / columns, at % columns);
    auto [row, column] = getUnpackedPlace(digits, at);
    return matrix + row * columns + column;
  });
}

/// Component `component` of a constant of `from` that becomes one of `to`, or
/// of a plain one, where both are null.
static DenseElementsAttr moveComponent(DenseElementsAttr elements,
                                       unsigned component, ScaledType from,
                                       ScaledType to, PrepackOp op) {
  ShapedType type = elements.getType();
  if (elements.isSplat() || elements.getNumElements() == 0)
    return elements;
  ArrayRef<int64_t> shape = type.getShape();
  int64_t bytes = type.getElementTypeBitWidth() / 8, rows = 0, columns = 0;
  std::vector<char> data = elements.getRawData().vec();
  auto repack = [&](ScaledType format, bool packs) {
    if (!format || !format.isReordered() || (component != 0 && columns == 1))
      return;
    unsigned bits = format.getValue().getIntOrFloatBitWidth();
    data = movePacked(data, bytes, rows, columns,
                      component == 0 ? getPackedValueDigits(bits, rows, columns)
                                     : getPackedScaleDigits(rows, columns),
                      packs);
  };
  bool isNibbles = component == 0 && from && from.isPacked();
  if (isNibbles) { // A byte each.
    std::vector<char> nibbles;
    for (char byte : data)
      for (int shift : {0, 4})
        nibbles.push_back((byte >> shift) & 15);
    data = std::move(nibbles);
  }
  if (shape.size() > 1) {
    rows = shape[shape.size() - 2];
    columns = shape.back() * (isNibbles ? 2 : 1);
  }
  repack(from, /*packs=*/false);
  if (op.getFrom() && shape[1] != 1) // A scale for all columns stays as it is.
    data = moveColumns(data, shape, bytes, *op.getFrom(), *op.getTo());
  repack(to, /*packs=*/true);
  if (isNibbles) {
    std::vector<char> pairs(data.size() / 2);
    for (size_t i = 0; i < pairs.size(); ++i)
      pairs[i] = static_cast<char>(data[2 * i] | data[2 * i + 1] << 4);
    data = std::move(pairs);
  }
  return DenseElementsAttr::getFromRawBuffer(type, data);
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
    if (!first || op.getNumResults() == 0 ||
        first.getResults() != op.getInput() ||
        (first.getTo() && op.getFrom() && first.getTo() != op.getFrom()))
      return failure();
    rewriter.modifyOpInPlace(op, [&] {
      op.getInputMutable().assign(first.getInput());
      if (!op.getFrom())
        op.setTo(first.getTo());
      if (first.getFrom() || !op.getFrom())
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
    rewriter.replaceOpWithNewOp<arith::ConstantOp>(
        op, moveComponent(elements, 0, ScaledType(), ScaledType(), op));
    return success();
  }
};

/// prepack(pack(values, scales)) -> pack(values, scales) of constants.
struct MovePackedConstant : OpRewritePattern<PrepackOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(PrepackOp op,
                                PatternRewriter &rewriter) const override {
    auto pack = op.getInput().front().getDefiningOp<PackOp>();
    if (!pack || op.getNumResults() != 1 || op.getInputFormat())
      return failure();
    SmallVector<DenseElementsAttr> constants;
    for (Value component : pack.getComponents())
      if (!matchPattern(component, m_Constant(&constants.emplace_back())))
        return failure();
    ScaledType from = getScaledElementType(op.getInput().front().getType()),
               to = getScaledElementType(op.getResultTypes().front());
    SmallVector<Value> components;
    for (auto [i, constant] : llvm::enumerate(constants))
      components.push_back(arith::ConstantOp::create(
          rewriter, op.getLoc(), moveComponent(constant, i, from, to, op)));
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
