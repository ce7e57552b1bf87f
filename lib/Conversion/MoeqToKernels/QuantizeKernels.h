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
  /// What is loaded of `width` columns of a row: values of `width` elements.
  std::function<SmallVector<Value>(KernelBuilder &, Value row, Value column,
                                   int64_t width)>
      fetch;
  /// What is loaded of a row as a whole: a scalar, or null.
  std::function<Value(KernelBuilder &, Value row)> fetchOfRow;
  /// The numbers of what was loaded.
  std::function<Value(KernelBuilder &, ValueRange fetched, Value ofRow)>
      compute;
  /// Whether `compute` takes no registers beside what was loaded.
  bool isLight = false;
  /// Whether no number has its sign bit set.
  bool isUnsigned = false;
  /// The bytes of spill stores that are worth the CTAs on an SM.
  int64_t maxSpillStores = 0;
  /// The columns, or kDynamic, and in a kernel and on the host.
  int64_t staticColumns;
  std::function<Value(KernelBuilder &)> columns, hostColumns;
  /// The most columns that can be loaded at once.
  int64_t width;
  /// Memory that is read as a whole.
  SmallVector<Value> inputs;
  /// The rows of the source in a kernel and on the host, which are those of the
  /// result unless `rows` says from which each comes.
  std::function<Value(KernelBuilder &)> sourceRows, hostSourceRows;
  Value rows;
  /// The offsets of the groups of the result's rows, or null.
  Value offsets;
  /// The column of place `place` where tiles count columns in another order, of
  /// chunks that stay together; or null. A tile has whole turns of so many
  /// places.
  std::function<Value(KernelBuilder &, Value place)> columnAt;
  int64_t placesOfTurn = 1;

  /// The extents of numbers that `input` is made to, [.., columns * halves].
  void setExtents(Value input, int64_t halves = 1);
  /// `width` numbers of a row.
  Value load(KernelBuilder &k, Value row, Value column, int64_t width) const {
    return compute(k, fetch(k, row, column, width), fetchOfRow(k, row));
  }
  /// The rows of the result.
  Value countRows(KernelBuilder &k) const {
    return rows ? k.size(rows, 0) : sourceRows(k);
  }
  Value hostCountRows(KernelBuilder &k) const {
    return rows ? k.hostSize(rows, 0) : hostSourceRows(k);
  }
};

/// A result of quantization: its components, none where there is no such
/// result, and their format.
struct QuantizeResult {
  ValueRange outs;
  ScaledType format;

  explicit operator bool() const { return !outs.empty(); }
};

/// What an op makes of its source: one result at least.
struct QuantizeResults {
  QuantizeResult rowwise, columnwise;
  /// Of each group, the sums of its columns: [E, K] of f32, or null.
  Value sums;
};

/// The indices of `column` in a row of a memref, all dimensions but the last
/// counted through.
SmallVector<Value> rowIndices(KernelBuilder &k, Value memref, Value row,
                              Value column);

/// Whether buildQuantizeTiles makes a rowwise result, without a columnwise one
/// where a block is a whole row.
bool isTiledRowwise(const QuantizeSource &source, ScaledType format,
                    RecipeAttr recipe, int64_t rank);
/// Why it does not make a columnwise result, or nothing.
std::optional<std::string> whyNotTiledColumnwise(ScaledType format,
                                                 RecipeAttr recipe);
/// The kernel that quantizes tiles of rows and columns: all results from one
/// read. Sums take a second kernel.
void buildQuantizeTiles(Operation *op, gpu::GPUModuleOp module,
                        const QuantizeSource &source,
                        const QuantizeResults &results, RecipeAttr recipe);
/// That second kernel: `sums` of the sums of blocks of rows, `partials`.
void buildSumsOfBlocks(Operation *op, gpu::GPUModuleOp module, Value offsets,
                       Value partials, Value sums);

/// The kernels that quantize `source`: one for tiles, which reads `ofTiles`,
/// and another for a rowwise result whose blocks do not fit in tiles. An error
/// at `op` where there are none.
LogicalResult buildQuantize(Operation *op, gpu::GPUModuleOp module,
                            const QuantizeSource &source,
                            const QuantizeSource &ofTiles,
                            const QuantizeResults &results, RecipeAttr recipe);

/// The results of an op that quantizes, on memrefs, but for sums.
template <typename OpTy>
QuantizeResults getResults(OpTy op) {
  auto resultOf = [](ValueRange outs, std::optional<Type> format) {
    return outs.empty() ? QuantizeResult()
                        : QuantizeResult{outs, cast<ScaledType>(*format)};
  };
  return {resultOf(op.getOuts(), op.getOutsFormat()),
          resultOf(op.getColumnwise(), op.getColumnwiseFormat()), Value()};
}

} // namespace mlir::moeq

#endif // MOEQ_LIB_CONVERSION_MOEQTOKERNELS_QUANTIZEKERNELS_H
