//===- MatmulOps.cpp - matmul, grouped_matmul -------------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OpsDetail.h"

using namespace mlir;
using namespace mlir::moeq;
using namespace mlir::moeq::detail;

//===----------------------------------------------------------------------===//
// Assembly of the epilogue
//===----------------------------------------------------------------------===//

ParseResult
moeq::parseEpilogue(OpAsmParser &parser, UnitAttr &gated,
                    SmallVectorImpl<OpAsmParser::UnresolvedOperand> &operands,
                    SmallVectorImpl<Type> &types, DenseI32ArrayAttr &maps,
                    Region &region) {
  maps = DenseI32ArrayAttr::get(parser.getContext(), {});
  if (failed(parser.parseOptionalKeyword("epilogue")))
    return success();
  if (succeeded(parser.parseOptionalKeyword("gated")))
    gated = parser.getBuilder().getUnitAttr();
  if (succeeded(parser.parseOptionalLParen())) {
    SmallVector<int32_t> kinds;
    auto parseMap = [&]() -> ParseResult {
      StringRef keyword;
      SMLoc loc = parser.getCurrentLocation();
      if (parser.parseKeyword(&keyword))
        return failure();
      std::optional<EpilogueMap> map = symbolizeEpilogueMap(keyword);
      if (!map)
        return parser.emitError(loc)
               << "expects row, column or row_column, got '" << keyword << "'";
      kinds.push_back(static_cast<int32_t>(*map));
      return success();
    };
    if (parser.parseOperandList(operands) || parser.parseColonTypeList(types) ||
        parser.parseRParen() || parser.parseKeyword("maps") ||
        parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseMap))
      return failure();
    maps = DenseI32ArrayAttr::get(parser.getContext(), kinds);
  }
  return parser.parseRegion(region);
}

void moeq::printEpilogue(OpAsmPrinter &printer, Operation *, UnitAttr gated,
                         OperandRange operands, TypeRange types,
                         DenseI32ArrayAttr maps, Region &region) {
  if (region.empty())
    return;
  printer << (gated ? "epilogue gated" : "epilogue");
  if (!operands.empty()) {
    printer << '(' << operands << " : " << types << ") maps [";
    llvm::interleaveComma(maps.asArrayRef(), printer, [&](int32_t map) {
      printer << stringifyEpilogueMap(static_cast<EpilogueMap>(map));
    });
    printer << ']';
  }
  printer << ' ';
  printer.printRegion(region);
}

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

namespace {
struct Operands {
  OperandInfo lhs, rhs;
};
/// The extents of a matmul: rows (of each expert, where they are masked),
/// columns of the product, and the experts of a grouped one.
struct MatmulExtents {
  SmallVector<int64_t, 2> rows;
  int64_t columns;
  std::optional<int64_t> experts;
};
} // namespace

/// The types that one operand may have beside the other: two 8-bit formats of
/// one class, two plain floats of one type, or a plain 16-bit or f32 lhs with a
/// weight-only rhs.
static LogicalResult verifyMatmulTypes(Operation *op, const OperandInfo &lhs,
                                       const OperandInfo &rhs) {
  auto isFloat8 = [](Type type) {
    return isa<Float8E4M3FNType, Float8E5M2Type>(type);
  };
  Type left = lhs.getValueType(), right = rhs.getValueType();
  bool plainFloat = left.isF32() || left.isBF16() || left.isF16();
  bool ok;
  if (!lhs.scaled && !rhs.scaled)
    ok = (plainFloat && left == right) ||
         (left.isSignlessInteger(8) && right == left);
  else if (!lhs.scaled)
    ok = plainFloat;
  else if (!rhs.scaled)
    ok = false;
  else
    ok = (isFloat8(left) && isFloat8(right)) ||
         (left.isSignlessInteger(8) &&
          (right == left || right.isSignlessInteger(4) ||
           right.isUnsignedInteger(4)));
  if (ok)
    return success();
  return op->emitOpError()
         << "expects operands of two FP8, two integer or one plain float type, "
            "or a plain lhs with a scaled rhs, got "
         << (lhs.scaled ? Type(lhs.scaled) : lhs.plain) << " and "
         << (rhs.scaled ? Type(rhs.scaled) : rhs.plain);
}

