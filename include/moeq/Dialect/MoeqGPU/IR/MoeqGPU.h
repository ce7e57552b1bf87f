//===- MoeqGPU.h - The moeq_gpu dialect -------------------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The kernel dialect's types and ops, and the budget of a kernel.
//
//===----------------------------------------------------------------------===//

#ifndef MOEQ_DIALECT_MOEQGPU_IR_MOEQGPU_H
#define MOEQ_DIALECT_MOEQGPU_IR_MOEQGPU_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "moeq/Dialect/MoeqGPU/IR/MoeqGPUDialect.h.inc"

#define GET_TYPEDEF_CLASSES
#include "moeq/Dialect/MoeqGPU/IR/MoeqGPUTypes.h.inc"

#define GET_OP_CLASSES
#include "moeq/Dialect/MoeqGPU/IR/MoeqGPUOps.h.inc"

namespace mlir::moeq_gpu {

/// The threads of a warpgroup and of a warp.
constexpr int64_t kWarpgroupThreads = 128;
constexpr int64_t kWarpThreads = 32;

/// The alignment in bytes that the 128-byte swizzle asks of a tile.
constexpr int64_t kTileAlignment = 1024;

/// Where a kernel's shared memory lies, and what else the kernel takes of a
/// CTA.
struct KernelBudget {
  /// The offset in bytes of each `alloc` (its first warpgroup's) and of the
  /// stages of each `ring.create`.
  llvm::DenseMap<Operation *, int64_t> offsets;
  /// The offset in bytes of the barriers of each `ring.create`.
  llvm::DenseMap<Operation *, int64_t> barrierOffsets;
  /// The `alloc`s of which each consumer has its own, one after the other.
  llvm::DenseSet<Operation *> privateTiles;
  /// The dynamic shared memory in bytes.
  int64_t sharedMemory = 0;
  /// The CTAs of a cluster, and those that share a multiprocessor.
  int64_t cluster = 1, ctas = 1;
  /// The threads of the CTA, and the warpgroups of it before the consumers.
  int64_t threads = 0, producers = 1;
  /// The registers of all threads after they have been shared out.
  int64_t registers = 0;
  /// The named barriers, that of the whole CTA included.
  int64_t namedBarriers = 1;
};

/// Whether a memref is dense and row-major, at any offset of its base.
bool isContiguous(MemRefType type);

/// Whether a contiguous memref starts at a multiple of `bytes`, given a base
/// that does: its offset is static then.
bool isAlignedTo(MemRefType type, int64_t bytes);

/// The registers that `threads` of each of `ctas` a multiprocessor have
/// together when they start: a multiple of 8 a thread. What its roles have
/// later comes from these; a role that asks for more waits for ever.
inline int64_t getLaunchRegisters(int64_t threads, int64_t ctas = 1) {
  constexpr int64_t all = 65536, most = 256;
  return threads * std::min(all / ctas / threads / 8 * 8, most);
}

/// Computes the budget of the kernel that holds `roles`.
KernelBudget getKernelBudget(RolesOp roles);

} // namespace mlir::moeq_gpu

#endif // MOEQ_DIALECT_MOEQGPU_IR_MOEQGPU_H
