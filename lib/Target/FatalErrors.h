//===- FatalErrors.h - Survive LLVM's fatal errors --------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOEQ_LIB_TARGET_FATALERRORS_H
#define MOEQ_LIB_TARGET_FATALERRORS_H

#include "mlir/Support/LLVM.h"
#include <string>

namespace mlir::moeq {

/// Runs `function` and returns an empty string, or the text of the fatal error
/// that LLVM ended it with, such as "Cannot select: intrinsic ...". What the
/// function held at that point is leaked, and with it has to be leaked every
/// LLVM object that it worked on.
std::string recoverFatalErrors(llvm::function_ref<void()> function);

} // namespace mlir::moeq

#endif // MOEQ_LIB_TARGET_FATALERRORS_H
