//===- ExchangeOps.cpp - Ops on sums in parts -------------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "moeq/Dialect/MoeqGPU/IR/MoeqGPU.h"

using namespace mlir;
using namespace mlir::moeq_gpu;

// Whether `pieces` are those of one part of an exchange of `type`.
static LogicalResult verifyPart(Operation *op, ExchangeType type,
                                ValueRange pieces) {
  int64_t size = 0;
  for (Value piece : pieces) {
    auto fragment = cast<FragmentType>(piece.getType());
    if (fragment.getElementType() != type.getElementType())
      return op->emitOpError("expects fragments of ")
             << type.getElementType() << ", got " << fragment;
    if (fragment.getRows() == 1 || fragment.getColumns() == 1)
      return op->emitOpError("expects whole fragments, got ") << fragment;
    size += fragment.getRows() * fragment.getColumns();
  }
  if (size > type.getSize())
    return op->emitOpError("expects at most ")
           << type.getSize() << " elements a part, got " << size;
  return success();
}

LogicalResult ExchangeSwapOp::verify() {
  ExchangeType type = getExchange().getType();
  size_t pieces = getPieces(), fragments = getParts().size();
  if (fragments == 0 || fragments % pieces != 0)
    return emitOpError("expects parts of ")
           << pieces << " fragments, got " << fragments << " fragments";
  if (int64_t most = type.getParts() * type.getCluster(),
      parts = fragments / pieces;
      parts > most)
    return emitOpError("expects at most ") << most << " parts, got " << parts;
  for (size_t i = 0; i < fragments; i += pieces)
    if (failed(verifyPart(*this, type, getParts().slice(i, pieces))))
      return failure();
  return success();
}

LogicalResult ExchangeSumOp::verify() {
  ExchangeType type = getExchange().getType();
  int64_t most = type.getParts() * type.getCluster();
  if (static_cast<int64_t>(getNumber()) >= most)
    return emitOpError("expects a part below ")
           << most << ", got " << getNumber();
  return verifyPart(*this, type, getPieces());
}
