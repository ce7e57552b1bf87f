//===- CostModel.cpp - The time of a matmul kernel --------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "moeq/Target/CostModel.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::moeq;

/// Rows of a consumer warpgroup, and bytes of K in a stage.
static constexpr int64_t kConsumerRows = 64, kStageDepthBytes = 128;
/// Of one consumer warpgroup, of the two barriers of a stage, and of the
/// mailbox of a dynamic schedule.
static constexpr int64_t kStagingBytes = 16384, kBarrierBytes = 16,
                         kMailboxBytes = 128;
static constexpr int64_t kMaxStages = 8;
/// Row tiles of a raster group: the weights that 8 of them share stay in the
/// L2.
static constexpr int64_t kRaster = 8;
/// The clock under a tensor-core load on an H200, Hz; taken for other chips
/// too.
static constexpr double kClock = 1.55e9;
/// Bytes a clock of one multiprocessor from shared memory and from the L2.
static constexpr double kSharedMemoryRate = 128, kL2Rate = 64;
/// Of a tile's epilogue, which the next tile's main loop does not hide:
/// microseconds, and microseconds an element.
static constexpr double kEpilogueTime = 0.3, kEpilogueElementTime = 1e-5;
/// Times that differ by less are a tie.
static constexpr double kTie = 1.05;

static constexpr double kMicroseconds = 1e6;

/// The part of the rates that kernels of this tile reach, where 128 x 256 is 1:
/// a narrow wgmma reads more shared memory for a product, and one warpgroup
/// does not hide its own epilogue.
static double getEfficiency(int64_t rows, int64_t columns) {
  double efficiency = columns >= 256 ? 1.0 : columns >= 128 ? 0.8 : 0.6;
  return rows > kConsumerRows ? efficiency : 0.85 * efficiency;
}

double MatmulCost::getTotal() const {
  return waves * (std::max({tensorCore, sharedMemory, l2, memory}) + epilogue);
}

StringRef MatmulCost::getBound() const {
  double most = std::max({tensorCore, sharedMemory, l2, memory});
  if (most == tensorCore)
    return "tensor cores";
  if (most == memory)
    return "device memory";
  return most == l2 ? "L2" : "shared memory";
}

int64_t moeq::getSharedMemoryBytes(ConfigAttr config) {
  return config.getStages() *
             ((config.getTile()[0] + config.getTile()[1]) * kStageDepthBytes +
              kBarrierBytes) +
         config.getConsumers() * kStagingBytes +
         (config.getSchedule() == Schedule::Persistent ? 0 : kMailboxBytes);
}

MatmulCost moeq::estimateCost(const Chip &chip, const MatmulProblem &problem,
                              ConfigAttr config) {
  double rows = config.getTile()[0], columns = config.getTile()[1],
         depth = problem.depth;
  int64_t groupRows = std::max<int64_t>(problem.rows, 1);
  double efficiency = getEfficiency(config.getTile()[0], config.getTile()[1]);
  MatmulCost cost;
  cost.bytes = getSharedMemoryBytes(config);
  cost.tiles = std::max<int64_t>(
      1, problem.groups * llvm::divideCeil(groupRows, config.getTile()[0]) *
             llvm::divideCeil(problem.columns, config.getTile()[1]));
  cost.waves = llvm::divideCeil(cost.tiles, chip.sms);

  double rate = (problem.multiplyBits == 8 ? chip.fp8Tflops : chip.f16Tflops) *
                1e12 / chip.sms;
  cost.tensorCore =
      kMicroseconds * 2 * rows * columns * depth / rate / efficiency;

  // Each warpgroup reads its rows and all columns.
  double bytes = problem.multiplyBits / 8.0;
  cost.sharedMemory = kMicroseconds * (rows / kConsumerRows) *
                      (kConsumerRows + columns) * depth * bytes /
                      (kSharedMemoryRate * kClock);
  cost.l2 = kMicroseconds *
            (rows * problem.lhsBits + columns * problem.rhsBits) / 8 * depth /
            (kL2Rate * kClock);

  // All that is read or written once, shared by the tiles.
  double groups = problem.groups, allRows = groups * groupRows;
  double traffic = (allRows * depth * problem.lhsBits +
                    groups * problem.columns * depth * problem.rhsBits +
                    allRows * problem.columns * problem.outBits) /
                   8;
  cost.memory = kMicroseconds * traffic / cost.tiles /
                (chip.bandwidth * 1e9 / chip.sms) / efficiency;
  cost.epilogue = kEpilogueTime + kEpilogueElementTime * rows * columns;
  return cost;
}

SmallVector<RankedConfig> moeq::rankConfigs(MLIRContext *context,
                                            const Chip &chip,
                                            const MatmulProblem &problem) {
  SmallVector<RankedConfig> ranked;
  // Tiles at the end of a group cost less: CTAs take them as they become free.
  Schedule schedule =
      problem.groups > 1 ? Schedule::Dynamic : Schedule::Persistent;
  for (int64_t rows : {128, 64}) {
    if (rows < 128 && problem.rows > rows) // Weights are read once a row tile.
      continue;
    for (int64_t columns : {256, 128, 64}) {
      if (columns > problem.maxTileColumns)
        continue;
      auto getConfig = [&](int64_t stages) {
        return ConfigAttr::get(context, {rows, columns}, stages,
                               rows / kConsumerRows, schedule,
                               /*swapAb=*/false, /*splitK=*/1, kRaster);
      };
      int64_t stages = kMaxStages;
      while (stages > 1 &&
             getSharedMemoryBytes(getConfig(stages)) > chip.sharedMemory)
        --stages;
      if (stages == 1) // A ring of one stage overlaps nothing.
        continue;
      ConfigAttr config = getConfig(stages);
      ranked.push_back({config, estimateCost(chip, problem, config)});
    }
  }
  if (ranked.empty())
    return ranked;
  auto getArea = [](const RankedConfig &candidate) {
    return candidate.config.getTile()[0] * candidate.config.getTile()[1];
  };
  llvm::sort(ranked, [&](const RankedConfig &left, const RankedConfig &right) {
    return std::make_tuple(left.cost.getTotal(), -getArea(left)) <
           std::make_tuple(right.cost.getTotal(), -getArea(right));
  });
  double limit = ranked.front().cost.getTotal() * kTie;
  auto *best = ranked.begin();
  for (RankedConfig &candidate : ranked)
    if (candidate.cost.getTotal() <= limit &&
        getArea(candidate) > getArea(*best))
      best = &candidate;
  std::rotate(ranked.begin(), best, std::next(best));
  return ranked;
}
