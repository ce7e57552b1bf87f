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

// The shared memory of a consumer for the operands with an element for each row
// of C, with swapped operands.
static int64_t getRowVectorBytes(const MatmulKernelSpec &spec) {
  auto getSize = [&](Type element) {
    return llvm::alignTo(spec.tileRows * getBytes(element), 16);
  };
  int64_t bytes =
      spec.lhsScale == ScalePlacement::Vector ? getSize(spec.lhsScaleType) : 0;
  for (const MatmulKernelSpec::EpilogueOperand &operand : spec.epilogueOperands)
    if (operand.map == moeq::EpilogueMap::Row)
      bytes += getSize(operand.elementType);
  return bytes;
}

SmallVector<SharedVectorType>
mlir::moeq_gpu::getStageVectors(const MatmulKernelSpec &spec) {
  MLIRContext *context = spec.lhs.getContext();
  SmallVector<SharedVectorType> vectors;
  auto add = [&](int64_t size, Type element) {
    vectors.push_back(SharedVectorType::get(context, size, element));
  };
  if (spec.isPacked) {
    int64_t scales = getStageGroups(spec) * spec.tileColumns;
    add(getPackedSlabBytes(spec) * getPackedSlabs(spec),
        IntegerType::get(context, 8));
    if (spec.rhsBlockScale != ScalePlacement::None)
      add(scales, spec.rhsScaleType);
    if (spec.rhsZeroType)
      add(scales, spec.rhsZeroType);
    return vectors;
  }
  if (areLhsScalesStaged(spec))
    add(spec.tileRows + getLhsScaleUnit(spec), spec.lhsScaleType);
  if (areRhsScalesStaged(spec))
    add(spec.tileColumns, spec.rhsScaleType);
  return vectors;
}

// The shared memory of a CTA.
static int64_t getSharedMemory(const MatmulKernelSpec &spec) {
  int64_t stageBytes = (getStageTiles(spec) * spec.tileRows +
                        (spec.isPacked ? 0 : spec.tileColumns)) *
                       TileType::kPanelBytes;
  for (SharedVectorType vector : getStageVectors(spec))
    stageBytes += RingType::getPaddedBytes(vector);
  int64_t shared = spec.stages * stageBytes + spec.consumers *
                                                  getStagingBytes(spec) *
                                                  (spec.swapAb ? 2 : 1);
  if (!spec.isSync())
    shared += spec.stages * 16;
  if (spec.swapAb)
    shared += spec.consumers * getRowVectorBytes(spec);
  if (spec.schedule != moeq::Schedule::Persistent)
    shared += kMailboxStages * 32 * (spec.getClusterSize() > 1 ? 2 : 1);
  if (spec.splitK > 1)
    shared += spec.consumers * getExchangeType(spec).getBytes();
  return shared;
}

// What the synchronous path does not have.
static std::optional<std::string>
getUnsupportedSync(const MatmulKernelSpec &spec) {
  std::string text;
  llvm::raw_string_ostream reason(text);
  if (spec.swapAb && !spec.isPacked) {
    reason << "weights that are not packed are the first operand of wgmma only";
    return text;
  }
  if (spec.schedule != moeq::Schedule::Persistent) {
    reason << "the schedule is persistent without wgmma, got "
           << moeq::stringifySchedule(spec.schedule);
    return text;
  }
  if (spec.cluster != 1) {
    reason << "a cluster shares copies by tensor maps, got one of "
           << spec.cluster;
    return text;
  }
  if (spec.contractsRows || spec.rhsIsTransposed) {
    reason << "operands whose outer dimension is K are those of wgmma only";
    return text;
  }
  // Eight threads copy a row, of the weights if they are not packed. Rows of A
  // that are not swapped are as many as all threads copy at a time, or more.
  int64_t rows = spec.consumers * kWarpgroupThreads / 8,
          extent = spec.swapAb ? spec.tileRows : spec.tileColumns;
  if (extent % rows != 0) {
    reason << "the threads of " << spec.consumers << " consumers copy " << rows
           << " rows at a time, got a tile of " << extent
           << (spec.swapAb ? " rows" : " columns");
    return text;
  }
  if (spec.isPacked && spec.promote && spec.tileRows > kSyncPromotedRows) {
    reason << "sums of packed weights are promoted in tiles of at most "
           << kSyncPromotedRows << " rows without wgmma, got " << spec.tileRows;
    return text;
  }
  return std::nullopt;
}

