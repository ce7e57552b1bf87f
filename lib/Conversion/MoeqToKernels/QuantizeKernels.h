//===- QuantizeKernels.h - Kernels that quantize ----------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOEQ_LIB_CONVERSION_MOEQTOKERNELS_QUANTIZEKERNELS_H
#define MOEQ_LIB_CONVERSION_MOEQTOKERNELS_QUANTIZEKERNELS_H

#include "KernelBuilder.h"

#include "moeq/Dialect/Moeq/IR/Moeq.h"

namespace mlir::moeq {

/// The numbers that are quantized: rows of `columns` columns, all dimensions
/// but the last counted through.
struct QuantizeSource {
  /// The type of the numbers: a float of 16 or 32 bits.
  Type element;
  /// `width` columns of a row.
  std::function<Value(KernelBuilder &, Value row, Value column, int64_t width)>
      load;
  /// The columns, or kDynamic, and in a kernel.
  int64_t staticColumns;
  std::function<Value(KernelBuilder &)> columns;
  /// The most columns that can be loaded at once.
  int64_t width;
  /// The source row of each row of the result, or null where they are the same.
  Value rows;
};

/// The kernels that quantize `source` to the components `outs` of `format`: one
/// where blocks lie inside rows, else one for the partial maxima of the blocks
/// and one that quantizes.
LogicalResult buildQuantize(Operation *op, gpu::GPUModuleOp module,
                            const QuantizeSource &source, ValueRange outs,
                            ScaledType format, RecipeAttr recipe);

} // namespace mlir::moeq

#endif // MOEQ_LIB_CONVERSION_MOEQTOKERNELS_QUANTIZEKERNELS_H
