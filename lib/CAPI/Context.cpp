//===- Context.cpp - Contexts and diagnostics in C --------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Context.h"

#include "moeq/RegisterAll.h"

using namespace mlir;

static MoeqSeverity getSeverity(DiagnosticSeverity severity) {
  switch (severity) {
  case DiagnosticSeverity::Note:
    return MoeqSeverityNote;
  case DiagnosticSeverity::Warning:
    return MoeqSeverityWarning;
  case DiagnosticSeverity::Error:
    return MoeqSeverityError;
  case DiagnosticSeverity::Remark:
    return MoeqSeverityRemark;
  }
  return MoeqSeverityError;
}

static DialectRegistry makeRegistry() {
  DialectRegistry registry;
  moeq::registerAllDialects(registry);
  // Passes are registered once a process.
  [[maybe_unused]] static bool registered = (moeq::registerAllPasses(), true);
  return registry;
}

MoeqContext::MoeqContext()
    : context(makeRegistry(), MLIRContext::Threading::DISABLED) {
  context.printOpOnDiagnostic(false);
  auto keep = [this](Diagnostic &diagnostic) {
    MoeqDiagnostic entry = {};
    entry.severity = getSeverity(diagnostic.getSeverity());
    entry.file = "";
    if (auto loc = diagnostic.getLocation()->findInstanceOf<FileLineColLoc>()) {
      entry.line = loc.getLine();
      entry.column = loc.getColumn();
      entry.file = strings.emplace_back(loc.getFilename().str()).c_str();
    }
    entry.message = strings.emplace_back(diagnostic.str()).c_str();
    diagnostics.push_back(entry);
  };
  handler =
      context.getDiagEngine().registerHandler([keep](Diagnostic &diagnostic) {
        keep(diagnostic);
        for (Diagnostic &note : diagnostic.getNotes())
          keep(note);
        return success();
      });
}

void MoeqContext::emitError(const Twine &message) {
  mlir::emitError(UnknownLoc::get(&context)) << message;
}

MoeqContext *moeqContextCreate() {
  auto *context = new MoeqContext;
  context->Retain();
  return context;
}

void moeqContextDestroy(MoeqContext *context) { context->Release(); }

const MoeqDiagnostic *moeqContextGetDiagnostics(MoeqContext *context,
                                                size_t *count) {
  *count = context->diagnostics.size();
  return context->diagnostics.data();
}

void moeqContextClearDiagnostics(MoeqContext *context) {
  context->diagnostics.clear();
  context->strings.clear();
}

void moeqStringDestroy(char *string) { free(string); }
