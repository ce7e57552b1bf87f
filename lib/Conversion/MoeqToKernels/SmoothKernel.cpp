//===- SmoothKernel.cpp - Kernel of smooth ----------------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelBuilder.h"
#include "Kernels.h"

#include "moeq/Support/NumericsSmooth.h"

using namespace mlir;
using namespace mlir::moeq;

static constexpr int64_t kThreads = 256;

/// A thread a factor, neighbours along K: it is done once, when weights are
/// loaded.
LogicalResult moeq::buildKernels(SmoothOp op, gpu::GPUModuleOp module) {
  KernelBuilder k(module, op, kThreads);
  Elementwise e(k, op.getLoc());
  Value outs = op.getOuts(), weight = op.getWeight();
  SmallVector<Value> extents{k.size(outs, 0), k.size(outs, 1)};
  Value number = k.add(k.mul(k.block(), k.index(kThreads)), k.thread());
  k.ifThen(k.ltU(number, k.mul(extents[0], extents[1])), [&] {
    SmallVector<Value> at = k.delinearize(number, extents);
    Value one = k.index(1);
    Value first = op.isShared() ? k.index(0) : at[0];
    Value end = op.isShared() ? k.size(weight, 0) : k.add(first, one);
    Value last = k.sub(k.size(op.getAmax(), 0), one);
    SmallVector<Value> amax = k.forLoop(
        first, end, one, {k.i32(0), k.i32(0)},
        [&](Value expert, ValueRange found) -> SmallVector<Value> {
          Value row = k.minU(expert, last);
          Value activation =
              emitAmax(e, found[0], k.load(op.getAmax(), {row, at[1]}));
          SmallVector<Value> largest =
              k.forLoop(k.index(0), k.size(weight, 1), one, found[1],
                        [&](Value n, ValueRange carried) -> SmallVector<Value> {
                          Value x = k.toF32(k.load(weight, {expert, n, at[1]}));
                          return {emitAmax(e, carried[0], x)};
                        });
          return {activation, largest[0]};
        });
    k.store(emitSmoothFactor(e, op, amax[0], amax[1]), outs, at);
  });
  k.launch(k.hostCeilDiv(k.hostMul(k.hostSize(outs, 0), k.hostSize(outs, 1)),
                         kThreads));
  return success();
}
