//===- ElementwiseKernel.cpp - Kernels of elementwise ops -------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One thread an element, for the linalg ops and copies that stand between the
// ops of moeq.
//
//===----------------------------------------------------------------------===//

#include "KernelBuilder.h"
#include "Kernels.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::moeq;

static constexpr int64_t kThreads = 256;

/// Launches a thread for each element of the space whose dimension d is that of
/// `spaces[d]`: a memref and a dimension of it.
static void
buildElementwise(Operation *op, gpu::GPUModuleOp module,
                 ArrayRef<std::pair<Value, int64_t>> spaces,
                 function_ref<void(KernelBuilder &, ArrayRef<Value>)> body) {
  KernelBuilder k(module, op, kThreads);
  SmallVector<Value> extents;
  Value total = k.index(1), hostTotal = k.hostIndex(1);
  for (auto [memref, dim] : spaces) {
    extents.push_back(k.size(memref, dim));
    total = k.mul(total, extents.back());
    hostTotal = k.hostMul(hostTotal, k.hostSize(memref, dim));
  }
  Value number = k.add(k.mul(k.block(), k.index(kThreads)), k.thread());
  k.ifThen(k.ltU(number, total),
           [&] { body(k, k.delinearize(number, extents)); });
  k.launch(k.hostCeilDiv(hostTotal, kThreads));
}

LogicalResult moeq::buildKernels(linalg::LinalgOp op, gpu::GPUModuleOp module) {
  if (op.getNumParallelLoops() != op.getNumLoops())
    return op.emitOpError("expects parallel iterators only, got a reduction");
  SmallVector<std::pair<Value, int64_t>> spaces(op.getNumLoops());
  for (OpOperand &operand : op->getOpOperands()) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    if (!map.isProjectedPermutation(/*allowZeroInResults=*/true))
      return op.emitOpError()
             << "expects indexing maps that are projected permutations, got "
             << AffineMapAttr::get(map);
    for (auto [dim, expression] : llvm::enumerate(map.getResults()))
      if (auto loop = dyn_cast<AffineDimExpr>(expression))
        spaces[loop.getPosition()] = {operand.get(), dim};
  }
  LogicalResult result = success();
  buildElementwise(
      op, module, spaces, [&](KernelBuilder &k, ArrayRef<Value> coordinates) {
        Block &block = *op.getBlock();
        auto indicesOf = [&](OpOperand *operand) {
          SmallVector<Value> indices;
          for (AffineExpr expression :
               op.getMatchingIndexingMap(operand).getResults()) {
            auto loop = dyn_cast<AffineDimExpr>(expression);
            indices.push_back(loop ? coordinates[loop.getPosition()]
                                   : k.index(0));
          }
          return indices;
        };
        IRMapping mapping;
        for (OpOperand &operand : op->getOpOperands()) {
          BlockArgument argument = op.getMatchingBlockArgument(&operand);
          if (isa<MemRefType>(operand.get().getType())) {
            if (!argument.use_empty())
              mapping.map(argument, k.load(operand.get(), indicesOf(&operand)));
          } else {
            FailureOr<Value> captured = k.capture(operand.get(), op);
            result = captured;
            if (failed(result))
              return;
            mapping.map(argument, *captured);
          }
        }
        result = k.cloneBody(block, mapping, coordinates);
        if (failed(result))
          return;
        for (auto [init, yielded] : llvm::zip_equal(
                 op.getDpsInitsMutable(), block.getTerminator()->getOperands()))
          k.store(mapping.lookupOrDefault(yielded), init.get(),
                  indicesOf(&init));
      });
  return result;
}

LogicalResult moeq::buildKernels(memref::CopyOp op, gpu::GPUModuleOp module) {
  SmallVector<std::pair<Value, int64_t>> spaces;
  for (int64_t dim = 0;
       dim < cast<MemRefType>(op.getTarget().getType()).getRank(); ++dim)
    spaces.push_back({op.getTarget(), dim});
  buildElementwise(op, module, spaces,
                   [&](KernelBuilder &k, ArrayRef<Value> coordinates) {
                     k.store(k.load(op.getSource(), coordinates),
                             op.getTarget(), coordinates);
                   });
  return success();
}
