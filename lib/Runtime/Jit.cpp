//===- Jit.cpp - Functions run on the CPU -----------------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "moeq/Runtime/Jit.h"

#include "moeq/Dialect/Moeq/IR/Moeq.h"
#include "moeq/Dialect/Moeq/Transforms/Passes.h"
#include "moeq/Pipelines/Pipelines.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/ExecutionEngine/ExecutionEngine.h"
#include "mlir/ExecutionEngine/OptUtils.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

#include <cstring>

using namespace mlir;
using namespace mlir::moeq;

int64_t moeq::getElementBytes(Type element) {
  return element.isIndex()
             ? 8
             : llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
}

static int64_t countElements(ArrayRef<int64_t> shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t(1),
                         std::multiplies<>());
}

int64_t Array::getNumElements() const { return countElements(shape); }
int64_t Array::getNumBytes() const {
  return getNumElements() * getElementBytes(element);
}

//===----------------------------------------------------------------------===//
// Signatures
//===----------------------------------------------------------------------===//

static bool isByteElement(Type type) {
  return type.isIndex() ||
         (type.isIntOrFloat() &&
          (type.isInteger(1) || type.getIntOrFloatBitWidth() % 8 == 0));
}

/// Adds the arrays of an argument or result of type `type`.
static LogicalResult addSpecs(func::FuncOp function, Type type, StringRef name,
                              SmallVectorImpl<ArraySpec> &specs) {
  static constexpr StringRef suffixes[] = {"", ".scale", ".zero"};
  if (isScaledTensor(type)) {
    ScaledType scaled = getScaledElementType(type);
    for (auto [suffix, component] :
         llvm::zip(suffixes, getComponentTypes(cast<RankedTensorType>(type))))
      specs.push_back({(name + suffix).str(), component.getElementType(),
                       SmallVector<int64_t>(component.getShape()),
                       suffix.empty() && scaled.isPacked()});
    return success();
  }
  ArraySpec spec{name.str(), type, {}};
  if (isRankedTensorOrMemRef(type)) {
    spec.element = cast<ShapedType>(type).getElementType();
    spec.shape.assign(cast<ShapedType>(type).getShape().begin(),
                      cast<ShapedType>(type).getShape().end());
    if (auto memref = dyn_cast<MemRefType>(type))
      if (!memref.getLayout().isIdentity())
        spec.element = {};
  }
  if (!spec.element || !isByteElement(spec.element))
    return function.emitError()
           << "expects scalars, ranked tensors and row-major memrefs of "
              "whole bytes, got "
           << type << " for '" << name << "'";
  specs.push_back(std::move(spec));
  return success();
}

static func::FuncOp lookupEntry(ModuleOp module, StringRef entry) {
  auto function = module.lookupSymbol<func::FuncOp>(entry);
  if (function && !function.isExternal())
    return function;
  InFlightDiagnostic diagnostic =
      module.emitError() << "expects a function '" << entry << "' with a body";
  for (auto other : module.getOps<func::FuncOp>())
    if (!other.isExternal())
      diagnostic.attachNote(other.getLoc())
          << "there is '" << other.getName() << "'";
  return {};
}

FailureOr<EntrySignature> moeq::getEntrySignature(ModuleOp module,
                                                  StringRef entry) {
  func::FuncOp function = lookupEntry(module, entry);
  if (!function)
    return failure();
  EntrySignature signature;
  auto getName = [](StringAttr given, StringRef otherwise, size_t index) {
    return given ? given.str() : (otherwise + Twine(index)).str();
  };
  for (auto [index, type] : llvm::enumerate(function.getArgumentTypes())) {
    auto given = function.getArgAttrOfType<StringAttr>(index, "moeq.name");
    if (failed(addSpecs(function, type, getName(given, "arg", index),
                        signature.inputs)))
      return failure();
  }
  for (auto [index, type] : llvm::enumerate(function.getResultTypes())) {
    auto given = function.getResultAttrOfType<StringAttr>(index, "moeq.name");
    if (failed(addSpecs(function, type, getName(given, "result", index),
                        signature.results)))
      return failure();
  }
  return signature;
}

