//===- ConfigVariants.cpp - Kernels for few and for many rows ---*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "moeq/Target/CostModel.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"

#include <cmath>

using namespace mlir;
using namespace mlir::moeq;

/// Numbers of rows that the choice is made at: two for each power of two.
static constexpr int64_t kPointsPerOctave = 2, kFirstOctave = 1, kOctaves = 16;
/// A further kernel, or a further range of rows, has to save this part of the
/// time at each point on average.
static constexpr double kLeastGain = 0.0001;

/// `rows` rows with random groups: those that get any, and the rows of each.
static MatmulProblem atRows(MatmulProblem problem, double rows) {
  double groups = problem.groups;
  double used = groups * (1 - std::pow(1 - 1 / groups, rows));
  problem.groups = std::max<int64_t>(1, std::llround(used));
  problem.rows = std::llround(std::ceil(rows / problem.groups));
  return problem;
}

/// The same where the popularity of a group is 1 / rank. A token has a group
/// once at most, so the first ones have a little less.
static MatmulProblem atSkewedRows(const MatmulProblem &problem, double rows) {
  constexpr double first = 1.5;
  MatmulProblem skewed = atRows(problem, rows);
  if (!problem.isGrouped)
    return skewed;
  double sum = 0;
  for (int64_t i = 0; i < problem.groups; ++i)
    sum += 1 / (i + first);
  for (int64_t i = 0; i < problem.groups; ++i) {
    double mean = rows / (i + first) / sum, used = 1 - std::exp(-mean);
    skewed.spread.push_back(
        {used, std::max<int64_t>(std::llround(mean / used), 1)});
  }
  return skewed;
}

namespace {
/// The loss of a config at each point: the logarithm of its time over the best
/// one's.
using Losses = SmallVector<double>;

/// The choice of one config for each point: what is lost at all of them.
struct Division {
  double loss = std::numeric_limits<double>::infinity();
  SmallVector<size_t> configs;
};
} // namespace

/// The best choice of configs of `set`, where each change from one to another
/// costs as much as it has to save.
static Division divide(ArrayRef<Losses> losses, ArrayRef<size_t> set) {
  size_t points = losses.front().size();
  // The best choices up to a point that end with each config.
  SmallVector<Division> ending(set.size(), {0, {}});
  auto getBest = [&]() -> const Division & {
    return *llvm::min_element(ending, [](const Division &x, const Division &y) {
      return x.loss < y.loss;
    });
  };
  for (size_t point = 0; point < points; ++point) {
    Division changed = getBest();
    changed.loss += kLeastGain * points;
    for (auto [config, division] : llvm::zip_equal(set, ending)) {
      if (point > 0 && changed.loss < division.loss)
        division = changed;
      division.loss += losses[config][point];
      division.configs.push_back(config);
    }
  }
  return getBest();
}

/// The set of at most `count` configs that can be divided with the least loss:
/// one after the other is added, and exchanged for others while that gains.
static Division selectSet(ArrayRef<Losses> losses, int64_t count) {
  SmallVector<size_t> set;
  Division best;
  // Exchanges a member for what loses least, if that gains enough.
  auto improve = [&](size_t &member) {
    size_t kept = member, value = member;
    Division better = best;
    for (size_t config = 0; config < losses.size(); ++config) {
      member = config;
      if (Division division = divide(losses, set);
          division.loss < better.loss) {
        better = division;
        value = config;
      }
    }
    bool gains = best.loss - better.loss > kLeastGain * losses.front().size();
    member = gains ? value : kept;
    if (gains)
      best = better;
    return gains;
  };
  while (int64_t(set.size()) < count) {
    if (!improve(set.emplace_back(0)))
      break;
    while (llvm::any_of(set, improve))
      ;
  }
  return best;
}

SmallVector<ConfigVariant> moeq::selectVariants(MLIRContext *context,
                                                const Chip &chip,
                                                const MatmulProblem &problem,
                                                int64_t count) {
  SmallVector<double> rows;
  for (int64_t i = kPointsPerOctave * kFirstOctave;
       i < kPointsPerOctave * kOctaves; ++i)
    rows.push_back(std::exp2(double(i) / kPointsPerOctave));

  size_t points = rows.size();
  llvm::MapVector<std::pair<ConfigAttr, unsigned>, Losses> losses;
  constexpr double routings = 2;
  for (auto [i, row] : llvm::enumerate(rows))
    for (const MatmulProblem &routed :
         {atRows(problem, row), atSkewedRows(problem, row)}) {
      SmallVector<RankedConfig> ranked = rankConfigs(context, chip, routed);
      auto getTime = [](const RankedConfig &candidate) {
        return candidate.cost.getTotal();
      };
      double least = *llvm::min_element(llvm::map_range(ranked, getTime));
      for (const RankedConfig &candidate : ranked) {
        Losses &loss = losses[{candidate.config, candidate.gathersBefore}];
        loss.resize(points);
        loss[i] += std::log(getTime(candidate) / least) / routings;
      }
    }
  Division division = selectSet(
      llvm::map_to_vector(losses, [](auto &entry) { return entry.second; }),
      count);

  SmallVector<ConfigVariant> variants;
  for (size_t point = 0; point < points; ++point) {
    if (point + 1 < points &&
        division.configs[point] == division.configs[point + 1])
      continue;
    // Between two points, where their geometric mean is.
    int64_t most = point + 1 == points
                       ? std::numeric_limits<int64_t>::max()
                       : int64_t(std::sqrt(rows[point] * rows[point + 1]));
    auto [config, gathersBefore] =
        std::next(losses.begin(), division.configs[point])->first;
    variants.push_back({{config, gathersBefore != 0}, most});
  }
  return variants;
}
