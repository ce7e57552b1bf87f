//===- SelectConfig.cpp - The pass moeq-select-config -----------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "moeq/Dialect/Moeq/IR/Moeq.h"
#include "moeq/Dialect/Moeq/Transforms/Passes.h"
#include "moeq/Target/CostModel.h"
#include "moeq/Target/TargetChip.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::moeq {
#define GEN_PASS_DEF_MOEQSELECTCONFIG
#include "moeq/Dialect/Moeq/Transforms/Passes.h.inc"
} // namespace mlir::moeq

using namespace mlir;
using namespace mlir::moeq;

/// What dynamic extents are taken to be.
static constexpr int64_t kExpectedExperts = 8, kExpectedExtent = 4096;

static int64_t getOr(int64_t extent, int64_t expected) {
  return ShapedType::isDynamic(extent) ? expected : extent;
}

/// Whether each scale of an operand [.., rows, K] spans all of K.
static bool spansDepth(const OperandInfo &info) {
  int64_t rank = info.getRank();
  return !info.scaled ||
         ShapedType::isDynamic(info.scaled.getBlockOf(rank - 1, rank));
}

static bool hasExponentScales(const OperandInfo &info) {
  return info.scaled && isa<Float8E8M0FNUType>(info.scaled.getScale());
}

/// Whether the tensor cores multiply the values as they are.
static bool multipliesAsStored(Type lhs, Type rhs) {
  auto isFloat8 = [](Type type) {
    return isa<Float8E4M3FNType, Float8E5M2Type>(type);
  };
  return (isFloat8(lhs) && isFloat8(rhs)) ||
         (lhs == rhs && (lhs.isBF16() || lhs.isF16() || lhs.isInteger(8)));
}

static bool hasUsualOperands(MatmulOp) { return true; }
static bool hasUsualOperands(GroupedMatmulOp op) {
  return op.hasUsualOperands();
}

/// The extents of rows times weights: groups where `rhs` has three dimensions.
template <typename OpTy>
static void setExtents(MatmulProblem &problem, OpTy op, const OperandInfo &lhs,
                       const OperandInfo &rhs, int64_t expectedRows) {
  problem.isGrouped = rhs.getRank() == 3;
  problem.groups =
      problem.isGrouped ? getOr(rhs.shape[0], kExpectedExperts) : 1;
  ArrayRef<int64_t> outShape =
      cast<ShapedType>(op.getOuts().getType()).getShape();
  if (outShape.size() == 3) // Each group has room for as many.
    problem.rows = ShapedType::isDynamic(outShape[1])
                       ? expectedRows
                       : std::min(expectedRows, outShape[1]);
  else
    problem.rows = ShapedType::isDynamic(outShape[0])
                       ? expectedRows
                       : llvm::divideCeil(outShape[0],
                                          std::max<int64_t>(problem.groups, 1));
  int64_t depthDim = rhs.getRank() - 1, columnDim = depthDim - 1;
  if (!hasUsualOperands(op))
    std::swap(depthDim, columnDim);
  problem.columns = getOr(rhs.shape[columnDim], kExpectedExtent);
  problem.depth =
      getOr(rhs.shape[depthDim], getOr(lhs.shape.back(), kExpectedExtent));
}

/// Those of C [E, N, K] where rows are contracted.
static void setRowContraction(MatmulProblem &problem, GroupedMatmulOp op,
                              const OperandInfo &lhs, int64_t expectedRows) {
  ArrayRef<int64_t> outShape =
      cast<ShapedType>(op.getOuts().getType()).getShape();
  int64_t rows = lhs.shape[lhs.scaled ? 1 : 0];
  problem.isGrouped = true;
  problem.groups = getOr(outShape[0], kExpectedExperts);
  problem.rows = getOr(outShape[1], kExpectedExtent);
  problem.columns = getOr(outShape[2], kExpectedExtent);
  problem.depth =
      ShapedType::isDynamic(rows)
          ? expectedRows
          : llvm::divideCeil(rows, std::max<int64_t>(problem.groups, 1));
}

static bool canGatherBefore(MatmulOp, const OperandInfo &) { return false; }

