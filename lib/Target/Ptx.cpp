//===- Ptx.cpp - PTX from kernels in the LLVM dialect -----------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "moeq/Target/Ptx.h"

#include "FatalErrors.h"
#include "moeq/Target/Chips.h"
#include "moeq/Target/CudaToolkit.h"

#include "mlir/Target/LLVMIR/Export.h"
#include "llvm-c/Target.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/IRReader/IRReader.h"
#include "llvm/Linker/Linker.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/IPO/Internalize.h"
#include <mutex>

using namespace mlir;
using namespace mlir::moeq;

static constexpr StringLiteral kTriple = "nvptx64-nvidia-cuda";

// Functions that the driver's linker defines, and one that LLVM folds away.
static constexpr StringLiteral kKnownFunctions[] = {
    "vprintf", "__assertfail", "malloc", "free", "__nvvm_reflect"};

FailureOr<PtxTarget> mlir::moeq::getPtxTarget(Location loc,
                                              NVVM::NVVMTargetAttr target) {
  FailureOr<const Chip *> chip = lookupChip(loc, target.getChip());
  if (failed(chip))
    return failure();
  StringRef features = target.getFeatures();
  int64_t requested;
  if (!features.consume_front("+ptx") || features.getAsInteger(10, requested) ||
      requested == 0)
    return emitError(loc) << "expects features of the form '+ptx80', got '"
                          << target.getFeatures() << "'";
  FailureOr<int64_t> version = selectPtxVersion(loc, **chip, requested);
  if (failed(version))
    return failure();
  return PtxTarget{*chip, *version};
}

FailureOr<std::optional<PtxTarget>>
mlir::moeq::getPtxTarget(gpu::GPUModuleOp module) {
  ArrayAttr targets = module.getTargetsAttr();
  auto target = targets && targets.size() == 1
                    ? dyn_cast<NVVM::NVVMTargetAttr>(targets[0])
                    : NVVM::NVVMTargetAttr();
  if (!target)
    return std::optional<PtxTarget>();
  FailureOr<PtxTarget> known = getPtxTarget(module.getLoc(), target);
  if (failed(known))
    return failure();
  return std::optional(*known);
}

bool PtxTarget::convertsFloat8() const {
  return chip->hasFp8 && (chip->name != "sm_89" || ptxVersion >= 81);
}

bool PtxTarget::multipliesFloat8() const {
  return chip->hasFp8 && ptxVersion >= 84;
}

NVVM::NVVMTargetAttr mlir::moeq::getTargetAttr(MLIRContext *context,
                                               const PtxTarget &target,
                                               unsigned optLevel) {
  return NVVM::NVVMTargetAttr::get(context, optLevel, kTriple,
                                   target.chip->name,
                                   "+ptx" + std::to_string(target.ptxVersion));
}

SmallVector<FunctionOpInterface>
mlir::moeq::getKernels(gpu::GPUModuleOp module) {
  SmallVector<FunctionOpInterface> kernels;
  for (auto function : module.getOps<FunctionOpInterface>())
    if (function->hasAttr(NVVM::NVVMDialect::getKernelFuncAttrName()) ||
        function->hasAttr(gpu::GPUDialect::getKernelFuncAttrName()))
      kernels.push_back(function);
  return kernels;
}

/// Checks the types in attributes of LLVM operations, which upstream translates
/// unseen. (Those of NVVM name formats, such as fp8, and are checked there.)
static LogicalResult verifyTypeAttributes(Operation *op) {
  if (isa<NVVM::NVVMDialect>(op->getDialect()))
    return success();
  for (NamedAttribute attribute : op->getAttrs()) {
    auto type = dyn_cast<TypeAttr>(attribute.getValue());
    if (type && !LLVM::isCompatibleType(type.getValue()))
      return op->emitOpError()
             << "expects a type of the LLVM dialect as '"
             << attribute.getName().getValue() << "', got " << type.getValue();
  }
  return success();
}