static std::string stringify(ArrayRef<int64_t> shape) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << '[';
  llvm::interleaveComma(shape, stream, [&](int64_t extent) {
    if (ShapedType::isDynamic(extent))
      stream << '?';
    else
      stream << extent;
  });
  stream << ']';
  return text;
}

static LogicalResult checkInputs(func::FuncOp function,
                                 ArrayRef<ArraySpec> specs,
                                 ArrayRef<ArrayView> inputs) {
  if (specs.size() != inputs.size())
    return function.emitError()
           << "expects " << specs.size() << " inputs for '"
           << function.getName() << "', got " << inputs.size();
  for (auto [spec, input] : llvm::zip(specs, inputs)) {
    if (input.element != spec.element)
      return function.emitError()
             << "expects elements of " << spec.element << " for '" << spec.name
             << "', got " << input.element;
    bool fits = input.shape.size() == spec.shape.size();
    for (auto [want, got] : llvm::zip(spec.shape, input.shape))
      fits &= got >= 0 && (ShapedType::isDynamic(want) || want == got);
    if (!fits)
      return function.emitError()
             << "expects shape " << stringify(spec.shape) << " for '"
             << spec.name << "', got " << stringify(input.shape);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

namespace {
/// The pointers to the arguments of a lowered function. A memref of rank r is
/// 3 + 2r of them: allocated and aligned pointer, offset, sizes, strides.
class CallArguments {
public:
  void add(ArrayView &array, bool isScalar) {
    if (isScalar) {
      pointers.push_back(array.data);
      return;
    }
    addWord(reinterpret_cast<intptr_t>(array.data));
    addWord(reinterpret_cast<intptr_t>(array.data));
    addWord(0);
    for (int64_t extent : array.shape)
      addWord(extent);
    for (size_t dim = 0; dim < array.shape.size(); ++dim)
      addWord(countElements(ArrayRef(array.shape).drop_front(dim + 1)));
  }
  void add(void *pointer) { pointers.push_back(pointer); }
  MutableArrayRef<void *> get() { return pointers; }

private:
  void addWord(int64_t word) {
    words.push_back(std::make_unique<int64_t>(word));
    pointers.push_back(words.back().get());
  }
  std::vector<std::unique_ptr<int64_t>> words;
  std::vector<void *> pointers;
};

/// The memory in which a lowered function leaves its results: one after
/// another, each at its alignment.
class CallResults {
public:
  CallResults(ArrayRef<ArraySpec> specs, ArrayRef<bool> isScalar)
      : specs(specs), isScalar(isScalar) {
    int64_t end = 0;
    for (auto [spec, scalar] : llvm::zip(specs, isScalar)) {
      int64_t bytes = scalar ? getElementBytes(spec.element)
                             : 8 * (3 + 2 * spec.shape.size());
      offsets.push_back(llvm::alignTo(end, scalar ? bytes : 8));
      end = offsets.back() + bytes;
    }
    memory.resize(llvm::divideCeil(end, 8));
  }
  void *getPointer() { return memory.data(); }

  /// The arrays, copied out; frees what the function has allocated.
  SmallVector<Array> take() {
    SmallVector<Array> arrays;
    llvm::SmallPtrSet<void *, 4> allocated;
    for (auto [spec, scalar, offset] : llvm::zip(specs, isScalar, offsets)) {
      char *place = reinterpret_cast<char *>(memory.data()) + offset;
      Array array{spec.element, {}, {}};
      const char *source = place;
      if (!scalar) {
        auto *words = reinterpret_cast<int64_t *>(place);
        array.shape.assign(words + 3, words + 3 + spec.shape.size());
        source = reinterpret_cast<char *>(words[1]) +
                 words[2] * getElementBytes(spec.element);
        allocated.insert(reinterpret_cast<void *>(words[0]));
      }
      array.data = std::make_unique<char[]>(array.getNumBytes());
      std::memcpy(array.data.get(), source, array.getNumBytes());
      arrays.push_back(std::move(array));
    }
    // A constant has no allocation.
    allocated.erase(reinterpret_cast<void *>(intptr_t(0xdeadbeef)));
    for (void *pointer : allocated)
      std::free(pointer);
    return arrays;
  }

private:
  ArrayRef<ArraySpec> specs;
  ArrayRef<bool> isScalar;
  SmallVector<int64_t> offsets;
  std::vector<int64_t> memory;
};
} // namespace

/// Whether each array of `types` is a scalar, passed by value.
static SmallVector<bool> findScalars(TypeRange types) {
  SmallVector<bool> isScalar;
  for (Type type : types)
    isScalar.append(isScaledTensor(type)
                        ? getScaledElementType(type).getNumComponents()
                        : 1,
                    type.isIntOrIndexOrFloat());
  return isScalar;
}

static LogicalResult lower(ModuleOp module, CpuLevel level) {
  PassManager pm(module.getContext(), ModuleOp::getOperationName());
  pm.enableVerifier(false);
  if (level != CpuLevel::Layer)
    buildToOps(pm);
  if (level == CpuLevel::Tiles)
    pm.addPass(createMoeqTile());
  buildToCpu(pm);
  return pm.run(module);
}

static FailureOr<std::unique_ptr<ExecutionEngine>> compile(ModuleOp module,
                                                           Location loc) {
  static bool initialized = [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    return true;
  }();
  (void)initialized;
  auto fail = [&](llvm::Error error) {
    return emitError(loc) << "could not compile for this CPU: "
                          << llvm::toString(std::move(error));
  };
  auto host = llvm::orc::JITTargetMachineBuilder::detectHost();
  if (!host)
    return fail(host.takeError());
  host->setCodeGenOptLevel(llvm::CodeGenOptLevel::Default);
  auto machine = host->createTargetMachine();
  if (!machine)
    return fail(machine.takeError());
  ExecutionEngineOptions options;
  auto optimize = makeOptimizingTransformer(/*optLevel=*/2, /*sizeLevel=*/0,
                                            machine->get());
  options.transformer = optimize;
  options.jitCodeGenOptLevel = llvm::CodeGenOptLevel::Default;
  options.enableGDBNotificationListener = false;
  options.enablePerfNotificationListener = false;
  auto engine = ExecutionEngine::create(module, options);
  if (!engine)
    return fail(engine.takeError());
  return std::move(*engine);
}

FailureOr<SmallVector<Array>> moeq::runOnCpu(ModuleOp module, StringRef entry,
                                             ArrayRef<ArrayView> inputs,
                                             CpuLevel level) {
  FailureOr<EntrySignature> signature = getEntrySignature(module, entry);
  if (failed(signature))
    return failure();
  auto original = module.lookupSymbol<func::FuncOp>(entry);
  if (failed(checkInputs(original, signature->inputs, inputs)))
    return failure();

  OwningOpRef<ModuleOp> lowered(module.clone());
  auto function = lowered->lookupSymbol<func::FuncOp>(entry);
  SmallVector<bool> scalarInputs = findScalars(function.getArgumentTypes());
  SmallVector<bool> scalarResults = findScalars(function.getResultTypes());
  // The arrays are the caller's: what is written to is a copy.
  for (unsigned index = 0; index < function.getNumArguments(); ++index)
    if (isa<TensorType>(function.getArgumentTypes()[index]))
      function.setArgAttr(
          index, bufferization::BufferizationDialect::kWritableAttrName,
          BoolAttr::get(module.getContext(), false));
  if (failed(lower(*lowered, level)))
    return failure();
  FailureOr<std::unique_ptr<ExecutionEngine>> engine =
      compile(*lowered, original.getLoc());
  if (failed(engine))
    return failure();

  CallArguments arguments;
  SmallVector<ArrayView> views(inputs);
  for (auto [view, scalar] : llvm::zip(views, scalarInputs))
    arguments.add(view, scalar);
  CallResults results(signature->results, scalarResults);
  if (!signature->results.empty())
    arguments.add(results.getPointer());
  if (llvm::Error error = (*engine)->invokePacked(entry, arguments.get()))
    return emitError(original.getLoc())
           << "could not run: " << llvm::toString(std::move(error));
  return results.take();
}
