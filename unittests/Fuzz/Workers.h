//===- Workers.h - Work in forked processes ---------------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOEQ_UNITTESTS_FUZZ_WORKERS_H
#define MOEQ_UNITTESTS_FUZZ_WORKERS_H

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace moeq_fuzz {

/// What a worker writes where its parent can read it after the worker's death.
struct Progress {
  /// The number of the item at work.
  int64_t item;
  /// What is done to it.
  char phase[160];
  /// How many items came how far; the meaning is the caller's.
  int64_t counts[4];

  void setPhase(const std::string &text);
};

/// An item whose worker was killed by a signal or gave the item up.
struct Failure {
  int64_t item;
  std::string phase;
  std::string reason;
};

/// Ends the worker: the item at work is a failure, for this reason.
[[noreturn]] void giveUp(Progress &progress, const std::string &reason);

/// Calls `work` for items 0 to `count` - 1 in `workers` forked processes, each
/// of which makes its own callable by `start`. A worker that dies, or takes
/// more than `seconds` for an item, is replaced by a new one at the item that
/// follows. Adds the workers' counts to `counts`; stops at 20 failures.
std::vector<Failure>
forEachInWorkers(int64_t count, unsigned workers, unsigned seconds,
                 const std::function<std::function<void(Progress &)>()> &start,
                 int64_t (&counts)[4]);

} // namespace moeq_fuzz

#endif // MOEQ_UNITTESTS_FUZZ_WORKERS_H
