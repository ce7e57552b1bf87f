//===- MatmulKernelSpec.cpp - What the kernel of a matmul can do -*- C++
//-*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MatmulKernelDetail.h"

using namespace mlir;
using namespace mlir::moeq_gpu;

std::optional<std::string>
mlir::moeq_gpu::getUnsupportedReason(const MatmulKernelSpec &spec) {
  std::string text;
  llvm::raw_string_ostream reason(text);
  auto isFloat8 = [](Type type) {
    return isa<Float8E4M3FNType, Float8E5M2Type>(type);
  };
  bool knownTypes =
      (isFloat8(spec.lhs) && isFloat8(spec.rhs)) ||
      (spec.lhs == spec.rhs &&
       (spec.lhs.isBF16() || spec.lhs.isF16() || spec.lhs.isInteger(8)));
  if (!knownTypes) {
    reason << "no tensor core instruction multiplies " << spec.lhs << " and "
           << spec.rhs;
    return text;
  }
  if (!spec.out.isF32() && !spec.out.isBF16() && !spec.out.isF16()) {
    reason << "results are f32, bf16 or f16, got " << spec.out;
    return text;
  }
  for (auto [placement, type] : {std::pair{spec.lhsScale, spec.lhsScaleType},
                                 std::pair{spec.rhsScale, spec.rhsScaleType}})
    if (placement != ScalePlacement::None &&
        !(type && (type.isF32() || type.isBF16() || type.isF16()))) {
      reason << "scales are f32, bf16 or f16, got " << type;
      return text;
    }
  auto checkPitch = [&](StringRef what, int64_t extent, Type type) {
    if (!isStatic(extent) || extent * getBytes(type) % kPitchBytes == 0)
      return true;
    reason << "a row of " << what << " is a multiple of " << kPitchBytes
           << " bytes, got " << extent * getBytes(type);
    return false;
  };
  if (!checkPitch("the operands", spec.depth, spec.lhs) ||
      !checkPitch("the result", spec.columns, spec.out))
    return text;
  if (spec.depth == 0 || spec.columns == 0 || spec.groups == 0) {
    reason << "extents are not zero";
    return text;
  }
  if (spec.isGrouped && isStatic(spec.groups) &&
      spec.groups > kWarpThreads * kWarpThreads) {
    reason << "there are at most 1024 groups, got " << spec.groups;
    return text;
  }
  if (spec.consumers < 1 || spec.consumers > 3 ||
      spec.tileRows != spec.consumers * kConsumerRows) {
    reason << "each of 1 to 3 consumers has 64 rows of the tile, got "
           << spec.consumers << " and " << spec.tileRows << " rows";
    return text;
  }
  if (spec.tileColumns < 64 || spec.tileColumns > 256 ||
      spec.tileColumns % 64 != 0) {
    reason << "a tile has 64, 128, 192 or 256 columns, got "
           << spec.tileColumns;
    return text;
  }
  // The accumulator, and what the epilogue needs beside it.
  int64_t registers = kConsumerRows * spec.tileColumns / kWarpgroupThreads + 64;
  if (registers > getConsumerRegisters(spec.consumers)) {
    reason << "a consumer has " << getConsumerRegisters(spec.consumers)
           << " registers a thread, needs " << registers;
    return text;
  }
  if (spec.schedule != moeq::Schedule::Persistent &&
      spec.schedule != moeq::Schedule::Dynamic) {
    reason << "the schedule is persistent or dynamic, got "
           << moeq::stringifySchedule(spec.schedule);
    return text;
  }
  if (spec.stages < 2) {
    reason << "there are at least 2 stages, got " << spec.stages;
    return text;
  }
  int64_t shared =
      spec.stages * (spec.tileRows + spec.tileColumns) * TileType::kPanelBytes +
      spec.consumers * kStagingBytes + spec.stages * 16;
  if (spec.schedule == moeq::Schedule::Dynamic)
    shared += kMailboxStages * 20;
  if (shared > spec.sharedMemory) {
    reason << "a CTA has " << spec.sharedMemory
           << " bytes of shared memory, needs " << shared;
    return text;
  }
  return std::nullopt;
}

template <typename OpTy>
static void initView(MatmulView &view, OpTy op) {
  view.lhs = op.getLhs();
  view.rhs = op.getRhs();
  view.operands = op.getEpilogueOperands();
  view.out = op.getOuts();
  view.lhsFormat = op.getLhsFormatAttr();
  view.rhsFormat = op.getRhsFormatAttr();
  view.maps = op.getEpilogueMaps();
  view.accumulate = op.getAccumulateAttr();
  view.config = op.getConfigAttr();
  view.epilogue = op.getEpilogue().empty() ? nullptr : &op.getEpilogue();
}

