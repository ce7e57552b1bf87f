//===- KernelBuilder.h - Kernels under construction -------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel is an `llvm.func` whose parameters are pointers to global memory,
// then extents. Its body counts in `index`; what it works on are the memrefs of
// the host, which become parameters where they are first used.
//
//===----------------------------------------------------------------------===//

#ifndef MOEQ_LIB_CONVERSION_MOEQTOKERNELS_KERNELBUILDER_H
#define MOEQ_LIB_CONVERSION_MOEQTOKERNELS_KERNELBUILDER_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::moeq {

constexpr int64_t kWarpSize = 32;
/// The bytes of memory that a cache holds, or does not, together.
constexpr int64_t kSector = 32;

/// Two values to one, such as a maximum.
using Combine = function_ref<Value(Value, Value)>;
/// The same of several values that belong together.
using Merge = function_ref<SmallVector<Value>(ValueRange, ValueRange)>;

/// A builder inside the body of a kernel, and outside for its launch.
class KernelBuilder : public ImplicitLocOpBuilder {
public:
  /// Starts a kernel for `op` with `threads` threads a CTA. Its name is that of
  /// the function and the op, with a number where it is taken.
  KernelBuilder(gpu::GPUModuleOp module, Operation *op, int64_t threads,
                StringRef suffix = {});

  /// How many CTAs an SM has registers for, at least (1 until it is set).
  void setMinBlocks(int64_t blocks);
  /// How many bytes of spill stores are no warning (0 until it is set).
  void setMaxSpillStores(int64_t bytes);

  /// Ends the kernel and launches it before `op`, with `blocks` CTAs, an index
  /// on the host. One is launched where `blocks` is 0: kernels check bounds.
  void launch(Value blocks);

  //===--------------------------------------------------------------------===//
  // The host, before `op`
  //===--------------------------------------------------------------------===//

  ImplicitLocOpBuilder &host() { return hostBuilder; }
  Value hostIndex(int64_t value);
  Value hostSize(Value memref, int64_t dim);
  Value hostMul(Value left, Value right);
  Value hostCeilDiv(Value left, int64_t right);

  //===--------------------------------------------------------------------===//
  // Memory. An element of 8 bits or fewer that LLVM does not know is loaded as
  // i8 and cast.
  //===--------------------------------------------------------------------===//

  /// The extent of a memref: a constant, or a parameter.
  Value size(Value memref, int64_t dim);
  /// The element at `indices`, or with `width` > 1 a vector of it and those
  /// after it in the row, which `isAligned` must allow.
  Value load(Value memref, ValueRange indices, int64_t width = 1);
  void store(Value value, Value memref, ValueRange indices);
  /// Brings a memref into the L2 cache, where it fits in `bytes`, a multiple of
  /// kSector, of each thread of the grid. That is no access: at the start of a
  /// kernel it does not wait for the kernels before.
  void prefetch(Value memref, int64_t bytes);
  /// Whether `width` elements of a row can be loaded and stored at once, at
  /// columns that are multiples of it.
  static bool isAligned(Value memref, int64_t width);
  /// An i32 element as an index; a negative one is no valid index.
  Value loadIndex(Value memref, ValueRange indices);
  void storeIndex(Value value, Value memref, ValueRange indices);

  /// Shared memory for `count` elements, aligned by 16 bytes.
  Value shared(Type element, int64_t count);
  /// The element at `index`, counted in elements of this type, or with `width`
  /// > 1 a vector of it and those after it; `index` is a multiple of `width`.
  Value loadShared(Type element, Value shared, Value index, int64_t width = 1);
  void storeShared(Value value, Value shared, Value index);

  //===--------------------------------------------------------------------===//
  // Threads
  //===--------------------------------------------------------------------===//

  int64_t numThreads() const { return threads; }
  Value thread();
  Value block();
  Value lane() { return remU(thread(), index(kWarpSize)); }
  Value warp() { return divU(thread(), index(kWarpSize)); }
  void barrier();
  /// The value (f32 or i32) of lane `lane ^ mask`, or of lane `source`.
  Value shuffleXor(Value value, int64_t mask);
  Value shuffle(Value value, Value source);
  /// The value of the lane `distance` below, or its own where there is none.
  Value shuffleUp(Value value, int64_t distance);
  /// The lanes of the warp for which `predicate` holds, as i32.
  Value ballot(Value predicate);
  /// The largest or the smallest signed i32 of the warp, in all lanes.
  Value reduceWarp(Value value, NVVM::ReduxKind kind);
  /// The combination over each `lanes` neighbouring lanes, in all of them.
  Value reduceLanes(Value value, int64_t lanes, Combine combine);
  SmallVector<Value> reduceLanes(ValueRange values, int64_t lanes, Merge merge);
  /// The combination over the CTA, in all threads; the identities change
  /// nothing. All threads call it, once.
  Value reduceBlock(Value value, Value identity, Combine combine);
  SmallVector<Value> reduceBlock(ValueRange values, ValueRange identities,
                                 Merge merge);

