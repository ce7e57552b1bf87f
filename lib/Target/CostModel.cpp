//===- CostModel.cpp - The time of a matmul kernel --------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "moeq/Target/CostModel.h"

#include "llvm/Support/MathExtras.h"

#include <array>
#include <cmath>

using namespace mlir;
using namespace mlir::moeq;

/// Rows of a wgmma instruction, and bytes of K in a stage.
static constexpr int64_t kInstructionRows = 64, kStageDepthBytes = 128;
/// Shared memory: for the stores of a consumer warpgroup, the same with swapped
/// operands and without wgmma, of the two barriers of a stage, and of the
/// mailbox of a dynamic schedule.
static constexpr int64_t kStagingBytes = 16384, kSwappedStagingBytes = 8192,
                         kSyncStagingBytes = 8192, kBarrierBytes = 16,
                         kMailboxBytes = 128;
/// Bytes of the alignment of scales in a stage, and those that the first row's
/// may lie behind it.
static constexpr int64_t kScaleAlignment = 128, kScaleOffset = 16;
static constexpr int64_t kMaxStages = 8, kMaxSwappedStages = 12;
/// Row tiles of a raster group: the weights that 8 of them share stay in the
/// L2.
static constexpr int64_t kRaster = 8;
/// The step between the numbers of rows that a tile with swapped operands has:
/// those of wgmma's N operand.
static constexpr int64_t kRowStep = 8, kIntegerRowStep = 16,
                         kPackedRowStep = 16;
/// Rows of a tile with swapped operands whose sums are promoted, by 64 columns
/// and by 128 a consumer: it has those of 64 columns again in flight. Columns
/// of one without wgmma: there are two sums for each.
static constexpr int64_t kMaxPromotedRows = 192, kMaxPromotedWideRows = 128,
                         kMaxPromotedColumns = 128;
/// The same of packed weights: beside an accumulator there is the sum of a
/// part. Where K is shorter than kFewParts, twice that where threads gather,
/// code for a part or two each needs the registers of wide tiles, and ptxas
/// serializes their wgmma.
static constexpr int64_t kMaxPackedPromotedRows = 192, kFewParts = 512,
                         kMaxFewPartsRows = 64;
/// The clock under a tensor-core load on an H200, Hz; taken for other chips
/// too.
static constexpr double kClock = 1.55e9;
/// Bytes a clock of one multiprocessor from the L2, and from shared memory, of
/// which a part is lost.
static constexpr double kL2Rate = 60, kSharedMemoryRate = 128 / 1.28;
/// A box of a tile in row form has rows of other groups, too, which many
/// multiprocessors copy at a time: with as many rows in all, these take twice
/// as long; with fewer than 128 no longer than with these.
static constexpr double kHotRows = 800, kFewRows = 128;
/// The part of the copies of a tile's weights, and of its rows, that nothing
/// hides.
static constexpr double kExposedWeights = 0.18, kExposedRows = 0.02;
/// What the CTAs of a cluster wait for each other: a part of their main loops.
static constexpr double kClusterWait = 0.007;
/// Of a tile's epilogue, which the next tile's main loop does not hide:
/// microseconds, and microseconds an element. The part of it that consumers in
/// turns do not hide either.
static constexpr double kEpilogueTime = 0.92, kEpilogueElementTime = 2e-5,
                        kTurnsEpilogue = 0.46;
/// What the parts of a tile whose K is split take to add up their sums,
/// microseconds.
static constexpr double kExchangeTime = 4;
/// The part of a last, incomplete wave's missing tiles that is waited for,
/// where products and where copies are the limit; the tiles waited for beside
/// for each deviation of a tile's rows over their mean. Tiles of packed weights
/// have few widths, with which nothing is evened out.
static constexpr double kTail = 0.17, kPackedTail = 0.4, kCopyTail = 0.12,
                        kUnevenTail = 2, kPackedUnevenTail = 0.35;
