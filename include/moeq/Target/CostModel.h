//===- CostModel.h - The time of a matmul kernel by its config --*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An analytic model of the persistent grouped matmul kernel: each CTA works off
// whole output tiles, and the kernel takes as many waves of tiles as the chip's
// multiprocessors need for all of them:
//
//   time = waves * (max(tensor cores / e, shared memory, L2, device memory / e)
//                   + epilogue)
//
// Each term is the time that one tile keeps one multiprocessor's share of the
// resource; e is the part of the rate that kernels of this tile reach. On an
// H200 it is within 5 % of the times measured with tiles of 128 x 256 at 1024
// rows a group; e of other tiles is an estimate. It is there to rank configs.
//
//===----------------------------------------------------------------------===//

#ifndef MOEQ_TARGET_COSTMODEL_H
#define MOEQ_TARGET_COSTMODEL_H

#include "moeq/Dialect/Moeq/IR/Moeq.h"
#include "moeq/Target/Chips.h"

namespace mlir::moeq {

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
};

/// What one tile of a config costs, in microseconds, and how many there are.
struct MatmulCost {
  double tensorCore, sharedMemory, l2, memory, epilogue;
  int64_t tiles, waves;
  /// Bytes of shared memory of a CTA.
  int64_t bytes;

  /// The time of the kernel.
  double getTotal() const;
  /// The name of the largest term.
  StringRef getBound() const;
};

struct RankedConfig {
  ConfigAttr config;
  MatmulCost cost;
};

/// Bytes of shared memory that a kernel with `config` uses: a ring of operand
/// stages of 128 bytes of K, a staging buffer for each consumer warpgroup, and
/// barriers.
int64_t getSharedMemoryBytes(ConfigAttr config);

/// The cost of `problem` under `config` on `chip`.
MatmulCost estimateCost(const Chip &chip, const MatmulProblem &problem,
                        ConfigAttr config);

/// The configs that fit `chip`, best first: tiles of 128 rows (or 64, where no
/// group has more) and 64, 128 or 256 columns, a consumer warpgroup for 64
/// rows, as many stages as fit up to 8. Times within 5 % are a tie, which the
/// larger tile wins.
SmallVector<RankedConfig> rankConfigs(MLIRContext *context, const Chip &chip,
                                      const MatmulProblem &problem);

} // namespace mlir::moeq

#endif // MOEQ_TARGET_COSTMODEL_H
