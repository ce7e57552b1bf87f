//===- Manifest.cpp - How to launch the kernels of a module -----*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "moeq/Target/Manifest.h"

#include "HostValues.h"
#include "moeq/Dialect/MoeqGPU/IR/MoeqGPU.h"
#include "moeq/Target/Chips.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace mlir::moeq;
using llvm::json::Array;
using llvm::json::Object;

static constexpr int64_t kManifestVersion = 1;

/// An attribute in MLIR's syntax, or null.
static Expr printAttribute(Attribute attr) {
  if (!attr)
    return nullptr;
  std::string text;
  llvm::raw_string_ostream(text) << attr;
  return text;
}

static std::string printType(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

namespace {
/// Writes the entry of one function.
class EntryWriter {
public:
  EntryWriter(func::FuncOp function, bool hasCubins)
      : function(function), hasCubins(hasCubins) {}

  FailureOr<Object> write();

private:
  LogicalResult addArguments();
  LogicalResult addAllocations(func::ReturnOp terminator);
  LogicalResult addBuffer(Value buffer, std::string name, StringRef role);
  LogicalResult addKernels(Block &block, Expr condition);
  LogicalResult addBranches(scf::IfOp op, const Expr &condition);
  LogicalResult addKernel(gpu::LaunchFuncOp launch, const Expr &condition);
  void markWritten();
  FailureOr<Expr> getParameter(gpu::LaunchFuncOp launch, Value operand,
                               Type type);
  Expr getTensorMap(moeq_gpu::EncodeTensorMapOp op);
  Array getSizes(gpu::KernelDim3 sizes);

  func::FuncOp function;
  bool hasCubins;
  HostValues values;
  Array arguments, workspaces, kernels;
  /// Of all buffers, and of those that kernels write.
  llvm::StringSet<llvm::MallocAllocator> names, written;
};
} // namespace

FailureOr<Object> EntryWriter::write() {
  if (!function.getBody().hasOneBlock())
    return function.emitOpError() << "expects one block for a manifest, got "
                                  << function.getBody().getBlocks().size();
  Block &body = function.getBody().front();
  auto terminator = dyn_cast<func::ReturnOp>(body.getTerminator());
  if (!terminator)
    return body.getTerminator()->emitOpError("expects a return here");
  if (failed(addArguments()) || failed(addAllocations(terminator)) ||
      failed(addKernels(body, 1)))
    return failure();
  markWritten();
  Array symbols;
  for (const std::string &symbol : values.getSymbols())
    symbols.push_back(symbol);
  return Object{{"symbols", std::move(symbols)},
                {"arguments", std::move(arguments)},
                {"workspaces", std::move(workspaces)},
                {"kernels", std::move(kernels)}};
}

/// Names a buffer and lists it: as an argument of this role, or as a workspace.
LogicalResult EntryWriter::addBuffer(Value value, std::string name,
                                     StringRef role) {
  auto buffer = dyn_cast<TypedValue<MemRefType>>(value);
  if (!buffer)
    return function.emitOpError() << "expects memrefs as arguments and results "
                                     "for a manifest, got "
                                  << value.getType();
  if (!names.insert(name).second)
    return emitError(value.getLoc())
           << "expects buffers of different names, got '" << name << "' twice";
  values.addBuffer(buffer, name);
  if (values.hasFailed())
    return failure();
  SmallVector<Expr> sizes = values.getView(buffer).sizes;
  Type element = buffer.getType().getElementType();
  if (role.empty()) {
    Expr count = 1;
    for (Expr &size : sizes)
      count = makeExpr("*", std::move(count), std::move(size));
    Object workspace{{"name", name},
                     {"bytes", makeBytes(std::move(count), element)}};
    if (buffer.getDefiningOp()->hasAttr(kZeroedAttr))
      workspace["zeroed"] = true;
    workspaces.push_back(std::move(workspace));
    return success();
  }
  arguments.push_back(Object{{"name", name},
                             {"kind", "tensor"},
                             {"element", printType(element)},
                             {"shape", Array(sizes)},
                             {"role", role.str()}});
  return success();
}

LogicalResult EntryWriter::addArguments() {
  for (BlockArgument argument : function.getArguments()) {
    unsigned i = argument.getArgNumber();
    auto given = function.getArgAttrOfType<StringAttr>(i, "moeq.name");
    if (failed(addBuffer(argument,
                         given ? given.str() : "arg" + std::to_string(i),
                         "input")))
      return failure();
  }
  return success();
}

/// Names the allocations: those that are returned are results, the others
/// workspaces. An allocation inside a branch is a workspace too. An argument
/// that is returned holds that result, and is listed already.
LogicalResult EntryWriter::addAllocations(func::ReturnOp terminator) {
  DenseMap<Value, unsigned> results;
  for (OpOperand &operand : terminator->getOpOperands()) {
    Value value = operand.get();
    while (auto cast = value.getDefiningOp<memref::CastOp>())
      value = cast.getSource();
    if (!isa<BlockArgument>(value) && !value.getDefiningOp<memref::AllocOp>())
      return terminator.emitOpError()
             << "expects result " << operand.getOperandNumber()
             << " to be an allocation or an argument of the function";
    if (!results.try_emplace(value, operand.getOperandNumber()).second)
      return terminator.emitOpError() << "expects each buffer once, got it "
                                         "again as result "
                                      << operand.getOperandNumber();
  }
  int64_t workspace = 0;
  WalkResult walk = function.walk([&](memref::AllocOp alloc) {
    auto result = results.find(alloc.getMemref());
    if (result == results.end()) {
      std::string name = "ws" + std::to_string(workspace++);
      return WalkResult(addBuffer(alloc.getMemref(), name, ""));
    }
    auto given =
        function.getResultAttrOfType<StringAttr>(result->second, "moeq.name");
    std::string name =
        given ? given.str() : "result" + std::to_string(result->second);
    return WalkResult(addBuffer(alloc.getMemref(), name, "output"));
  });
  return failure(walk.wasInterrupted());
}

LogicalResult EntryWriter::addKernels(Block &block, Expr condition) {
  for (Operation &op : block) {
    if (auto launch = dyn_cast<gpu::LaunchFuncOp>(op)) {
      if (failed(addKernel(launch, condition)))
        return failure();
    } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
      if (failed(addBranches(branch, condition)))
        return failure();
    } else if (!isa<memref::AllocOp, memref::DeallocOp>(op) &&
               !op.hasTrait<OpTrait::IsTerminator>() &&
               !isMemoryEffectFree(&op)) {
      return op.emitOpError()
             << "has no form in a manifest: expects launches of "
                "kernels and arithmetic of sizes";
    }
  }
  return success();
}