/// The rows and columns of a small tile that has a plan.
static constexpr int64_t kPlannedRows = 136, kPlannedColumns = 128;
/// Up to so many tiles a multiprocessor take as long as if all had them.
static constexpr double kFewWaves = 2;
/// Clocks of a stage, however few rows it has, and with sums that are promoted.
static constexpr double kStageLatency = 200, kPromotedStageLatency = 217;
/// The part of a tile's copies that is lost at both ends of a kernel, times the
/// bytes that are in flight.
static constexpr double kIdleBytes = 21000;
/// The part of the rate that products have where threads copy gathered rows,
/// and the microseconds that a kernel before takes apart from its bytes.
static constexpr double kGatheredRate = 0.92, kLaunchTime = 2;
/// The part of the rate that tiles with swapped operands have whose promoted
/// sums are one wgmma, beside which a consumer promotes nothing: of more rows
/// than the first, but where these are enough to make up for it.
static constexpr double kOneSumRate = 0.86;
static constexpr int64_t kMaxTwoSumsRows = 128, kMaxSlowSumRows = 160;
/// How products and copies overlap: the norm that adds their times.
static constexpr double kOverlap = 4;
/// The part of the rate of a large dense matmul that products of packed weights
/// reach apart from dequantization, and with sums that are promoted.
static constexpr double kPackedEfficiency = 1.18,
                        kPromotedPackedEfficiency = 1.08;

/// How much faster CTAs that share a multiprocessor dequantize: one does while
/// another waits, and more where registers suffice to do it ahead. They also
/// hide what nothing hides of one.
static constexpr double kSharedDequantization = 1.1,
                        kSharedDequantizationAhead = 1.35;
static constexpr int64_t kMaxRowsAhead = 32;

/// Times that differ by less are a tie.
static constexpr double kTie = 1.15;

static constexpr double kMicroseconds = 1e6;

/// The part of the rate of a large dense matmul that kernels of this tile reach
/// apart from their epilogues: a narrow wgmma waits more often for the next
/// one's operands, one warpgroup alone does not hide its latencies, and sums
/// that are promoted wait for it.
static double getEfficiency(ConfigAttr config, const MatmulProblem &problem) {
  bool promotes = problem.promotes;
  if (problem.isPacked)
    return promotes ? kPromotedPackedEfficiency : kPackedEfficiency;
  int64_t columns = config.getTile()[1];
  if (config.getSwapAb()) {
    double efficiency = config.getConsumers() == 1                   ? 0.45
                        : config.getSchedule() == Schedule::PingPong ? 1.08
                        : columns >= 256                             ? 1.11
                                                                     : 1.06;
    return promotes ? 0.68 * efficiency : efficiency;
  }
  double efficiency = columns >= 256 ? 1.0 : columns >= 128 ? 0.93 : 0.62;
  if (config.getTile()[0] <= kInstructionRows)
    efficiency *= 0.56;
  return promotes ? 0.89 * efficiency : efficiency;
}

double MatmulCost::getLimit() const {
  return std::max({std::hypot(tensorCore, dequantization), sharedMemory, l2});
}

double MatmulCost::getTotal() const {
  double products = waves * (getLimit() + exposed + epilogue);
  return before +
         std::pow(std::pow(products, kOverlap) + std::pow(memory, kOverlap),
                  1 / kOverlap);
}

StringRef MatmulCost::getBound() const {
  double limit = getLimit();
  if (memory > waves * (limit + exposed + epilogue))
    return "device memory";
  if (limit == l2)
    return "L2";
  if (limit == sharedMemory)
    return "shared memory";
  return dequantization > tensorCore ? "dequantization" : "tensor cores";
}

/// The tiles of rows of a stage (`getStageTiles` of the kernel).
static int64_t getStageTiles(ConfigAttr config, const MatmulProblem &problem) {
  constexpr int64_t fewRows = 128;
  bool isShort =
      config.getTile()[0] <= fewRows &&
      config.getTile()[1] == config.getConsumers() * kInstructionRows;
  return problem.hasDeepStages && isShort ? 2 : 1;
}

