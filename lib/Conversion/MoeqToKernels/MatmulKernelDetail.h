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
/// What copies ask of the pitch of a matrix, and TMA of where a row of a box
/// starts that is not swizzled.
constexpr int64_t kPitchBytes = 16;

inline int64_t getBytes(Type type) { return type.getIntOrFloatBitWidth() / 8; }
inline bool isStatic(int64_t extent) { return !ShapedType::isDynamic(extent); }

/// The tiles of A, one beside the other, of a stage: two where packed weights
/// have few rows, whose stages would be too short to hide what they begin with;
/// without a ring, where a sum that is promoted takes two.
inline int64_t getStageTiles(const MatmulKernelSpec &spec) {
  constexpr int64_t fewRows = 128, depth = 2 * moeq::kPackedChunk;
  if (spec.isSync())
    return spec.isPacked && spec.promote && spec.rhsGroup % depth == 0 ? 2 : 1;
  bool isShort = spec.isPacked && !spec.isGathered &&
                 spec.tileRows <= fewRows &&
                 spec.tileColumns == spec.consumers * kInstructionRows;
  bool fits = isStatic(spec.depth) && spec.depth % (depth * spec.splitK) == 0 &&
              (!spec.promote || spec.rhsGroup % depth == 0);
  return isShort && fits ? 2 : 1;
}

/// The elements of K of a stage.
inline int64_t getStageDepth(const MatmulKernelSpec &spec) {
  return getStageTiles(spec) * TileType::kPanelBytes / getBytes(spec.lhs);
}