MatmulView::MatmulView(Operation *op) {
  if (auto matmul = dyn_cast<moeq::MatmulOp>(op))
    initView(*this, matmul);
  if (auto grouped = dyn_cast<moeq::GroupedMatmulOp>(op)) {
    initView(*this, grouped);
    offsets = grouped.getOffsets();
  }
}

// Where the scales of an operand [.., rows, K] are, if each spans all of K.
static FailureOr<ScalePlacement>
getScalePlacement(const moeq::OperandInfo &info) {
  if (!info.scaled)
    return ScalePlacement::None;
  if (info.scaled.getZero() ||
      info.scaled.getLayout() != moeq::ScaleLayout::RowMajor)
    return failure();
  int64_t rank = info.getRank();
  auto spans = [&](int64_t dim) {
    int64_t block = info.scaled.getBlockOf(dim, rank), extent = info.shape[dim];
    return ShapedType::isDynamic(block) ||
           (!ShapedType::isDynamic(extent) && block >= extent);
  };
  if (!spans(rank - 1) || (rank == 3 && info.scaled.getBlockOf(0, rank) != 1))
    return failure();
  if (info.scaled.getBlockOf(rank - 2, rank) == 1)
    return ScalePlacement::Vector;
  if (!spans(rank - 2))
    return failure();
  return ScalePlacement::Tensor;
}

FailureOr<MatmulKernelSpec>
mlir::moeq_gpu::getMatmulKernelSpec(Operation *op, int64_t sharedMemory,
                                    std::string &reason) {
  MatmulView view(op);
  if (!view.out || !isa<MemRefType>(view.out.getType())) {
    reason = "the op is no matmul on memrefs";
    return failure();
  }
  FailureOr<moeq::OperandInfo> lhs =
      moeq::getOperandInfo(op, view.lhs, view.lhsFormat, "lhs");
  FailureOr<moeq::OperandInfo> rhs =
      moeq::getOperandInfo(op, view.rhs, view.rhsFormat, "rhs");
  if (failed(lhs) || failed(rhs)) {
    reason = "the operands do not fit";
    return failure();
  }
  MatmulKernelSpec spec;
  spec.sharedMemory = sharedMemory;
  spec.lhs = lhs->getValueType();
  spec.rhs = rhs->getValueType();
  spec.out = cast<MemRefType>(view.out.getType()).getElementType();
  spec.depth = rhs->shape.back();
  spec.columns = rhs->shape[rhs->getRank() - 2];
  spec.isGrouped = static_cast<bool>(view.offsets);
  spec.groups = spec.isGrouped ? rhs->shape.front() : 1;

  for (auto [info, placement, type] :
       {std::tuple{&*lhs, &spec.lhsScale, &spec.lhsScaleType},
        std::tuple{&*rhs, &spec.rhsScale, &spec.rhsScaleType}}) {
    FailureOr<ScalePlacement> found = getScalePlacement(*info);
    if (failed(found)) {
      llvm::raw_string_ostream(reason)
          << "its scales do not span K: " << info->scaled;
      return failure();
    }
    *placement = *found;
    *type = info->scaled ? info->scaled.getScale() : Type();
  }
  if (view.accumulate && !view.accumulate.isFast() && !spec.lhs.isInteger() &&
      spec.lhs.getIntOrFloatBitWidth() == 8) {
    reason = "partial sums are to be promoted";
    return failure();
  }
  for (auto [map, operand] : llvm::zip_equal(view.maps, view.operands))
    spec.epilogueOperands.push_back(
        {static_cast<moeq::EpilogueMap>(map),
         cast<MemRefType>(operand.getType()).getElementType()});
  spec.epilogue = view.epilogue;
  if (moeq::ConfigAttr config = view.config) {
    if (config.getSwapAb() || config.getSplitK() != 1 ||
        config.getTile().size() != 2) {
      llvm::raw_string_ostream(reason)
          << "its config is of another form: " << config;
      return failure();
    }
    spec.tileRows = config.getTile()[0];
    spec.tileColumns = config.getTile()[1];
    spec.stages = config.getStages();
    spec.consumers = config.getConsumers();
    spec.raster = config.getRaster();
    spec.schedule = config.getSchedule();
  }
  if (std::optional<std::string> unsupported = getUnsupportedReason(spec)) {
    reason = *unsupported;
    return failure();
  }
  return spec;
}
