//===- ScaleLayout.cpp - Where scales lie -----------------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "moeq/Support/ScaleLayout.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::moeq;

Value moeq::emitSwizzledByte(OpBuilder &b, Location loc, Value row,
                             Value column, Value columns) {
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, loc, value);
  };
  auto div = [&](Value a, int64_t by) {
    return b.createOrFold<arith::DivUIOp>(loc, a, constant(by));
  };
  auto rem = [&](Value a, int64_t by) {
    return b.createOrFold<arith::RemUIOp>(loc, a, constant(by));
  };
  auto fma = [&](Value a, Value by, Value plus) {
    return b.createOrFold<arith::AddIOp>(
        loc, b.createOrFold<arith::MulIOp>(loc, a, by), plus);
  };
  Value tile = fma(div(row, 128), div(columns, 4), div(column, 4));
  Value inTile = rem(row, 128);
  Value byte = fma(div(inTile, 32), constant(4), rem(column, 4));
  byte = fma(rem(inTile, 32), constant(16), byte);
  return fma(tile, constant(512), byte);
}

ScalePlace moeq::emitScalePlace(OpBuilder &b, Location loc, ScaleLayout layout,
                                Value row, Value column, Value columns) {
  if (layout == ScaleLayout::MnMajor)
    return {column, row};
  if (layout != ScaleLayout::Swizzle128x4)
    return {row, column};
  Value byte = emitSwizzledByte(b, loc, row, column, columns);
  return {arith::DivUIOp::create(b, loc, byte, columns),
          arith::RemUIOp::create(b, loc, byte, columns)};
}
