//===- Jit.h - Functions run on the CPU -------------------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Calls a function of a module on arrays in the host's memory. An argument or
// result that is a scaled tensor is its components, one array each; a scalar is
// an array without dimensions. Arrays are dense and row-major. An element takes
// the bytes of its type: one of fp8, E8M0 and packed 4-bit values (i8), two of
// bf16, eight of index.
//
//===----------------------------------------------------------------------===//

#ifndef MOEQ_RUNTIME_JIT_H
#define MOEQ_RUNTIME_JIT_H

#include "mlir/IR/BuiltinOps.h"

#include <cstdlib>
#include <memory>

namespace mlir::moeq {

/// What an entry takes or gives at one place. Dynamic extents are kDynamic.
struct ArraySpec {
  /// Its `moeq.name`, else arg0, arg1, ... or result0, result1, ... The
  /// scales of a scaled tensor end in `.scale`, the zero points in `.zero`.
  std::string name;
  Type element;
  SmallVector<int64_t> shape;
  /// Whether the element is two 4-bit values.
  bool isPacked = false;
};

struct EntrySignature {
  SmallVector<ArraySpec> inputs, results;
};

/// The arrays that the function `entry` of `module` takes and gives. Error, at
/// the function, if a type is not a scalar, a ranked tensor or a memref.
FailureOr<EntrySignature> getEntrySignature(ModuleOp module, StringRef entry);

/// An array that belongs to someone else.
struct ArrayView {
  Type element;
  SmallVector<int64_t> shape;
  void *data;
};

/// An array with its memory.
struct Array {
  Type element;
  SmallVector<int64_t> shape;
  std::unique_ptr<char[]> data;

  int64_t getNumElements() const;
  int64_t getNumBytes() const;
  ArrayView view() { return {element, shape, data.get()}; }
};

/// The bytes of an element in an array.
int64_t getElementBytes(Type element);

/// Which level of docs/Spec.md the program is brought to before it is lowered
/// to loops. The numbers are the same at each.
enum class CpuLevel { Layer, Ops, Tiles };

/// Lowers a copy of `module`, which must be verified, for this CPU and calls
/// `entry`. Gives the results in order. The inputs are not written to, except
/// those of an entry on memrefs. Diagnostics, at the entry: a wrong number of
/// inputs, a wrong rank, extent or element type; those of the passes.
FailureOr<SmallVector<Array>> runOnCpu(ModuleOp module, StringRef entry,
                                       ArrayRef<ArrayView> inputs,
                                       CpuLevel level = CpuLevel::Ops);

} // namespace mlir::moeq

#endif // MOEQ_RUNTIME_JIT_H
