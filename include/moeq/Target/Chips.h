//===- Chips.h - The chips that kernels are compiled for --------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the compiler has to know of a chip. Versions of the PTX ISA are written
// as in LLVM's features: 80 is PTX ISA 8.0.
//
//===----------------------------------------------------------------------===//

#ifndef MOEQ_TARGET_CHIPS_H
#define MOEQ_TARGET_CHIPS_H

#include "mlir/IR/Location.h"
#include "mlir/Support/LLVM.h"

namespace mlir::moeq {

struct Chip {
  /// Name for ptxas and LLVM: `sm_90a`.
  StringLiteral name;
  /// Multiprocessors of the card that the other figures are of.
  int64_t sms;
  /// Bytes of dynamic shared memory that one CTA may ask for (CUDA C++
  /// Programming Guide, table "Technical Specifications per Compute
  /// Capability").
  int64_t sharedMemory;
  /// Bytes of the L2 cache.
  int64_t l2;
  /// The PTX ISA that introduced the chip (PTX ISA, "Target directives").
  int64_t minPtxVersion;
  /// The PTX ISA that its kernels are written in unless told otherwise.
  int64_t defaultPtxVersion;
  /// Dense tensor-core rates with f32 accumulation, TFLOP/s. Of sm_90a measured
  /// on an H200 at its power limit; of the others published, and of sm_80,
  /// which has no FP8, the rate of f16 again.
  double fp8Tflops, f16Tflops;
  /// Bandwidth of a copy in device memory, GB/s, bytes read plus written. Of
  /// sm_90a measured, of the others published.
  double bandwidth;
  /// Whether the tensor cores multiply fp8.
  bool hasFp8;
  /// Whether a kernel may start before the previous one has ended
  /// (griddepcontrol).
  bool hasDependentLaunch;
  /// Whether warpgroups multiply out of shared memory (wgmma).
  bool hasWgmma = false;

  /// Bytes of shared memory for each of `ctas` that share a multiprocessor,
  /// which takes some for itself for each.
  int64_t getSharedMemory(int64_t ctas) const {
    constexpr int64_t reserved = 1024;
    return (sharedMemory + reserved) / ctas - reserved;
  }
};

/// Bytes that a kernel may use without asking: past it, shared memory is
/// dynamic.
constexpr int64_t kStaticSharedMemory = 49152;

/// The chip for a module that names none.
constexpr StringLiteral kDefaultChip = "sm_90a";

/// All known chips.
ArrayRef<Chip> getChips();

/// The chip of this name; otherwise an error at `loc` that lists the known
/// ones.
FailureOr<const Chip *> lookupChip(Location loc, StringRef name);

/// The PTX version to emit for `chip`: its default where `requested` is 0,
/// otherwise `requested`, which has to be one that LLVM knows and not older
/// than the chip; an error at `loc` where it is not.
FailureOr<int64_t> selectPtxVersion(Location loc, const Chip &chip,
                                    int64_t requested);

/// Bytes of shared memory for the operand tiles of a matmul, every stage of the
/// ring held: stages * (rows * depth * lhsBits + columns * depth * rhsBits) /
/// 8, with `depth` the elements of K in a tile. Barriers and the epilogue come
/// on top.
int64_t getOperandTileBytes(int64_t rows, int64_t columns, int64_t depth,
                            int64_t stages, unsigned lhsBits, unsigned rhsBits);

} // namespace mlir::moeq

#endif // MOEQ_TARGET_CHIPS_H
