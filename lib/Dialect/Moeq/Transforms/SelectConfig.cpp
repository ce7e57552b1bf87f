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

/// The problem of a matmul or, with three dimensions of `rhs`, a grouped one.
static MatmulProblem getProblem(const OperandInfo &lhs, const OperandInfo &rhs,
                                Type out, int64_t expectedRows) {
  MatmulProblem problem;
  bool grouped = rhs.getRank() == 3;
  problem.groups = grouped ? getOr(rhs.shape[0], kExpectedExperts) : 1;
  problem.rows = ShapedType::isDynamic(lhs.shape[0])
                     ? expectedRows
                     : llvm::divideCeil(lhs.shape[0],
                                        std::max<int64_t>(problem.groups, 1));
  problem.columns = getOr(rhs.shape[rhs.getRank() - 2], kExpectedExtent);
  problem.depth =
      getOr(rhs.shape.back(), getOr(lhs.shape.back(), kExpectedExtent));
  problem.lhsBits = lhs.getValueType().getIntOrFloatBitWidth();
  problem.rhsBits = rhs.getValueType().getIntOrFloatBitWidth();
  problem.outBits = out.getIntOrFloatBitWidth();
  // E8M0 scales on both sides: the products are of bf16.
  bool mx = lhs.scaled && rhs.scaled &&
            isa<Float8E8M0FNUType>(lhs.scaled.getScale()) &&
            isa<Float8E8M0FNUType>(rhs.scaled.getScale());
  problem.multiplyBits = problem.lhsBits <= 8 && !mx ? 8 : 16;
  // Scales of each column that change along K are in registers, too.
  int64_t rank = rhs.getRank();
  if (problem.multiplyBits == 8 && rhs.scaled &&
      rhs.scaled.getBlockOf(rank - 2, rank) == 1 &&
      !ShapedType::isDynamic(rhs.scaled.getBlockOf(rank - 1, rank)))
    problem.maxTileColumns = 128;
  return problem;
}

/// Tells why the first of `ranked` was chosen.
static void remarkChoice(Operation *op, const Chip &chip,
                         const MatmulProblem &problem,
                         ArrayRef<RankedConfig> ranked) {
  auto remark = remark::analysis(
      op->getLoc(),
      remark::RemarkOpts::name("config").category("moeq-select-config"));
  if (!remark)
    return;
  std::string text;
  llvm::raw_string_ostream os(text);
  os << problem.groups << " x " << problem.rows << " rows, N "
     << problem.columns << ", K " << problem.depth << " on " << chip.name
     << ": ";
  llvm::interleave(
      ranked, os,
      [&](const RankedConfig &candidate) {
        ArrayRef<int64_t> tile = candidate.config.getTile();
        os << '[' << tile[0] << ", " << tile[1] << "] "
           << candidate.config.getStages() << " stages "
           << llvm::formatv("{0:f1}", candidate.cost.getTotal()) << " us ("
           << candidate.cost.waves << " waves, " << candidate.cost.getBound()
           << ')';
      },
      "; ");
  remark << text;
}

namespace {
struct SelectConfig : moeq::impl::MoeqSelectConfigBase<SelectConfig> {
  using MoeqSelectConfigBase::MoeqSelectConfigBase;

  LogicalResult initialize(MLIRContext *context) override {
    if (expectedRows > 0)
      return success();
    return emitError(UnknownLoc::get(context))
           << "expects positive expected-rows, got " << expectedRows.getValue();
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
    if (op.getConfig()) {
      ++numKept;
      return success();
    }
    FailureOr<OperandInfo> lhs =
        getOperandInfo(op, op.getLhs(), op.getLhsFormatAttr(), "lhs");
    FailureOr<OperandInfo> rhs =
        getOperandInfo(op, op.getRhs(), op.getRhsFormatAttr(), "rhs");
    FailureOr<Chip> target = getTargetChip(op, chip);
    if (failed(lhs) || failed(rhs) || failed(target))
      return failure();
    Type out = cast<ShapedType>(op.getOuts().getType()).getElementType();
    MatmulProblem problem = getProblem(*lhs, *rhs, out, expectedRows);
    SmallVector<RankedConfig> ranked =
        rankConfigs(&getContext(), *target, problem);
    if (ranked.empty())
      return op.emitOpError()
             << "expects shared memory for two stages of the smallest tile, "
                "got "
             << target->sharedMemory << " bytes on " << target->name;
    remarkChoice(op, *target, problem, ranked);
    op.setConfigAttr(ranked.front().config);
    ++numSelected;
    return success();
  }
};
} // namespace
