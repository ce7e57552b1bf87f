//===- HostValues.cpp - Sizes and buffers of a host function ----*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HostValues.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace mlir::moeq;

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

static std::optional<int64_t> fold(StringRef op, int64_t lhs, int64_t rhs) {
  int64_t result;
  if (op == "+")
    return llvm::AddOverflow(lhs, rhs, result) ? std::nullopt
                                               : std::optional(result);
  if (op == "-")
    return llvm::SubOverflow(lhs, rhs, result) ? std::nullopt
                                               : std::optional(result);
  if (op == "*")
    return llvm::MulOverflow(lhs, rhs, result) ? std::nullopt
                                               : std::optional(result);
  if (op == "ceildiv" && rhs > 0)
    return llvm::divideCeilSigned(lhs, rhs);
  if (op == "floordiv" && rhs > 0)
    return llvm::divideFloorSigned(lhs, rhs);
  if (op == "min")
    return std::min(lhs, rhs);
  if (op == "max")
    return std::max(lhs, rhs);
  if (op == "lt")
    return lhs < rhs;
  return std::nullopt;
}

static Expr makeNode(StringRef op, SmallVector<Expr> arguments) {
  return llvm::json::Object{{"op", op.str()},
                            {"args", llvm::json::Array(arguments)}};
}

Expr mlir::moeq::makeExpr(StringRef op, Expr lhs, Expr rhs) {
  std::optional<int64_t> a = lhs.getAsInteger(), b = rhs.getAsInteger();
  if (a && b)
    if (std::optional<int64_t> folded = fold(op, *a, *b))
      return *folded;
  if (op == "+" && a == 0)
    return rhs;
  if ((op == "+" || op == "-") && b == 0)
    return lhs;
  if (op == "*" && (a == 0 || b == 0))
    return 0;
  if (op == "*" && a == 1)
    return rhs;
  if ((op == "*" || op == "ceildiv" || op == "floordiv") && b == 1)
    return lhs;
  return makeNode(op, {lhs, rhs});
}

Expr mlir::moeq::makeBytes(Expr elements, Type elementType) {
  int64_t bits = elementType.getIntOrFloatBitWidth();
  if (bits % 8 == 0)
    return makeExpr("*", std::move(elements), bits / 8);
  return makeExpr("ceildiv", makeExpr("*", std::move(elements), bits), 8);
}

static int64_t countNodes(const Expr &expr) {
  int64_t count = 1;
  if (const llvm::json::Object *object = expr.getAsObject())
    if (const llvm::json::Array *arguments = object->getArray("args"))
      for (const Expr &argument : *arguments)
        count += countNodes(argument);
  return count;
}

/// lhs mod rhs.
static Expr makeRemainder(const Expr &lhs, const Expr &rhs) {
  return makeExpr("-", lhs, makeExpr("*", makeExpr("floordiv", lhs, rhs), rhs));
}

SmallVector<Expr> mlir::moeq::getContiguousStrides(ArrayRef<Expr> sizes) {
  SmallVector<Expr> strides(sizes.size(), 1);
  for (int64_t i = static_cast<int64_t>(sizes.size()) - 2; i >= 0; --i)
    strides[i] = makeExpr("*", sizes[i + 1], strides[i + 1]);
  return strides;
}

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

void HostValues::emitUnknown(Value value, const Twine &expected) {
  if (!failed) {
    InFlightDiagnostic error = emitError(value.getLoc());
    if (Operation *op = value.getDefiningOp())
      error << "'" << op->getName() << "' op ";
    error << "has no form in a manifest: expects " << expected;
  }
  failed = true;
}

Expr HostValues::getExpr(OpFoldResult folded) {
  if (auto attr = dyn_cast<Attribute>(folded))
    return cast<IntegerAttr>(attr).getInt();
  auto value = cast<Value>(folded);
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return value.getType().isInteger(1) ? int64_t(constant.getBoolValue())
                                        : constant.getSExtValue();
  nodes = depth == 0 ? 1 : nodes + 1;
  llvm::SaveAndRestore<int64_t> nested(depth, depth + 1);
  if (depth > kMaxDepth || nodes > kMaxNodes) {
    emitUnknown(value, "sizes of fewer operations");
    return 0;
  }
  Operation *op = value.getDefiningOp();
  if (!op) {
    emitUnknown(value, "sizes computed from dimensions of arguments");
    return 0;
  }
  return llvm::TypeSwitch<Operation *, Expr>(op)
      .Case([&](memref::DimOp dim) -> Expr {
        View view = getView(dim.getSource());
        std::optional<int64_t> index = dim.getConstantIndex();
        if (index && *index >= 0 &&
            *index < static_cast<int64_t>(view.sizes.size())) {
          nodes += countNodes(view.sizes[*index]);
          return view.sizes[*index];
        }
        emitUnknown(value, "a constant dimension within the rank");
        return 0;
      })
      .Case<arith::IndexCastOp, arith::IndexCastUIOp, arith::ExtSIOp,
            arith::ExtUIOp, arith::TruncIOp>(
          [&](auto cast) { return getExpr(cast.getIn()); })
      .Case([&](affine::AffineApplyOp apply) {
        return getAffine(op, apply.getAffineMap());
      })
      .Case([&](affine::AffineMinOp min) {
        return getAffine(op, min.getAffineMap(), "min");
      })
      .Case([&](affine::AffineMaxOp max) {
        return getAffine(op, max.getAffineMap(), "max");
      })
      .Case([&](arith::CmpIOp compare) { return getCompare(compare); })
      .Default([&](Operation *other) { return getArith(other); });
}