/// Checks that only operations are left that have a translation to LLVM IR.
static LogicalResult verifyTranslatable(gpu::GPUModuleOp module) {
  Operation *cast = nullptr;
  WalkResult result = module.walk([&](Operation *op) {
    if (op == module)
      return WalkResult::advance();
    if (isa<NVVM::NVVMDialect>(op->getDialect()))
      return WalkResult::advance();
    if (isa<LLVM::LLVMDialect>(op->getDialect()))
      return succeeded(verifyTypeAttributes(op)) ? WalkResult::advance()
                                                 : WalkResult::interrupt();
    // A cast is what is left around the operation that matters.
    if (isa<UnrealizedConversionCastOp>(op)) {
      cast = cast ? cast : op;
      return WalkResult::advance();
    }
    op->emitOpError()
        << "is left in a kernel that is to become PTX, where only "
           "operations of the LLVM dialect are expected";
    return WalkResult::interrupt();
  });
  if (result.wasInterrupted())
    return failure();
  if (cast)
    return cast->emitOpError()
           << "is left in a kernel that is to become PTX: no conversion from "
           << cast->getOperandTypes() << " to " << cast->getResultTypes();
  return success();
}

/// The first call of `callee` in the kernels, else the module.
static Location getCallLocation(gpu::GPUModuleOp module, StringRef callee) {
  Location loc = module.getLoc();
  module.walk([&](LLVM::CallOp call) {
    if (call.getCallee() != callee)
      return WalkResult::advance();
    loc = call.getLoc();
    return WalkResult::interrupt();
  });
  return loc;
}

/// The functions that are called and not defined.
static SmallVector<StringRef> getUndefined(llvm::Module &module) {
  SmallVector<StringRef> names;
  for (llvm::Function &function : module)
    if (function.isDeclaration() && !function.isIntrinsic() &&
        !function.use_empty() &&
        !llvm::is_contained(kKnownFunctions, function.getName()))
      names.push_back(function.getName());
  return names;
}

/// Links what the module calls of libdevice.
static LogicalResult linkLibdevice(gpu::GPUModuleOp module,
                                   llvm::Module &llvmModule,
                                   StringRef toolkit) {
  SmallVector<StringRef> undefined = getUndefined(llvmModule);
  auto *function = llvm::find_if(
      undefined, [](StringRef name) { return name.starts_with("__nv_"); });
  if (function == undefined.end())
    return success();
  Location loc = getCallLocation(module, *function);
  std::optional<std::string> file =
      findCudaFile("nvvm/libdevice/libdevice.10.bc", toolkit);
  if (!file)
    return emitError(loc)
           << "'" << *function
           << "' needs libdevice, which was found neither in CUDA_HOME nor "
              "beside the ptxas on PATH nor among the Python packages";
  llvm::SMDiagnostic error;
  std::unique_ptr<llvm::Module> library =
      llvm::getLazyIRFileModule(*file, error, llvmModule.getContext());
  if (!library)
    return emitError(loc) << "cannot read " << *file << ": "
                          << error.getMessage();
  library->setTargetTriple(llvmModule.getTargetTriple());
  library->setDataLayout(llvmModule.getDataLayout());
  bool broken = llvm::Linker::linkModules(
      llvmModule, std::move(library), llvm::Linker::LinkOnlyNeeded,
      [](llvm::Module &linked, const llvm::StringSet<> &names) {
        llvm::internalizeModule(linked, [&](const llvm::GlobalValue &value) {
          return !value.hasName() || !names.contains(value.getName());
        });
      });
  if (broken)
    return emitError(loc) << "cannot link " << *file;
  return success();
}

static void optimize(llvm::Module &module, llvm::TargetMachine &machine,
                     int level) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  const llvm::OptimizationLevel levels[] = {
      llvm::OptimizationLevel::O0, llvm::OptimizationLevel::O1,
      llvm::OptimizationLevel::O2, llvm::OptimizationLevel::O3};
  llvm::ModulePassManager passes =
      level == 0 ? builder.buildO0DefaultPipeline(levels[0])
                 : builder.buildPerModuleDefaultPipeline(levels[level]);
  passes.run(module, modules);
}

