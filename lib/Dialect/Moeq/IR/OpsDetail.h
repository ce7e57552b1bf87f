//===- OpsDetail.h - What the ops' sources share ----------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOEQ_LIB_DIALECT_MOEQ_IR_OPSDETAIL_H
#define MOEQ_LIB_DIALECT_MOEQ_IR_OPSDETAIL_H

#include "moeq/Dialect/Moeq/IR/Moeq.h"

namespace mlir::moeq {

//===----------------------------------------------------------------------===//
// Assembly of the epilogue: epilogue(%x, %y : types) maps [row, column] region
//===----------------------------------------------------------------------===//

ParseResult
parseEpilogue(OpAsmParser &parser, UnitAttr &gated,
              SmallVectorImpl<OpAsmParser::UnresolvedOperand> &operands,
              SmallVectorImpl<Type> &types, DenseI32ArrayAttr &maps,
              Region &region);
void printEpilogue(OpAsmPrinter &printer, Operation *op, UnitAttr gated,
                   OperandRange operands, TypeRange types,
                   DenseI32ArrayAttr maps, Region &region);

namespace detail {

/// Checks shapes and emits errors at one op. Each check returns failure after
/// the first error.
struct ShapeVerifier {
  Operation *op;

  /// The shape of a tensor or memref of rank `rank`.
  LogicalResult rank(StringRef name, ArrayRef<int64_t> shape,
                     int64_t rank) const;
  /// Two extents that are one size: equal, or not both static.
  LogicalResult same(const Twine &leftName, int64_t left,
                     const Twine &rightName, int64_t right) const;
  /// The shape of `value`, a tensor or memref.
  static ArrayRef<int64_t> shapeOf(Value value) {
    return cast<ShapedType>(value.getType()).getShape();
  }
  /// All operands are tensors, or all are memrefs.
  LogicalResult oneKind() const;
};

/// Whether `type` may be an element of an operand whose numbers an op only
/// moves: an integer or a float of 8, 16, 32 or 64 bits.
bool isPlainElementType(Type type);

/// Checks that an op can move the numbers of `input` to `outs`: of one element
/// type, one that it may move.
LogicalResult verifyMoved(Operation *op, const OperandInfo &input,
                          const OperandInfo &outs);

/// The product of two extents: kDynamic where one is, the largest extent where
/// it overflows.
int64_t multiplyExtents(int64_t left, int64_t right);

/// Checks that 32-bit ids can name `experts` experts (or kDynamic).
LogicalResult verifyExperts(Operation *op, int64_t experts);

/// The text of a shape: "[4, ?]".
std::string stringifyShape(ArrayRef<int64_t> shape);

/// The effects of a destination-style op: none on tensors, reads of each memref
/// operand and writes of each memref init.
void getDpsEffects(
    DestinationStyleOpInterface op,
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects);

/// Checks the attributes of an activation against its function.
LogicalResult verifyFunction(Operation *op, Activation function,
                             std::optional<APFloat> limit,
                             std::optional<APFloat> alpha, GateLayout layout);

/// Checks that `columns`, those of gate and up in operand `name`, can have the
/// layout.
LogicalResult verifyGateColumns(Operation *op, StringRef name, int64_t columns,
                                GateLayout layout);

/// Checks what an activation's attributes say against its shapes: `input` is
/// [S, F] or, gated, [S, 2F], `output`, operand `outputName`, is [S, F].
LogicalResult verifyActivation(Operation *op, ArrayRef<int64_t> input,
                               ArrayRef<int64_t> output, Value rowWeight,
                               Activation function,
                               std::optional<APFloat> limit,
                               std::optional<APFloat> alpha, GateLayout layout,
                               StringRef outputName = "outs");

/// Checks that a matmul takes these operands: their types, and scale blocks
/// along K (the last dimension) that nest.
LogicalResult verifyMatmulOperands(Operation *op, const OperandInfo &lhs,
                                   const OperandInfo &rhs);

/// Checks a recipe against the scaled type that it makes.
LogicalResult verifyRecipe(Operation *op, RecipeAttr recipe, ScaledType scaled);

/// Checks operand `name` of an op that quantizes: scaled, all operands of one
/// kind, and of a type that the recipe makes.
FailureOr<OperandInfo> verifyQuantized(Operation *op, ValueRange values,
                                       TypeAttr format, StringRef name,
                                       RecipeAttr recipe);

/// Checks the rowwise result `outs` of an op that quantizes rows [S, F].
FailureOr<OperandInfo> verifyRowwise(Operation *op, ValueRange outs,
                                     TypeAttr format, RecipeAttr recipe);

/// Checks the groups of the rows that an op quantizes, and its columnwise
/// result. `source` is the shape of what it quantizes; `outs` is what
/// verifyQuantized tells of the rowwise result, if there is one.
LogicalResult verifyColumnwise(Operation *op, ArrayRef<int64_t> source,
                               Value offsets, const OperandInfo *outs,
                               ValueRange columnwise, TypeAttr format,
                               RecipeAttr recipe);

/// Checks the router's attributes against `experts` experts (or kDynamic).
LogicalResult verifyRouting(Operation *op, int64_t experts, int64_t topK,
                            std::optional<int64_t> groups,
                            std::optional<int64_t> topkGroups,
                            GroupScore groupScore);

/// Checks the shape of the table of a `moeq.plan` for so many offsets (or
/// kDynamic).
LogicalResult verifyPlan(Operation *op, ArrayRef<int64_t> plan,
                         int64_t offsets);

} // namespace detail
} // namespace mlir::moeq

#endif // MOEQ_LIB_DIALECT_MOEQ_IR_OPSDETAIL_H
