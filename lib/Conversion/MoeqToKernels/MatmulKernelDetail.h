//===- MatmulKernelDetail.h - Sizes of the kernel of a matmul ---*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOEQ_LIB_CONVERSION_MOEQTOKERNELS_MATMULKERNELDETAIL_H
#define MOEQ_LIB_CONVERSION_MOEQTOKERNELS_MATMULKERNELDETAIL_H

#include "moeq/Conversion/MatmulKernel.h"

#include <numeric>

namespace mlir::moeq_gpu {

/// The rows that a consumer multiplies at a time, those of a wgmma instruction.
constexpr int64_t kInstructionRows = 64;
/// The stages of the mailbox through which the producer tells consumers their
/// tiles: it may be as many tiles ahead.
constexpr int64_t kMailboxStages = 4;
/// What copies ask of the pitch of a matrix.
constexpr int64_t kPitchBytes = 16;

inline int64_t getBytes(Type type) { return type.getIntOrFloatBitWidth() / 8; }
inline bool isStatic(int64_t extent) { return !ShapedType::isDynamic(extent); }

/// The elements of K of a stage.
inline int64_t getStageDepth(const MatmulKernelSpec &spec) {
  return TileType::kPanelBytes / getBytes(spec.lhs);
}

/// Whether the last elements of K that a stage copies may be those of another
/// group. Where K is inner, the copies end with it.
inline bool hasRaggedDepth(const MatmulKernelSpec &spec) {
  return (spec.contractsRows && !spec.promote) ||
         (spec.rhsIsTransposed &&
          (!isStatic(spec.depth) || spec.depth % getStageDepth(spec) != 0));
}

/// The consumers that share a tile.
inline int64_t getTileConsumers(const MatmulKernelSpec &spec) {
  return spec.schedule == moeq::Schedule::PingPong ? 1 : spec.consumers;
}

/// The shared memory through which a consumer stores: one tile, or with
/// `swapAb` each of two in turn.
inline int64_t getStagingBytes(const MatmulKernelSpec &spec) {
  return spec.swapAb ? 4096 : spec.isSync() ? 8192 : 16384;
}

/// The rows of the accumulator of a consumer.
inline int64_t getConsumerRows(const MatmulKernelSpec &spec) {
  return spec.swapAb ? spec.tileColumns / getTileConsumers(spec)
                     : kInstructionRows;
}

/// The most columns of a sum that is promoted beside its accumulator, where
/// weights are packed.
constexpr int64_t kPackedPartColumns = 128;

/// The columns that the accumulator of a consumer can have.
inline SmallVector<int64_t> getWidths(const MatmulKernelSpec &spec) {
  if (!spec.swapAb)
    return {spec.tileColumns};
  SmallVector<int64_t> widths;
  if (spec.isPacked) {
    // ptxas finds no registers for a wgmma pipeline (C7511) where the sums of
    // all widths together have more: so there are few, each half of the next.
    constexpr int64_t most = 128;
    int64_t registers = 0;
    for (int64_t rows = spec.tileRows; rows % spec.getRowStep() == 0;
         rows /= 2) {
      registers += getConsumerRows(spec) * rows / kWarpgroupThreads;
      if (!widths.empty() && registers > most)
        break;
      widths.insert(widths.begin(), rows);
    }
    return widths;
  }
  for (int64_t rows = spec.getRowStep(); rows <= spec.tileRows;
       rows += spec.getRowStep())
    widths.push_back(rows);
  return widths;
}

/// The registers a thread that hold the operands of the map of `columns`
/// columns.
inline int64_t getOperandRegisters(const MatmulKernelSpec &spec,
                                   int64_t columns) {
  // A thread has a quarter of the columns, and two rows.
  int64_t ofColumns = spec.getNumSums() * columns / 4;
  int64_t words = spec.rhsScale == ScalePlacement::Vector ? ofColumns : 0;
  for (const MatmulKernelSpec::EpilogueOperand &operand : spec.epilogueOperands)
    if (operand.map != moeq::EpilogueMap::Row)
      words +=
          operand.map == moeq::EpilogueMap::Column ? ofColumns : columns / 2;
  return words;
}

/// The columns of the result that a consumer maps and stores at a time: as many
/// as the staging tile holds, fewer where their operands would not fit beside
/// the accumulator.
inline int64_t getChunkColumns(const MatmulKernelSpec &spec) {
  if (spec.swapAb)
    return getStagingBytes(spec) / kInstructionRows / getBytes(spec.out);
  constexpr int64_t spareRegisters = 64;
  int64_t columns =
      getStagingBytes(spec) / kInstructionRows / getBytes(spec.out);
  if (spec.gated)
    columns = std::min(columns, moeq::kGateGroup);
  int64_t least = TileType::kPanelBytes / getBytes(spec.out);
  while (columns > least &&
         (spec.tileColumns % columns != 0 ||
          getOperandRegisters(spec, columns) > spareRegisters))
    columns /= 2;
  return columns;
}

/// The columns of one matmul of an accumulator of `columns`: all of them; or,
/// where sums are promoted, as many as share one of the scales of 128 columns
/// of the weights.
inline int64_t getProductColumns(const MatmulKernelSpec &spec,
                                 int64_t columns) {
  return spec.promote && !spec.swapAb ? std::gcd(columns, kBlockDepth)
                                      : columns;
}

/// The matmuls that a consumer has in flight where sums are promoted: two,
/// where that leaves registers for the rest.
inline int64_t getProductsInFlight(const MatmulKernelSpec &spec,
                                   int64_t columns) {
  if (spec.isSync())
    return 1;
  if (spec.swapAb)
    return columns <= 96 ? 2 : 1;
  return columns + 2 * getProductColumns(spec, columns) > 384 ||
                 spec.rhsBlockScale == ScalePlacement::Vector
             ? 1
             : 2;
}

//===----------------------------------------------------------------------===//
// Packed weights
//===----------------------------------------------------------------------===//

/// The 64-row slabs of a tile, and the bytes of one in a stage.
inline int64_t getPackedSlabs(const MatmulKernelSpec &spec) {
  return spec.tileColumns / kInstructionRows;
}
inline int64_t getPackedSlabBytes(const MatmulKernelSpec &spec) {
  return moeq::kPackedChunk * moeq::kPackedChunk *
         spec.rhs.getIntOrFloatBitWidth() / 8;
}

/// The elements of K with one scale or zero.
inline int64_t getPackedGroup(const MatmulKernelSpec &spec) {
  return spec.rhsGroup ? spec.rhsGroup : spec.depth;
}
/// The groups that a stage has scales of.
inline int64_t getStageGroups(const MatmulKernelSpec &spec) {
  return std::max<int64_t>(moeq::kPackedChunk / getPackedGroup(spec), 1);
}

/// Whether scales are part of the dequantized weights.
inline bool foldsScales(const MatmulKernelSpec &spec) {
  return isa_and_nonnull<Float8E8M0FNUType>(spec.rhsScaleType);
}

/// The stages of a step: those of a group that is promoted.
inline int64_t getStepStages(const MatmulKernelSpec &spec) {
  return spec.promote ? std::max<int64_t>(spec.rhsGroup / moeq::kPackedChunk, 1)
                      : 1;
}

/// The equal parts of the columns that are multiplied one after the other.
inline int64_t getPackedParts(const MatmulKernelSpec &spec, int64_t columns) {
  return spec.promote ? llvm::divideCeil(columns, kPackedPartColumns) : 1;
}

/// The registers a thread of the sums of `columns`, and of the weights of a
/// step.
inline int64_t getPackedSumRegisters(const MatmulKernelSpec &spec,
                                     int64_t columns) {
  int64_t promoted = spec.promote ? columns / getPackedParts(spec, columns) : 0;
  return getConsumerRows(spec) * (columns + promoted) / kWarpgroupThreads;
}
inline int64_t getPackedStepRegisters(const MatmulKernelSpec &spec) {
  return getStepStages(spec) * getConsumerRows(spec) / 4;
}

/// The bytes of packed weights, scales and zeros of a stage.
inline int64_t getPackedStageBytes(const MatmulKernelSpec &spec) {
  int64_t scales = getStageGroups(spec) * spec.tileColumns;
  int64_t bytes = getPackedSlabs(spec) * getPackedSlabBytes(spec);
  if (spec.rhsBlockScale != ScalePlacement::None)
    bytes += scales * getBytes(spec.rhsScaleType);
  if (spec.rhsZeroType)
    bytes += scales * getBytes(spec.rhsZeroType);
  return llvm::alignTo(bytes, kTileAlignment);
}

/// The warpgroups that do nothing but copy.
inline int64_t getNumProducers(const MatmulKernelSpec &spec) {
  return spec.isSync() ? 0 : 1;
}

/// Registers a thread: a producer that copies needs few, one that gathers rows
/// some more; consumers share the rest.
inline int64_t getProducerRegisters(const MatmulKernelSpec &spec) {
  if (spec.isSync())
    return 0;
  bool isNarrow = spec.isPacked && spec.tileRows <= kPackedPartColumns;
  if (isNarrow) // Beside the maps it has the addresses of vectors.
    return 56;
  if (spec.isPacked || (spec.promote && !spec.swapAb))
    return spec.isGathered ? 32 : 24;
  return spec.isGathered ? 56 : 40;
}
inline int64_t getConsumerRegisters(const MatmulKernelSpec &spec) {
  int64_t threads =
      kWarpgroupThreads * (getNumProducers(spec) + spec.consumers);
  int64_t share = (getLaunchRegisters(threads) / kWarpgroupThreads -
                   getProducerRegisters(spec)) /
                  spec.consumers;
  return std::min<int64_t>(share / 8 * 8, 240);
}

/// Whether the weights of the next step are dequantized while a step is
/// multiplied, for which there must be registers. Else the other consumers have
/// the tensor core meanwhile.
inline bool prefetchesPacked(const MatmulKernelSpec &spec, int64_t columns) {
  // The rest is for addresses and for words that are not dequantized yet.
  int64_t most = getConsumerRegisters(spec) * 65 / 100;
  return getPackedSumRegisters(spec, columns) +
             2 * getPackedStepRegisters(spec) <=
         most;
}

/// What plain and grouped matmuls share.
struct MatmulView {
  explicit MatmulView(Operation *op);
  ValueRange lhs, rhs, operands;
  Value out, offsets, counts, rows, plan;
  TypeAttr lhsFormat, rhsFormat;
  ArrayRef<int32_t> maps;
  moeq::AccumulateAttr accumulate;
  moeq::ConfigAttr config;
  Region *epilogue = nullptr;
  bool gated = false, contractsRows = false, transposeRhs = false,
       addToOuts = false;
  /// Whether rows that are contracted are transposed in memory.
  bool areTransposed = false;
};

/// getMatmulKernelSpec where the operands of `op` are those of `view`.
FailureOr<MatmulKernelSpec> getMatmulKernelSpec(Operation *op,
                                                const MatmulView &view,
                                                const moeq::Chip &chip,
                                                std::string &reason);

} // namespace mlir::moeq_gpu

#endif // MOEQ_LIB_CONVERSION_MOEQTOKERNELS_MATMULKERNELDETAIL_H
