//===- SerializeKernels.cpp - Turn gpu.module into gpu.binary ---*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "moeq/Target/CudaToolkit.h"
#include "moeq/Target/Passes.h"
#include "moeq/Target/Ptx.h"

#include "mlir/IR/Threading.h"

namespace mlir::moeq {
#define GEN_PASS_DEF_SERIALIZEKERNELS
#include "moeq/Target/Passes.h.inc"
} // namespace mlir::moeq

using namespace mlir;
using namespace mlir::moeq;

/// The bytes of spill stores that a kernel records as worth it.
static FailureOr<int64_t> getMaxSpillStores(FunctionOpInterface kernel) {
  Attribute attr = kernel->getAttr(kMaxSpillStoresAttr);
  if (!attr)
    return 0;
  auto bytes = dyn_cast<IntegerAttr>(attr);
  if (!bytes || bytes.getInt() < 0 || bytes.getInt() > kMaxRecordedSpillStores)
    return kernel->emitOpError()
           << "expects '" << kMaxSpillStoresAttr << "' of 0 to "
           << kMaxRecordedSpillStores << " bytes, got " << attr;
  return bytes.getInt();
}

namespace {
/// What the serialization of one gpu.module yields.
struct Serialized {
  NVVM::NVVMTargetAttr target;
  std::string object;
  SmallVector<KernelUsage> usage;
};

struct SerializeKernels : moeq::impl::SerializeKernelsBase<SerializeKernels> {
  using Base::Base;

  void runOnOperation() override {
    if (format != "isa" && format != "bin") {
      emitError(getOperation().getLoc())
          << "expects a format of 'isa' or 'bin', got '" << format << "'";
      return signalPassFailure();
    }
    SmallVector<std::pair<gpu::GPUModuleOp, Serialized>> modules;
    for (auto module : getOperation().getOps<gpu::GPUModuleOp>())
      modules.push_back({module, {}});
    if (failed(
            failableParallelForEach(&getContext(), modules, [&](auto &entry) {
              return serialize(entry.first, entry.second);
            })))
      return signalPassFailure();
    for (auto &[module, serialized] : modules)
      replace(module, serialized);
  }

  LogicalResult serialize(gpu::GPUModuleOp module, Serialized &result) {
    ArrayAttr targets = module.getTargetsAttr();
    if (!targets || targets.size() != 1 ||
        !isa<NVVM::NVVMTargetAttr>(targets[0]))
      return module->emitOpError("expects one target, a #nvvm.target");
    result.target = cast<NVVM::NVVMTargetAttr>(targets[0]);

    int64_t maxSpillStores = 0;
    for (FunctionOpInterface kernel : getKernels(module)) {
      FailureOr<int64_t> bytes = getMaxSpillStores(kernel);
      if (failed(bytes))
        return failure();
      maxSpillStores = std::max(maxSpillStores, *bytes);
    }
    FailureOr<std::string> ptx = emitPtx(module, result.target, toolkit);
    if (failed(ptx))
      return failure();
    result.object = std::move(*ptx);
    if (format == "isa")
      return success();
    FailureOr<Assembly> assembly = assemblePtx(
        module.getLoc(), result.object, result.target.getChip(), toolkit);
    if (failed(assembly) ||
        failed(verifyAssembly(module.getLoc(), *assembly, maxSpillStores)))
      return failure();
    result.object = std::move(assembly->cubin);
    result.usage = std::move(assembly->kernels);
    return success();
  }

  void replace(gpu::GPUModuleOp module, Serialized &serialized) {
    OpBuilder builder(module);
    SmallVector<gpu::KernelMetadataAttr> kernels;
    for (FunctionOpInterface kernel : getKernels(module))
      kernels.push_back(gpu::KernelMetadataAttr::get(
          kernel, getMetadata(builder, kernel, serialized.usage)));
    auto object = builder.getAttr<gpu::ObjectAttr>(
        serialized.target,
        format == "isa" ? gpu::CompilationTarget::Assembly
                        : gpu::CompilationTarget::Binary,
        builder.getStringAttr(serialized.object),
        builder.getDictionaryAttr(builder.getNamedAttr(
            "O", builder.getI32IntegerAttr(serialized.target.getO()))),
        builder.getAttr<gpu::KernelTableAttr>(kernels));
    gpu::BinaryOp::create(builder, module.getLoc(), module.getName(),
                          /*offloadingHandler=*/nullptr,
                          builder.getArrayAttr({object}));
    module->erase();
  }

  /// What ptxas said of a kernel, and what the kernel says of itself.
  static DictionaryAttr getMetadata(Builder &builder,
                                    FunctionOpInterface kernel,
                                    ArrayRef<KernelUsage> usage) {
    NamedAttrList metadata;
    if (Attribute bytes = kernel->getAttr(kMaxSpillStoresAttr))
      metadata.set(kMaxSpillStoresAttr, bytes);
    const auto *used = llvm::find_if(usage, [&](const KernelUsage &entry) {
      return entry.name == kernel.getName();
    });
    if (used != usage.end()) {
      metadata.set("registers", builder.getI64IntegerAttr(used->registers));
      metadata.set("shared_memory",
                   builder.getI64IntegerAttr(used->sharedMemory));
      metadata.set("spill_stores",
                   builder.getI64IntegerAttr(used->spillStores));
    }
    return metadata.getDictionary(builder.getContext());
  }
};
} // namespace