LogicalResult moeq::detail::verifyMatmulOperands(Operation *op,
                                                 const OperandInfo &lhs,
                                                 const OperandInfo &rhs) {
  if (failed(verifyMatmulTypes(op, lhs, rhs)))
    return failure();
  // Each partial sum must have one pair of scales.
  auto blockOfK = [](const OperandInfo &info) {
    return info.scaled
               ? info.scaled.getBlockOf(info.getRank() - 1, info.getRank())
               : ShapedType::kDynamic;
  };
  int64_t left = blockOfK(lhs), right = blockOfK(rhs);
  if (ShapedType::isDynamic(left) || ShapedType::isDynamic(right))
    return success();
  if (left % right != 0 && right % left != 0)
    return op->emitOpError()
           << "expects scale blocks along K that divide one another, got "
           << left << " and " << right;
  return success();
}

template <typename OpTy>
static LogicalResult verifyEpilogueOperands(OpTy op, MatmulExtents extents) {
  ArrayRef<int32_t> maps = op.getEpilogueMaps();
  if (maps.size() != op.getEpilogueOperands().size())
    return op.emitOpError()
           << "expects a map for each of " << op.getEpilogueOperands().size()
           << " epilogue operands, got " << maps.size();
  if (op.getEpilogue().empty() && (op.getGated() || !maps.empty()))
    return op.emitOpError()
           << "expects an epilogue "
           << (op.getGated() ? "that gates" : "for its operands");
  for (auto [index, map, operand] :
       llvm::enumerate(maps, op.getEpilogueOperands())) {
    auto type = cast<ShapedType>(operand.getType());
    if (!isPlainElementType(type.getElementType()))
      return op.emitOpError() << "expects epilogue operands of integers or "
                                 "floats of 8 to 64 bits, "
                                 "got "
                              << Type(type);
    std::optional<EpilogueMap> kind = symbolizeEpilogueMap(map);
    if (!kind)
      return op.emitOpError() << "expects a map of 0 to 2 for epilogue operand "
                              << index << ", got " << map;
    SmallVector<int64_t> shape;
    if (*kind == EpilogueMap::Column) {
      if (extents.experts)
        shape.push_back(*extents.experts);
      shape.push_back(extents.columns);
    } else {
      shape.assign(extents.rows.begin(), extents.rows.end());
      if (*kind == EpilogueMap::RowColumn) // of the result
        shape.push_back(ShapeVerifier::shapeOf(op.getOuts()).back());
    }
    if (failed(verifyCompatibleShape(type.getShape(), shape)))
      return op.emitOpError()
             << "expects epilogue operand " << index << " of map "
             << stringifyEpilogueMap(*kind) << " of shape "
             << stringifyShape(shape) << ", got " << Type(type);
  }
  return success();
}

/// The region takes (f32, index, index, an element of each operand) and yields
/// an element of the result. A gated one takes two accumulators, and two
/// elements of a column operand.
template <typename OpTy>
static LogicalResult verifyEpilogue(OpTy op) {
  Region &region = op.getEpilogue();
  if (region.empty())
    return success();
  Block &block = region.front();
  unsigned accumulators = op.getNumAccumulators();
  SmallVector<Type> expected(accumulators, Float32Type::get(op.getContext()));
  expected.append(2, IndexType::get(op.getContext()));
  for (auto [type, map] :
       llvm::zip(op.getEpilogueOperands().getTypes(), op.getEpilogueMaps())) {
    bool isColumn = map == static_cast<int32_t>(EpilogueMap::Column);
    expected.append(isColumn ? accumulators : 1,
                    cast<ShapedType>(type).getElementType());
  }
  if (block.getArgumentTypes() != TypeRange(expected))
    return op.emitOpError()
           << "expects epilogue arguments of types (" << TypeRange(expected)
           << "), got (" << block.getArgumentTypes() << ")";
  auto yield = block.mightHaveTerminator()
                   ? dyn_cast<YieldOp>(block.getTerminator())
                   : YieldOp();
  if (!yield)
    return op.emitOpError() << "expects an epilogue that ends with moeq.yield";
  Type element = cast<ShapedType>(op.getOuts().getType()).getElementType();
  if (yield.getValue().getType() != element)
    return op.emitOpError() << "expects the epilogue to yield " << element
                            << ", got " << yield.getValue().getType();
  // Tiles and kernels clone the region: it must not reach for data outside.
  WalkResult captures =
      region.walk([&](Operation *inner) {
        for (Value operand : inner->getOperands())
          if (!operand.getType().isIntOrIndexOrFloat() &&
              operand.getParentRegion()->isProperAncestor(&region)) {
            inner->emitError()
                << "expects an epilogue that captures only scalars, got "
                << operand.getType() << ": pass it as an epilogue operand";
            return WalkResult::interrupt();
          }
        return WalkResult::advance();
      });
  return failure(captures.wasInterrupted());
}