/// Packed weights that a multiprocessor dequantizes in a clock: of 4 bits fewer
/// where there is one tile a stage, with the words of half as many.
static double getDequantizationRate(ConfigAttr config,
                                    const MatmulProblem &problem) {
  if (problem.rhsBits == 8)
    return 32;
  // Without promoted sums E8M0 scales are part of them.
  double rate = problem.promotes ? 34 : 25;
  return getStageTiles(config, problem) == 1 ? 0.8 * rate : rate;
}

/// The bytes of a column of the weights beside a tile of rows: of packed ones,
/// which have no more columns of K than the rows of 16 bits, with their scales.
static int64_t getColumnBytes(const MatmulProblem &problem) {
  constexpr int64_t columns = kStageDepthBytes / 2, scaleBytes = 8;
  return problem.isPacked ? columns * problem.rhsBits / 8 + scaleBytes
                          : kStageDepthBytes;
}

/// The bytes of the operands of a stage with tiles of so many rows.
static double getStageBytes(ConfigAttr config, const MatmulProblem &problem,
                            double rows) {
  return getStageTiles(config, problem) *
         (rows * kStageDepthBytes +
          config.getTile()[1] * getColumnBytes(problem));
}

int64_t moeq::getSharedMemoryBytes(const Chip &chip, ConfigAttr config,
                                   const MatmulProblem &problem) {
  int64_t rows = config.getTile()[0], columns = config.getTile()[1];
  int64_t staging =
      config.getSwapAb()
          ? kSwappedStagingBytes + llvm::alignTo(rows * problem.rowBytes, 16)
      : chip.hasWgmma ? kStagingBytes
                      : kSyncStagingBytes;
  int64_t scales = 0;
  if (chip.hasWgmma && problem.stageRowBytes)
    scales += llvm::alignTo(rows * problem.stageRowBytes + kScaleOffset,
                            kScaleAlignment);
  if (chip.hasWgmma)
    scales +=
        llvm::alignTo(columns * problem.stageColumnBytes, kScaleAlignment);
  int64_t split = config.getSplitK();
  constexpr int64_t sumBytes = 4;
  int64_t exchanged = split == 1
                          ? 0
                          : rows * columns * sumBytes / split +
                                config.getConsumers() * split * kBarrierBytes;
  return config.getStages() * (int64_t(getStageBytes(config, problem, rows)) +
                               scales + kBarrierBytes) +
         exchanged + config.getConsumers() * staging +
         (config.getSchedule() == Schedule::Persistent
              ? 0
              : config.getCluster() * kMailboxBytes);
}

namespace {
/// The tiles of a group of rows: how many there are in a column of tiles, and
/// for how many rows each takes tensor-core time.
struct RowTiles {
  double count, rows;
};
} // namespace

/// The rows that a tile of packed weights takes time for: there is code for all
/// of its rows, and for halves of them, rounded up, while the accumulators of
/// all together have at most this many registers a thread (`getWidths` of the
/// kernel).
static int64_t getPackedRows(ConfigAttr config, int64_t rows) {
  constexpr int64_t registers = 128, threads = 128;
  int64_t columns = config.getTile()[1] / config.getConsumers(),
          width = config.getTile()[0], used = width * columns / threads;
  while (true) {
    int64_t half = llvm::alignTo(width / 2, kPackedRowStep);
    used += half * columns / threads;
    if (half < rows || half == width || used > registers)
      return width;
    width = half;
  }
}

static RowTiles getRowTiles(ConfigAttr config, const MatmulProblem &problem,
                            int64_t rows) {
  int64_t most = config.getTile()[0];
  double count = llvm::divideCeil(rows, most);
  // A pair of tiles takes as long as the larger one.
  if (!config.getSwapAb() && config.getCluster() > 1 && count > 1)
    return {count, double(most)};
  if (!config.getSwapAb())
    return {count, llvm::divideCeil(rows, kInstructionRows) *
                       double(kInstructionRows) / count};
  int64_t share = llvm::divideCeil(rows, int64_t(count));
  if (problem.isPacked) {
    // Full tiles, and what is left.
    double full = (count - 1) * most;
    return {count, (full + getPackedRows(config, rows - full)) / count};
  }
  return {count, double(llvm::alignTo(share, problem.isInteger ? kIntegerRowStep
                                                               : kRowStep))};
}

