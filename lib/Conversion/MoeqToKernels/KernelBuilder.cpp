//===- KernelBuilder.cpp - Kernels under construction -----------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelBuilder.h"

#include "moeq/Dialect/MoeqGPU/IR/MoeqGPU.h"
#include "moeq/Target/CudaToolkit.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::moeq;

static constexpr unsigned kGlobal = 1, kShared = 3;

/// What is in memory for an element type: the type, or i8 where LLVM does not
/// know it.
static Type getStorageType(Type element) {
  bool small = isa<FloatType>(element) && element.getIntOrFloatBitWidth() == 8;
  return small ? IntegerType::get(element.getContext(), 8) : element;
}

/// Whether kernels compute with the type, as their parameters or in memory.
static bool isScalar(Type type) {
  return type.isIntOrFloat() && LLVM::isCompatibleType(type);
}

LogicalResult moeq::checkMemory(Operation *user, BaseMemRefType type) {
  auto memref = dyn_cast<MemRefType>(type);
  if (!memref || !moeq_gpu::isContiguous(memref))
    return user->emitOpError()
           << "expects memrefs that are dense and row-major, got " << type;
  if (!isScalar(getStorageType(memref.getElementType())))
    return user->emitOpError()
           << "expects memrefs of integers or floats that a kernel can take, "
              "got "
           << type;
  return success();
}

/// `element`, or a vector of `width` of it.
static Type getVectorType(Type element, int64_t width) {
  return width == 1 ? element : VectorType::get(width, element);
}

std::string moeq::getKernelName(gpu::GPUModuleOp module, Operation *op,
                                StringRef suffix) {
  std::string base = (op->getParentOfType<func::FuncOp>().getName() + "_" +
                      op->getName().stripDialect())
                         .str();
  if (!suffix.empty())
    base += ("_" + suffix).str();
  std::string name = base;
  for (int64_t number = 1; module.lookupSymbol(name); ++number)
    name = base + "_" + std::to_string(number);
  return name;
}

KernelBuilder::KernelBuilder(gpu::GPUModuleOp module, Operation *op,
                             int64_t threads, StringRef suffix)
    : ImplicitLocOpBuilder(op->getLoc(), op->getContext()),
      hostBuilder(op->getLoc(), op), module(module), threads(threads) {
  setInsertionPointToEnd(module.getBody());
  auto type =
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(getContext()), {});
  function =
      LLVM::LLVMFuncOp::create(*this, getKernelName(module, op, suffix), type);
  function->setAttr(gpu::GPUDialect::getKernelFuncAttrName(), getUnitAttr());
  function->setAttr(NVVM::NVVMDialect::getKernelFuncAttrName(), getUnitAttr());
  function->setAttr(
      NVVM::NVVMDialect::getMaxntidAttrName(),
      getDenseI32ArrayAttr({static_cast<int32_t>(threads), 1, 1}));
  // Without it ptxas would rather spill than have fewer CTAs on an SM.
  setMinBlocks(1);
  setInsertionPointToStart(function.addEntryBlock(*this));
}

void KernelBuilder::setMinBlocks(int64_t blocks) {
  function->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(),
                    getI32IntegerAttr(blocks));
}

void KernelBuilder::setMaxSpillStores(int64_t bytes) {
  if (bytes > 0)
    function->setAttr(kMaxSpillStoresAttr, getI64IntegerAttr(bytes));
}