static const llvm::Target *getNvptx() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
  std::string error;
  return llvm::TargetRegistry::lookupTarget(llvm::Triple(kTriple), error);
}

namespace {
/// Turns what LLVM reports into MLIR diagnostics at the module.
struct ForwardDiagnostics : llvm::DiagnosticHandler {
  explicit ForwardDiagnostics(Location loc) : loc(loc) {}

  bool handleDiagnostics(const llvm::DiagnosticInfo &info) override {
    if (info.getSeverity() == llvm::DS_Remark)
      return true;
    std::string text;
    llvm::raw_string_ostream stream(text);
    llvm::DiagnosticPrinterRawOStream printer(stream);
    info.print(printer);
    if (info.getSeverity() == llvm::DS_Error)
      emitError(loc) << text;
    else
      emitWarning(loc) << text;
    hasErrors |= info.getSeverity() == llvm::DS_Error;
    return true;
  }

  Location loc;
  bool hasErrors = false;
};
} // namespace

FailureOr<std::string> mlir::moeq::emitPtx(gpu::GPUModuleOp module,
                                           NVVM::NVVMTargetAttr target,
                                           StringRef toolkit) {
  Location loc = module.getLoc();
  if (failed(getPtxTarget(loc, target)) || failed(verifyTranslatable(module)))
    return failure();
  const llvm::Target *nvptx = getNvptx();
  if (!nvptx)
    return emitError(loc) << "this LLVM was built without the NVPTX target";

  auto context = std::make_unique<llvm::LLVMContext>();
  auto handler = std::make_unique<ForwardDiagnostics>(loc);
  ForwardDiagnostics &diagnostics = *handler;
  context->setDiagnosticHandler(std::move(handler));
  std::unique_ptr<llvm::Module> llvmModule = translateModuleToLLVMIR(
      module, *context, module.getName(), /*disableVerification=*/true);
  if (!llvmModule || diagnostics.hasErrors)
    return failure();
  std::string invalid;
  llvm::raw_string_ostream invalidStream(invalid);
  if (llvm::verifyModule(*llvmModule, &invalidStream))
    return emitError(loc) << "does not translate to valid LLVM IR: "
                          << StringRef(invalid).rtrim();
  std::unique_ptr<llvm::TargetMachine> machine(nvptx->createTargetMachine(
      llvm::Triple(kTriple), target.getChip(), target.getFeatures(), {},
      llvm::Reloc::PIC_, std::nullopt,
      static_cast<llvm::CodeGenOptLevel>(target.getO())));
  llvmModule->setTargetTriple(llvm::Triple(kTriple));
  llvmModule->setDataLayout(machine->createDataLayout());

  if (failed(linkLibdevice(module, *llvmModule, toolkit)))
    return failure();
  if (SmallVector<StringRef> names = getUndefined(*llvmModule); !names.empty())
    return emitError(getCallLocation(module, names.front()))
           << "function '" << names.front() << "' is called and not defined";

  SmallString<0> ptx;
  std::string fatal = recoverFatalErrors([&] {
    optimize(*llvmModule, *machine, target.getO());
    llvm::raw_svector_ostream stream(ptx);
    llvm::legacy::PassManager codegen;
    machine->addPassesToEmitFile(codegen, stream, nullptr,
                                 llvm::CodeGenFileType::AssemblyFile);
    codegen.run(*llvmModule);
  });
  if (!fatal.empty()) {
    // Passes that no one unwound still refer to these.
    (void)machine.release();
    (void)llvmModule.release();
    (void)context.release();
    return emitError(loc) << "LLVM cannot emit this module for "
                          << target.getChip() << " with "
                          << target.getFeatures() << ": " << fatal;
  }
  if (diagnostics.hasErrors)
    return failure();
  return ptx.str().str();
}