// Why the weights, if they are packed, cannot be dequantized in registers.
static std::optional<std::string>
getUnsupportedPacking(const MatmulKernelSpec &spec) {
  if (!spec.isPacked)
    return std::nullopt;
  std::string text;
  llvm::raw_string_ostream reason(text);
  if (!spec.swapAb)
    reason << "packed weights are the first operand, with swap_ab";
  else if (!isStatic(spec.columns) || !isStatic(spec.depth))
    reason << "packed weights have static extents";
  else if (spec.rhsIsTransposed || spec.contractsRows)
    reason << "packed weights are [E, N, K]";
  else if (spec.cluster != 1)
    reason << "packed weights are not shared in a cluster, got " << spec.cluster
           << " CTAs";
  else if (spec.rhsZeroType && !spec.rhsZeroType.isInteger(8))
    reason << "zeros of packed weights are i8, got " << spec.rhsZeroType;
  else if (spec.depth % getPackedGroup(spec) != 0)
    reason << "groups of scales divide K, got " << spec.rhsGroup << " and "
           << spec.depth;
  else if (foldsScales(spec) && !spec.lhs.isBF16())
    reason << "E8M0 scales need the range of bf16, got " << spec.lhs;
  else if (spec.promote && getStageGroups(spec) > 1 &&
           spec.tileRows > kPackedPartColumns)
    reason << "sums of " << spec.rhsGroup << " elements are promoted in tiles "
           << "of at most " << kPackedPartColumns << " rows, got "
           << spec.tileRows;
  if (text.empty())
    return std::nullopt;
  return text;
}

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
  if (spec.isPacked)
    knownTypes = (spec.lhs.isBF16() || spec.lhs.isF16()) && !spec.lhsScaleType;
  if (!knownTypes) {
    reason << "no tensor core instruction multiplies " << spec.lhs << " and "
           << spec.rhs;
    return text;
  }
  if (!spec.out.isF32() && !spec.out.isBF16() && !spec.out.isF16()) {
    reason << "results are f32, bf16 or f16, got " << spec.out;
    return text;
  }
  for (Type type : {spec.lhsScaleType, spec.rhsScaleType})
    if (type && !type.isF32() && !type.isBF16() && !type.isF16() &&
        !(spec.isPacked && spec.rhsGroup && foldsScales(spec))) {
      reason << "scales are f32, bf16 or f16, got " << type;
      return text;
    }
  auto checkPitch = [&](StringRef what, int64_t extent, Type type) {
    if (!isStatic(extent) || extent % (kPitchBytes / getBytes(type)) == 0)
      return true;
    reason << "a row of " << what << " is a multiple of " << kPitchBytes
           << " bytes, got "
           << llvm::SaturatingMultiply<uint64_t>(extent, getBytes(type));
    return false;
  };
  if ((!spec.lhsIsTransposed &&
       !checkPitch("the operands", spec.depth, spec.lhs)) ||
      (spec.rhsIsTransposed &&
       !checkPitch("the operands", spec.columns, spec.rhs)) ||
      !checkPitch("the result", spec.columns, spec.out))
    return text;
  if (spec.rhsIsTransposed && getBytes(spec.lhs) != 2) {
    reason << "the tensor cores transpose 16-bit types, got " << spec.lhs;
    return text;
  }
  // Only then are groups whole stages.
  if (spec.contractsRows && getBytes(spec.lhs) == 1 &&
      (spec.lhsBlockScale != ScalePlacement::Vector ||
       spec.rhsBlockScale != ScalePlacement::Vector)) {
    reason << "rows of 8 bits are contracted in blocks of " << kBlockDepth
           << " with a scale, got " << spec.lhs << " with others";
    return text;
  }
  if ((spec.swapAb || spec.cluster != 1) &&
      (spec.contractsRows || spec.rhsIsTransposed)) {
    reason << (spec.swapAb ? "swap_ab" : "a cluster")
           << " is for rows times weights [E, N, K], got "
           << (spec.contractsRows ? "contraction of rows"
                                  : "transposed weights");
    return text;
  }
  if (spec.depth == 0 || spec.columns == 0 || spec.groups == 0) {
    reason << "extents are not zero";
    return text;
  }
  if (std::optional<std::string> unsupported = getUnsupportedPacking(spec))
    return unsupported;
  if (std::optional<std::string> unsupported = getUnsupportedSplit(spec))
    return unsupported;
  // A consumer has both halves of each group.
  int64_t halves = 2 * moeq::kGateGroup;
  if (spec.gated &&
      (spec.swapAb ? getConsumerRows(spec) : spec.tileColumns) % halves != 0) {
    reason << "a consumer has a multiple of " << halves
           << " columns to gate, got "
           << (spec.swapAb ? getConsumerRows(spec) : spec.tileColumns);
    return text;
  }
  if (spec.isGrouped && isStatic(spec.groups) &&
      spec.groups > kWarpThreads * kWarpThreads) {
    reason << "there are at most 1024 groups, got " << spec.groups;
    return text;
  }
  int64_t mostConsumers = spec.isPacked ? 4 : 3;
  if (spec.consumers < 1 || spec.consumers > mostConsumers) {
    reason << "there are 1 to " << mostConsumers << " consumers, got "
           << spec.consumers;
    return text;
  }
  constexpr int64_t mostCtas = 4;
  if (spec.ctas < 1 || spec.ctas > mostCtas) {
    reason << "a multiprocessor has 1 to " << mostCtas << " CTAs, got "
           << spec.ctas;
    return text;
  }
  if (spec.ctas > 1 && spec.getClusterSize() > 1) {
    reason << "the CTAs of a cluster are alone on their multiprocessors, got "
           << spec.ctas << " on each";
    return text;
  }
  if (spec.isSync())
    if (std::optional<std::string> unsupported = getUnsupportedSync(spec))
      return unsupported;
  if (spec.swapAb) {
    if (spec.isPacked && spec.promote &&
        getConsumerRows(spec) != kInstructionRows) {
      reason << "sums of packed weights are promoted where a consumer has 64 "
                "columns of a tile, got "
             << getConsumerRows(spec);
      return text;
    }
    if (spec.tileRows % spec.getRowStep() != 0 || spec.tileRows > 256) {
      reason << "a tile with swap_ab has a multiple of " << spec.getRowStep()
             << " rows up to 256, got " << spec.tileRows;
      return text;
    }
    int64_t most = 2 * kInstructionRows, columns = getConsumerRows(spec);
    if (spec.tileColumns % (kInstructionRows * getTileConsumers(spec)) != 0 ||
        columns > most || spec.tileColumns > 256) {
      reason << "each consumer has 64 or 128 of up to 256 columns of a tile "
                "with swap_ab, got "
             << spec.tileColumns << " columns for " << getTileConsumers(spec);
      return text;
    }
  } else {
    if (spec.tileRows != getTileConsumers(spec) * kInstructionRows) {
      reason << "each consumer has 64 rows of the tile, got "
             << getTileConsumers(spec) << " and " << spec.tileRows << " rows";
      return text;
    }
    if (spec.tileColumns < 64 || spec.tileColumns > 256 ||
        spec.tileColumns % 64 != 0) {
      reason << "a tile has 64, 128, 192 or 256 columns, got "
             << spec.tileColumns;
      return text;
    }
  }
  int64_t most = 256, staged = spec.tileRows + getLhsScaleUnit(spec);
  if (staged > most) {
    reason << "a stage has at most " << most << " scales of rows, got "
           << staged;
    return text;
  }
  // The accumulator, and what the epilogue needs beside it, or the sums that
  // are promoted and their scales.
  int64_t wide = getWidths(spec).back(), rest = spec.swapAb ? 48 : 64,
          registers = getConsumerRows(spec) * wide / kWarpgroupThreads + rest;
  if (spec.isPacked)
    registers =
        16 + getPackedStepRegisters(spec) + getPackedSumRegisters(spec, wide) +
        (spec.promote && getStageGroups(spec) > 1 ? kShortSumRegisters : 0);
  else if (spec.promote)
    registers = getPromotion(spec, wide).getRegisters(spec, wide);
  if (registers > getConsumerRegisters(spec)) {
    reason << "a consumer has " << getConsumerRegisters(spec)
           << " registers a thread, needs " << registers;
    return text;
  }
  if (spec.schedule == moeq::Schedule::Simple) {
    reason << "the schedule is persistent, dynamic or ping_pong, got "
           << moeq::stringifySchedule(spec.schedule);
    return text;
  }
  if (spec.schedule == moeq::Schedule::PingPong && spec.consumers < 2) {
    reason << "at least 2 consumers take turns, got " << spec.consumers;
    return text;
  }
  if (spec.cluster != 1 && spec.cluster != 2) {
    reason << "a cluster has 1 or 2 CTAs, got " << spec.cluster;
    return text;
  }
  if (spec.stages < 2 || spec.stages > RingType::kMaxStages) {
    reason << "there are 2 to " << RingType::kMaxStages << " stages, got "
           << spec.stages;
    return text;
  }
  if (int64_t shared = getSharedMemory(spec); shared > spec.sharedMemory) {
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
  view.gated = op.getGated();
  view.epilogue = op.getEpilogue().empty() ? nullptr : &op.getEpilogue();
}

