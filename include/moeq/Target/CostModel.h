//===- CostModel.h - The time of a matmul kernel by its config --*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An analytic model of the persistent grouped matmul kernel. Each CTA works off
// whole output tiles; copies from device memory overlap with products:
//
//   products = waves * (max(|tensor cores / e, dequantization|, shared memory,
//                           L2) + exposed + epilogue)
//   time = (products^4 + memory^4)^(1/4)
//
// The terms of `products` are those of the mean tile on one multiprocessor,
// where rows are spread over the groups at random, or as the problem says; e is
// the part of the dense rate that kernels of this tile reach, `dequantization`
// the time to make operands of packed weights, which adds up with that of their
// products as the sides of a right triangle, and `exposed` a part of the copies
// of weights and rows. A tile takes at least the latency of its stages. The
// last tiles leave multiprocessors idle, the more the less equal tiles are. The
// CTAs of a cluster copy half of the weights that they share, and wait for each
// other a little. Consumers that take turns hide a part of the epilogue. Rows
// that the kernel gathers slow down the products; a kernel that gathers them
// before takes the time of their bytes. Parts of K are tiles of their own,
// which add up their sums. A plan of small tiles takes time, and evens them
// out. The constants are fitted to some 1400 times measured on an H200
// (`bench/run.py --sweep`), under uniform and under Zipf routing;
// docs/Performance.md has the regret. It is there to rank configs.
//
//===----------------------------------------------------------------------===//

#ifndef MOEQ_TARGET_COSTMODEL_H
#define MOEQ_TARGET_COSTMODEL_H

#include "moeq/Dialect/Moeq/IR/Moeq.h"
#include "moeq/Target/Chips.h"

namespace mlir::moeq {

/// So many groups that have `rows` rows each.
struct GroupRows {
  double groups;
  int64_t rows;
};

/// A matmul of `groups` groups of `rows` rows each, with a weight
/// [columns, depth] for each group.
struct MatmulProblem {
  int64_t groups = 1, rows = 0, columns = 0, depth = 0;
  /// Bits of an element as it is stored.
  unsigned lhsBits = 16, rhsBits = 16, outBits = 16;
  /// Bits of an element as it is multiplied: 8 only where both sides are FP8 or
  /// int8.
  unsigned multiplyBits = 16;
  /// The most columns of a tile.
  int64_t maxTileColumns = 256;
  /// Whether rows are grouped by expert, as many a group as there happen to be.
  bool isGrouped = false;
  /// Whether the kernel may have the weights as its first operand.
  bool canSwap = false;
  /// Whether its CTAs may form clusters.
  bool canCluster = false;
  /// Whether two CTAs of a cluster may split K, a static one.
  bool canSplit = false;
  /// Whether sums of 128 elements are promoted.
  bool promotes = false;
  /// What the columns of a consumer are a multiple of.
  int64_t columnStep = 64;
  /// Whether integers are multiplied.
  bool isInteger = false;
  /// Bytes of scales and of the epilogue's operands for each row.
  int64_t rowBytes = 0;
  /// Whether the weights are packed: they are dequantized in registers, as the
  /// first operand.
  bool isPacked = false;
  /// Whether stages of packed weights may have 128 of K: it and the groups
  /// whose sums are promoted are multiples of that, and rows are not gathered,
  /// or before.
  bool hasDeepStages = false;
  /// Bytes of the scales of each row, and of each column, in a stage of K.
  int64_t stageRowBytes = 0, stageColumnBytes = 0;
  /// Whether the rows are gathered, and whether a kernel before may do that.
  bool isGathered = false, canGatherBefore = false;
  /// The groups where some are known to have more rows than others; of `groups`
  /// and `rows` if empty.
  SmallVector<GroupRows> spread = {};