/// Whether a gather may have the rows: each row of a group exists, as those
/// that `moeq.group` has sorted, since a gather makes no rows of zeros. Scales
/// have to be gathered, too.
static bool canGatherBefore(GroupedMatmulOp op, const OperandInfo &lhs) {
  auto group = op.getRows() ? op.getRows().getDefiningOp<GroupOp>() : GroupOp();
  if (!group || group->getNumResults() == 0 ||
      op.getRows() != group->getResult(0) ||
      op.getOffsets() != group->getResult(2) || op.getLhs().size() != 1)
    return false;
  return !lhs.scaled || (lhs.scaled.getBlockOf(0, 2) == 1 &&
                         lhs.scaled.getLayout() == ScaleLayout::RowMajor);
}

/// The problem of a matmul.
template <typename OpTy>
static MatmulProblem getProblem(OpTy op, const OperandInfo &lhs,
                                const OperandInfo &rhs, const Chip &chip,
                                int64_t expectedRows) {
  MatmulProblem problem;
  if (auto grouped = dyn_cast<GroupedMatmulOp>(op.getOperation());
      grouped && grouped.contractsRows())
    setRowContraction(problem, grouped, lhs, expectedRows);
  else
    setExtents(problem, op, lhs, rhs, expectedRows);
  if (auto grouped = dyn_cast<GroupedMatmulOp>(op.getOperation()))
    problem.isGathered = static_cast<bool>(grouped.getRows());
  problem.canGatherBefore = canGatherBefore(op, lhs);
  problem.lhsBits = lhs.getValueType().getIntOrFloatBitWidth();
  problem.rhsBits = rhs.getValueType().getIntOrFloatBitWidth();
  problem.outBits =
      cast<ShapedType>(op.getOuts().getType()).getElementTypeBitWidth();
  // E8M0 scales on both sides: the products are of bf16.
  bool mx = hasExponentScales(lhs) && hasExponentScales(rhs);
  problem.multiplyBits = problem.lhsBits <= 8 && !mx ? 8 : 16;
  // Scales of each column that change along K are in registers, too.
  int64_t rank = rhs.getRank();
  if (problem.multiplyBits == 8 && rhs.scaled &&
      rhs.scaled.getBlockOf(rank - 2, rank) == 1 &&
      !ShapedType::isDynamic(rhs.scaled.getBlockOf(rank - 1, rank)))
    problem.maxTileColumns = 128;

  Type lhsType = lhs.getValueType(), rhsType = rhs.getValueType();
  AccumulateAttr accumulate = op.getAccumulateAttr();
  problem.promotes =
      problem.multiplyBits == 8 &&
      (!spansDepth(lhs) || !spansDepth(rhs) ||
       (accumulate && !accumulate.isFast() && !lhsType.isInteger()));
  problem.canSwap = problem.isGrouped && hasUsualOperands(op) &&
                    multipliesAsStored(lhsType, rhsType);
  problem.canSplit = !problem.isGrouped && !problem.promotes &&
                     hasUsualOperands(op) &&
                     multipliesAsStored(lhsType, rhsType) &&
                     !ShapedType::isDynamic(rhs.shape.back());
  if (rhs.scaled && rhs.scaled.isReordered()) {
    problem.isPacked = true;
    // E8M0 scales are part of the weights.
    problem.promotes = !spansDepth(rhs) && !hasExponentScales(rhs);
    constexpr int64_t deep = 2 * kPackedChunk;
    // Without wgmma where a sum takes them (`getStageTiles` of the kernel).
    bool canBeDeep = chip.hasWgmma
                         ? !problem.isGathered || problem.canGatherBefore
                         : problem.promotes;
    problem.hasDeepStages = canBeDeep && problem.depth % deep == 0 &&
                            (!problem.promotes ||
                             rhs.scaled.getBlockOf(rank - 1, rank) % deep == 0);
  }
  problem.canCluster = problem.canSwap && !mx && !problem.isPacked;
  problem.isInteger = lhsType.isInteger();
  if (op.getGated())
    problem.columnStep = 2 * kGateGroup;
  // The scales of each row that change along K come with its tile.
  auto getStageBytes = [&](const OperandInfo &info) -> int64_t {
    int64_t rank = info.getRank();
    bool isStaged = problem.multiplyBits == 8 && !spansDepth(info) &&
                    info.scaled.getBlockOf(rank - 2, rank) == 1;
    return isStaged ? llvm::divideCeil(
                          info.scaled.getScale().getIntOrFloatBitWidth(), 8)
                    : 0;
  };
  problem.stageRowBytes = getStageBytes(lhs);
  problem.stageColumnBytes = getStageBytes(rhs);
  auto addRowBytes = [&](Type element) {
    problem.rowBytes += llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
  };
  if (lhs.scaled)
    addRowBytes(lhs.scaled.getScale());
  for (auto [map, operand] :
       llvm::zip_equal(op.getEpilogueMaps(), op.getEpilogueOperands()))
    if (static_cast<EpilogueMap>(map) == EpilogueMap::Row)
      addRowBytes(cast<ShapedType>(operand.getType()).getElementType());
  return problem;
}