/// What both ops check first: the operands, of one kind and of these ranks.
template <typename OpTy>
static FailureOr<Operands> verifyOperands(OpTy op, int64_t lhsRank,
                                          int64_t rhsRank) {
  ShapeVerifier verifier{op};
  FailureOr<OperandInfo> lhs =
      getOperandInfo(op, op.getLhs(), op.getLhsFormatAttr(), "lhs");
  FailureOr<OperandInfo> rhs =
      getOperandInfo(op, op.getRhs(), op.getRhsFormatAttr(), "rhs");
  if (failed(lhs) || failed(rhs) || failed(verifier.oneKind()) ||
      failed(verifier.rank("lhs", lhs->shape, lhsRank)) ||
      failed(verifier.rank("rhs", rhs->shape, rhsRank)))
    return failure();
  return Operands{*lhs, *rhs};
}

/// What both ops check once the operands are known; `source` names what gives
/// the rows.
template <typename OpTy>
static LogicalResult verifyMatmul(OpTy op, const Operands &operands,
                                  MatmulExtents extents,
                                  StringRef source = "the rows of 'lhs'") {
  const auto &[lhs, rhs] = operands;
  ShapeVerifier verifier{op};
  int64_t k = lhs.shape.back();
  if (failed(verifyMatmulOperands(op, lhs, rhs)) ||
      failed(
          verifier.same("K of 'lhs'", k, "K of 'rhs'", rhs.getLastExtent(k))))
    return failure();
  ArrayRef<int64_t> outs = ShapeVerifier::shapeOf(op.getOuts());
  if (failed(verifier.rank("outs", outs, extents.rows.size() + 1)))
    return failure();
  int64_t columns = multiplyExtents(outs.back(), op.getNumAccumulators());
  if (failed(verifier.same(source, extents.rows.back(), "those of 'outs'",
                           outs.drop_back().back())) ||
      failed(verifier.same("N of 'rhs'", extents.columns,
                           op.getGated() ? "twice the columns of 'outs'"
                                         : "the columns of 'outs'",
                           columns)))
    return failure();
  if (op.getGated() && !ShapedType::isDynamic(columns) &&
      columns % (2 * kGateGroup) != 0)
    return op.emitOpError()
           << "expects a multiple of " << kGateGroup
           << " columns of 'outs' to gate, got " << outs.back();
  for (auto [rows, out] : llvm::zip(extents.rows, outs))
    if (ShapedType::isDynamic(rows))
      rows = out;
  if (ShapedType::isDynamic(extents.columns))
    extents.columns = columns;
  return verifyEpilogueOperands(op, extents);
}

LogicalResult MatmulOp::verify() {
  FailureOr<Operands> operands =
      verifyOperands(*this, /*lhsRank=*/2, /*rhsRank=*/2);
  if (failed(operands))
    return failure();
  return verifyMatmul(
      *this, *operands,
      {{operands->lhs.shape[0]}, operands->rhs.shape[0], std::nullopt});
}

/// The checks of rows [E, M, K], of which an expert has the first `counts`.
static LogicalResult verifyMasked(GroupedMatmulOp op,
                                  const Operands &operands) {
  const auto &[lhs, rhs] = operands;
  ShapeVerifier verifier{op};
  ArrayRef<int64_t> counts = ShapeVerifier::shapeOf(op.getCounts()),
                    outs = ShapeVerifier::shapeOf(op.getOuts());
  if (op.getRows() || op.getPlan())
    return op.emitOpError() << "expects no " << (op.getRows() ? "rows" : "plan")
                            << " beside counts";
  StringRef experts = "the number of experts of 'rhs'";
  if (failed(verifier.rank("counts", counts, 1)) ||
      failed(verifyExperts(op, rhs.shape[0])) ||
      failed(verifier.same("the number of 'counts'", counts[0], experts,
                           rhs.shape[0])) ||
      failed(verifier.same("the number of experts of 'lhs'", lhs.shape[0],
                           experts, rhs.shape[0])) ||
      failed(verifyMatmul(
          op, operands,
          {{rhs.shape[0], lhs.shape[1]}, rhs.shape[1], rhs.shape[0]})))
    return failure();
  return verifier.same("the number of experts of 'outs'", outs[0], experts,
                       rhs.shape[0]);
}

/// Checks offsets for the experts of operand `name`.
static LogicalResult verifyOffsets(GroupedMatmulOp op, int64_t experts,
                                   StringRef name) {
  ShapeVerifier verifier{op};
  ArrayRef<int64_t> offsets = ShapeVerifier::shapeOf(op.getOffsets());
  if (failed(verifier.rank("offsets", offsets, 1)))
    return failure();
  if (offsets[0] == 0)
    return op.emitOpError() << "expects at least one offset, got 0";
  if (failed(verifyExperts(op, experts)))
    return failure();
  if (ShapedType::isDynamic(offsets[0]))
    return success();
  return verifier.same("the number of 'offsets' less 1", offsets[0] - 1,
                       "the number of experts of '" + name + "'", experts);
}

