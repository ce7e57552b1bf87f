//===- QuantizeOps.cpp - Numbers that ops quantize --------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What `quantize` and `act_quant` read, for the kernels that quantize it.
//
//===----------------------------------------------------------------------===//

#include "Activated.h"
#include "ColumnChunk.h"
#include "Kernels.h"
#include "QuantizeKernels.h"
#include "RoundedActivation.h"
#include "RowTeam.h"

using namespace mlir;
using namespace mlir::moeq;

void QuantizeSource::setExtents(Value input, int64_t halves) {
  auto type = cast<MemRefType>(input.getType());
  int64_t last = type.getRank() - 1, extent = type.getDimSize(last);
  staticColumns = ShapedType::isDynamic(extent) ? extent : extent / halves;
  columns = [=](KernelBuilder &k) {
    return k.divU(k.size(input, last), k.index(halves));
  };
  hostColumns = [=](KernelBuilder &k) {
    return k.host().createOrFold<arith::DivUIOp>(k.hostSize(input, last),
                                                 k.hostIndex(halves));
  };
  sourceRows = [=](KernelBuilder &k) { return k.size(input, 0); };
  hostSourceRows = [=](KernelBuilder &k) { return k.hostSize(input, 0); };
}

LogicalResult moeq::buildKernels(QuantizeOp op, gpu::GPUModuleOp module) {
  Value input = op.getInput();
  QuantizeSource source;
  source.element = getElementTypeOrSelf(input.getType());
  source.fetch = [=](KernelBuilder &k, Value row, Value column,
                     int64_t width) -> SmallVector<Value> {
    return {k.load(input, rowIndices(k, input, row, column), width)};
  };
  source.fetchOfRow = [](KernelBuilder &, Value) { return Value(); };
  source.compute = [](KernelBuilder &, ValueRange fetched, Value) {
    return fetched[0];
  };
  source.isLight = true;
  source.setExtents(input);
  source.width = getCommonWidth(input, kChunk);
  source.rows = op.getRows();
  if (!source.rows)
    source.inputs = {input};
  source.offsets = op.getOffsets();
  return buildQuantize(op, module, source, source, getResults(op),
                       op.getRecipe());
}

LogicalResult moeq::buildKernels(ActQuantOp op, gpu::GPUModuleOp module) {
  Value input = op.getInput();
  QuantizeSource source;
  Builder builder(op.getContext());
  Type element = getIntermediateType(builder, op.getIntermediateRound());
  source.element = element;
  source.inputs = {input};
  source.setExtents(input, isGated(op.getFunction()) ? 2 : 1);
  auto columns = source.columns;
  source.fetch = [=](KernelBuilder &k, Value row, Value column, int64_t width) {
    return fetchActivated(k, op, row, column, columns(k), width);
  };
  source.fetchOfRow = [=](KernelBuilder &k, Value row) {
    return fetchRowWeight(k, op, row);
  };
  ActivationParameters parameters = getActivationParameters(op);
  bool isRounded =
      element == getElementTypeOrSelf(input.getType()) &&
      hasRoundedActivation(parameters, element, op.getRowWeight() != nullptr);
  source.isLight = source.isUnsigned =
      isRounded && isRoundedInPlace(parameters);
  source.compute = [=](KernelBuilder &k, ValueRange fetched, Value ofRow) {
    auto vector = dyn_cast<VectorType>(fetched[0].getType());
    if (isRounded && vector && vector.getNumElements() == kChunk)
      return emitRoundedActivation(k, parameters, fetched[0],
                                   fetched.size() > 1 ? fetched[1] : Value(),
                                   ofRow);
    return k.fromF32(computeActivated(k, op, fetched, ofRow), element);
  };
  source.width = getCommonWidth(input, kChunk, source.staticColumns);
  source.offsets = op.getOffsets();
  return buildQuantize(op, module, source, source, getResults(op),
                       op.getRecipe());
}
