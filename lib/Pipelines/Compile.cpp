//===- Compile.cpp - From a module to files for a launcher ------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "moeq/Pipelines/Compile.h"

#include "moeq/Dialect/Moeq/IR/Moeq.h"
#include "moeq/Pipelines/Pipelines.h"
#include "moeq/Target/Chips.h"
#include "moeq/Target/Manifest.h"
#include "moeq/Target/Passes.h"

#include "mlir/IR/Threading.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace mlir;
using namespace mlir::moeq;

namespace {
/// A level: its name in a dump, and the passes that lead to it.
struct Level {
  StringLiteral name;
  void (*build)(OpPassManager &, const ToPtxOptions &);
};

/// What is known of a kernel from its binary: the place of its diagnostics, and
/// the spill stores that it records as worth it.
struct Origin {
  Location loc;
  int64_t maxSpillStores;
};
} // namespace

static constexpr Level kLevels[] = {
    {"1-layer", [](OpPassManager &, const ToPtxOptions &) {}},
    {"2-ops",
     [](OpPassManager &pm, const ToPtxOptions &options) {
       buildToOps(pm, options.form);
     }},
    {"3-tiles",
     [](OpPassManager &pm, const ToPtxOptions &options) {
       buildToTiles(pm, options.variants);
     }},
    {"4-kernels",
     [](OpPassManager &pm, const ToPtxOptions &) { buildToKernels(pm); }},
    {"5-hardware", buildToHardware},
    {"6-binary", buildToBinary}};
static constexpr size_t kOps = 1, kKernels = 3;

static LogicalResult dump(ModuleOp module, StringRef folder, StringRef file,
                          function_ref<void(raw_ostream &)> print) {
  if (folder.empty())
    return success();
  SmallString<128> path(folder);
  llvm::sys::path::append(path, file);
  std::error_code error = llvm::sys::fs::create_directories(folder);
  if (!error) {
    llvm::ToolOutputFile output(path, error, llvm::sys::fs::OF_None);
    if (!error) {
      print(output.os());
      output.keep();
    }
  }
  if (error)
    return emitError(module.getLoc())
           << "cannot write " << path << ": " << error.message();
  return success();
}

/// The target that the pipeline will compile for, checked before anything else.
static FailureOr<PtxTarget> selectTarget(ModuleOp module,
                                         const CompileOptions &options) {
  PassManager pm(module.getContext(), ModuleOp::getOperationName());
  pm.addPass(
      createAttachTarget({options.chip, options.ptxVersion, options.optLevel}));
  if (failed(pm.run(module)))
    return failure();
  auto named = module->getAttrOfType<TargetAttr>("moeq.target");
  FailureOr<const Chip *> chip =
      lookupChip(module.getLoc(), named.getChip().getValue());
  if (failed(chip))
    return failure();
  FailureOr<int64_t> version =
      selectPtxVersion(module.getLoc(), **chip, options.ptxVersion);
  if (failed(version))
    return failure();
  return PtxTarget{*chip, *version};
}

/// The kernels of the binaries of a module.
static SmallVector<CompiledKernel>
collectKernels(ModuleOp module, SmallVectorImpl<Origin> &origins) {
  SmallVector<CompiledKernel> kernels;
  for (auto binary : module.getOps<gpu::BinaryOp>()) {
    auto object = dyn_cast<gpu::ObjectAttr>(binary.getObjectsAttr()[0]);
    for (gpu::KernelMetadataAttr kernel : object.getKernels()) {
      auto bytes = kernel.getAttr<IntegerAttr>(kMaxSpillStoresAttr);
      origins.push_back({binary.getLoc(), bytes ? bytes.getInt() : 0});
      kernels.push_back({kernel.getName().str(),
                         object.getObject().getValue().str(),
                         "",
                         {}});
    }
  }
  return kernels;
}

/// Assembles the kernels, in parallel.
static LogicalResult assemble(MLIRContext *context, StringRef chip,
                              StringRef toolkit,
                              MutableArrayRef<CompiledKernel> kernels,
                              ArrayRef<Origin> origins) {
  return failableParallelForEachN(
      context, 0, kernels.size(), [&](size_t i) -> LogicalResult {
        CompiledKernel &kernel = kernels[i];
        FailureOr<Assembly> assembly =
            assemblePtx(origins[i].loc, kernel.ptx, chip, toolkit);
        if (failed(assembly) ||
            failed(verifyAssembly(origins[i].loc, *assembly,
                                  origins[i].maxSpillStores)))
          return failure();
        kernel.cubin = std::move(assembly->cubin);
        if (assembly->kernels.size() == 1)
          kernel.usage = std::move(assembly->kernels[0]);
        return success();
      });
}

FailureOr<Compiled> mlir::moeq::compileModule(ModuleOp module,
                                              const CompileOptions &options) {
  FailureOr<PtxTarget> target = selectTarget(module, options);
  if (failed(target))
    return failure();
  bool hasCubins = options.cubins == Cubins::Always ||
                   (options.cubins == Cubins::WherePtxasIs &&
                    findCudaFile("bin/ptxas", options.toolkit).has_value());

  ToPtxOptions pipeline;
  pipeline.chip = options.chip;
  pipeline.ptxVersion = options.ptxVersion;
  pipeline.optLevel = options.optLevel;
  pipeline.toolkit = options.toolkit;
  pipeline.variants = options.variants;
  pipeline.form = options.form;
  Compiled compiled;
  for (const auto &[i, level] : llvm::enumerate(kLevels)) {
    PassManager pm(module.getContext(), ModuleOp::getOperationName());
    level.build(pm, pipeline);
    if (failed(pm.run(module)))
      return failure();
    if (i == kOps && !options.configs.empty() &&
        failed(applyConfigs(module, options.configs)))
      return failure();
    if (failed(dump(module, options.stages, (level.name + ".mlir").str(),
                    [&](raw_ostream &os) { module.print(os); })))
      return failure();
    if (i != kKernels)
      continue;
    FailureOr<llvm::json::Value> manifest =
        buildManifest(module, *target, hasCubins);
    if (failed(manifest))
      return failure();
    compiled.manifest = std::move(*manifest);
  }

  SmallVector<Origin> origins;
  compiled.kernels = collectKernels(module, origins);
  for (const CompiledKernel &kernel : compiled.kernels)
    if (failed(dump(module, options.stages, kernel.name + ".ptx",
                    [&](raw_ostream &os) { os << kernel.ptx; })))
      return failure();
  if (hasCubins && failed(assemble(module.getContext(), target->chip->name,
                                   options.toolkit, compiled.kernels, origins)))
    return failure();
  return compiled;
}