/// The checks of sums over rows: A [S, N] and B [S, K], or [N, P] and [K, P].
static LogicalResult verifyRowContraction(GroupedMatmulOp op) {
  bool hasEpilogue = op.getGated() || !op.getEpilogue().empty() ||
                     !op.getEpilogueMaps().empty() ||
                     !op.getEpilogueOperands().empty();
  StringRef other = op.isMasked()          ? "counts"
                    : op.getRows()         ? "rows"
                    : op.getPlan()         ? "plan"
                    : op.getTransposeRhs() ? "transpose_rhs"
                    : hasEpilogue          ? "an epilogue"
                                           : "";
  if (!other.empty())
    return op.emitOpError()
           << "expects offsets alone to contract rows, got " << other;
  FailureOr<Operands> operands = verifyOperands(op, /*lhsRank=*/2,
                                                /*rhsRank=*/2);
  if (failed(operands))
    return failure();
  const auto &[lhs, rhs] = *operands;
  if (static_cast<bool>(lhs.scaled) != static_cast<bool>(rhs.scaled))
    return op.emitOpError()
           << "expects two plain or two scaled operands to contract rows, got "
           << (lhs.scaled ? Type(lhs.scaled) : lhs.plain) << " and "
           << (rhs.scaled ? Type(rhs.scaled) : rhs.plain);
  ShapeVerifier verifier{op};
  ArrayRef<int64_t> outs = ShapeVerifier::shapeOf(op.getOuts());
  int64_t depth = lhs.scaled ? 1 : 0, kept = 1 - depth;
  int64_t rows = lhs.shape[depth];
  if (failed(verifyMatmulOperands(op, lhs, rhs)) ||
      failed(verifier.same("the rows of 'lhs'", rows, "those of 'rhs'",
                           depth ? rhs.getLastExtent(rows) : rhs.shape[0])) ||
      failed(verifier.rank("outs", outs, 3)) ||
      failed(verifyOffsets(op, outs[0], "outs")) ||
      failed(
          verifier.same("N of 'lhs'", lhs.shape[kept], "N of 'outs'", outs[1])))
    return failure();
  return verifier.same("K of 'rhs'", rhs.shape[kept], "K of 'outs'", outs[2]);
}

LogicalResult GroupedMatmulOp::verify() {
  if (static_cast<bool>(getOffsets()) == isMasked())
    return emitOpError() << "expects either offsets or counts, got "
                         << (isMasked() ? "both" : "neither");
  if (contractsRows())
    return verifyRowContraction(*this);
  if (getAddToOuts())
    return emitOpError() << "expects add_to_outs where rows are contracted, "
                            "got contraction of columns";
  FailureOr<Operands> operands =
      verifyOperands(*this, /*lhsRank=*/isMasked() ? 3 : 2, /*rhsRank=*/3);
  if (failed(operands))
    return failure();
  if (getTransposeRhs()) {
    if (operands->rhs.scaled)
      return emitOpError() << "expects a plain 'rhs' to transpose, got "
                           << operands->rhs.scaled;
    std::swap(operands->rhs.shape[1], operands->rhs.shape[2]);
  }
  if (isMasked())
    return verifyMasked(*this, *operands);
  ArrayRef<int64_t> rhs = operands->rhs.shape;
  ShapeVerifier verifier{*this};
  ArrayRef<int64_t> offsets = ShapeVerifier::shapeOf(getOffsets());
  if (failed(verifyOffsets(*this, rhs[0], "rhs")))
    return failure();
  if (Value plan = getPlan())
    if (failed(verifyPlan(*this, ShapeVerifier::shapeOf(plan), offsets[0])))
      return failure();
  Value index = getRows();
  if (!index)
    return verifyMatmul(*this, *operands,
                        {{operands->lhs.shape[0]}, rhs[1], rhs[0]});
  ArrayRef<int64_t> rows = ShapeVerifier::shapeOf(index);
  if (failed(verifier.rank("rows", rows, 1)))
    return failure();
  return verifyMatmul(*this, *operands, {{rows[0]}, rhs[1], rhs[0]},
                      "the number of 'rows'");
}

LogicalResult MatmulOp::verifyRegions() { return verifyEpilogue(*this); }

LogicalResult GroupedMatmulOp::verifyRegions() { return verifyEpilogue(*this); }
