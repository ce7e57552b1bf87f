//===- Manifest.h - How to launch the kernels of a module -------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `docs/Manifest.md` is the schema.
//
//===----------------------------------------------------------------------===//

#ifndef MOEQ_TARGET_MANIFEST_H
#define MOEQ_TARGET_MANIFEST_H

#include "moeq/Target/Ptx.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/JSON.h"

namespace mlir::moeq {

/// Marks an allocation on the host, `memref.alloc`, whose buffer is kept from
/// call to call and is zeroed when it is made. Kernels leave it zero.
constexpr StringLiteral kZeroedAttr = "moeq.zeroed";

/// The manifest of the public functions of a module of level 4, which take and
/// return memrefs and do nothing but launch kernels. `hasCubins` says whether a
/// cubin lies beside each PTX file. What a manifest cannot say (a size that no
/// argument's dimensions determine, a buffer that is neither argument nor
/// allocation, work other than launches) is an error at the operation.
FailureOr<llvm::json::Value>
buildManifest(ModuleOp module, const PtxTarget &target, bool hasCubins);

} // namespace mlir::moeq

#endif // MOEQ_TARGET_MANIFEST_H
