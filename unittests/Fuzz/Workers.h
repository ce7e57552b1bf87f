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
  /// Whether foreign code runs that may call own code, rather than the reverse.
  bool runsForeign;
  /// Whether a signal or an exit then found no own code on the stack.
  bool isForeign;
  /// How many items came how far; the meaning is the caller's.
  int64_t counts[4];

  void setPhase(const std::string &text, bool foreign);
};

/// An item whose worker was killed by a signal, exited or gave the item up.
struct Failure {
  int64_t item;
  std::string phase;
  std::string reason;
  /// The signal or exit came from foreign code, called by foreign code.
  bool isForeign;
};

/// Ends the worker: the item at work is a failure, for this reason.
[[noreturn]] void giveUp(Progress &progress, const std::string &reason);

/// Calls a callable, which each of `workers` forked processes makes for itself
/// by `start`, for items 0 to `count` - 1. A worker that dies, or takes more
/// than `seconds` for an item, is replaced by a new one, which begins with the
/// same item: a failure that it does not repeat comes of memory that foreign
/// code overwrote at an earlier item, and is foreign. A signal or exit is
/// foreign too if no function on the stack has `ownName` in its mangled name.
/// Adds the workers' counts to `counts`; stops at 20 failures that are not
/// foreign.
std::vector<Failure>
forEachInWorkers(int64_t count, unsigned workers, unsigned seconds,
                 const char *ownName,
                 const std::function<std::function<void(Progress &)>()> &start,
                 int64_t (&counts)[4]);

} // namespace moeq_fuzz

#endif // MOEQ_UNITTESTS_FUZZ_WORKERS_H