static remark::detail::InFlightRemark startRemark(Operation *op) {
  return remark::analysis(
      op->getLoc(),
      remark::RemarkOpts::name("config").category("moeq-select-config"));
}

static void printProblem(raw_ostream &os, const Chip &chip,
                         const MatmulProblem &problem) {
  os << "N " << problem.columns << ", K " << problem.depth << " on "
     << chip.name << ": ";
}

static void printChoice(raw_ostream &os, const MatmulChoice &choice) {
  os << choice.config << (choice.gathersBefore ? " after a gather" : "");
}

/// Tells why the first of `ranked` was chosen.
static void remarkChoice(Operation *op, const Chip &chip,
                         const MatmulProblem &problem,
                         ArrayRef<RankedConfig> ranked) {
  auto remark = startRemark(op);
  if (!remark)
    return;
  std::string text;
  llvm::raw_string_ostream os(text);
  os << problem.groups << " x " << problem.rows << " rows, ";
  printProblem(os, chip, problem);
  llvm::interleave(
      ranked, os,
      [&](const RankedConfig &candidate) {
        printChoice(os, candidate);
        os << ' ' << llvm::formatv("{0:f1}", candidate.cost.getTotal())
           << " us (" << llvm::formatv("{0:f1}", candidate.cost.waves)
           << " waves, " << candidate.cost.getBound() << ')';
      },
      "; ");
  remark << text;
}

static void remarkVariants(Operation *op, const Chip &chip,
                           const MatmulProblem &problem,
                           ArrayRef<ConfigVariant> variants) {
  auto remark = startRemark(op);
  if (!remark)
    return;
  std::string text;
  llvm::raw_string_ostream os(text);
  os << problem.groups << " groups, ";
  printProblem(os, chip, problem);
  for (const ConfigVariant &variant : variants.drop_back()) {
    printChoice(os, variant);
    os << " up to " << variant.rows << " rows; ";
  }
  printChoice(os, variants.back());
  remark << text;
}

/// Rows and packed weights, both with E8M0 scales: the products are of bf16, to
/// which a kernel widens the weights alone. So the rows, a tensor, are widened
/// before, each once however many tiles read it.
template <typename OpTy>
static void widenRows(OpTy op, const OperandInfo &lhs, const OperandInfo &rhs) {
  if (!hasExponentScales(lhs) || !hasExponentScales(rhs) ||
      !rhs.scaled.isReordered())
    return;
  Value rows = op.getLhs().front();
  auto type = dyn_cast<RankedTensorType>(rows.getType());
  if (!type)
    return;
  OpBuilder b(op);
  Location loc = op.getLoc();
  Type element = b.getBF16Type();
  Value init = tensor::EmptyOp::create(
      b, loc, tensor::getMixedSizes(b, loc, rows), element);
  auto wide = DequantizeOp::create(b, loc, TypeRange(init.getType()),
                                   ValueRange(rows), init, TypeAttr());
  op.getLhsMutable().assign(wide->getResults());
}

static void choose(MatmulOp op, const MatmulChoice &choice) {
  op.setConfigAttr(choice.config);
}

/// Sets the config, and gathers the rows before if that is chosen.
static void choose(GroupedMatmulOp op, const MatmulChoice &choice) {
  op.setConfigAttr(choice.config);
  if (!choice.gathersBefore)
    return;
  OpBuilder b(op);
  Location loc = op.getLoc();
  Value rows = op.getLhs().front();
  SmallVector<OpFoldResult> sizes{tensor::getMixedSize(b, loc, op.getRows(), 0),
                                  tensor::getMixedSize(b, loc, rows, 1)};
  Value init = tensor::EmptyOp::create(b, loc, sizes,
                                       getElementTypeOrSelf(rows.getType()));
  auto gather =
      GatherOp::create(b, loc, TypeRange(init.getType()), ValueRange(rows),
                       op.getRows(), ValueRange(init), /*input_format=*/
                       TypeAttr(), /*outs_format=*/TypeAttr());
  op.getLhsMutable().assign(gather->getResults());
  op.getRowsMutable().clear();
}

