//===- Chips.cpp - The chips that kernels are compiled for ------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "moeq/Target/Chips.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::moeq;

static constexpr int64_t kMiB = 1 << 20;

// The cards: A100 80 GB, L40S, H200, B200, RTX 5090.
static constexpr Chip kChips[] = {
    {"sm_80", 108, 166912, 40 * kMiB, 70, 80, 312, 312, 2039, false, false},
    {"sm_89", 142, 101376, 96 * kMiB, 78, 84, 733, 362, 864, true, false},
    {"sm_90a", 132, 232448, 50 * kMiB, 80, 80, 1505, 770, 4262, true, true,
     /*hasWgmma=*/true},
    {"sm_100a", 148, 232448, 126 * kMiB, 86, 86, 4500, 2250, 8000, true, true},
    {"sm_120a", 170, 101376, 96 * kMiB, 87, 87, 419, 209, 1792, true, true},
};

// What the NVPTX backend of LLVM 22 can emit, from the oldest that a chip of
// the table takes.
static constexpr int64_t kPtxVersions[] = {
    70, 71, 72, 73, 74, 75, 76, 77, 78, 80, 81, 82, 83, 84, 85, 86, 87, 88, 90};

ArrayRef<Chip> mlir::moeq::getChips() { return kChips; }

FailureOr<const Chip *> mlir::moeq::lookupChip(Location loc, StringRef name) {
  for (const Chip &chip : kChips)
    if (chip.name == name)
      return &chip;
  InFlightDiagnostic error = emitError(loc) << "expects a chip out of ";
  llvm::interleaveComma(kChips, error,
                        [&](const Chip &chip) { error << chip.name; });
  return error << ", got '" << name << "'";
}

FailureOr<int64_t> mlir::moeq::selectPtxVersion(Location loc, const Chip &chip,
                                                int64_t requested) {
  if (requested == 0)
    return chip.defaultPtxVersion;
  if (requested < chip.minPtxVersion)
    return emitError(loc) << chip.name << " expects a PTX version of at least "
                          << chip.minPtxVersion << ", got " << requested;
  if (!llvm::is_contained(kPtxVersions, requested)) {
    InFlightDiagnostic error = emitError(loc)
                               << "expects a PTX version out of ";
    llvm::interleaveComma(kPtxVersions, error);
    return error << ", got " << requested;
  }
  return requested;
}

int64_t mlir::moeq::getOperandTileBytes(int64_t rows, int64_t columns,
                                        int64_t depth, int64_t stages,
                                        unsigned lhsBits, unsigned rhsBits) {
  return stages * depth * (rows * lhsBits + columns * rhsBits) / 8;
}