  //===--------------------------------------------------------------------===//
  // Index arithmetic, unsigned unless said, and control
  //===--------------------------------------------------------------------===//

  Value index(int64_t value);
  Value i32(int32_t value);
  Value f32(float value);
  Value add(Value left, Value right);
  Value sub(Value left, Value right);
  Value mul(Value left, Value right);
  Value divU(Value left, Value right);
  Value remU(Value left, Value right);
  Value ceilDivU(Value left, Value right);
  Value minU(Value left, Value right);
  Value bitAnd(Value left, Value right);
  Value ltU(Value left, Value right);
  Value isNonNegative(Value value);
  /// Conjunction, where null stands for true.
  Value both(Value left, Value right);
  Value equal(Value left, Value right);
  Value negate(Value condition);
  Value select(Value condition, Value left, Value right);
  /// `value` where the condition holds (null stands for true), else zero bytes.
  Value selectOrZero(Value condition, Value value);
  /// A float, or a vector of floats, as f32, and an f32 rounded to `element`.
  Value toF32(Value value);
  Value fromF32(Value value, Type element);
  /// `value` in each of `width` elements; itself for a width of 1.
  Value splat(Value value, int64_t width);

  /// The coordinates of element `number` of a row-major space.
  SmallVector<Value> delinearize(Value number, ArrayRef<Value> extents);

  /// `if (condition) body`; nothing is emitted around it where `condition` is
  /// null, which stands for true.
  void ifThen(Value condition, function_ref<void()> body);
  /// `condition ? body() : otherwise`.
  Value ifElse(Value condition, function_ref<Value()> body, Value otherwise);
  SmallVector<Value> ifElse(Value condition,
                            function_ref<SmallVector<Value>()> body,
                            function_ref<SmallVector<Value>()> otherwise);
  /// A loop over [begin, end) that carries values.
  SmallVector<Value>
  forLoop(Value begin, Value end, Value step, ValueRange inits,
          function_ref<SmallVector<Value>(Value, ValueRange)> body);

  /// A scalar of the host, which `user` uses, in the kernel: a constant, or a
  /// parameter. Fails, with an error at `user`, where a kernel cannot take it.
  FailureOr<Value> capture(Value scalar, Operation *user);
  /// Clones a block but for its terminator, into the kernel. It may load from
  /// and store to memrefs of the host, and use scalars of it; an error at what
  /// does anything else with a memref. `coordinates` are those that
  /// `linalg.index` gives.
  LogicalResult cloneBody(Block &block, IRMapping &mapping,
                          ValueRange coordinates = {});

private:
  /// Makes a cloned op use the kernel's memory, or replaces it by what does and
  /// maps its results.
  LogicalResult enterKernel(Operation *cloned, IRMapping &mapping,
                            ValueRange coordinates);
  Value parameter(Value hostValue, Type type);
  Value hostScalar(Value scalar);
  Value pointer(Value memref);
  Value elementPointer(Value memref, Type storage, ValueRange indices);
  /// Emits at the start of the body, where it dominates all.
  Value atEntry(function_ref<Value()> create);

  ImplicitLocOpBuilder hostBuilder;
  gpu::GPUModuleOp module;
  LLVM::LLVMFuncOp function;
  int64_t threads;
  /// The launch operand of each parameter: pointers first at the end.
  llvm::MapVector<Value, Value> pointers, scalars;
  llvm::SmallSetVector<Value, 4> stored;
  /// The extents of memrefs on the host.
  llvm::DenseMap<std::pair<Value, int64_t>, Value> hostSizes;
};

/// Checks that a kernel can access memory of this type, which `user` uses: it
/// gets base pointers, takes pitches from the extents, and knows integers and
/// floats. Errors are at `user`.
LogicalResult checkMemory(Operation *user, BaseMemRefType type);

/// The name of a kernel's function for `op`, unique in `module`.
std::string getKernelName(gpu::GPUModuleOp module, Operation *op,
                          StringRef suffix = {});

} // namespace mlir::moeq

#endif // MOEQ_LIB_CONVERSION_MOEQTOKERNELS_KERNELBUILDER_H
