//===- Workers.cpp - Work in forked processes -------------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Workers.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <execinfo.h>
#include <map>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace moeq_fuzz;

/// Of the sanitizers' interface: null without one.
extern "C" __attribute__((weak)) void
__sanitizer_set_death_callback(void (*callback)());

/// The exit status of a worker that gave an item up.
static constexpr int gaveUpStatus = 77;

/// What the signal handler reads.
static Progress *current;
static const char *currentOwnName;

/// Looks for code of ours on the stack.
static void findOwner() {
  void *frames[256];
  int depth = backtrace(frames, 256);
  bool own = !current->runsForeign || depth == 256;
  for (int i = 0; i < depth && !own; ++i) {
    Dl_info info;
    own = dladdr(frames[i], &info) && info.dli_sname &&
          std::strstr(info.dli_sname, currentOwnName);
  }
  current->isForeign = !own;
}

/// Dies of the signal.
static void onSignal(int signal) {
  findOwner();
  std::signal(signal, SIG_DFL);
  raise(signal);
}

/// Has fatal signals handled on a stack of their own, since the other may be
/// full.
static void installHandler(Progress &progress, const char *ownName) {
  current = &progress;
  currentOwnName = ownName;
  static char stack[1 << 20];
  stack_t alternate = {};
  alternate.ss_sp = stack;
  alternate.ss_size = sizeof(stack);
  sigaltstack(&alternate, nullptr);
  struct sigaction action = {};
  action.sa_handler = onSignal;
  action.sa_flags = SA_ONSTACK;
  for (int signal :
       {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGALRM})
    sigaction(signal, &action, nullptr);
  // What reports a fatal error exits; workers themselves do it without
  // handlers.
  std::atexit(findOwner);
  // A sanitizer that has found an error does not.
  if (__sanitizer_set_death_callback)
    __sanitizer_set_death_callback(findOwner);
  // The first backtrace loads a library, which a handler should not.
  void *frame;
  backtrace(&frame, 1);
}

/// Has a mutant that asks for all memory die of it alone, with a signal that
/// says where. A sanitizer reserves more than any limit.
static void limitMemory() {
#if !__has_feature(address_sanitizer)
  rlimit limit = {};
  limit.rlim_cur = limit.rlim_max = rlim_t(6) << 30;
  setrlimit(RLIMIT_AS, &limit);
#endif
}

void Progress::setPhase(const std::string &text, bool foreign) {
  runsForeign = foreign;
  std::snprintf(phase, sizeof(phase), "%s", text.c_str());
}

void moeq_fuzz::giveUp(Progress &progress, const std::string &reason) {
  progress.setPhase(std::string(progress.phase) + ": " + reason, false);
  _exit(gaveUpStatus);
}

std::vector<Failure> moeq_fuzz::forEachInWorkers(
    int64_t count, unsigned workers, unsigned seconds, const char *ownName,
    const std::function<std::function<void(Progress &)>()> &start,
    int64_t (&counts)[4]) {
  size_t bytes = workers * sizeof(Progress);
  void *memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  auto *progress = static_cast<Progress *>(memory);
  std::map<pid_t, unsigned> running;
  std::vector<int64_t> firstItems(workers);
  auto launch = [&](unsigned worker, int64_t first) {
    firstItems[worker] = first;
    std::fflush(nullptr);
    pid_t pid = fork();
    if (pid != 0) {
      running[pid] = worker;
      return;
    }
    Progress &mine = progress[worker];
    installHandler(mine, ownName);
    limitMemory();
    // Some passes print.
    if (!std::freopen("/dev/null", "w", stdout))
      _exit(1);
    std::function<void(Progress &)> work = start();
    for (int64_t item = first; item < count; item += workers) {
      mine.item = item;
      mine.isForeign = false;
      alarm(seconds);
      work(mine);
    }
    _exit(0);
  };
  for (unsigned worker = 0; worker < workers; ++worker)
    launch(worker, worker);

  std::vector<Failure> failures;
  std::map<int64_t, Failure> suspects;
  unsigned own = 0;
  while (!running.empty()) {
    int status = 0;
    pid_t pid = wait(&status);
    if (pid < 0)
      break;
    auto found = running.find(pid);
    if (found == running.end())
      continue;
    unsigned worker = found->second;
    running.erase(found);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
      continue;
    const Progress &last = progress[worker];
    std::string reason = "gave up";
    if (WIFSIGNALED(status))
      reason = strsignal(WTERMSIG(status));
    else if (WEXITSTATUS(status) != gaveUpStatus)
      reason = "exited with " + std::to_string(WEXITSTATUS(status));
    Failure failure{last.item, last.phase, reason, last.isForeign};
    if (last.item != firstItems[worker]) {
      suspects[last.item] = failure;
      launch(worker, last.item);
      continue;
    }
    suspects.erase(last.item);
    failures.push_back(failure);
    own += !failure.isForeign;
    if (own < 20)
      launch(worker, last.item + workers);
  }
  for (auto &[item, failure] : suspects)
    failures.push_back(
        {item, failure.phase, failure.reason + ", not by itself", true});
  for (unsigned worker = 0; worker < workers; ++worker)
    for (unsigned i = 0; i < 4; ++i)
      counts[i] += progress[worker].counts[i];
  munmap(memory, bytes);
  std::sort(failures.begin(), failures.end(),
            [](const Failure &a, const Failure &b) { return a.item < b.item; });
  return failures;
}
