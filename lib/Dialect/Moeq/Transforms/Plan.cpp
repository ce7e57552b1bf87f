//===- Plan.cpp - The pass moeq-plan ----------------------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "moeq/Dialect/Moeq/IR/Moeq.h"
#include "moeq/Dialect/Moeq/Transforms/Passes.h"
#include "moeq/Target/CostModel.h"
#include "moeq/Target/TargetChip.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::moeq {
#define GEN_PASS_DEF_MOEQPLAN
#include "moeq/Dialect/Moeq/Transforms/Passes.h.inc"
} // namespace mlir::moeq

using namespace mlir;
using namespace mlir::moeq;

/// The step between the widths of a tile: that of wgmma's N operand, which is
/// wider for integers (PTX ISA, "Matrix Shape").
static int64_t getWidthStep(GroupedMatmulOp op) {
  Type type = cast<ShapedType>(op.getRhs().front().getType()).getElementType();
  if (auto scaled = dyn_cast<ScaledType>(type))
    type = scaled.getValue();
  return type.isInteger() ? 16 : 8;
}

/// Whether the scales of the rows change along K.
static bool hasBlocksOfRows(GroupedMatmulOp op) {
  FailureOr<OperandInfo> rows =
      getOperandInfo(op, op.getLhs(), op.getLhsFormatAttr(), "lhs");
  if (failed(rows) || !rows->scaled)
    return false;
  int64_t rank = rows->getRank();
  return !ShapedType::isDynamic(rows->scaled.getBlockOf(rank - 1, rank));
}

/// Whether the kernel of `op` takes its rows in tiles of several widths, from
/// tensors, which have no plan yet. Its tiles have at least `minTile` elements,
/// or there are few of them. Kernels of packed weights have too few widths for
/// a plan to choose among.
static bool wantsPlan(GroupedMatmulOp op, int64_t minTile) {
  auto weights =
      dyn_cast<ScaledType>(getElementTypeOrSelf(op.getRhs().front().getType()));
  if (weights && weights.isReordered())
    return false;
  std::optional<ConfigAttr> config = op.getConfig();
  if (!config || !config->getSwapAb() || op.getPlan() || op.isMasked() ||
      op.getNumResults() == 0)
    return false;
  ArrayRef<int64_t> tile = config->getTile();
  bool isSmall = tile[0] * tile[1] < minTile;
  if (isSmall && !(hasBlocksOfRows(op) && isPlannedThoughSmall(*config)))
    return false;
  int64_t groups =
      cast<ShapedType>(op.getRhs().front().getType()).getDimSize(0);
  return ShapedType::isDynamic(groups) || groups <= PlanOp::kMaxGroups;
}

static LogicalResult insertPlan(GroupedMatmulOp op) {
  FailureOr<Chip> chip = getTargetChip(op);
  if (failed(chip))
    return failure();
  OpBuilder b(op);
  Location loc = op.getLoc();
  OpFoldResult rows = tensor::getMixedSize(b, loc, op.getOffsets(), 0);
  Value table = tensor::EmptyOp::create(
      b, loc, {rows, b.getIndexAttr(PlanOp::kFields)}, b.getI32Type());
  Value columns = getValueOrCreateConstantIndexOp(
      b, loc, tensor::getMixedSize(b, loc, op.getRhs().front(), 1));
  ArrayRef<int64_t> tile = op.getConfig()->getTile();
  // Each CTA of a cluster takes a tile.
  int64_t ctas = llvm::alignDown(chip->sms, op.getConfig()->getCluster()) *
                 op.getConfig()->getCtas();
  auto plan = PlanOp::create(b, loc, table.getType(), op.getOffsets(), columns,
                             table, tile[1], tile[0], ctas, getWidthStep(op));
  op.getPlanMutable().assign(plan.getResult(0));
  return success();
}

namespace {
struct Plan : moeq::impl::MoeqPlanBase<Plan> {
  using MoeqPlanBase::MoeqPlanBase;

  void runOnOperation() override {
    WalkResult result = getOperation()->walk([&](GroupedMatmulOp op) {
      if (!wantsPlan(op, minTile))
        return WalkResult::advance();
      ++numPlans;
      return failed(insertPlan(op)) ? WalkResult::interrupt()
                                    : WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};
} // namespace