LogicalResult EntryWriter::addBranches(scf::IfOp op, const Expr &condition) {
  Expr taken = values.getExpr(op.getCondition());
  if (values.hasFailed() ||
      failed(addKernels(*op.thenBlock(), makeExpr("*", condition, taken))))
    return failure();
  if (!op.elseBlock())
    return success();
  return addKernels(*op.elseBlock(),
                    makeExpr("*", condition, makeExpr("-", 1, taken)));
}

Array EntryWriter::getSizes(gpu::KernelDim3 sizes) {
  return Array{values.getExpr(sizes.x), values.getExpr(sizes.y),
               values.getExpr(sizes.z)};
}

/// The cluster that a kernel is compiled for.
static Array getCluster(FunctionOpInterface kernel) {
  Array cluster{1, 1, 1};
  if (auto dims = kernel->getAttrOfType<DenseI32ArrayAttr>(
          NVVM::NVVMDialect::getClusterDimAttrName()))
    for (auto [i, size] : llvm::enumerate(dims.asArrayRef().take_front(3)))
      cluster[i] = size;
  return cluster;
}

/// Whether a kernel writes through a pointer. It shares such a one with no
/// other, and does not only read; of those that it reads, a kernel that starts
/// early says neither.
static bool isWritten(FunctionOpInterface kernel, unsigned argument) {
  return kernel.getArgAttr(argument, LLVM::LLVMDialect::getNoAliasAttrName()) &&
         !kernel.getArgAttr(argument, LLVM::LLVMDialect::getReadonlyAttrName());
}

/// An input that a kernel writes is one for both ways.
void EntryWriter::markWritten() {
  for (Expr &argument : arguments) {
    Object &object = *argument.getAsObject();
    if (object.getString("role") == "input" &&
        written.contains(*object.getString("name")))
      object["role"] = "inout";
  }
}

