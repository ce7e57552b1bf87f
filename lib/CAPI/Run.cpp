//===- Run.cpp - Signatures and running in C --------------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Context.h"

#include "moeq/Runtime/Jit.h"

#include "mlir/AsmParser/AsmParser.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

static std::string stringify(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

/// The C form of `specs`, owned by the module until its next signature.
static std::vector<MoeqTensorType> getTypes(MoeqModule *module,
                                            ArrayRef<moeq::ArraySpec> specs) {
  std::vector<MoeqTensorType> types;
  for (const moeq::ArraySpec &spec : specs) {
    std::vector<int64_t> &shape = module->shapes.emplace_back();
    for (int64_t extent : spec.shape)
      shape.push_back(ShapedType::isDynamic(extent) ? -1 : extent);
    types.push_back(
        {module->strings.emplace_back(spec.name).c_str(),
         module->strings.emplace_back(stringify(spec.element)).c_str(),
         shape.data(), static_cast<int64_t>(shape.size())});
  }
  return types;
}

const MoeqSignature *moeqModuleGetSignature(MoeqModule *module,
                                            const char *entry) {
  FailureOr<moeq::EntrySignature> signature =
      moeq::getEntrySignature(*module->module, entry);
  if (failed(signature))
    return nullptr;
  module->strings.clear();
  module->shapes.clear();
  module->arguments = getTypes(module, signature->inputs);
  module->results = getTypes(module, signature->results);
  module->signature = {module->arguments.data(), module->results.data(),
                       module->arguments.size(), module->results.size()};
  return &module->signature;
}

struct MoeqArrays {
  SmallVector<moeq::Array> arrays;
  std::vector<std::string> elements;
  std::vector<MoeqArray> views;
};

MoeqArrays *moeqModuleRun(MoeqModule *module, const char *entry,
                          const char *level, const MoeqArray *inputs,
                          size_t numInputs) {
  auto parsed = llvm::StringSwitch<std::optional<moeq::CpuLevel>>(level)
                    .Case("layer", moeq::CpuLevel::Layer)
                    .Case("ops", moeq::CpuLevel::Ops)
                    .Case("tiles", moeq::CpuLevel::Tiles)
                    .Default(std::nullopt);
  if (!parsed) {
    module->context->emitError("expects a level of layer, ops or tiles, got '" +
                               Twine(level) + "'");
    return nullptr;
  }
  SmallVector<moeq::ArrayView> views;
  for (const MoeqArray &input : ArrayRef(inputs, numInputs)) {
    Type element = parseType(input.element, &module->context->context);
    if (!element)
      return nullptr;
    views.push_back({element,
                     SmallVector<int64_t>(ArrayRef(input.shape, input.rank)),
                     input.data});
  }
  FailureOr<SmallVector<moeq::Array>> results =
      moeq::runOnCpu(*module->module, entry, views, *parsed);
  if (failed(results))
    return nullptr;
  auto arrays = std::make_unique<MoeqArrays>();
  arrays->arrays = std::move(*results);
  for (moeq::Array &array : arrays->arrays)
    arrays->elements.push_back(stringify(array.element));
  for (auto [array, element] : llvm::zip(arrays->arrays, arrays->elements))
    arrays->views.push_back({element.c_str(), array.data.get(),
                             array.shape.data(),
                             static_cast<int64_t>(array.shape.size())});
  return arrays.release();
}

const MoeqArray *moeqArraysGet(MoeqArrays *arrays, size_t *count) {
  *count = arrays->views.size();
  return arrays->views.data();
}

void moeqArraysDestroy(MoeqArrays *arrays) { delete arrays; }
