//===- TilingInterfaceImpl.h - Tiling of moeq -------------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// TilingInterface of moeq ops on scaled tensors. The iteration domains are:
//
//  - matmul: row, column. K is never a loop: the epilogue would run once a tile
//    of it;
//  - grouped_matmul: expert (in tiles of 1 or of all), row, column;
//  - quantize, dequantize, gather, combine, activate, act_quant: that of the
//    result.
//
// A tile that cuts what a scale holds together is an error at the op. Tile
// sizes are multiples or, where the scale is only read, divisors of the block.
//
//===----------------------------------------------------------------------===//

#ifndef MOEQ_DIALECT_MOEQ_TRANSFORMS_TILINGINTERFACEIMPL_H
#define MOEQ_DIALECT_MOEQ_TRANSFORMS_TILINGINTERFACEIMPL_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace mlir::moeq {

/// Registers TilingInterface on the ops above.
void registerTilingInterfaceExternalModels(DialectRegistry &registry);

} // namespace mlir::moeq

#endif // MOEQ_DIALECT_MOEQ_TRANSFORMS_TILINGINTERFACEIMPL_H
