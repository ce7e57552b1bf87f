//===- PrepackKernel.cpp - Kernel of prepack --------------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"
#include "RowTeam.h"

#include "moeq/Support/Prepack.h"

using namespace mlir;
using namespace mlir::moeq;

/// Elements that a thread copies: it is done once, when weights are loaded.
static constexpr int64_t kThreads = 256;

/// A thread an element of each component, which it takes from where it was.
static void buildCopy(PrepackOp op, gpu::GPUModuleOp module,
                      unsigned component) {
  Value input = op.getInput()[component], out = op.getOuts()[component];
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
    SmallVector<Value> to = k.delinearize(number, extents);
    Value columns = op.getFrom() ? k.size(op.getInput().front(), 1) : Value();
    Value element = emitPrepackElement(
        k, k.getLoc(), op, component, to, columns,
        [&](ValueRange from) { return k.load(input, from); });
    k.store(element, out, to);
  });
  k.launch(k.hostCeilDiv(hostCount, kThreads));
}

LogicalResult moeq::buildKernels(PrepackOp op, gpu::GPUModuleOp module) {
  for (unsigned component = 0; component < op.getOuts().size(); ++component)
    buildCopy(op, module, component);
  return success();
}