SmallVector<Expr> HostValues::getExprs(ArrayRef<OpFoldResult> values) {
  return llvm::map_to_vector(
      values, [&](OpFoldResult value) { return getExpr(value); });
}

Expr HostValues::getArith(Operation *op) {
  bool isBool =
      op->getNumResults() == 1 && op->getResult(0).getType().isInteger(1);
  StringRef name =
      llvm::TypeSwitch<Operation *, StringRef>(op)
          .Case<arith::AddIOp>([&](auto) { return isBool ? "" : "+"; })
          .Case<arith::SubIOp>([&](auto) { return isBool ? "" : "-"; })
          .Case<arith::MulIOp>([](auto) { return "*"; })
          .Case<arith::CeilDivUIOp, arith::CeilDivSIOp>(
              [](auto) { return "ceildiv"; })
          // Sizes are not negative, so rounding down is rounding to zero.
          .Case<arith::DivUIOp, arith::DivSIOp, arith::FloorDivSIOp>(
              [](auto) { return "floordiv"; })
          .Case<arith::MinUIOp, arith::MinSIOp>([](auto) { return "min"; })
          .Case<arith::MaxUIOp, arith::MaxSIOp>([](auto) { return "max"; })
          .Case<arith::RemUIOp, arith::RemSIOp>([](auto) { return "rem"; })
          .Case<arith::AndIOp>([&](auto) { return isBool ? "*" : ""; })
          .Case<arith::OrIOp>([&](auto) { return isBool ? "max" : ""; })
          .Case<arith::SelectOp>([](auto) { return "select"; })
          .Default([](auto) { return ""; });
  if (name.empty()) {
    emitUnknown(op->getResult(0), "arithmetic of sizes");
    return 0;
  }
  SmallVector<Expr> operands = getExprs(getAsOpFoldResult(op->getOperands()));
  if (name == "select")
    return makeNode(name, operands);
  if (name == "rem")
    return makeRemainder(operands[0], operands[1]);
  return makeExpr(name, operands[0], operands[1]);
}

Expr HostValues::getCompare(arith::CmpIOp op) {
  Expr lhs = getExpr(op.getLhs()), rhs = getExpr(op.getRhs());
  Expr less = makeExpr("lt", lhs, rhs), greater = makeExpr("lt", rhs, lhs);
  switch (op.getPredicate()) {
  case arith::CmpIPredicate::slt:
  case arith::CmpIPredicate::ult:
    return less;
  case arith::CmpIPredicate::sgt:
  case arith::CmpIPredicate::ugt:
    return greater;
  case arith::CmpIPredicate::sle:
  case arith::CmpIPredicate::ule:
    return makeExpr("-", 1, greater);
  case arith::CmpIPredicate::sge:
  case arith::CmpIPredicate::uge:
    return makeExpr("-", 1, less);
  case arith::CmpIPredicate::ne:
    return makeExpr("+", less, greater);
  case arith::CmpIPredicate::eq:
    return makeExpr("-", 1, makeExpr("+", less, greater));
  }
  llvm_unreachable("unknown predicate");
}

Expr HostValues::getAffine(Operation *op, AffineMap map, StringRef combine) {
  Expr result = getAffine(op, map.getResult(0), map.getNumDims());
  for (AffineExpr expr : map.getResults().drop_front())
    result = makeExpr(combine, std::move(result),
                      getAffine(op, expr, map.getNumDims()));
  return result;
}

Expr HostValues::getAffine(Operation *op, AffineExpr expr, unsigned numDims) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue();
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return getExpr(op->getOperand(dim.getPosition()));
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return getExpr(op->getOperand(numDims + symbol.getPosition()));
  auto binary = cast<AffineBinaryOpExpr>(expr);
  Expr lhs = getAffine(op, binary.getLHS(), numDims);
  Expr rhs = getAffine(op, binary.getRHS(), numDims);
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return makeExpr("+", lhs, rhs);
  case AffineExprKind::Mul:
    return makeExpr("*", lhs, rhs);
  case AffineExprKind::FloorDiv:
    return makeExpr("floordiv", lhs, rhs);
  case AffineExprKind::CeilDiv:
    return makeExpr("ceildiv", lhs, rhs);
  default:
    return makeRemainder(lhs, rhs);
  }
}

