//===- moeq-compile.cpp - The compiler driver -------------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "moeq/Pipelines/Compile.h"
#include "moeq/Pipelines/Pipelines.h"
#include "moeq/RegisterAll.h"

#include "mlir/IR/Remarks.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace mlir::moeq;
namespace cl = llvm::cl;

namespace {
enum class Emit { Ptx, Cubin, Manifest, Host };

cl::OptionCategory category("moeq-compile options");
cl::opt<std::string> input(cl::Positional, cl::desc("IN.mlir"), cl::Required,
                           cl::cat(category));
cl::opt<std::string> output("o", cl::desc("Directory to write"), cl::Required,
                            cl::value_desc("DIR"), cl::cat(category));
cl::opt<std::string>
    chip("chip",
         cl::desc("Chip, such as sm_90a (default: the module's, else sm_90a)"),
         cl::cat(category));
cl::opt<int64_t> ptxVersion(
    "ptx-version",
    cl::desc("PTX ISA to emit, such as 80 for 8.0 (default: the chip's)"),
    cl::cat(category));
cl::opt<unsigned> optLevel("opt-level", cl::init(3),
                           cl::desc("Optimization level of LLVM (default 3)"),
                           cl::cat(category));
cl::list<Emit> emits(
    "emit", cl::CommaSeparated,
    cl::desc("What to write (default: ptx, manifest, and cubin where ptxas "
             "is found)"),
    cl::values(clEnumValN(Emit::Ptx, "ptx", "<kernel>.ptx"),
               clEnumValN(Emit::Cubin, "cubin", "<kernel>.cubin, by ptxas"),
               clEnumValN(Emit::Manifest, "manifest", "manifest.json"),
               clEnumValN(Emit::Host, "host",
                          "host.mlir: host functions and gpu.binary")),
    cl::cat(category));
cl::opt<std::string>
    stages("dump-stages",
           cl::desc("Folder for the module after each level, and the PTX"),
           cl::value_desc("DIR"), cl::cat(category));
cl::opt<std::string> configs("config",
                             cl::desc("File of configs: {\"function.0\" = "
                                      "#moeq.config<...>}"),
                             cl::value_desc("FILE"), cl::cat(category));
cl::opt<int64_t>
    variants("variants", cl::init(1),
             cl::desc("The most kernels of a matmul, each for a range of rows "
                      "(default 1)"),
             cl::cat(category));
cl::opt<DecomposeForm> form("form", cl::init(DecomposeForm::Grouped),
                            cl::desc("Form of a grouped matmul"),
                            getDecomposeFormValues(), cl::cat(category));
cl::opt<std::string>
    toolkit("toolkit",
            cl::desc("The only folder to look for the CUDA toolkit in"),
            cl::value_desc("DIR"), cl::cat(category));
cl::opt<bool> remarks("remarks", cl::desc("Print why a kernel took its path"),
                      cl::cat(category));
} // namespace

static LogicalResult compile(ModuleOp module) {
  CompileOptions options{
      chip,   ptxVersion, optLevel, toolkit, Cubins::WherePtxasIs,
      stages, configs,    variants, form};
  bool byDefault = emits.empty();
  auto isAsked = [&](Emit what) { return llvm::is_contained(emits, what); };
  if (!byDefault)
    options.cubins = isAsked(Emit::Cubin) ? Cubins::Always : Cubins::Never;
  FailureOr<Compiled> compiled = compileModule(module, options);
  if (failed(compiled))
    return failure();

  SmallVector<std::pair<std::string, StringRef>> files;
  for (const CompiledKernel &kernel : compiled->kernels) {
    if (byDefault || isAsked(Emit::Ptx))
      files.emplace_back(kernel.name + ".ptx", kernel.ptx);
    if (!kernel.cubin.empty())
      files.emplace_back(kernel.name + ".cubin", kernel.cubin);
  }
  std::string host, manifest;
  if (isAsked(Emit::Host)) {
    llvm::raw_string_ostream(host) << module << "\n";
    files.emplace_back("host.mlir", host);
  }
  // Last: it names the others.
  if (byDefault || isAsked(Emit::Manifest)) {
    llvm::raw_string_ostream(manifest)
        << llvm::formatv("{0:2}\n", compiled->manifest);
    files.emplace_back("manifest.json", manifest);
  }
  if (failed(writeFiles(module.getLoc(), output, files)))
    return failure();
  printKernels(*compiled, llvm::outs());
  return success();
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(
      argc, argv, "moeq-compile: from quantized MoE layers to PTX\n");

  DialectRegistry registry;
  mlir::moeq::registerAllDialects(registry);
  MLIRContext context(registry);
  if (remarks) {
    remark::RemarkCategories all{".*", ".*", ".*", ".*", ".*"};
    (void)remark::enableOptimizationRemarks(
        context, nullptr, std::make_unique<remark::RemarkEmittingPolicyAll>(),
        all, /*printAsEmitRemarks=*/true);
  }
  llvm::SourceMgr sources;
  SourceMgrDiagnosticHandler handler(sources, &context);
  OwningOpRef<ModuleOp> module =
      parseSourceFile<ModuleOp>(input, sources, &context);
  return module && succeeded(compile(*module)) ? 0 : 1;
}