MatmulView::MatmulView(Operation *op) {
  if (auto matmul = dyn_cast<moeq::MatmulOp>(op))
    initView(*this, matmul);
  if (auto grouped = dyn_cast<moeq::GroupedMatmulOp>(op)) {
    initView(*this, grouped);
    offsets = grouped.getOffsets();
    counts = grouped.getCounts();
    rows = grouped.getRows();
    plan = grouped.getPlan();
    contractsRows = grouped.contractsRows();
    transposeRhs = grouped.getTransposeRhs();
    addToOuts = grouped.getAddToOuts();
    areTransposed = contractsRows && lhsFormat;
  }
}

namespace {
/// The scales of an operand [.., rows, K].
struct OperandScales {
  ScalePlacement ofAll = ScalePlacement::None, ofBlocks = ScalePlacement::None;
  Type type;
  bool isMnMajor = false;
};
} // namespace

// The scales of packed weights.
static OperandScales getPackedScales(const moeq::OperandInfo &info) {
  OperandScales scales;
  scales.type = info.scaled.getScale();
  int64_t rank = info.getRank();
  bool isVector = info.scaled.getBlockOf(rank - 2, rank) == 1;
  ScalePlacement placement =
      isVector ? ScalePlacement::Vector : ScalePlacement::Tensor;
  if (ShapedType::isDynamic(info.scaled.getBlockOf(rank - 1, rank)))
    scales.ofAll = placement;
  else
    scales.ofBlocks = placement;
  return scales;
}

