//===- Moeq.h - The moeq dialect --------------------------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The dialect's types, attributes and ops, and the few functions that say what
// an operand of scaled type is.
//
//===----------------------------------------------------------------------===//

#ifndef MOEQ_DIALECT_MOEQ_IR_MOEQ_H
#define MOEQ_DIALECT_MOEQ_IR_MOEQ_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "moeq/Dialect/Moeq/IR/MoeqEnums.h.inc"

#include "moeq/Dialect/Moeq/IR/MoeqDialect.h.inc"

#define GET_TYPEDEF_CLASSES
#include "moeq/Dialect/Moeq/IR/MoeqTypes.h.inc"

#define GET_ATTRDEF_CLASSES
#include "moeq/Dialect/Moeq/IR/MoeqAttrs.h.inc"

namespace mlir::moeq {

/// An operand group that may hold a scaled tensor or its components.
struct ScaledGroup {
  /// The index of the operand segment.
  unsigned segment;
  /// The attribute that keeps the scaled type in component form.
  StringRef formatName;
};

/// The rows that the scales of each group are padded to a multiple of: those of
/// a tile of the `swizzle_128x4` layout.
constexpr int64_t kPaddedRows = 128;

/// The rows of a group whose numbers are summed first, where its columns are
/// summed (see `bias_grad` of `moeq.act_quant_grad`).
constexpr int64_t kSummedRows = 32;

/// The padded rows of `rows` rows (or kDynamic) of `groups` groups, at most:
/// (rows floordiv 128 + groups) * 128, the largest extent where that overflows.
int64_t getPaddedRows(int64_t rows, int64_t groups);

/// Whether `type` is a ranked tensor of ScaledType, with no encoding, whose
/// block fits its rank, of rank 2 where there are groups and, where values are
/// packed, whose last extent is static.
bool isScaledTensor(Type type);

/// Whether `type` is a ranked tensor with no encoding or a ranked memref.
bool isRankedTensorOrMemRef(Type type);

/// The scaled element type of `type`, or null.
ScaledType getScaledElementType(Type type);

/// The types of the components of a scaled tensor: values, scales and, with
/// zero points, zeros. `type` satisfies isScaledTensor.
SmallVector<RankedTensorType, 3> getComponentTypes(RankedTensorType type);

/// Whether `function` takes a gate and an up half.
bool isGated(Activation function);

/// The columns by which gate and up alternate under GateLayout::Interleaved64:
/// as many as a wgmma instruction has rows, so that gate and up of an element
/// are in one thread, whichever operand the weights are.
constexpr int64_t kGateGroup = 64;

/// The rows and the columns of a chunk of packed weights: `packing =
/// fragments`.
constexpr int64_t kPackedChunk = 64;

/// Marks a matmul whose config the user gave: there is a kernel of it, or an
/// error (moeq-select-config, moeq-outline-kernels).
constexpr StringLiteral kGivenConfigAttr = "moeq.given_config";

/// What an operand group says: one tensor or memref, scaled or plain, or the
/// components of a scaled one.
struct OperandInfo {
  /// The logical shape. Of packed values in component form the last extent is
  /// twice that of the bytes: `lastIsRounded`, it may be one less.
  SmallVector<int64_t> shape;
  bool lastIsRounded = false;
  /// The scaled type, or null where the operand is plain.
  ScaledType scaled;
  /// The element type where the operand is plain, else null.
  Type plain;

  int64_t getRank() const { return shape.size(); }
  /// The last extent, given that it should be `other`.
  int64_t getLastExtent(int64_t other) const {
    return lastIsRounded && other == shape.back() - 1 ? other : shape.back();
  }
  /// The type of the numbers: the scaled type's values, or the plain type.
  Type getValueType() const { return scaled ? scaled.getValue() : plain; }
};

/// Reads the operand group `values` of an op. In component form `format` holds
/// the scaled type. Emits an error at `op` that names the group by `name` when
/// the number, shapes or types of the components do not fit.
FailureOr<OperandInfo> getOperandInfo(Operation *op, ValueRange values,
                                      TypeAttr format, StringRef name);

} // namespace mlir::moeq

#include "moeq/Dialect/Moeq/IR/MoeqInterfaces.h.inc"

#define GET_OP_CLASSES
#include "moeq/Dialect/Moeq/IR/MoeqOps.h.inc"

#endif // MOEQ_DIALECT_MOEQ_IR_MOEQ_H
