//===- Compile.cpp - Compiling in C -----------------------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Context.h"

#include "moeq/Pipelines/Compile.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

struct MoeqFiles {
  std::deque<std::pair<std::string, std::string>> files;
  std::vector<MoeqFile> views;
};

MoeqFiles *moeqModuleCompile(MoeqModule *module, const char *chip,
                             int64_t variants) {
  OwningOpRef<ModuleOp> clone(module->module->clone());
  moeq::CompileOptions options;
  options.chip = chip;
  options.variants = variants;
  FailureOr<moeq::Compiled> compiled = moeq::compileModule(*clone, options);
  if (failed(compiled))
    return nullptr;
  auto result = std::make_unique<MoeqFiles>();
  for (moeq::CompiledKernel &kernel : compiled->kernels) {
    result->files.emplace_back(kernel.name + ".ptx", std::move(kernel.ptx));
    if (!kernel.cubin.empty())
      result->files.emplace_back(kernel.name + ".cubin",
                                 std::move(kernel.cubin));
  }
  result->files.emplace_back(
      "manifest.json", llvm::formatv("{0:2}\n", compiled->manifest).str());
  for (const auto &[name, data] : result->files)
    result->views.push_back({name.c_str(), data.data(), data.size()});
  return result.release();
}

const MoeqFile *moeqFilesGet(MoeqFiles *files, size_t *count) {
  *count = files->views.size();
  return files->views.data();
}

void moeqFilesDestroy(MoeqFiles *files) { delete files; }
