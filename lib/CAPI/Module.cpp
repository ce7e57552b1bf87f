//===- Module.cpp - Modules in C --------------------------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Context.h"

#include "moeq/Dialect/Moeq/IR/Moeq.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
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
  return new MoeqModule(module->context,
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

/// Adds a tensor, or the components of a scaled one, to `types`.
static void addTensor(MoeqModule *module, std::vector<MoeqTensorType> &types,
                      StringRef name, Type type) {
  static constexpr StringRef suffixes[] = {"", ".scale", ".zero"};
  SmallVector<RankedTensorType, 3> components;
  if (auto tensor = dyn_cast<RankedTensorType>(type)) {
    if (moeq::getScaledElementType(tensor))
      components = moeq::getComponentTypes(tensor);
    else
      components = {tensor};
  } else {
    // A scalar has no dimensions.
    components = {RankedTensorType::get({}, type)};
  }
  for (auto [suffix, component] : llvm::zip(suffixes, components)) {
    std::string element;
    llvm::raw_string_ostream(element) << component.getElementType();
    std::vector<int64_t> &shape = module->shapes.emplace_back();
    for (int64_t extent : component.getShape())
      shape.push_back(ShapedType::isDynamic(extent) ? -1 : extent);
    types.push_back(
        {module->strings.emplace_back((name + suffix).str()).c_str(),
         module->strings.emplace_back(std::move(element)).c_str(), shape.data(),
         static_cast<int64_t>(shape.size())});
  }
}

const MoeqSignature *moeqModuleGetSignature(MoeqModule *module,
                                            const char *entry) {
  auto function = module->module->lookupSymbol<func::FuncOp>(entry);
  if (!function) {
    module->context->emitError("the module has no function '" + Twine(entry) +
                               "'");
    return nullptr;
  }
  module->arguments.clear();
  module->results.clear();
  module->strings.clear();
  module->shapes.clear();
  auto isTensorOrScalar = [](Type type) {
    return isa<RankedTensorType>(type) || type.isIntOrIndexOrFloat();
  };
  for (Type type : llvm::concat<const Type>(function.getArgumentTypes(),
                                            function.getResultTypes()))
    if (!isTensorOrScalar(type)) {
      function.emitError() << "expects ranked tensors and scalars, got "
                           << type;
      return nullptr;
    }
  for (auto [index, type] : llvm::enumerate(function.getArgumentTypes())) {
    auto name = function.getArgAttrOfType<StringAttr>(index, "moeq.name");
    addTensor(module, module->arguments,
              name ? name.str() : "arg" + std::to_string(index), type);
  }
  for (auto [index, type] : llvm::enumerate(function.getResultTypes()))
    addTensor(module, module->results, "result" + std::to_string(index), type);
  module->signature = {module->arguments.data(), module->results.data(),
                       module->arguments.size(), module->results.size()};
  return &module->signature;
}
