//===- GeneralMatmulKernel.cpp - Kernels of any matmul ----------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One thread an element, with the scalar code of the reference: any scheme and
// shape, slowly.
//
//===----------------------------------------------------------------------===//

#include "KernelBuilder.h"
#include "Kernels.h"

#include "moeq/Conversion/MoeqToLinalg.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::moeq;

static constexpr int64_t kThreads = 256;

/// Emits what `emit` does on memrefs of the host into the kernel.
static FailureOr<Value>
emitReference(KernelBuilder &k,
              function_ref<FailureOr<Value>(Elementwise &)> emit) {
  Block block;
  OpBuilder builder(k.getContext());
  builder.setInsertionPointToEnd(&block);
  Elementwise e(builder, k.getLoc());
  FailureOr<Value> value = emit(e);
  if (failed(value))
    return failure();
  scf::YieldOp::create(builder, k.getLoc(), *value);
  IRMapping mapping;
  if (failed(k.cloneBody(block, mapping)))
    return failure();
  return mapping.lookupOrDefault(*value);
}

/// The last expert whose first row is not after `row`; -1 where there is none.
static Value findExpert(KernelBuilder &k, Value offsets, Value experts,
                        Value row) {
  return k.forLoop(k.index(0), experts, k.index(1), k.index(-1),
                   [&](Value expert, ValueRange found) -> SmallVector<Value> {
                     Value first = k.loadIndex(offsets, expert);
                     Value isAfter = arith::CmpIOp::create(
                         k, arith::CmpIPredicate::sgt, first, row);
                     return {k.select(isAfter, found[0], expert)};
                   })[0];
}

/// One thread for each element of the result, with its row, counted over all
/// experts, and its column.
template <typename OpTy>
static LogicalResult
buildGeneral(OpTy op, gpu::GPUModuleOp module,
             function_ref<LogicalResult(KernelBuilder &, Value, Value)> body) {
  Value out = op.getOuts();
  KernelBuilder k(module, op, kThreads);
  Value number = k.add(k.mul(k.block(), k.index(kThreads)), k.thread());
  int64_t columnDim = cast<MemRefType>(out.getType()).getRank() - 1;
  Value rows = k.size(out, 0), columns = k.size(out, columnDim);
  Value elements = k.hostMul(k.hostSize(out, 0), k.hostSize(out, columnDim));
  if (columnDim == 2) {
    rows = k.mul(rows, k.size(out, 1));
    elements = k.hostMul(elements, k.hostSize(out, 1));
  }
  LogicalResult result = success();
  k.ifThen(k.ltU(number, k.mul(rows, columns)), [&] {
    SmallVector<Value> at = k.delinearize(number, {rows, columns});
    result = body(k, at[0], at[1]);
  });
  k.launch(k.hostCeilDiv(elements, kThreads));
  return result;
}

LogicalResult moeq::buildGeneralMatmul(MatmulOp op, gpu::GPUModuleOp module) {
  return buildGeneral(
      op, module,
      [&](KernelBuilder &k, Value row, Value column) -> LogicalResult {
        FailureOr<Value> element = emitReference(k, [&](Elementwise &e) {
          return emitMatmulElement(e, op, row, column);
        });
        if (succeeded(element))
          k.store(*element, op.getOuts(), {row, column});
        return element;
      });
}

LogicalResult moeq::buildGeneralMatmul(GroupedMatmulOp op,
                                       gpu::GPUModuleOp module) {
  return buildGeneral(
      op, module,
      [&](KernelBuilder &k, Value row, Value column) -> LogicalResult {
        Value expert, end;
        SmallVector<Value> indices{row};
        if (op.isMasked() || op.contractsRows()) {
          Value rows = k.size(op.getOuts(), 1);
          indices = {k.divU(row, rows), k.remU(row, rows)};
          expert = indices[0];
          end = op.isMasked() ? k.loadIndex(op.getCounts(), expert) : rows;
        } else {
          Value offsets = op.getOffsets();
          expert = findExpert(k, offsets, k.size(op.getRhs().front(), 0), row);
          end = k.ifElse(
              k.isNonNegative(expert),
              [&] { return k.loadIndex(offsets, k.add(expert, k.index(1))); },
              k.index(0));
        }
        LogicalResult result = success();
        // Rows outside of every group keep what they hold.
        Value isInside = arith::CmpIOp::create(k, arith::CmpIPredicate::slt,
                                               indices.back(), end);
        k.ifThen(isInside, [&] {
          FailureOr<Value> element = emitReference(k, [&](Elementwise &e) {
            return emitMatmulElement(e, op, row, indices, column, expert);
          });
          result = element;
          if (failed(element))
            return;
          indices.push_back(column);
          k.store(*element, op.getOuts(), indices);
        });
        return result;
      });
}
