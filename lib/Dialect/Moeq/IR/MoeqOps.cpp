//===- MoeqOps.cpp - What all ops of the moeq dialect share -----*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OpsDetail.h"

using namespace mlir;
using namespace mlir::moeq;
using namespace mlir::moeq::detail;

#define GET_OP_CLASSES
#include "moeq/Dialect/Moeq/IR/MoeqOps.cpp.inc"

//===----------------------------------------------------------------------===//
// Interfaces that each op implements in the same way
//===----------------------------------------------------------------------===//

/// Defines the interface methods of OP: the operand segments from FIRST_INIT on
/// are the inits; the remaining arguments are its scaled groups.
#define MOEQ_DEFINE_DPS_OP(OP, FIRST_INIT, ...)                                \
  MutableOperandRange OP::getDpsInitsMutable() {                               \
    unsigned first = getODSOperandIndexAndLength(FIRST_INIT).first;            \
    return MutableOperandRange(getOperation(), first,                          \
                               getOperation()->getNumOperands() - first);      \
  }                                                                            \
  void OP::getEffects(                                                         \
      SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>      \
          &effects) {                                                          \
    getDpsEffects(cast<DestinationStyleOpInterface>(getOperation()), effects); \
  }                                                                            \
  ArrayRef<ScaledGroup> OP::getScaledGroups() {                                \
    static constexpr std::initializer_list<ScaledGroup> groups = {             \
        __VA_ARGS__};                                                          \
    return groups;                                                             \
  }

MOEQ_DEFINE_DPS_OP(QuantizeOp, 3, {3, "outs_format"}, {4, "columnwise_format"})
MOEQ_DEFINE_DPS_OP(DequantizeOp, 1, {0, "input_format"})
MOEQ_DEFINE_DPS_OP(RouteOp, 2)
MOEQ_DEFINE_DPS_OP(GroupOp, 3)
MOEQ_DEFINE_DPS_OP(PlanOp, 2)
MOEQ_DEFINE_DPS_OP(PrepackOp, 1, {0, "input_format"}, {1, "outs_format"})
MOEQ_DEFINE_DPS_OP(GatherOp, 2, {0, "input_format"}, {2, "outs_format"})
MOEQ_DEFINE_DPS_OP(CombineOp, 3)
MOEQ_DEFINE_DPS_OP(ActivateOp, 2)
MOEQ_DEFINE_DPS_OP(ActivateGradOp, 3)
MOEQ_DEFINE_DPS_OP(ActQuantOp, 3, {3, "outs_format"}, {4, "columnwise_format"})
MOEQ_DEFINE_DPS_OP(ActQuantGradOp, 4, {4, "outs_format"},
                   {5, "columnwise_format"})
MOEQ_DEFINE_DPS_OP(MatmulOp, 3, {0, "lhs_format"}, {1, "rhs_format"})
MOEQ_DEFINE_DPS_OP(GroupedMatmulOp, 7, {0, "lhs_format"}, {1, "rhs_format"})
MOEQ_DEFINE_DPS_OP(SmoothOp, 2)
MOEQ_DEFINE_DPS_OP(ExpertsOp, 8, {2, "w13_format"}, {3, "w2_format"})

#undef MOEQ_DEFINE_DPS_OP

void moeq::detail::getDpsEffects(
    DestinationStyleOpInterface op,
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<MemRefType>(operand.get().getType()))
      continue;
    effects.emplace_back(MemoryEffects::Read::get(), &operand);
    if (op.isDpsInit(&operand))
      effects.emplace_back(MemoryEffects::Write::get(), &operand);
  }
}

//===----------------------------------------------------------------------===//
// Operand groups
//===----------------------------------------------------------------------===//

/// Checks that `type`, the scaled tensor or its values, can carry
/// `info.scaled`.
static LogicalResult verifyScaledShape(Operation *op, const OperandInfo &info,
                                       ShapedType type, StringRef name) {
  if (info.getRank() < static_cast<int64_t>(info.scaled.getBlock().size()))
    return op->emitOpError()
           << "expects '" << name << "' of rank at least "
           << info.scaled.getBlock().size() << ", got " << Type(type);
  if (info.scaled.isPacked() && ShapedType::isDynamic(info.shape.back()))
    return op->emitOpError() << "expects a static last extent of '" << name
                             << "' for values of 4 bits, got " << Type(type);
  if (info.scaled.getGroups() == 0)
    return success();
  if (info.getRank() != 2)
    return op->emitOpError()
           << "expects '" << name
           << "' of rank 2 where its rows have groups, got " << Type(type);
  if (!isa<QuantizeOp, ActQuantOp, ActQuantGradOp>(op))
    return op->emitOpError()
           << "expects '" << name << "' with scales that have no groups, got "
           << info.scaled;
  return success();
}

/// Checks that the operand `name` may be packed weights, where it is.
static LogicalResult verifyPacking(Operation *op, const OperandInfo &info,
                                   ShapedType type, StringRef name) {
  if (!info.scaled.isReordered())
    return success();
  bool isWeight =
      isa<MatmulOp, GroupedMatmulOp, ExpertsOp>(op) && name != "lhs";
  if (!isWeight && !isa<PrepackOp, DequantizeOp>(op))
    return op->emitOpError()
           << "expects packed weights only where a matmul takes its weights, "
              "got "
           << info.scaled << " as '" << name << "'";
  ArrayRef<int64_t> shape = info.shape;
  auto isWhole = [](int64_t extent) {
    return ShapedType::isDynamic(extent) || extent % kPackedChunk == 0;
  };
  if (shape.size() < 2 || ShapedType::isDynamic(shape.back()) ||
      !llvm::all_of(shape.take_back(2), isWhole))
    return op->emitOpError()
           << "expects packed '" << name << "' of static columns, and rows, in "
           << "multiples of " << kPackedChunk << ", got " << Type(type);
  return success();
}