namespace {
/// The parts of a tile's weights and of its rows that its own CTA copies.
struct OwnCopies {
  double weights, rows;
};
} // namespace

/// Of groups with `count` row tiles: neighbours share the weights, but every
/// second time the last one of an odd number, or the rows where there is one.
static OwnCopies getOwnCopies(ConfigAttr config, int64_t count) {
  if (config.getCluster() == 1)
    return {1, 1};
  if (count == 1)
    return {1, 1.0 / config.getCluster()};
  return {1 - double(count / 2) / count, 1};
}

SmallVector<GroupRows> MatmulProblem::getGroups() const {
  if (!spread.empty())
    return spread;
  return {{double(groups), std::max<int64_t>(rows, 1)}};
}

/// Groups of the same number of rows on average. It is random: the mean, and a
/// deviation to each side. Where there is code for few widths it matters how
/// many have more than the mean: those of a quarter of the groups each.
static SmallVector<GroupRows> getSamples(const MatmulProblem &problem) {
  static constexpr double thirds[] = {-1, 0, 1},
                          quarters[] = {-1.15, -0.32, 0.32, 1.15};
  ArrayRef<double> parts = problem.isPacked ? ArrayRef(quarters) : thirds;
  if (!problem.isGrouped)
    parts = ArrayRef(thirds).slice(1, 1);
  SmallVector<GroupRows> samples;
  for (auto [groups, rows] : problem.getGroups())
    for (double by : parts)
      samples.push_back(
          {groups / parts.size(),
           std::max<int64_t>(rows + std::llround(by * std::sqrt(rows)), 1)});
  return samples;
}

/// Whether a plan evens out small tiles.
static bool hasPlanOfSmallTiles(const MatmulProblem &problem,
                                ConfigAttr config) {
  return problem.isGrouped && problem.stageRowBytes &&
         isPlannedThoughSmall(config);
}

/// How many tiles a multiprocessor takes, of which `deviation` is that of their
/// rows over the mean.
static double getWaves(const MatmulProblem &problem, ConfigAttr config,
                       double waves, double deviation) {
  double whole = std::ceil(waves);
  if (config.getSchedule() == Schedule::Persistent || waves <= kFewWaves)
    return whole;
  auto [tail, uneven] = problem.isPacked
                            ? std::pair(kPackedTail, kPackedUnevenTail)
                            : std::pair(kTail, kUnevenTail);
  if (hasPlanOfSmallTiles(problem, config))
    uneven = 0;
  return waves + tail * (whole - waves) + uneven * deviation;
}

bool moeq::isPlannedThoughSmall(ConfigAttr config) {
  return config.getSwapAb() && config.getTile()[0] == kPlannedRows &&
         config.getTile()[1] == kPlannedColumns;
}