//===----------------------------------------------------------------------===//
// Memrefs
//===----------------------------------------------------------------------===//

void HostValues::addBuffer(TypedValue<MemRefType> buffer, StringRef name) {
  MemRefType type = buffer.getType();
  if (!type.getLayout().isIdentity() || !type.getElementType().isIntOrFloat())
    return emitUnknown(buffer, "contiguous buffers of integers or floats");
  View view;
  view.buffer = name.str();
  auto alloc = buffer.getDefiningOp<memref::AllocOp>();
  for (int64_t i = 0, dynamic = 0; i < type.getRank(); ++i) {
    if (!type.isDynamicDim(i)) {
      view.sizes.push_back(type.getDimSize(i));
    } else if (alloc) {
      view.sizes.push_back(getExpr(alloc.getDynamicSizes()[dynamic++]));
    } else {
      symbols.push_back((name + "." + Twine(i)).str());
      view.sizes.push_back(llvm::json::Object{{"symbol", symbols.back()}});
    }
  }
  view.strides = getContiguousStrides(view.sizes);
  buffers.try_emplace(buffer, std::move(view));
}

View HostValues::getView(Value memref) {
  if (auto it = buffers.find(memref); it != buffers.end())
    return it->second;
  nodes = depth == 0 ? 0 : nodes;
  llvm::SaveAndRestore<int64_t> nested(depth, depth + 1);
  if (Operation *op = depth > kMaxDepth ? nullptr : memref.getDefiningOp()) {
    if (auto cast = dyn_cast<memref::CastOp>(op))
      return getView(cast.getSource());
    if (auto bytes = dyn_cast<memref::ViewOp>(op))
      return getBytes(bytes);
    if (auto subview = dyn_cast<memref::SubViewOp>(op))
      return getSubview(subview);
    if (auto collapse = dyn_cast<memref::CollapseShapeOp>(op))
      return getCollapsed(collapse);
    if (auto expand = dyn_cast<memref::ExpandShapeOp>(op))
      return getExpanded(expand);
  }
  emitUnknown(memref, "views of arguments and of allocations");
  // Of the right rank, so that callers need not ask.
  View view;
  if (auto type = dyn_cast<MemRefType>(memref.getType()))
    view.sizes.assign(type.getRank(), 0);
  view.strides = view.sizes;
  return view;
}

View HostValues::getBytes(memref::ViewOp op) {
  View view = getView(op.getSource());
  view.byteOffset = makeExpr("+", view.byteOffset, getExpr(op.getByteShift()));
  view.sizes = getExprs(
      getMixedValues(op.getType().getShape(), op.getSizes(), op.getContext()));
  view.strides = getContiguousStrides(view.sizes);
  return view;
}

View HostValues::getSubview(memref::SubViewOp op) {
  View source = getView(op.getSource());
  SmallVector<Expr> offsets = getExprs(op.getMixedOffsets());
  SmallVector<Expr> sizes = getExprs(op.getMixedSizes());
  SmallVector<Expr> strides = getExprs(op.getMixedStrides());
  llvm::SmallBitVector dropped = op.getDroppedDims();
  View view;
  view.buffer = source.buffer;
  Expr offset = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    offset = makeExpr("+", std::move(offset),
                      makeExpr("*", offsets[i], source.strides[i]));
    if (dropped.test(i))
      continue;
    view.sizes.push_back(sizes[i]);
    view.strides.push_back(makeExpr("*", strides[i], source.strides[i]));
  }
  view.byteOffset =
      makeExpr("+", source.byteOffset,
               makeBytes(std::move(offset), op.getType().getElementType()));
  return view;
}

View HostValues::getCollapsed(memref::CollapseShapeOp op) {
  View source = getView(op.getSrc());
  View view;
  view.buffer = source.buffer;
  view.byteOffset = source.byteOffset;
  for (const ReassociationIndices &group : op.getReassociationIndices()) {
    Expr size = 1;
    for (int64_t dim : group)
      size = makeExpr("*", std::move(size), source.sizes[dim]);
    view.sizes.push_back(std::move(size));
    view.strides.push_back(source.strides[group.back()]);
  }
  return view;
}

View HostValues::getExpanded(memref::ExpandShapeOp op) {
  View source = getView(op.getSrc());
  View view;
  view.buffer = source.buffer;
  view.byteOffset = source.byteOffset;
  view.sizes = getExprs(op.getMixedOutputShape());
  view.strides.assign(view.sizes.size(), 1);
  for (auto [dim, group] : llvm::enumerate(op.getReassociationIndices())) {
    Expr stride = source.strides[dim];
    for (int64_t inner : llvm::reverse(group)) {
      view.strides[inner] = stride;
      stride = makeExpr("*", std::move(stride), view.sizes[inner]);
    }
  }
  return view;
}