/// Whether a kernel itself waits until the one before it has ended.
static bool waitsForPrevious(FunctionOpInterface kernel) {
  return kernel
      ->walk([](NVVM::GriddepcontrolOp op) {
        return op.getKind() == NVVM::GridDepActionKind::wait
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

LogicalResult EntryWriter::addKernel(gpu::LaunchFuncOp launch,
                                     const Expr &condition) {
  auto kernel = SymbolTable::lookupNearestSymbolFrom<FunctionOpInterface>(
      launch, launch.getKernel());
  if (!kernel)
    return launch.emitOpError()
           << "expects a kernel, got " << launch.getKernel();
  if (launch.getAsyncToken() || !launch.getAsyncDependencies().empty())
    return launch.emitOpError("has no form in a manifest: expects launches in "
                              "order, got an asynchronous one");
  if (kernel.getNumArguments() != launch.getNumKernelOperands())
    return launch.emitOpError()
           << "expects as many operands as the kernel has parameters, "
           << kernel.getNumArguments() << ", got "
           << launch.getNumKernelOperands();

  Array parameters;
  for (auto [i, operand] : llvm::enumerate(launch.getKernelOperands())) {
    FailureOr<Expr> parameter =
        getParameter(launch, operand, kernel.getArgumentTypes()[i]);
    if (failed(parameter))
      return failure();
    if (isa<MemRefType>(operand.getType()) && isWritten(kernel, i))
      written.insert(*parameter->getAsObject()->getString("buffer"));
    parameters.push_back(std::move(*parameter));
  }

  std::string name = kernel.getName().str();
  Value sharedMemory = launch.getDynamicSharedMemorySize();
  Object entry{
      {"name", name},
      {"file", name + ".ptx"},
      {"cubin", hasCubins ? Expr(name + ".cubin") : Expr(nullptr)},
      {"grid", getSizes(launch.getGridSizeOperandValues())},
      {"block", getSizes(launch.getBlockSizeOperandValues())},
      {"cluster", launch.hasClusterSize()
                      ? getSizes(launch.getClusterSizeOperandValues())
                      : getCluster(kernel)},
      {"shared_memory", sharedMemory ? values.getExpr(sharedMemory) : Expr(0)},
      {"parameters", std::move(parameters)},
      {"config", printAttribute(kernel->getAttr("moeq.config"))},
      {"condition", condition.getAsInteger() == 1 ? Expr(nullptr) : condition}};
  if (waitsForPrevious(kernel))
    entry["programmatic"] = true;
  kernels.push_back(std::move(entry));
  return failure(values.hasFailed());
}

FailureOr<Expr> EntryWriter::getParameter(gpu::LaunchFuncOp launch,
                                          Value operand, Type type) {
  if (isa<moeq_gpu::TensorMapType>(operand.getType())) {
    auto encode = operand.getDefiningOp<moeq_gpu::EncodeTensorMapOp>();
    if (!encode)
      return launch.emitOpError("expects tensor maps that "
                                "moeq_gpu.encode_tensor_map makes in the "
                                "function");
    return getTensorMap(encode);
  }
  if (isa<MemRefType>(operand.getType())) {
    View view = values.getView(operand);
    return Expr(Object{{"kind", "pointer"},
                       {"buffer", view.buffer},
                       {"byte_offset", view.byteOffset}});
  }
  if (operand.getType().isIndex() && !type.isInteger())
    type = IntegerType::get(type.getContext(), 64);
  if (!operand.getType().isIndex() && operand.getType() != type)
    return launch.emitOpError() << "expects an operand of the kernel's type, "
                                << type << ", got " << operand.getType();
  if (!type.isInteger(32) && !type.isInteger(64))
    return launch.emitOpError() << "has no form in a manifest: expects tensor "
                                   "maps, memrefs, i32, i64 and index as "
                                   "operands, got "
                                << operand.getType();
  return Expr(Object{{"kind", "scalar"},
                     {"type", printType(type)},
                     {"value", values.getExpr(operand)}});
}

/// Leading dimensions count as rows: the map is of a matrix.
Expr EntryWriter::getTensorMap(moeq_gpu::EncodeTensorMapOp op) {
  View view = values.getView(op.getSource());
  moeq_gpu::TensorMapType type = op.getType();
  Expr rows = 1;
  for (const Expr &size : ArrayRef(view.sizes).drop_back())
    rows = makeExpr("*", std::move(rows), size);
  // The driver refuses a map without rows, of a matrix that no tile reads.
  rows = makeExpr("max", std::move(rows), 1);
  Expr pitch = view.strides[view.strides.size() - 2];
  Object map{
      {"kind", "tensor_map"},
      {"buffer", view.buffer},
      {"byte_offset", view.byteOffset},
      {"element", printType(type.getElementType())},
      {"dims", Array{view.sizes.back(), std::move(rows)}},
      {"strides", Array{makeBytes(std::move(pitch), type.getElementType())}},
      {"swizzle", type.isVector() ? "none" : "128B"},
      {"l2_promotion", "256B"}};
  Array boxes;
  for (int64_t i = 0; i < type.getNumBoxes(); ++i)
    boxes.push_back(Array{type.getColumns(), type.getBoxRows(i)});
  if (type.getStep())
    map["boxes"] = std::move(boxes);
  else
    map["box"] = std::move(boxes.front());
  return map;
}

/// Checks that no two kernels go to the same file.
static LogicalResult verifyKernelNames(ModuleOp module) {
  llvm::StringMap<Operation *> kernels;
  for (auto kernelModule : module.getOps<gpu::GPUModuleOp>())
    for (FunctionOpInterface kernel : getKernels(kernelModule))
      if (auto [it, inserted] = kernels.try_emplace(kernel.getName(), kernel);
          !inserted) {
        InFlightDiagnostic error =
            kernel->emitOpError() << "expects kernels of different names, got '"
                                  << kernel.getName() << "' twice";
        error.attachNote(it->second->getLoc()) << "the first is here";
        return error;
      }
  return success();
}

FailureOr<llvm::json::Value> mlir::moeq::buildManifest(ModuleOp module,
                                                       const PtxTarget &target,
                                                       bool hasCubins) {
  if (failed(verifyKernelNames(module)))
    return failure();
  Object entries;
  for (auto function : module.getOps<func::FuncOp>()) {
    if (!function.isPublic() || function.isExternal())
      continue;
    FailureOr<Object> entry = EntryWriter(function, hasCubins).write();
    if (failed(entry))
      return failure();
    entries[function.getName().str()] = std::move(*entry);
  }
  return Expr(Object{{"version", kManifestVersion},
                     {"chip", target.chip->name},
                     {"ptx_version", target.ptxVersion},
                     {"entries", std::move(entries)}});
}