// The scales of an operand, if the kernel can index them.
static FailureOr<OperandScales> getScales(const moeq::OperandInfo &info) {
  OperandScales scales;
  if (!info.scaled)
    return scales;
  int64_t rank = info.getRank();
  scales.type = info.scaled.getScale();
  scales.isMnMajor = info.scaled.getLayout() == moeq::ScaleLayout::MnMajor;
  if (info.scaled.getZero() ||
      (!scales.isMnMajor &&
       info.scaled.getLayout() != moeq::ScaleLayout::RowMajor) ||
      (rank == 3 && info.scaled.getBlockOf(0, rank) != 1))
    return failure();
  auto spans = [&](int64_t dim) {
    int64_t block = info.scaled.getBlockOf(dim, rank), extent = info.shape[dim];
    return ShapedType::isDynamic(block) ||
           (!ShapedType::isDynamic(extent) && block >= extent);
  };
  ScalePlacement placement;
  if (info.scaled.getBlockOf(rank - 2, rank) == 1)
    placement = ScalePlacement::Vector;
  else if (spans(rank - 2))
    placement = ScalePlacement::Tensor;
  else if (info.scaled.getBlockOf(rank - 2, rank) == kBlockDepth)
    placement = ScalePlacement::Block;
  else
    return failure();
  bool isPlain = placement != ScalePlacement::Block && !scales.isMnMajor;
  if (spans(rank - 1) && isPlain)
    scales.ofAll = placement;
  else if (info.scaled.getBlockOf(rank - 1, rank) == kBlockDepth)
    scales.ofBlocks = placement;
  else
    return failure();
  if (scales.isMnMajor && placement != ScalePlacement::Vector)
    return failure();
  return scales;
}

