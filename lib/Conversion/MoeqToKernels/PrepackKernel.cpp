//===- PrepackKernel.cpp - Kernel of prepack --------------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"
#include "RowTeam.h"

#include "moeq/Support/GateColumns.h"

using namespace mlir;
using namespace mlir::moeq;

/// Elements that a thread copies: it is done once, when weights are loaded.
static constexpr int64_t kThreads = 256;

/// A thread an element of each component, which it takes from where it was.
static void buildCopy(PrepackOp op, gpu::GPUModuleOp module, Value input,
                      Value out) {
  KernelBuilder k(module, op, kThreads);
  int64_t rank = cast<MemRefType>(out.getType()).getRank();
  SmallVector<Value> extents;
  Value hostCount = k.hostIndex(1), count = k.index(1);
  for (int64_t dim = 0; dim < rank; ++dim) {
    extents.push_back(k.size(out, dim));
    count = k.mul(count, extents.back());
    hostCount = k.hostMul(hostCount, k.hostSize(out, dim));
  }
  Value number = k.add(k.mul(k.block(), k.index(kThreads)), k.thread());
  k.ifThen(k.ltU(number, count), [&] {
    SmallVector<Value> to = k.delinearize(number, extents), from(to);
    Value columns = k.size(op.getInput().front(), 1);
    // A scale for all columns stays where it is.
    Value source = emitGateSource(k, k.getLoc(), op.getFrom(), op.getTo(),
                                  to[1], k.divU(columns, k.index(2)));
    from[1] = k.minU(source, k.sub(extents[1], k.index(1)));
    k.store(k.load(input, from), out, to);
  });
  k.launch(k.hostCeilDiv(hostCount, kThreads));
}

LogicalResult moeq::buildKernels(PrepackOp op, gpu::GPUModuleOp module) {
  for (auto [input, out] : llvm::zip_equal(op.getInput(), op.getOuts()))
    buildCopy(op, module, input, out);
  return success();
}
