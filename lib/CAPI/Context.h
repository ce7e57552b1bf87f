//===- Context.h - The objects behind the C interface -----------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOEQ_LIB_CAPI_CONTEXT_H
#define MOEQ_LIB_CAPI_CONTEXT_H

#include "moeq-c/Moeq.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/IntrusiveRefCntPtr.h"

#include <deque>

/// Lives as long as its handle and its modules.
struct MoeqContext : llvm::RefCountedBase<MoeqContext> {
  MoeqContext();

  /// Reports an error that has no place in the IR.
  void emitError(const llvm::Twine &message);

  mlir::MLIRContext context;
  /// Keeps every diagnostic instead of printing it.
  mlir::DiagnosticEngine::HandlerID handler;
  std::vector<MoeqDiagnostic> diagnostics;
  /// Owns what the diagnostics point to; a deque does not move its elements.
  std::deque<std::string> strings;
};

struct MoeqModule {
  MoeqModule(MoeqContext *context, mlir::OwningOpRef<mlir::ModuleOp> module)
      : context(context), module(std::move(module)) {}

  llvm::IntrusiveRefCntPtr<MoeqContext> context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  /// What the last moeqModuleGetSignature returned, with what it points to.
  MoeqSignature signature = {};
  std::vector<MoeqTensorType> arguments, results;
  std::deque<std::string> strings;
  std::deque<std::vector<int64_t>> shapes;
};

#endif // MOEQ_LIB_CAPI_CONTEXT_H
