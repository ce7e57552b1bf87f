//===- Prepack.cpp - What moeq.prepack moves --------------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "moeq/Support/Prepack.h"

#include "moeq/Dialect/Moeq/IR/WeightPacking.h"
#include "moeq/Support/GateColumns.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::moeq;

/// The scaled type of an operand group of memrefs, or null.
static ScaledType getFormat(TypeAttr format) {
  return format ? cast<ScaledType>(format.getValue()) : ScaledType();
}

/// The digits of a component of `format` whose memory has this shape, of values
/// counted in values; none where it is row-major.
static SmallVector<PackedDigit> getDigits(ScaledType format, unsigned component,
                                          ArrayRef<int64_t> shape) {
  if (!format || !format.isReordered())
    return {};
  int64_t rows = shape[shape.size() - 2], columns = shape.back();
  if (component != 0)
    return columns == 1 ? SmallVector<PackedDigit>()
                        : getPackedScaleDigits(rows, columns);
  unsigned bits = format.getValue().getIntOrFloatBitWidth();
  return getPackedValueDigits(bits, rows, columns * 8 / bits);
}

Value moeq::emitPrepackElement(OpBuilder &b, Location loc, PrepackOp op,
                               unsigned component, ValueRange indices,
                               Value columns, LoadElement load) {
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, loc, value);
  };
  auto type = cast<MemRefType>(op.getOuts()[component].getType());
  ScaledType outsFormat = getFormat(op.getOutsFormatAttr());
  SmallVector<PackedDigit> from = getDigits(getFormat(op.getInputFormatAttr()),
                                            component, type.getShape()),
                           to = getDigits(outsFormat, component,
                                          type.getShape());
  bool isPacking = !from.empty() || !to.empty();
  // Rows of whole bytes are moved as they are.
  int64_t perByte =
      component == 0 && isPacking && outsFormat.isPacked() ? 2 : 1;

  // Where the value at `at` of the result is in the input, both counted in
  // values.
  auto getSource = [&](ValueRange at) {
    SmallVector<Value> source(at);
    Value pitch =
        isPacking ? constant(type.getShape().back() * perByte) : Value();
    auto getPair = [&]() -> std::pair<Value &, Value &> {
      return {source[source.size() - 2], source.back()};
    };
    if (!to.empty()) {
      auto [row, column] = getPair();
      Value place = arith::AddIOp::create(
          b, loc, arith::MulIOp::create(b, loc, row, pitch), column);
      std::tie(row, column) = emitUnpackedPlace(b, loc, to, place);
    }
    if (op.getFrom()) {
      Value features = arith::DivUIOp::create(b, loc, columns, constant(2));
      Value column = emitGateSource(b, loc, *op.getFrom(), *op.getTo(),
                                    source[1], features);
      // A scale for all columns stays where it is.
      if (type.getShape()[1] == 1)
        column = constant(0);
      source[1] = column;
    }
    if (!from.empty()) {
      auto [row, column] = getPair();
      Value place = emitPackedPlace(b, loc, from, row, column);
      row = arith::DivUIOp::create(b, loc, place, pitch);
      column = arith::RemUIOp::create(b, loc, place, pitch);
    }
    return source;
  };
  if (perByte == 1)
    return load(getSource(indices));

  Type byte = b.getI8Type();
  auto bits = [&](int64_t value) -> Value {
    return arith::ConstantIntOp::create(b, loc, byte, value);
  };
  Value result;
  for (int64_t half : {0, 1}) {
    SmallVector<Value> at(indices);
    at.back() = arith::AddIOp::create(
        b, loc, arith::MulIOp::create(b, loc, at.back(), constant(2)),
        constant(half));
    SmallVector<Value> source = getSource(at);
    Value number = source.back();
    source.back() = arith::DivUIOp::create(b, loc, number, constant(2));
    Value parity = arith::RemUIOp::create(b, loc, number, constant(2));
    Value shift = arith::MulIOp::create(
        b, loc, arith::IndexCastOp::create(b, loc, byte, parity), bits(4));
    Value nibble = arith::AndIOp::create(
        b, loc, arith::ShRUIOp::create(b, loc, load(source), shift), bits(15));
    result = half == 0 ? nibble
                       : Value(arith::OrIOp::create(
                             b, loc, result,
                             arith::ShLIOp::create(b, loc, nibble, bits(4))));
  }
  return result;
}