  /// All groups with rows.
  SmallVector<GroupRows> getGroups() const;
};

/// What the mean tile of a config costs, in microseconds, and how many there
/// are.
struct MatmulCost {
  double tensorCore, sharedMemory, l2, epilogue;
  /// Making operands of packed weights, which products wait for in part.
  double dequantization;
  /// The copies from the L2 that nothing hides.
  double exposed;
  double tiles, waves;
  /// Of the whole kernel: all that it reads and writes once, in microseconds.
  double memory;
  /// The kernels before it that gather its rows and plan small tiles, in
  /// microseconds.
  double before;
  /// Bytes of shared memory of a CTA.
  int64_t bytes;

  /// The time of the kernel, and of the one before it.
  double getTotal() const;
  /// The name of the largest term.
  StringRef getBound() const;

private:
  /// The largest term of a tile's main loop, microseconds.
  double getLimit() const;
};

/// How a matmul is done: the config of its kernel, and whether the rows are
/// gathered by a kernel before it.
struct MatmulChoice {
  ConfigAttr config;
  bool gathersBefore = false;
};

struct RankedConfig : MatmulChoice {
  MatmulCost cost;
};

/// Bytes of shared memory that a kernel of `problem` with `config` uses: a ring
/// of operand stages of 128 bytes of K, with the scales that come with them, a
/// staging buffer for each consumer warpgroup, and barriers.
int64_t getSharedMemoryBytes(const Chip &chip, ConfigAttr config,
                             const MatmulProblem &problem = {});

/// Whether kernels with `config` and scales of rows that change along K have a
/// plan although their tiles are small: [136, 128], which hold a group of 128
/// rows and a few more, and are chosen where CTAs take few tiles. Measured on
/// an H200, without and with one: 86.1 and 81.8 us at 128 rows a group; but 141
/// and 150 us at 256, where others win, and with [128, 128] 85.7 and 85.8 us.
bool isPlannedThoughSmall(ConfigAttr config);

/// The cost of `problem` under `config` on `chip`, where rows that are gathered
/// are so by the kernel itself, or by one before it.
MatmulCost estimateCost(const Chip &chip, const MatmulProblem &problem,
                        ConfigAttr config, bool gathersBefore = false);

/// The configs that fit `chip`, best first: tiles of 128 or 64 rows and 64, 128
/// or 256 columns, a consumer warpgroup for 64 rows, those up to 128 columns
/// also with K in two parts where it can be; with swapped operands tiles of 64
/// to 256 columns and up to 256 rows, two consumers (one for 64 columns), and
/// [160, 128] and [192, 128] whose consumers take turns (both on chips with
/// wgmma); the largest tile of either form in clusters, too; for packed
/// weights, of which no other kernel is, also four consumers, and of 4 bits
/// with few rows CTAs that share a multiprocessor; as many stages as fit; each
/// also after a gather, where there may be one. Of those within 15 % of the
/// best, which is a tie, the best one without swapped operands is first: it
/// compiles in a fraction of the time.
SmallVector<RankedConfig> rankConfigs(MLIRContext *context, const Chip &chip,
                                      const MatmulProblem &problem);

/// The kernel for launches with at most `rows` rows, all groups together.
struct ConfigVariant : MatmulChoice {
  int64_t rows;
};

/// At most `count` configs for any number of rows, each for one range of them
/// or several, in order of rows; the last range has no limit. Of the numbers of
/// rows from 2 to 2^16 each has one whose time over the least one is small: the
/// geometric mean of two routings, of which one spreads rows over the groups at
/// random and one by a popularity of 1 / rank (Zipf). The product of these is
/// what is minimized, by adding one config after the other and exchanging them,
/// and fewer than `count` where a further one gains nothing. The rows of
/// `problem` do not matter.
SmallVector<ConfigVariant> selectVariants(MLIRContext *context,
                                          const Chip &chip,
                                          const MatmulProblem &problem,
                                          int64_t count);

} // namespace mlir::moeq

#endif // MOEQ_TARGET_COSTMODEL_H