MatmulCost moeq::estimateCost(const Chip &chip, const MatmulProblem &problem,
                              ConfigAttr config, bool gathersBefore) {
  double columns = config.getTile()[1], parts = config.getSplitK(),
         depth = problem.depth / parts;
  MatmulCost cost;
  cost.bytes = getSharedMemoryBytes(chip, config, problem);
  cost.tiles = cost.tensorCore = cost.sharedMemory = cost.l2 = cost.exposed =
      cost.epilogue = cost.dequantization = 0;
  double usedGroups = 0, allRows = 0;
  for (auto [groups, rows] : problem.getGroups()) {
    usedGroups += groups;
    allRows += groups * rows;
  }
  double rate = (problem.multiplyBits == 8 ? chip.fp8Tflops : chip.f16Tflops) *
                1e12 / chip.sms * getEfficiency(config, problem);
  double columnTiles = llvm::divideCeil(problem.columns, config.getTile()[1]);
  double bytes = problem.multiplyBits / 8.0;
  double rowsOfTiles = 0, squares = 0;
  for (auto [groups, rows] : getSamples(problem)) {
    RowTiles tiles = getRowTiles(config, problem, rows);
    double part = groups * tiles.count * columnTiles * parts;
    cost.tiles += part;
    rowsOfTiles += part * tiles.rows;
    squares += part * tiles.rows * tiles.rows;
    bool isSlow = config.getSwapAb() && problem.promotes && !problem.isPacked &&
                  tiles.rows > kMaxTwoSumsRows && tiles.rows <= kMaxSlowSumRows;
    cost.tensorCore += part * kMicroseconds * 2 * tiles.rows * columns * depth /
                       (isSlow ? kOneSumRate * rate : rate);
    // Each instruction reads 64 rows of one operand and all of the other.
    double pieces = config.getSwapAb() ? columns / kInstructionRows
                                       : tiles.rows / kInstructionRows;
    double other = config.getSwapAb() ? tiles.rows : columns;
    cost.sharedMemory += part * kMicroseconds * pieces *
                         (kInstructionRows + other) * depth * bytes /
                         (kSharedMemoryRate * kClock);
    // What a neighbour copies of the rows, which are in the L2, costs nobody
    // less waiting.
    OwnCopies own = getOwnCopies(config, int64_t(tiles.count));
    double toCopy = part * kMicroseconds * depth / 8 / (kL2Rate * kClock);
    double weights = toCopy * own.weights * columns * problem.rhsBits,
           lhs = toCopy * tiles.rows * problem.lhsBits;
    double others =
        config.getSwapAb() ? 0 : config.getTile()[0] / tiles.rows - 1;
    others *= 1 + kHotRows / std::max(allRows, kFewRows);
    cost.l2 += weights + own.rows * (1 + others) * lhs;
    cost.exposed += kExposedWeights * weights + kExposedRows * lhs;
    cost.epilogue +=
        part * (kEpilogueTime + kEpilogueElementTime * tiles.rows * columns);
    if (parts > 1)
      cost.epilogue += part * kExchangeTime;
  }
  if (config.getSchedule() == Schedule::PingPong)
    cost.epilogue *= kTurnsEpilogue;
  if (!problem.isPacked) {
    double latency = problem.promotes ? kPromotedStageLatency : kStageLatency;
    cost.tensorCore =
        std::max(cost.tensorCore, cost.tiles * kMicroseconds * depth * bytes /
                                      kStageDepthBytes * latency / kClock);
  }
  if (config.getCluster() > 1)
    for (double *term : {&cost.tensorCore, &cost.sharedMemory, &cost.l2})
      *term *= 1 + kClusterWait;
  if (problem.isGathered && !gathersBefore)
    for (double *term : {&cost.tensorCore, &cost.sharedMemory, &cost.l2})
      *term /= kGatheredRate;
  for (double *term : {&cost.tensorCore, &cost.sharedMemory, &cost.l2,
                       &cost.exposed, &cost.epilogue})
    *term /= cost.tiles;
  if (problem.isPacked)
    cost.dequantization = kMicroseconds * columns * depth /
                          (getDequantizationRate(config, problem) * kClock);
  double ctas = config.getCtas();
  if (ctas > 1) {
    cost.dequantization /= config.getTile()[0] <= kMaxRowsAhead
                               ? kSharedDequantizationAhead
                               : kSharedDequantization;
    for (double *term : {&cost.exposed, &cost.epilogue})
      *term /= ctas;
  }
  double waves = cost.tiles / chip.sms, meanRows = rowsOfTiles / cost.tiles;
  double variance = squares / cost.tiles - meanRows * meanRows;
  cost.waves = ctas * getWaves(problem, config, waves / ctas,
                               std::sqrt(std::max(variance, 0.)) / meanRows);

  // All that is read or written once.
  double tileRows = config.getSwapAb() ? meanRows : config.getTile()[0];
  double inFlight =
      ctas * config.getStages() * getStageBytes(config, problem, tileRows);
  double rowBits = allRows * problem.depth * problem.lhsBits;
  double traffic =
      (rowBits +
       usedGroups * problem.columns * problem.depth * problem.rhsBits +
       allRows * problem.columns * problem.outBits) /
      8;
  cost.memory =
      kMicroseconds * traffic / (chip.bandwidth * 1e9) *
      (1 + (kCopyTail * (std::ceil(waves) - waves) + kIdleBytes / inFlight) /
               waves);
  // Each row is read and written.
  cost.before = hasPlanOfSmallTiles(problem, config) ? kLaunchTime : 0;
  if (gathersBefore)
    cost.before +=
        kLaunchTime + kMicroseconds * 2 * rowBits / 8 / (chip.bandwidth * 1e9);
  return cost;
}