/// The stages of K, and those of each part of it but the last, of static K.
inline int64_t getStages(const MatmulKernelSpec &spec) {
  return llvm::divideCeil(spec.depth, getStageDepth(spec));
}
inline int64_t getPartStages(const MatmulKernelSpec &spec) {
  return llvm::divideCeil(getStages(spec), spec.splitK);
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

/// The rows of a tile of packed weights that are few, and the most columns of a
/// sum that is promoted beside its accumulator, unless CTAs share registers.
constexpr int64_t kPackedPartColumns = 128;
inline int64_t getPackedPartColumns(const MatmulKernelSpec &spec) {
  constexpr int64_t shared = 32;
  return spec.ctas > 1 ? shared : kPackedPartColumns;
}
/// That, and the rows of a tile, where both operands are in registers.
constexpr int64_t kSyncPromotedRows = 64;

/// Whether there is code for few widths of a tile: for full ones, and what is
/// left, of packed weights; but for tiles of few rows, which are all narrow.
inline bool hasFewWidths(const MatmulKernelSpec &spec) {
  return spec.isPacked && (spec.isSync() || !spec.multipliesByWarp());
}

/// The columns that the accumulator of a consumer can have.
inline SmallVector<int64_t> getWidths(const MatmulKernelSpec &spec) {
  if (!spec.swapAb)
    return {spec.tileColumns};
  SmallVector<int64_t> widths;
  if (hasFewWidths(spec)) {
    // ptxas finds no registers for a wgmma pipeline (C7511) where the sums of
    // all widths together have more: so there are few, each half of the next,
    // rounded up.
    constexpr int64_t most = 128;
    int64_t registers = 0;
    for (int64_t rows = spec.tileRows; widths.empty() || rows < widths.front();
         rows = llvm::alignTo(rows / 2, spec.getRowStep())) {
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
  int64_t columns =
      getStagingBytes(spec) / kInstructionRows / getBytes(spec.out);
  if (spec.swapAb)
    return columns;
  constexpr int64_t spareRegisters = 64;
  if (spec.gated)
    columns = std::min(columns, moeq::kGateGroup);
  int64_t least = TileType::kPanelBytes / getBytes(spec.out);
  // The CTAs that split K share out the chunks.
  int64_t most = spec.tileColumns / (spec.getNumSums() * spec.splitK);
  while (columns > least &&
         (spec.tileColumns % columns != 0 || columns > most ||
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

/// 64 rows and a chunk of columns of a consumer's part of C, or of its
/// transpose, by their offsets; or of the accumulator.
struct MatmulPart {
  int64_t row, column, width;
};

/// The parts of C of an accumulator of `columns` columns, of which each
/// fragment has `ofFragment`: those that a consumer maps and stores at a time.
SmallVector<MatmulPart> getMatmulParts(const MatmulKernelSpec &spec,
                                       int64_t columns, int64_t ofFragment);

/// The shared memory of what CTAs that split K add up.
ExchangeType getExchangeType(const MatmulKernelSpec &spec);
/// Why K cannot be split, or nullopt where it can.
std::optional<std::string> getUnsupportedSplit(const MatmulKernelSpec &spec);

/// Whether an operand has a scale for each row and stage that comes with its
/// tile through the ring.
inline bool areLhsScalesStaged(const MatmulKernelSpec &spec) {
  return spec.lhsBlockScale == ScalePlacement::Vector && !spec.isSync();
}
inline bool areRhsScalesStaged(const MatmulKernelSpec &spec) {
  return spec.rhsBlockScale == ScalePlacement::Vector && !spec.isSync() &&
         !spec.isPacked;
}
/// Whether threads copy them, one by one, since those of a stage are not
/// together, or not for the rows of a tile.
inline bool areScalesGathered(const MatmulKernelSpec &spec) {
  return (areLhsScalesStaged(spec) &&
          (!spec.lhsScaleIsMnMajor || spec.isGathered)) ||
         (areRhsScalesStaged(spec) && !spec.rhsScaleIsMnMajor);
}
/// The scales between the places from which a copy may start, 16 bytes, where
/// the rows of a tile may start between: those of groups one after the other.
/// A stage has as many scales more then, from such a place on. Else 0.
inline int64_t getLhsScaleUnit(const MatmulKernelSpec &spec) {
  bool isUnaligned = areLhsScalesStaged(spec) && !areScalesGathered(spec) &&
                     spec.isGrouped && !spec.isMasked && !spec.contractsRows;
  return isUnaligned ? kPitchBytes / getBytes(spec.lhsScaleType) : 0;
}
/// The vectors of a stage: packed weights with their scales and zeros, or the
/// scales of rows of A, then those of B.
SmallVector<SharedVectorType> getStageVectors(const MatmulKernelSpec &spec);

/// Whether all warps of the producer warpgroup copy.
inline bool hasHelpers(const MatmulKernelSpec &spec) {
  return spec.isGathered || areScalesGathered(spec);
}
/// The warps beside the producer's that do.
constexpr int64_t kHelperWarps = kWarpgroupThreads / kWarpThreads - 1;

//===----------------------------------------------------------------------===//
// Packed weights
//===----------------------------------------------------------------------===//

/// The 64-row slabs of a tile, and the bytes of one in a stage.
inline int64_t getPackedSlabs(const MatmulKernelSpec &spec) {
  return spec.tileColumns / kInstructionRows;
}
inline int64_t getPackedSlabBytes(const MatmulKernelSpec &spec) {
  return kInstructionRows * getStageDepth(spec) *
         spec.rhs.getIntOrFloatBitWidth() / 8;
}

/// The elements of K with one scale or zero.
inline int64_t getPackedGroup(const MatmulKernelSpec &spec) {
  return spec.rhsGroup ? spec.rhsGroup : spec.depth;
}
/// The groups that a stage has scales of.
inline int64_t getStageGroups(const MatmulKernelSpec &spec) {
  return std::max<int64_t>(getStageDepth(spec) / getPackedGroup(spec), 1);
}

/// Whether scales are part of the dequantized weights.
inline bool foldsScales(const MatmulKernelSpec &spec) {
  return isa_and_nonnull<Float8E8M0FNUType>(spec.rhsScaleType);
}

/// The stages of a step: those of a group that is promoted.
inline int64_t getStepStages(const MatmulKernelSpec &spec) {
  return spec.promote
             ? std::max<int64_t>(spec.rhsGroup / getStageDepth(spec), 1)
             : 1;
}

/// The equal parts of the columns that are multiplied one after the other.
inline int64_t getPackedParts(const MatmulKernelSpec &spec, int64_t columns) {
  if (!spec.promote)
    return 1;
  int64_t parts = llvm::divideCeil(columns, getPackedPartColumns(spec));
  while (columns % (parts * spec.getRowStep()) != 0)
    ++parts;
  return parts;
}

/// The columns of a fragment of an accumulator of `columns`.
inline int64_t getFragmentColumns(const MatmulKernelSpec &spec,
                                  int64_t columns) {
  return spec.isPacked ? columns / getPackedParts(spec, columns)
                       : getProductColumns(spec, columns);
}

/// The registers a thread of the sums of `columns`, and of the weights of a
/// step.
inline int64_t getPackedSumRegisters(const MatmulKernelSpec &spec,
                                     int64_t columns) {
  int64_t promoted = spec.promote ? columns / getPackedParts(spec, columns) : 0;
  return getConsumerRows(spec) * (columns + promoted) / kWarpgroupThreads;
}
inline int64_t getPackedStepRegisters(const MatmulKernelSpec &spec) {
  return getStepStages(spec) * getStageTiles(spec) * getConsumerRows(spec) / 4;
}

/// What the assembler moves about where sums of few elements are promoted:
/// beside a step that is prefetched, or where a stage has several.
constexpr int64_t kShortSumRegisters = 32;

/// The warpgroups that do nothing but copy.
inline int64_t getNumProducers(const MatmulKernelSpec &spec) {
  return spec.isSync() ? 0 : 1;
}

/// How a consumer promotes sums: the matmuls of 64 rows that it has in flight,
/// and whether it holds the scales of their columns in registers from the start
/// of the stage on, or reads them a few at a time, for each of the matmuls.
struct Promotion {
  int64_t inFlight;
  bool holdsScales;

  /// The registers that it takes for an accumulator of `columns` columns.
  int64_t getRegisters(const MatmulKernelSpec &spec, int64_t columns) const {
    int64_t product = getProductColumns(spec, columns);
    int64_t registers = (getConsumerRows(spec) * columns +
                         inFlight * kInstructionRows * product) /
                        kWarpgroupThreads;
    ScalePlacement ofColumns =
        spec.swapAb ? spec.lhsBlockScale : spec.rhsBlockScale;
    if (ofColumns == ScalePlacement::Vector && holdsScales)
      registers += inFlight * product / 4;
    return registers + 32 + 4 * inFlight;
  }
  bool operator==(const Promotion &other) const {
    return inFlight == other.inFlight && holdsScales == other.holdsScales;
  }
};

/// The best that there are so many registers for, if any.
inline Promotion getPromotion(const MatmulKernelSpec &spec, int64_t columns,
                              int64_t registers) {
  if (spec.isSync())
    return {1, true};
  for (Promotion promotion : {Promotion{2, true}, {1, true}})
    if (promotion.getRegisters(spec, columns) <= registers)
      return promotion;
  return {1, false};
}

/// The registers a thread of consumers, which share what the producer leaves.
inline int64_t getConsumerRegisters(const MatmulKernelSpec &spec,
                                    int64_t ofProducer) {
  int64_t threads =
      kWarpgroupThreads * (getNumProducers(spec) + spec.consumers);
  int64_t share = (getLaunchRegisters(threads, spec.ctas) / kWarpgroupThreads -
                   ofProducer) /
                  spec.consumers;
  return std::min<int64_t>(share / 8 * 8, 240);
}

/// The registers of an accumulator beside which a consumer wants all others.
constexpr int64_t kWideSum = 160;

/// Registers a thread: a producer that starts copies can use some, one that
/// gathers, or tells others its tiles, some more. Where consumers promote sums
/// it has no more than leave them what they can use.
inline int64_t getProducerRegisters(const MatmulKernelSpec &spec) {
  if (spec.isSync())
    return 0;
  bool isNarrow = spec.isPacked && spec.tileRows <= kPackedPartColumns;
  if (isNarrow) // Beside the maps it has the addresses of vectors.
    return spec.consumers > 2 || spec.ctas > 1 ? 32 : 56;
  int64_t most = hasHelpers(spec) || spec.splitK > 1 ? 56 : 40,
          least = most - 16;
  if (spec.isPacked)
    return least;
  if (!spec.promote) {
    int64_t sum =
        getConsumerRows(spec) * getWidths(spec).back() / kWarpgroupThreads;
    return sum > kWideSum ? least : most;
  }
  int64_t left = getConsumerRegisters(spec, most),
          share = getConsumerRegisters(spec, least);
  bool suffices = llvm::all_of(getWidths(spec), [&](int64_t columns) {
    Promotion promotion = getPromotion(spec, columns, share);
    return promotion == getPromotion(spec, columns, left) &&
           promotion.getRegisters(spec, columns) <= left;
  });
  return suffices ? most : least;
}
inline int64_t getConsumerRegisters(const MatmulKernelSpec &spec) {
  return getConsumerRegisters(spec, getProducerRegisters(spec));
}
inline Promotion getPromotion(const MatmulKernelSpec &spec, int64_t columns) {
  return getPromotion(spec, columns, getConsumerRegisters(spec));
}

/// Whether the weights of the next step are dequantized while a step is
/// multiplied, for which there must be registers. Else the other consumers have
/// the tensor core meanwhile.
inline bool prefetchesPacked(const MatmulKernelSpec &spec, int64_t columns) {
  // Beside them are addresses and words that are not dequantized yet, and with
  // more sums more of what the assembler moves about. CTAs that share a
  // multiprocessor gain little from it.
  int64_t sums = getPackedSumRegisters(spec, columns),
          rest =
              sums / 4 + (foldsScales(spec) ? 16 : 8) + (spec.ctas > 1 ? 8 : 0);
  if (spec.promote && spec.rhsGroup < kBlockDepth)
    rest += kShortSumRegisters;
  return sums + 2 * getPackedStepRegisters(spec) + rest <=
         getConsumerRegisters(spec);
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
