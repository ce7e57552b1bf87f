//===- GateColumns.h - Where gate and up lie --------------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOEQ_SUPPORT_GATECOLUMNS_H
#define MOEQ_SUPPORT_GATECOLUMNS_H

#include "moeq/Dialect/Moeq/IR/Moeq.h"

namespace mlir::moeq {

/// Two columns of an input [S, 2F], both of index type.
struct GateColumns {
  Value gate, up;
};

/// Where gate and up of result column `column` lie under `layout`; `features`
/// is F.
GateColumns emitGateColumns(OpBuilder &b, Location loc, GateLayout layout,
                            Value column, Value features);

/// The result column that an input column belongs to, and whether it is of up.
struct GatePlace {
  Value column, isUp;
};
GatePlace emitGatePlace(OpBuilder &b, Location loc, GateLayout layout,
                        Value column, Value features);

/// The column under `from` of what is in column `column` under `to`.
Value emitGateSource(OpBuilder &b, Location loc, GateLayout from, GateLayout to,
                     Value column, Value features);

} // namespace mlir::moeq

#endif // MOEQ_SUPPORT_GATECOLUMNS_H
