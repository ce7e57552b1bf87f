//===- HostValues.h - Sizes and buffers of a host function ------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOEQ_LIB_TARGET_HOSTVALUES_H
#define MOEQ_LIB_TARGET_HOSTVALUES_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/AffineExpr.h"
#include "llvm/Support/JSON.h"

namespace mlir::moeq {

/// An expression of the manifest, such as {"op": "*", "args": [{"symbol":
/// "x.0"}, 2]}.
using Expr = llvm::json::Value;

/// `op` of two expressions, folded where both are numbers or one is neutral.
Expr makeExpr(StringRef op, Expr lhs, Expr rhs);

/// The size in bytes of so many elements.
Expr makeBytes(Expr elements, Type elementType);

/// Where a memref lies: in a buffer that the manifest names, with an offset in
/// bytes, sizes, and strides in elements.
struct View {
  std::string buffer;
  Expr byteOffset = 0;
  SmallVector<Expr> sizes;
  SmallVector<Expr> strides;
};

/// The strides of a contiguous row-major array of these sizes.
SmallVector<Expr> getContiguousStrides(ArrayRef<Expr> sizes);

/// Evaluates the index arithmetic and the memrefs of a host function in terms
/// of the dimensions of its arguments. The first value that has no form in a
/// manifest is an error at its operation, and from then on `hasFailed` says so
/// and the results mean nothing.
class HostValues {
public:
  /// Gives a buffer its name: an argument, or an allocation.
  void addBuffer(TypedValue<MemRefType> buffer, StringRef name);

  /// The value of an integer.
  Expr getExpr(OpFoldResult value);
  SmallVector<Expr> getExprs(ArrayRef<OpFoldResult> values);

  /// Where a memref lies.
  View getView(Value memref);

  /// The symbols of the buffers so far, in order.
  ArrayRef<std::string> getSymbols() const { return symbols; }

  bool hasFailed() const { return failed; }

private:
  void emitUnknown(Value value, const Twine &expected);
  Expr getArith(Operation *op);
  Expr getCompare(arith::CmpIOp op);
  Expr getAffine(Operation *op, AffineMap map, StringRef combine = {});
  Expr getAffine(Operation *op, AffineExpr expr, unsigned numDims);
  View getBytes(memref::ViewOp op);
  View getSubview(memref::SubViewOp op);
  View getCollapsed(memref::CollapseShapeOp op);
  View getExpanded(memref::ExpandShapeOp op);

  DenseMap<Value, View> buffers;
  SmallVector<std::string> symbols;
  /// Trees repeat what is used twice: bounds on the nodes and on the depth of
  /// one value.
  static constexpr int64_t kMaxNodes = 5000, kMaxDepth = 200;
  int64_t nodes = 0, depth = 0;
  bool failed = false;
};

} // namespace mlir::moeq

#endif // MOEQ_LIB_TARGET_HOSTVALUES_H