void KernelBuilder::launch(Value blocks) {
  LLVM::ReturnOp::create(*this, ValueRange{});
  // The pointers come first, whatever the order of the first uses.
  Block &entry = function.getBody().front();
  SmallVector<Value> operands;
  SmallVector<Type> types;
  SmallVector<Attribute> attributes;
  unsigned next = 0;
  for (auto *parameters : {&pointers, &scalars})
    for (auto [host, parameter] : *parameters) {
      BlockArgument moved =
          entry.insertArgument(next++, parameter.getType(), getLoc());
      parameter.replaceAllUsesWith(moved);
      entry.eraseArgument(cast<BlockArgument>(parameter).getArgNumber());
      operands.push_back(host);
      types.push_back(moved.getType());
      NamedAttrList attribute;
      if (parameters == &pointers) {
        attribute.set(LLVM::LLVMDialect::getNoAliasAttrName(), getUnitAttr());
        if (!stored.contains(host))
          attribute.set(LLVM::LLVMDialect::getReadonlyAttrName(),
                        getUnitAttr());
      }
      attributes.push_back(attribute.getDictionary(getContext()));
    }
  function.setFunctionType(LLVM::LLVMFunctionType::get(
      LLVM::LLVMVoidType::get(getContext()), types));
  function.setArgAttrsAttr(getArrayAttr(attributes));

  Value one = hostIndex(1);
  Value grid = hostBuilder.createOrFold<arith::MaxUIOp>(blocks, one);
  gpu::LaunchFuncOp::create(
      hostBuilder,
      SymbolRefAttr::get(module.getNameAttr(),
                         {FlatSymbolRefAttr::get(function.getNameAttr())}),
      gpu::KernelDim3{grid, one, one},
      gpu::KernelDim3{hostIndex(threads), one, one},
      /*dynamicSharedMemorySize=*/Value(), operands);
}

//===----------------------------------------------------------------------===//
// The host
//===----------------------------------------------------------------------===//

Value KernelBuilder::hostIndex(int64_t value) {
  return arith::ConstantIndexOp::create(hostBuilder, value);
}

Value KernelBuilder::hostSize(Value memref, int64_t dim) {
  Value &size = hostSizes[{memref, dim}];
  if (!size)
    size = hostBuilder.createOrFold<memref::DimOp>(memref, dim);
  return size;
}

Value KernelBuilder::hostMul(Value left, Value right) {
  return hostBuilder.createOrFold<arith::MulIOp>(left, right);
}

