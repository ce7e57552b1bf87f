//===- Npy.h - NumPy's array files ------------------------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads and writes `.npy` files (NumPy enhancement proposal 1, versions 1 to
// 3).
//
//===----------------------------------------------------------------------===//

#ifndef MOEQ_RUNTIME_NPY_H
#define MOEQ_RUNTIME_NPY_H

#include "moeq/Runtime/Jit.h"

#include "llvm/Support/Error.h"

namespace mlir::moeq {

/// Reads the array that `spec` describes. NumPy has no name for some elements:
/// bf16 is uint16 or a void of two bytes, fp8 and E8M0 are uint8 or a void of
/// one byte, bytes of 4-bit values uint8 or int8. Errors name the file: another
/// element type, column-major or big-endian data, a malformed or cut file.
llvm::Expected<Array> readNpy(StringRef path, const ArraySpec &spec);

/// Writes an array, bf16 as uint16, fp8, E8M0 and packed 4-bit values as uint8.
llvm::Error writeNpy(StringRef path, const ArraySpec &spec,
                     const ArrayView &array);

} // namespace mlir::moeq

#endif // MOEQ_RUNTIME_NPY_H
