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
  return spec.lhsIsTransposed ||
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

/// The columns that the accumulator of a consumer can have.
inline SmallVector<int64_t> getWidths(const MatmulKernelSpec &spec) {
  if (!spec.swapAb)
    return {spec.tileColumns};
  SmallVector<int64_t> widths;
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

/// The warpgroups that do nothing but copy.
inline int64_t getNumProducers(const MatmulKernelSpec &spec) {
  return spec.isSync() ? 0 : 1;
}

/// Registers a thread: a producer that copies needs few, one that gathers rows
/// some more; consumers share the rest.
inline int64_t getProducerRegisters(const MatmulKernelSpec &spec) {
  if (spec.isSync())
    return 0;
  if (spec.promote && !spec.swapAb)
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
};

} // namespace mlir::moeq_gpu

#endif // MOEQ_LIB_CONVERSION_MOEQTOKERNELS_MATMULKERNELDETAIL_H