Value KernelBuilder::hostCeilDiv(Value left, int64_t right) {
  return hostBuilder.createOrFold<arith::CeilDivUIOp>(left, hostIndex(right));
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Value KernelBuilder::atEntry(function_ref<Value()> create) {
  InsertionGuard guard(*this);
  setInsertionPointToStart(&function.getBody().front());
  return create();
}

Value KernelBuilder::parameter(Value hostValue, Type type) {
  auto &parameters = isa<LLVM::LLVMPointerType>(type) ? pointers : scalars;
  Value &value = parameters[hostValue];
  if (!value)
    value = function.getBody().front().addArgument(type, getLoc());
  return value;
}

Value KernelBuilder::pointer(Value memref) {
  return parameter(memref, LLVM::LLVMPointerType::get(getContext(), kGlobal));
}

Value KernelBuilder::hostScalar(Value scalar) {
  if (Operation *constant = scalar.getDefiningOp();
      constant && matchPattern(constant, m_Constant()))
    return clone(*constant)->getResult(0);
  if (!scalar.getType().isIndex())
    return parameter(scalar, scalar.getType());
  Value value = parameter(scalar, getI64Type());
  return atEntry(
      [&] { return arith::IndexCastOp::create(*this, getIndexType(), value); });
}

FailureOr<Value> KernelBuilder::capture(Value scalar, Operation *user) {
  Type type = scalar.getType();
  if (!type.isIndex() && !isScalar(type))
    return user->emitOpError(
               "expects captured scalars that a kernel can take, got ")
           << type;
  return hostScalar(scalar);
}

LogicalResult KernelBuilder::enterKernel(Operation *cloned, IRMapping &mapping,
                                         ValueRange coordinates) {
  InsertionGuard guard(*this);
  setInsertionPoint(cloned);
  if (auto load = dyn_cast<memref::LoadOp>(cloned)) {
    if (failed(checkMemory(load, load.getMemRefType())))
      return failure();
    mapping.map(load.getResult(),
                this->load(load.getMemRef(), load.getIndices()));
  } else if (auto store = dyn_cast<memref::StoreOp>(cloned)) {
    if (failed(checkMemory(store, store.getMemRefType())))
      return failure();
    this->store(store.getValue(), store.getMemRef(), store.getIndices());
  } else if (auto dim = dyn_cast<memref::DimOp>(cloned);
             dim && dim.getConstantIndex()) {
    mapping.map(dim.getResult(),
                size(dim.getSource(), *dim.getConstantIndex()));
  } else if (auto coordinate = dyn_cast<linalg::IndexOp>(cloned)) {
    mapping.map(coordinate.getResult(), coordinates[coordinate.getDim()]);
  } else {
    for (OpOperand &operand : cloned->getOpOperands()) {
      if (function.getBody().isAncestor(operand.get().getParentRegion()))
        continue;
      if (isa<BaseMemRefType>(operand.get().getType()))
        return cloned->emitOpError(
            "expects no use of a memref in a kernel but loads and stores");
      FailureOr<Value> captured = capture(operand.get(), cloned);
      if (failed(captured))
        return failure();
      operand.set(*captured);
    }
    return success();
  }
  for (Value result : cloned->getResults())
    result.replaceAllUsesWith(mapping.lookup(result));
  cloned->erase();
  return success();
}

LogicalResult KernelBuilder::cloneBody(Block &block, IRMapping &mapping,
                                       ValueRange coordinates) {
  for (Operation &inner : block.without_terminator()) {
    // The ops in the regions of one op, then the op itself.
    Operation *copy = clone(inner, mapping);
    SmallVector<Operation *> cloned;
    copy->walk([&](Operation *op) { cloned.push_back(op); });
    IRMapping replaced;
    SmallVector<Value> old(copy->getResults());
    for (Operation *op : cloned)
      if (failed(enterKernel(op, replaced, coordinates)))
        return failure();
    for (auto [result, value] : llvm::zip_equal(inner.getResults(), old))
      mapping.map(result, replaced.lookupOrDefault(value));
  }
  return success();
}

Value KernelBuilder::size(Value memref, int64_t dim) {
  auto type = cast<MemRefType>(memref.getType());
  return type.isDynamicDim(dim) ? hostScalar(hostSize(memref, dim))
                                : index(type.getDimSize(dim));
}

/// What is added to an index as a constant is added last: addresses that differ
/// by it share a register, and have it as an immediate offset.
Value KernelBuilder::elementPointer(Value memref, Type storage,
                                    ValueRange indices) {
  Value offset = index(0), last = index(0);
  for (auto [dim, position] : llvm::enumerate(indices)) {
    if (dim > 0) {
      offset = mul(offset, size(memref, dim));
      last = mul(last, size(memref, dim));
    }
    auto sum = position.getDefiningOp<arith::AddIOp>();
    if (sum && getConstantIntValue(sum.getRhs())) {
      offset = add(offset, sum.getLhs());
      last = add(last, sum.getRhs());
    } else {
      offset = add(offset, position);
    }
  }
  offset = add(offset, last);
  Value base = pointer(memref);
  Value wide = arith::IndexCastOp::create(*this, getI64Type(), offset);
  return LLVM::GEPOp::create(*this, base.getType(), storage, base, wide);
}

Value KernelBuilder::load(Value memref, ValueRange indices, int64_t width) {
  Type element = cast<MemRefType>(memref.getType()).getElementType();
  Type storage = getStorageType(element);
  int64_t bytes = width * storage.getIntOrFloatBitWidth() / 8;
  Value value = LLVM::LoadOp::create(*this, getVectorType(storage, width),
                                     elementPointer(memref, storage, indices),
                                     std::min<int64_t>(bytes, 16));
  if (storage == element)
    return value;
  return arith::BitcastOp::create(*this, getVectorType(element, width), value);
}

void KernelBuilder::store(Value value, Value memref, ValueRange indices) {
  Type element = getElementTypeOrSelf(value.getType());
  Type storage = getStorageType(element);
  auto vector = dyn_cast<VectorType>(value.getType());
  int64_t width = vector ? vector.getNumElements() : 1;
  if (storage != element)
    value =
        arith::BitcastOp::create(*this, getVectorType(storage, width), value);
  int64_t bytes = width * storage.getIntOrFloatBitWidth() / 8;
  LLVM::StoreOp::create(*this, value, elementPointer(memref, storage, indices),
                        std::min<int64_t>(bytes, 16));
  stored.insert(memref);
}

void KernelBuilder::prefetch(Value memref, int64_t bytes) {
  auto type = cast<MemRefType>(memref.getType());
  Value extent = index(type.getElementTypeBitWidth() / 8);
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    extent = mul(extent, size(memref, dim));
  Value first = mul(add(mul(block(), index(threads)), thread()), index(bytes));
  for (int64_t at = 0; at < bytes; at += kSector) {
    Value byte = add(first, index(at));
    ifThen(ltU(byte, extent), [&] {
      Value wide = arith::IndexCastOp::create(*this, getI64Type(), byte);
      Value base = pointer(memref);
      Value address =
          LLVM::GEPOp::create(*this, base.getType(), getI8Type(), base, wide);
      NVVM::PrefetchOp::create(*this,
                               NVVM::PrefetchCacheLevelAttr::get(
                                   getContext(), NVVM::PrefetchCacheLevel::L2),
                               NVVM::CacheEvictionPriorityAttr(), address,
                               /*predicate=*/Value(),
                               /*tensormap=*/UnitAttr());
    });
  }
}

bool KernelBuilder::isAligned(Value memref, int64_t width) {
  auto type = cast<MemRefType>(memref.getType());
  int64_t bytes = width * type.getElementTypeBitWidth() / 8;
  return width == 1 ||
         (type.getRank() > 0 && !type.isDynamicDim(type.getRank() - 1) &&
          type.getShape().back() % width == 0 &&
          moeq_gpu::isAlignedTo(type, std::min<int64_t>(bytes, 16)));
}

Value KernelBuilder::loadIndex(Value memref, ValueRange indices) {
  return arith::IndexCastOp::create(*this, getIndexType(),
                                    load(memref, indices));
}

void KernelBuilder::storeIndex(Value value, Value memref, ValueRange indices) {
  store(arith::IndexCastOp::create(*this, getI32Type(), value), memref,
        indices);
}

Value KernelBuilder::shared(Type element, int64_t count) {
  std::string name;
  for (int64_t number = 0; name.empty() || module.lookupSymbol(name); ++number)
    name = ("__shared_" + function.getName() + "_" + Twine(number)).str();
  {
    InsertionGuard guard(*this);
    setInsertionPoint(function);
    LLVM::GlobalOp::create(*this, LLVM::LLVMArrayType::get(element, count),
                           /*isConstant=*/false, LLVM::Linkage::Internal, name,
                           /*value=*/Attribute(), /*alignment=*/16, kShared);
  }
  return LLVM::AddressOfOp::create(
      *this, LLVM::LLVMPointerType::get(getContext(), kShared), name);
}

static Value sharedPointer(KernelBuilder &k, Type element, Value shared,
                           Value index) {
  Value offset = arith::IndexCastOp::create(k, k.getI32Type(), index);
  return LLVM::GEPOp::create(k, shared.getType(), element, shared, offset);
}

/// How a vector of `width` elements is aligned whose place is a multiple of it.
static int64_t getVectorAlignment(Type element, int64_t width) {
  int64_t bytes = width * element.getIntOrFloatBitWidth() / 8;
  return std::min<int64_t>(bytes, 16);
}

Value KernelBuilder::loadShared(Type element, Value shared, Value index,
                                int64_t width) {
  return LLVM::LoadOp::create(*this, getVectorType(element, width),
                              sharedPointer(*this, element, shared, index),
                              getVectorAlignment(element, width));
}

void KernelBuilder::storeShared(Value value, Value shared, Value index) {
  Type element = getElementTypeOrSelf(value.getType());
  auto vector = dyn_cast<VectorType>(value.getType());
  LLVM::StoreOp::create(
      *this, value, sharedPointer(*this, element, shared, index),
      getVectorAlignment(element, vector ? vector.getNumElements() : 1));
}

//===----------------------------------------------------------------------===//
// Threads
//===----------------------------------------------------------------------===//

Value KernelBuilder::thread() {
  return arith::IndexCastUIOp::create(
      *this, getIndexType(), NVVM::ThreadIdXOp::create(*this, getI32Type()));
}

Value KernelBuilder::block() {
  return arith::IndexCastUIOp::create(
      *this, getIndexType(), NVVM::BlockIdXOp::create(*this, getI32Type()));
}

void KernelBuilder::barrier() { NVVM::BarrierOp::create(*this); }

Value KernelBuilder::shuffleXor(Value value, int64_t mask) {
  return NVVM::ShflOp::create(*this, value.getType(), i32(-1), value, i32(mask),
                              i32(kWarpSize - 1), NVVM::ShflKind::bfly,
                              UnitAttr());
}

Value KernelBuilder::shuffle(Value value, Value source) {
  Value lane = arith::IndexCastOp::create(*this, getI32Type(), source);
  return NVVM::ShflOp::create(*this, value.getType(), i32(-1), value, lane,
                              i32(kWarpSize - 1), NVVM::ShflKind::idx,
                              UnitAttr());
}

Value KernelBuilder::shuffleUp(Value value, int64_t distance) {
  return NVVM::ShflOp::create(*this, value.getType(), i32(-1), value,
                              i32(distance), i32(0), NVVM::ShflKind::up,
                              UnitAttr());
}

Value KernelBuilder::ballot(Value predicate) {
  return NVVM::VoteSyncOp::create(*this, getI32Type(), i32(-1), predicate,
                                  NVVM::VoteSyncKind::ballot);
}

Value KernelBuilder::reduceWarp(Value value, NVVM::ReduxKind kind) {
  return NVVM::ReduxOp::create(*this, getI32Type(), value, kind, i32(-1));
}

/// A combination of single values as one of lists.
static auto asMerge(Combine combine) {
  return [combine](ValueRange left, ValueRange right) {
    return SmallVector<Value>{combine(left[0], right[0])};
  };
}

Value KernelBuilder::reduceLanes(Value value, int64_t lanes, Combine combine) {
  return reduceLanes(ValueRange(value), lanes, asMerge(combine))[0];
}

SmallVector<Value> KernelBuilder::reduceLanes(ValueRange values, int64_t lanes,
                                              Merge merge) {
  SmallVector<Value> result(values);
  for (int64_t distance = lanes / 2; distance > 0; distance /= 2) {
    SmallVector<Value> others;
    for (Value value : result)
      others.push_back(shuffleXor(value, distance));
    result = merge(result, others);
  }
  return result;
}

Value KernelBuilder::reduceBlock(Value value, Value identity, Combine combine) {
  return reduceBlock(ValueRange(value), ValueRange(identity),
                     asMerge(combine))[0];
}

SmallVector<Value> KernelBuilder::reduceBlock(ValueRange values,
                                              ValueRange identities,
                                              Merge merge) {
  SmallVector<Value> result = reduceLanes(values, kWarpSize, merge);
  int64_t warps = threads / kWarpSize;
  if (warps == 1)
    return result;
  SmallVector<Value> partials;
  for (Value value : result)
    partials.push_back(shared(value.getType(), kWarpSize));
  ifThen(equal(lane(), index(0)), [&] {
    for (auto [value, partial] : llvm::zip_equal(result, partials))
      storeShared(value, partial, warp());
  });
  barrier();
  Value hasWarp = ltU(lane(), index(warps));
  for (size_t i = 0; i < result.size(); ++i)
    result[i] = ifElse(
        hasWarp,
        [&] { return loadShared(result[i].getType(), partials[i], lane()); },
        identities[i]);
  return reduceLanes(result, kWarpSize, merge);
}