namespace {
/// What is tried: rows, columns and consumers of a tile, and how CTAs and
/// consumers take turns.
struct Shape {
  int64_t rows, columns, consumers;
  bool swapAb;
  bool pingPong = false;
  int64_t cluster = 1, splitK = 1, ctas = 1;
};
} // namespace

/// The largest tile of either form is tried in clusters, too: of narrow ones
/// little is shared.
static SmallVector<Shape> getShapes(const Chip &chip,
                                    const MatmulProblem &problem) {
  int64_t maxColumns = problem.maxTileColumns;
  if (problem.promotes && !chip.hasWgmma)
    maxColumns = std::min(maxColumns, kMaxPromotedColumns);
  SmallVector<Shape> shapes;
  auto add = [&](Shape shape, bool inClusters = false) {
    shapes.push_back(shape);
    // Two CTAs wait for each other's sums to be promoted: a tenth slower.
    if (!inClusters || !problem.canCluster || problem.promotes ||
        !chip.hasWgmma)
      return;
    shape.cluster = 2;
    shapes.push_back(shape);
  };
  auto addSwapped = [&](int64_t columns, int64_t consumers,
                        ArrayRef<int64_t> allRows) {
    int64_t ofConsumer = columns / consumers;
    bool isWide = ofConsumer > kInstructionRows;
    if (ofConsumer % problem.columnStep != 0 ||
        (problem.isPacked && problem.promotes && isWide))
      return;
    int64_t most = allRows.back();
    if (problem.promotes && problem.isPacked)
      most = problem.depth < (problem.isGathered ? 2 : 1) * kFewParts
                 ? kMaxFewPartsRows
                 : kMaxPackedPromotedRows;
    else if (problem.promotes)
      most = isWide ? kMaxPromotedWideRows : kMaxPromotedRows;
    for (int64_t rows : allRows)
      if (rows <= most)
        add({rows, columns, consumers, true},
            /*inClusters=*/columns == 256 &&
                rows == std::min(most, allRows.back()));
  };
  if (problem.isPacked && problem.columnStep > kInstructionRows) {
    // A consumer has gate and up. There is no kernel for sums that are
    // promoted.
    add({64, 2 * problem.columnStep, 2, /*swapAb=*/true});
    return shapes;
  }
  if (problem.isPacked && chip.hasWgmma) {
    addSwapped(128, 2, {64, 80, 128, 144, 192, 256});
    // Four consumers have registers for one accumulator of 64 rows.
    if (!problem.promotes)
      addSwapped(256, 4, {64});
    // 4-bit weights of few rows come faster than one CTA dequantizes them.
    if (problem.isGrouped && !problem.isGathered && problem.hasDeepStages &&
        problem.rhsBits == 4 && problem.depth >= kFewParts)
      for (auto [rows, columns, ctas] : {std::array{32, 64, 3}, {64, 128, 2}}) {
        Shape shape{rows, columns, columns / kInstructionRows, /*swapAb=*/true};
        shape.ctas = ctas;
        add(shape);
      }
    return shapes;
  }
  if (problem.isPacked) { // By warps, whose operands are in registers.
    addSwapped(128, 2, {64});
    if (!problem.promotes)
      addSwapped(128, 2, {128});
    return shapes;
  }
  bool canSplit = problem.canSplit && chip.hasWgmma &&
                  problem.depth * problem.multiplyBits / 8 > kStageDepthBytes;
  for (int64_t rows : {128, 64})
    for (int64_t columns : {256, 128, 64}) {
      if (columns > maxColumns || columns % problem.columnStep != 0)
        continue;
      Shape shape{rows, columns, rows / kInstructionRows, false};
      add(shape, /*inClusters=*/rows == 128 && columns == 256);
      if (!canSplit || columns == 256)
        continue;
      shape.splitK = 2;
      add(shape);
    }
  if (!problem.canSwap || !chip.hasWgmma)
    return shapes;
  addSwapped(64, 1, {32, 64});
  addSwapped(256, 2, {64, 96, 128, 160});
  if (problem.promotes) {
    // Threads that gather have too few registers beside it.
    int64_t planned = problem.isGathered ? 160 : kPlannedRows;
    addSwapped(128, 2, {64, 96, 128, planned, 192});
    return shapes;
  }
  // In turns, a consumer has all columns of a tile: better than together for
  // tiles of 128 to 192 rows.
  addSwapped(128, 2, {64, 96, 256});
  add({160, 128, 2, /*swapAb=*/true, /*pingPong=*/true});
  // Threads that gather have too few registers beside it, and so have gates.
  if (!problem.isGathered && problem.columnStep <= kInstructionRows)
    add({192, 128, 2, /*swapAb=*/true, /*pingPong=*/true});
  return shapes;
}

