//===- ConfigVariants.cpp - Kernels for few and for many rows ---*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "moeq/Target/CostModel.h"

#include "llvm/ADT/MapVector.h"

#include <cmath>

using namespace mlir;
using namespace mlir::moeq;

/// Numbers of rows that the choice is made at: two for each power of two.
static constexpr int64_t kPointsPerOctave = 2, kFirstOctave = 4, kOctaves = 16;
/// A further kernel has to save this part of the time at each point on
/// average.
static constexpr double kLeastGain = 0.0001;

/// `rows` rows with random groups: those that get any, and the rows of each.
static MatmulProblem atRows(MatmulProblem problem, double rows) {
  double groups = problem.groups;
  double used = groups * (1 - std::pow(1 - 1 / groups, rows));
  problem.groups = std::max<int64_t>(1, std::llround(used));
  problem.rows = std::llround(std::ceil(rows / problem.groups));
  return problem;
}

/// The least loss of points [0, i] with a number of kernels, and the last one.
namespace {
struct Choice {
  double loss = std::numeric_limits<double>::infinity();
  size_t begin = 0, config = 0;
};
} // namespace

SmallVector<ConfigVariant> moeq::selectVariants(MLIRContext *context,
                                                const Chip &chip,
                                                const MatmulProblem &problem,
                                                int64_t count) {
  SmallVector<double> rows;
  for (int64_t i = kPointsPerOctave * kFirstOctave;
       i < kPointsPerOctave * kOctaves; ++i)
    rows.push_back(std::exp2(double(i) / kPointsPerOctave));

  // The loss of each config at each point: the logarithm of its time over the
  // best one's.
  size_t points = rows.size();
  llvm::MapVector<std::pair<ConfigAttr, unsigned>, SmallVector<double>> losses;
  for (auto [i, row] : llvm::enumerate(rows)) {
    SmallVector<RankedConfig> ranked =
        rankConfigs(context, chip, atRows(problem, row));
    double least = std::numeric_limits<double>::infinity();
    for (const RankedConfig &candidate : ranked)
      least = std::min(least, candidate.cost.getTotal());
    for (const RankedConfig &candidate : ranked) {
      SmallVector<double> &loss =
          losses[{candidate.config, candidate.gathersBefore}];
      loss.resize(points, std::numeric_limits<double>::infinity());
      loss[i] =
          std::log(candidate.cost.getTotal() / ranked.front().cost.getTotal());
    }
  }

  // The best division of the first points into parts of one config each.
  auto extend = [&](ArrayRef<Choice> fewer) {
    SmallVector<Choice> more(points);
    for (auto [config, entry] : llvm::enumerate(losses))
      for (size_t begin = 0; begin < points; ++begin) {
        double loss = begin == 0      ? 0
                      : fewer.empty() ? std::numeric_limits<double>::infinity()
                                      : fewer[begin - 1].loss;
        for (size_t end = begin; end < points; ++end) {
          loss += entry.second[end];
          if (loss < more[end].loss)
            more[end] = {loss, begin, config};
        }
      }
    return more;
  };
  SmallVector<SmallVector<Choice>> choices{extend({})};
  while (int64_t(choices.size()) < count) {
    choices.push_back(extend(choices.back()));
    double gain =
        choices[choices.size() - 2].back().loss - choices.back().back().loss;
    if (gain > kLeastGain * points)
      continue;
    choices.pop_back();
    break;
  }

  SmallVector<ConfigVariant> variants;
  size_t end = points;
  for (ArrayRef<Choice> level : llvm::reverse(choices)) {
    if (end == 0)
      break;
    Choice choice = level[end - 1];
    // Between two points, where their geometric mean is.
    int64_t most = end == points
                       ? std::numeric_limits<int64_t>::max()
                       : int64_t(std::sqrt(rows[end - 1] * rows[end]));
    auto [config, gathersBefore] =
        std::next(losses.begin(), choice.config)->first;
    variants.push_back({{config, gathersBefore != 0}, most});
    end = choice.begin;
  }
  std::reverse(variants.begin(), variants.end());
  return variants;
}
