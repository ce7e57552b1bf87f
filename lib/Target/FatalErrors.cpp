//===- FatalErrors.cpp - Survive LLVM's fatal errors ------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FatalErrors.h"

#include "llvm/Support/ErrorHandling.h"
#include <csetjmp>
#include <mutex>

using namespace mlir;

namespace {
/// Where a fatal error of this thread goes, and what it said.
struct Recovery {
  std::jmp_buf target;
  std::string message;
};
} // namespace

static thread_local Recovery *current = nullptr;

static void onFatalError(void *, const char *reason, bool) {
  // Another thread's error: returning lets LLVM end the process as ever.
  if (!current)
    return;
  current->message = reason;
  std::longjmp(current->target, 1);
}

namespace {
/// Keeps the process-wide handler installed while any thread is recovering.
class HandlerScope {
public:
  HandlerScope() {
    std::lock_guard<std::mutex> lock(mutex);
    if (users++ == 0)
      llvm::install_fatal_error_handler(onFatalError);
  }
  ~HandlerScope() {
    std::lock_guard<std::mutex> lock(mutex);
    if (--users == 0)
      llvm::remove_fatal_error_handler();
  }

private:
  static std::mutex mutex;
  static int users;
};
} // namespace

std::mutex HandlerScope::mutex;
int HandlerScope::users = 0;

std::string
mlir::moeq::recoverFatalErrors(llvm::function_ref<void()> function) {
  HandlerScope scope;
  Recovery recovery;
  Recovery *outer = current;
  current = &recovery;
  if (setjmp(recovery.target) == 0)
    function();
  current = outer;
  return std::move(recovery.message);
}