FailureOr<MatmulKernelSpec>
mlir::moeq_gpu::getMatmulKernelSpec(Operation *op, const moeq::Chip &chip,
                                    std::string &reason) {
  return getMatmulKernelSpec(op, MatmulView(op), chip, reason);
}

FailureOr<MatmulKernelSpec>
mlir::moeq_gpu::getMatmulKernelSpec(Operation *op, const MatmulView &view,
                                    const moeq::Chip &chip,
                                    std::string &reason) {
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
  for (Value operand : {view.lhs.front(), view.rhs.front(), view.out})
    if (auto type = cast<MemRefType>(operand.getType());
        !isAlignedTo(type, kPitchBytes)) {
      llvm::raw_string_ostream(reason) << "operands start at multiples of "
                                       << kPitchBytes << " bytes, got " << type;
      return failure();
    }
  MatmulKernelSpec spec;
  spec.path = chip.hasWgmma ? OperandPath::Async : OperandPath::Sync;
  spec.sharedMemory = chip.sharedMemory;
  spec.lhs = lhs->getValueType();
  spec.rhs = rhs->getValueType();
  spec.out = cast<MemRefType>(view.out.getType()).getElementType();
  // The dimensions of B that are K and N.
  int64_t depthDim = rhs->getRank() - 1, columnDim = depthDim - 1;
  bool areRowsInMemory = view.contractsRows && !view.areTransposed;
  if (areRowsInMemory || view.transposeRhs)
    std::swap(depthDim, columnDim);
  spec.contractsRows = view.contractsRows;
  spec.lhsIsTransposed = areRowsInMemory;
  spec.rhsIsTransposed = areRowsInMemory || view.transposeRhs;
  spec.addsToOut = view.addToOuts;
  spec.depth = rhs->shape[depthDim];
  spec.columns = rhs->shape[columnDim];
  spec.isMasked = static_cast<bool>(view.counts);
  spec.isGathered = static_cast<bool>(view.rows);
  spec.isGrouped = spec.isMasked || view.offsets;
  ValueRange byExpert = spec.contractsRows ? ValueRange(view.out) : view.rhs;
  spec.groups = spec.isGrouped
                    ? cast<MemRefType>(byExpert.front().getType()).getDimSize(0)
                    : 1;

  spec.isPacked = rhs->scaled && rhs->scaled.isReordered();
  FailureOr<OperandScales> lhsScales = getScales(*lhs),
                           rhsScales = spec.isPacked ? getPackedScales(*rhs)
                                                     : getScales(*rhs);
  for (auto [info, scales] : {std::pair{&*lhs, lhsScales}, {&*rhs, rhsScales}})
    if (failed(scales) ||
        (info == &*lhs && scales->ofBlocks == ScalePlacement::Block)) {
      llvm::raw_string_ostream(reason)
          << "its scales are of other blocks: " << info->scaled;
      return failure();
    }
  spec.lhsScale = lhsScales->ofAll;
  spec.rhsScale = rhsScales->ofAll;
  spec.lhsBlockScale = lhsScales->ofBlocks;
  spec.rhsBlockScale = rhsScales->ofBlocks;
  spec.lhsScaleType = lhsScales->type;
  spec.rhsScaleType = rhsScales->type;
  spec.lhsScaleIsMnMajor = lhsScales->isMnMajor;
  spec.rhsScaleIsMnMajor = rhsScales->isMnMajor;
  // Sums of 16-bit products are in f32 anyway.
  bool isEightBit = spec.lhs.getIntOrFloatBitWidth() == 8;
  int64_t interval = view.accumulate && isEightBit && !spec.lhs.isInteger()
                         ? view.accumulate.getInterval()
                         : 0;
  spec.promote = interval || spec.lhsBlockScale != ScalePlacement::None ||
                 spec.rhsBlockScale != ScalePlacement::None;
  if (interval % kBlockDepth != 0) {
    llvm::raw_string_ostream(reason)
        << "sums of 128 elements are promoted, got " << interval;
    return failure();
  }
  if (spec.isPacked) {
    if (rhsScales->ofBlocks != ScalePlacement::None)
      spec.rhsGroup = rhs->scaled.getBlock().back();
    spec.rhsZeroType = rhs->scaled.getZero();
    spec.promote = spec.rhsGroup && !foldsScales(spec);
    spec.swapAb = true;
    spec.tileColumns = 128;
    if (spec.isSync() && spec.promote)
      spec.tileRows = kSyncPromotedRows;
  }
  // The scales of the columns leave registers for a narrow tile only.
  if (spec.rhsBlockScale == ScalePlacement::Vector && !spec.isPacked) {
    spec.tileColumns = 128;
    spec.stages = 5;
  }
  if (spec.isSync()) {
    spec.tileColumns = 128;
    while (spec.stages > 2 && getSharedMemory(spec) > spec.sharedMemory)
      --spec.stages;
  }
  // M, the pitch of A, which the spec does not have.
  if (int64_t pitch = lhs->shape.back();
      spec.lhsIsTransposed && isStatic(pitch) &&
      pitch % (kPitchBytes / getBytes(spec.lhs)) != 0) {
    llvm::raw_string_ostream(reason)
        << "a row of the operands is a multiple of " << kPitchBytes
        << " bytes, got " << pitch * getBytes(spec.lhs);
    return failure();
  }
  for (auto [map, operand] : llvm::zip_equal(view.maps, view.operands))
    spec.epilogueOperands.push_back(
        {static_cast<moeq::EpilogueMap>(map),
         cast<MemRefType>(operand.getType()).getElementType()});
  spec.epilogue = view.epilogue;
  spec.gated = view.gated;
  if (moeq::ConfigAttr config = view.config) {
    spec.tileRows = config.getTile()[0];
    spec.tileColumns = config.getTile()[1];
    spec.swapAb = config.getSwapAb();
    spec.isPlanned = spec.swapAb && view.plan;
    spec.stages = config.getStages();
    spec.consumers = config.getConsumers();
    spec.raster = config.getRaster();
    spec.cluster = config.getCluster();
    spec.ctas = config.getCtas();
    spec.sharedMemory = chip.getSharedMemory(spec.ctas);
    spec.splitK = config.getSplitK();
    spec.schedule = config.getSchedule();
  }
  if (std::optional<std::string> unsupported = getUnsupportedReason(spec)) {
    reason = *unsupported;
    return failure();
  }
  return spec;
}
