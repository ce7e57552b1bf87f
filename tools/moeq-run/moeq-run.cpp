//===- moeq-run.cpp - Functions run on arrays -------------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "moeq/RegisterAll.h"
#include "moeq/Runtime/Jit.h"
#include "moeq/Runtime/Npy.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/WithColor.h"

#include <cstring>

using namespace mlir;
using namespace mlir::moeq;
namespace cl = llvm::cl;

namespace {
enum class Device { Cpu, Cuda };
} // namespace

static cl::OptionCategory category("moeq-run options");
static cl::opt<std::string> file(cl::Positional, cl::Required,
                                 cl::desc("IN.mlir"), cl::cat(category));
static cl::opt<std::string> entry("entry", cl::Required,
                                  cl::desc("The function to call"),
                                  cl::cat(category));
static cl::list<std::string>
    inputs("input",
           cl::desc("A .npy file for each array of the arguments, in order"),
           cl::cat(category));
static cl::opt<std::string>
    outputDir("output-dir",
              cl::desc("Where to write the results as .npy; without it "
                       "they are printed"),
              cl::cat(category));
static cl::opt<Device>
    device("device", cl::desc("Where to run"),
           cl::values(clEnumValN(Device::Cpu, "cpu", "this CPU (default)"),
                      clEnumValN(Device::Cuda, "cuda", "a GPU")),
           cl::init(Device::Cpu), cl::cat(category));
static cl::opt<CpuLevel>
    level("level", cl::desc("The level that is lowered to loops"),
          cl::values(clEnumValN(CpuLevel::Layer, "layer",
                                "layers, decomposed and nothing else"),
                     clEnumValN(CpuLevel::Ops, "ops", "fused ops (default)"),
                     clEnumValN(CpuLevel::Tiles, "tiles", "tiles")),
          cl::init(CpuLevel::Ops), cl::cat(category));

/// Prints the elements as numbers, one bracket a dimension.
static void printArray(raw_ostream &os, const ArrayView &array,
                       ArrayRef<int64_t> shape, const char *&data) {
  if (!shape.empty()) {
    os << '[';
    for (int64_t i = 0; i < shape.front(); ++i) {
      if (i)
        os << ", ";
      printArray(os, array, shape.drop_front(), data);
    }
    os << ']';
    return;
  }
  int64_t size = getElementBytes(array.element);
  uint64_t bits = 0;
  std::memcpy(&bits, data, size);
  data += size;
  APInt integer(size * 8, bits);
  if (auto type = dyn_cast<FloatType>(array.element)) {
    APFloat number(type.getFloatSemantics(), integer);
    if (number.isNaN())
      os << "nan";
    else
      os << llvm::format("%.9g", number.convertToDouble());
  } else {
    os << integer.getSExtValue();
  }
}

static int fail(const Twine &message) {
  llvm::WithColor::error(llvm::errs(), "moeq-run") << message << '\n';
  return 1;
}

/// Writes or prints an array. Gives the exit code.
static int report(const ArraySpec &spec, const ArrayView &array) {
  if (outputDir.empty()) {
    llvm::outs() << spec.name << ": " << spec.element << ' ';
    const char *data = static_cast<const char *>(array.data);
    printArray(llvm::outs(), array, array.shape, data);
    llvm::outs() << '\n';
    return 0;
  }
  SmallString<128> path(outputDir);
  llvm::sys::path::append(path, spec.name + ".npy");
  if (llvm::Error error = writeNpy(path, spec, array))
    return fail(llvm::toString(std::move(error)));
  return 0;
}

static int run(ModuleOp module) {
  FailureOr<EntrySignature> signature = getEntrySignature(module, entry);
  if (failed(signature))
    return 1;
  if (signature->inputs.size() != inputs.size()) {
    std::string names;
    for (const ArraySpec &spec : signature->inputs)
      names += " " + spec.name;
    return fail("expects " + Twine(signature->inputs.size()) + " inputs for '" +
                entry + "', got " + Twine(inputs.size()) +
                (names.empty() ? "" : "; they are:" + names));
  }
  SmallVector<Array> arrays;
  SmallVector<ArrayView> views;
  for (auto [spec, path] : llvm::zip(signature->inputs, inputs)) {
    llvm::Expected<Array> array = readNpy(path, spec);
    if (!array)
      return fail(llvm::toString(array.takeError()));
    arrays.push_back(std::move(*array));
    views.push_back(arrays.back().view());
  }
  FailureOr<SmallVector<Array>> results = runOnCpu(module, entry, views, level);
  if (failed(results))
    return 1;

  if (!outputDir.empty())
    if (std::error_code error = llvm::sys::fs::create_directories(outputDir))
      return fail(outputDir + ": " + error.message());
  // A memref among the arguments is a result too.
  auto function = module.lookupSymbol<func::FuncOp>(entry);
  if (llvm::any_of(function.getArgumentTypes(), llvm::IsaPred<MemRefType>))
    for (auto [spec, view] : llvm::zip(signature->inputs, views))
      if (int code = report(spec, view))
        return code;
  for (auto [spec, result] : llvm::zip(signature->results, *results))
    if (int code = report(spec, result.view()))
      return code;
  return 0;
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(argc, argv,
                              "Runs a function of a module on .npy arrays.\n");
  if (device == Device::Cuda)
    return fail("expects --device=cpu: a GPU runs what moeq-compile wrote, "
                "through Python's "
                "moeq.load");

  DialectRegistry registry;
  moeq::registerAllDialects(registry);
  MLIRContext context(registry);
  std::string message;
  auto buffer = openInputFile(file, &message);
  if (!buffer)
    return fail(message);
  auto sources = std::make_shared<llvm::SourceMgr>();
  sources->AddNewSourceBuffer(std::move(buffer), llvm::SMLoc());
  SourceMgrDiagnosticHandler handler(*sources, &context);
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(sources, &context);
  return module ? run(*module) : 1;
}
