//===- Passes.h - Conversion passes -----------------------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOEQ_CONVERSION_PASSES_H
#define MOEQ_CONVERSION_PASSES_H

#include "mlir/Pass/Pass.h"

namespace mlir::moeq {

#define GEN_PASS_DECL
#include "moeq/Conversion/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "moeq/Conversion/Passes.h.inc"

} // namespace mlir::moeq

#endif // MOEQ_CONVERSION_PASSES_H