/// The rows of a result, an index.
static Value getRows(OpBuilder &b, Location loc, Value outs) {
  return isa<MemRefType>(outs.getType())
             ? Value(memref::DimOp::create(b, loc, outs, 0))
             : Value(tensor::DimOp::create(b, loc, outs, 0));
}

/// Replaces `op` by one of its copies, a copy for each variant.
template <typename OpTy>
static void emitVariants(OpTy op, ArrayRef<ConfigVariant> variants) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  Value rows = getRows(b, loc, op.getOuts());
  auto emitCopy = [&](const ConfigVariant &variant) -> ResultRange {
    auto copy = cast<OpTy>(b.clone(*op));
    choose(copy, variant);
    return copy->getResults();
  };
  auto emit = [&](auto &&emitRest,
                  ArrayRef<ConfigVariant> rest) -> ResultRange {
    if (rest.size() == 1)
      return emitCopy(rest.front());
    Value most = arith::ConstantIndexOp::create(b, loc, rest.front().rows);
    Value isTaken =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ule, rows, most);
    auto branch = scf::IfOp::create(b, loc, op->getResultTypes(), isTaken,
                                    /*addThenBlock=*/true,
                                    /*addElseBlock=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(branch.thenBlock());
    scf::YieldOp::create(b, loc, emitCopy(rest.front()));
    b.setInsertionPointToEnd(branch.elseBlock());
    scf::YieldOp::create(b, loc, emitRest(emitRest, rest.drop_front()));
    return branch.getResults();
  };
  op->replaceAllUsesWith(emit(emit, variants));
  op->erase();
}

namespace {
struct SelectConfig : moeq::impl::MoeqSelectConfigBase<SelectConfig> {
  using MoeqSelectConfigBase::MoeqSelectConfigBase;

  LogicalResult initialize(MLIRContext *context) override {
    for (Option<int64_t> *option : {&expectedRows, &variants})
      if (*option <= 0)
        return emitError(UnknownLoc::get(context))
               << "expects positive " << option->getArgStr() << ", got "
               << option->getValue();
    return success();
  }

  void runOnOperation() override {
    WalkResult result = getOperation()->walk([&](Operation *op) {
      LogicalResult selected =
          llvm::TypeSwitch<Operation *, LogicalResult>(op)
              .Case<MatmulOp, GroupedMatmulOp>(
                  [&](auto matmul) { return select(matmul); })
              .Default(success());
      return failed(selected) ? WalkResult::interrupt() : WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }

private:
  template <typename OpTy>
  LogicalResult select(OpTy op) {
    FailureOr<OperandInfo> lhs =
        getOperandInfo(op, op.getLhs(), op.getLhsFormatAttr(), "lhs");
    FailureOr<OperandInfo> rhs =
        getOperandInfo(op, op.getRhs(), op.getRhsFormatAttr(), "rhs");
    if (failed(lhs) || failed(rhs))
      return failure();
    widenRows(op, *lhs, *rhs);
    if (op.getConfig()) {
      op->setAttr(kGivenConfigAttr, UnitAttr::get(&getContext()));
      ++numKept;
      return success();
    }
    lhs = getOperandInfo(op, op.getLhs(), op.getLhsFormatAttr(), "lhs");
    FailureOr<Chip> target = getTargetChip(op, chip);
    if (failed(lhs) || failed(rhs) || failed(target))
      return failure();
    MatmulProblem problem = getProblem(op, *lhs, *rhs, *target, expectedRows);
    SmallVector<RankedConfig> ranked =
        rankConfigs(&getContext(), *target, problem);
    if (ranked.empty())
      return op.emitOpError()
             << "expects shared memory for two stages of the smallest tile, "
                "got "
             << target->sharedMemory << " bytes on " << target->name;
    auto out = cast<ShapedType>(op.getOuts().getType());
    if (variants > 1 && out.getRank() == 2 && out.isDynamicDim(0)) {
      SmallVector<ConfigVariant> selected =
          selectVariants(&getContext(), *target, problem, variants);
      remarkVariants(op, *target, problem, selected);
      numSelected += selected.size();
      emitVariants(op, selected);
      return success();
    }
    remarkChoice(op, *target, problem, ranked);
    choose(op, ranked.front());
    ++numSelected;
    return success();
  }
};
} // namespace
