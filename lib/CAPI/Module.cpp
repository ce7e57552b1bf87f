//===- Module.cpp - Modules in C --------------------------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Context.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;

MoeqModule *moeqModuleParse(MoeqContext *context, const char *text,
                            size_t length, const char *name) {
  auto sources = std::make_shared<llvm::SourceMgr>();
  // The parser reads a byte past the end, which has to be a zero.
  sources->AddNewSourceBuffer(
      llvm::MemoryBuffer::getMemBufferCopy(StringRef(text, length), name),
      llvm::SMLoc());
  auto module = parseSourceFile<ModuleOp>(sources, &context->context);
  if (!module)
    return nullptr;
  return new MoeqModule(context, std::move(module));
}

void moeqModuleDestroy(MoeqModule *module) { delete module; }

MoeqModule *moeqModuleClone(MoeqModule *module) {
  return new MoeqModule(module->context.get(),
                        OwningOpRef<ModuleOp>(module->module->clone()));
}

char *moeqModulePrint(MoeqModule *module, bool generic) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  OpPrintingFlags flags;
  if (generic)
    flags.printGenericOpForm();
  module->module->print(stream, flags);
  return strdup(text.c_str());
}

bool moeqModuleVerify(MoeqModule *module) {
  return succeeded(verify(*module->module));
}

bool moeqModuleRunPipeline(MoeqModule *module, const char *pipeline) {
  std::string errors;
  llvm::raw_string_ostream stream(errors);
  PassManager manager(&module->context->context, ModuleOp::getOperationName());
  // The manager is the module's already: another anchor would nest and match
  // nothing.
  StringRef passes(pipeline);
  if (passes.consume_front("builtin.module("))
    passes.consume_back(")");
  if (failed(parsePassPipeline(passes, manager, stream))) {
    module->context->emitError("invalid pipeline '" + Twine(pipeline) +
                               "': " + StringRef(errors).trim());
    return false;
  }
  return succeeded(manager.run(*module->module));
}