FailureOr<OperandInfo> moeq::getOperandInfo(Operation *op, ValueRange values,
                                            TypeAttr format, StringRef name) {
  if (values.empty())
    return op->emitOpError() << "expects an operand '" << name << "'";
  auto first = cast<ShapedType>(values.front().getType());
  OperandInfo info;
  info.shape.assign(first.getShape().begin(), first.getShape().end());
  if (!format) {
    if (values.size() != 1)
      return op->emitOpError() << "expects one operand '" << name
                               << "' or the scaled type of its "
                               << values.size() << " components";
    info.scaled = dyn_cast<ScaledType>(first.getElementType());
    if (!info.scaled) {
      info.plain = first.getElementType();
      return info;
    }
    if (failed(verifyScaledShape(op, info, first, name)) ||
        failed(verifyPacking(op, info, first, name)))
      return failure();
    return info;
  }

  info.scaled = dyn_cast<ScaledType>(format.getValue());
  if (!info.scaled)
    return op->emitOpError()
           << "expects the components of '" << name
           << "' as a !moeq.scaled type, got " << format.getValue();
  if (values.size() != info.scaled.getNumComponents())
    return op->emitOpError()
           << "expects " << info.scaled.getNumComponents() << " components of '"
           << name << "' for " << info.scaled << ", got " << values.size();
  if (failed(verifyScaledShape(op, info, first, name)))
    return failure();
  // The extents that the scales may tell of: of packed values two.
  SmallVector<SmallVector<int64_t>, 2> scaleShapes;
  if (info.scaled.isPacked()) {
    info.lastIsRounded = info.shape.back() > 0;
    info.shape.back() = multiplyExtents(info.shape.back(), 2);
  }
  if (failed(verifyPacking(op, info, first, name)))
    return failure();
  scaleShapes.push_back(info.scaled.getScaleShape(info.shape));
  if (info.lastIsRounded) {
    SmallVector<int64_t> odd(info.shape);
    --odd.back();
    scaleShapes.push_back(info.scaled.getScaleShape(odd));
  }
  for (auto [index, element] :
       llvm::enumerate(info.scaled.getComponentElementTypes())) {
    auto type = cast<ShapedType>(values[index].getType());
    if (type.getElementType() != element)
      return op->emitOpError()
             << "expects component " << index << " of '" << name << "' of "
             << element << ", got " << Type(type);
    bool fits =
        index == 0 || llvm::any_of(scaleShapes, [&](ArrayRef<int64_t> shape) {
          return succeeded(verifyCompatibleShape(type.getShape(), shape));
        });
    if (!fits)
      return op->emitOpError()
             << "expects component " << index << " of '" << name
             << "' of shape " << stringifyShape(scaleShapes.front()) << ", got "
             << Type(type);
  }
  return info;
}

//===----------------------------------------------------------------------===//
// ShapeVerifier
//===----------------------------------------------------------------------===//

bool moeq::detail::isPlainElementType(Type type) {
  if (!type.isIntOrFloat())
    return false;
  unsigned width = type.getIntOrFloatBitWidth();
  return width == 8 || width == 16 || width == 32 || width == 64;
}

int64_t moeq::detail::multiplyExtents(int64_t left, int64_t right) {
  if (ShapedType::isDynamic(left) || ShapedType::isDynamic(right))
    return ShapedType::kDynamic;
  int64_t product;
  return llvm::MulOverflow(left, right, product)
             ? std::numeric_limits<int64_t>::max()
             : product;
}

std::string moeq::detail::stringifyShape(ArrayRef<int64_t> shape) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << '[';
  llvm::interleaveComma(shape, os, [&](int64_t extent) {
    if (ShapedType::isDynamic(extent))
      os << '?';
    else
      os << extent;
  });
  os << ']';
  return text;
}

LogicalResult ShapeVerifier::rank(StringRef name, ArrayRef<int64_t> shape,
                                  int64_t rank) const {
  if (static_cast<int64_t>(shape.size()) == rank)
    return success();
  return op->emitOpError() << "expects '" << name << "' of rank " << rank
                           << ", got rank " << shape.size();
}

LogicalResult ShapeVerifier::same(const Twine &leftName, int64_t left,
                                  const Twine &rightName, int64_t right) const {
  if (ShapedType::isDynamic(left) || ShapedType::isDynamic(right) ||
      left == right)
    return success();
  return op->emitOpError() << "expects " << leftName << " and " << rightName
                           << " to be equal, got " << left << " and " << right;
}

LogicalResult ShapeVerifier::oneKind() const {
  bool tensors = llvm::any_of(op->getOperandTypes(), llvm::IsaPred<TensorType>);
  bool memrefs = llvm::any_of(op->getOperandTypes(), llvm::IsaPred<MemRefType>);
  if (tensors && memrefs)
    return op->emitOpError()
           << "expects all operands to be tensors or all to be memrefs";
  return success();
}