SmallVector<RankedConfig> moeq::rankConfigs(MLIRContext *context,
                                            const Chip &chip,
                                            const MatmulProblem &problem) {
  SmallVector<RankedConfig> ranked;
  // Tiles at the end of a group cost less: CTAs take them as they become free.
  Schedule schedule = problem.isGrouped && chip.hasWgmma ? Schedule::Dynamic
                                                         : Schedule::Persistent;
  for (const Shape &shape : getShapes(chip, problem)) {
    auto getConfig = [&](int64_t stages) {
      return ConfigAttr::get(
          context, {shape.rows, shape.columns}, stages, shape.consumers,
          shape.pingPong ? Schedule::PingPong : schedule, shape.swapAb,
          shape.splitK, kRaster, shape.cluster, shape.ctas);
    };
    int64_t stages = shape.swapAb ? kMaxSwappedStages : kMaxStages;
    while (stages > 1 &&
           getSharedMemoryBytes(chip, getConfig(stages), problem) >
               chip.getSharedMemory(shape.ctas))
      --stages;
    if (stages == 1) // A ring of one stage overlaps nothing.
      continue;
    ConfigAttr config = getConfig(stages);
    ranked.push_back({{config}, estimateCost(chip, problem, config)});
    if (problem.canGatherBefore)
      ranked.push_back({{config, /*gathersBefore=*/true},
                        estimateCost(chip, problem, config,
                                     /*gathersBefore=*/true)});
  }
  auto getArea = [](const RankedConfig &candidate) {
    return candidate.config.getTile()[0] * candidate.config.getTile()[1];
  };
  llvm::sort(ranked, [&](const RankedConfig &left, const RankedConfig &right) {
    return std::make_tuple(left.cost.getTotal(), -getArea(left)) <
           std::make_tuple(right.cost.getTotal(), -getArea(right));
  });
  // One that is translated and assembled for a single width takes a fraction of
  // the compile time.
  auto *quick = llvm::find_if(ranked, [&](const RankedConfig &candidate) {
    return !candidate.config.getSwapAb() &&
           candidate.cost.getTotal() <= ranked.front().cost.getTotal() * kTie;
  });
  if (quick != ranked.end())
    std::rotate(ranked.begin(), quick, std::next(quick));
  return ranked;
}
