//===- RuntimeVerification.cpp - Run-time checks of moeq --------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "moeq/Dialect/Moeq/Transforms/RuntimeVerification.h"

#include "moeq/Dialect/Moeq/IR/Moeq.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/RuntimeVerifiableOpInterface.h"

using namespace mlir;
using namespace mlir::moeq;
using arith::CmpIPredicate;

namespace {
/// Builds the checks of one op, on tensors or memrefs.
struct Checks {
  OpBuilder &builder;
  Location loc;
  Operation *op;
  function_ref<std::string(Operation *, StringRef)> getMessage;

  Value getConstant(int64_t value) const {
    return arith::ConstantIndexOp::create(builder, loc, value);
  }

  Value getSize(Value array, int64_t dim) const {
    if (isa<MemRefType>(array.getType()))
      return memref::DimOp::create(builder, loc, array, dim);
    return tensor::DimOp::create(builder, loc, array, dim);
  }

  /// An i32 element as an index.
  Value load(Value array, ValueRange indices) const {
    Value element;
    if (isa<MemRefType>(array.getType()))
      element = memref::LoadOp::create(builder, loc, array, indices);
    else
      element = tensor::ExtractOp::create(builder, loc, array, indices);
    return arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                      element);
  }

  void require(CmpIPredicate predicate, Value left, Value right,
               StringRef message) const {
    Value holds = arith::CmpIOp::create(builder, loc, predicate, left, right);
    cf::AssertOp::create(builder, loc, holds, getMessage(op, message));
  }

  /// Calls `body` with each index of the first `sizes` of an array.
  void forEach(ArrayRef<Value> sizes,
               function_ref<void(ValueRange)> body) const {
    OpBuilder::InsertionGuard guard(builder);
    Value zero = getConstant(0), one = getConstant(1);
    SmallVector<Value> indices;
    for (Value size : sizes) {
      auto loop = scf::ForOp::create(builder, loc, zero, size, one);
      builder.setInsertionPointToStart(loop.getBody());
      indices.push_back(loop.getInductionVar());
    }
    body(indices);
  }

  /// Requires each element of `array` to be less than `limit`.
  void requireBelow(Value array, Value limit, StringRef message) const {
    SmallVector<Value> sizes;
    int64_t rank = cast<ShapedType>(array.getType()).getRank();
    for (int64_t dim = 0; dim < rank; ++dim)
      sizes.push_back(getSize(array, dim));
    forEach(sizes, [&](ValueRange indices) {
      require(CmpIPredicate::slt, load(array, indices), limit, message);
    });
  }

  /// Requires the offsets of groups to be those of at most `rows` rows.
  void requireOffsets(Value offsets, Value rows) const {
    Value zero = getConstant(0), one = getConstant(1);
    Value groups =
        arith::SubIOp::create(builder, loc, getSize(offsets, 0), one);
    require(CmpIPredicate::sge, load(offsets, zero), zero,
            "expects offsets from 0 on");
    forEach(groups, [&](ValueRange group) {
      Value next = arith::AddIOp::create(builder, loc, group.front(), one);
      require(CmpIPredicate::sle, load(offsets, group), load(offsets, next),
              "expects sorted offsets");
    });
    require(CmpIPredicate::sle, load(offsets, groups), rows,
            "expects offsets up to the number of rows");
  }
};
} // namespace

/// Offsets into transposed operands are at padded rows.
static void verifyPadded(Value offsets, const Checks &checks) {
  checks.forEach(checks.getSize(offsets, 0), [&](ValueRange at) {
    Value rest = arith::RemUIOp::create(checks.builder, checks.loc,
                                        checks.load(offsets, at),
                                        checks.getConstant(kPaddedRows));
    checks.require(CmpIPredicate::eq, rest, checks.getConstant(0),
                   "expects offsets that are multiples of 128");
  });
}

static void verify(GroupedMatmulOp op, const Checks &checks) {
  Value offsets = op.getOffsets();
  if (op.isMasked()) {
    Value counts = op.getCounts(), rows = checks.getSize(op.getOuts(), 1);
    checks.forEach(checks.getSize(counts, 0), [&](ValueRange expert) {
      checks.require(CmpIPredicate::ule, checks.load(counts, expert.front()),
                     rows, "expects counts of at most the rows of an expert");
    });
    return;
  }
  if (op.getRows())
    checks.requireBelow(op.getRows(), checks.getSize(op.getLhs().front(), 0),
                        "expects rows of the lhs");
  if (!op.contractsRows())
    return checks.requireOffsets(offsets, checks.getSize(op.getOuts(), 0));
  bool areScaled =
      op.getLhsFormat() || getScaledElementType(op.getLhs().front().getType());
  if (areScaled)
    verifyPadded(offsets, checks);
  checks.requireOffsets(offsets,
                        checks.getSize(op.getLhs().front(), areScaled ? 1 : 0));
}

static void verify(GroupOp op, const Checks &checks) {
  Value experts;
  if (Value map = op.getExpertMap())
    experts = checks.getSize(map, 0);
  else
    experts = arith::SubIOp::create(checks.builder, checks.loc,
                                    checks.getSize(op.getOffsets(), 0),
                                    checks.getConstant(1));
  checks.requireBelow(op.getIds(), experts,
                      "expects ids below the number of experts");
}

static void verify(PlanOp op, const Checks &checks) {
  checks.require(CmpIPredicate::sle, checks.getSize(op.getOffsets(), 0),
                 checks.getConstant(PlanOp::kMaxGroups + 1),
                 "expects experts that a kernel can plan for");
}

static void verify(GatherOp op, const Checks &checks) {
  checks.requireBelow(op.getRows(), checks.getSize(op.getInput().front(), 0),
                      "expects rows of the input");
}

static void verify(QuantizeOp op, const Checks &checks) {
  Value rows = op.getRows();
  if (rows)
    checks.requireBelow(rows, checks.getSize(op.getInput(), 0),
                        "expects rows of the input");
  if (Value offsets = op.getOffsets())
    checks.requireOffsets(offsets,
                          checks.getSize(rows ? rows : op.getInput(), 0));
}

template <typename OpTy>
static void verifyActivated(OpTy op, const Checks &checks) {
  if (Value offsets = op.getOffsets())
    checks.requireOffsets(offsets, checks.getSize(op.getInput(), 0));
}

static void verify(ActQuantOp op, const Checks &checks) {
  verifyActivated(op, checks);
}

static void verify(ActQuantGradOp op, const Checks &checks) {
  verifyActivated(op, checks);
}

static void verify(CombineOp op, const Checks &checks) {
  checks.requireBelow(op.getSlots(), checks.getSize(op.getInput(), 0),
                      "expects slots of the input");
}

namespace {
template <typename OpTy>
struct RuntimeModel
    : RuntimeVerifiableOpInterface::ExternalModel<RuntimeModel<OpTy>, OpTy> {
  void generateRuntimeVerification(
      Operation *op, OpBuilder &builder, Location loc,
      function_ref<std::string(Operation *, StringRef)> getMessage) const {
    verify(cast<OpTy>(op), Checks{builder, loc, op, getMessage});
  }
};
} // namespace

template <typename... OpTys>
static void attach(MLIRContext *context) {
  (OpTys::template attachInterface<RuntimeModel<OpTys>>(*context), ...);
}

void moeq::registerRuntimeVerifiableOpInterfaceExternalModels(
    DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, MoeqDialect *) {
    attach<ActQuantOp, ActQuantGradOp, CombineOp, GatherOp, GroupOp,
           GroupedMatmulOp, PlanOp, QuantizeOp>(context);
    context->loadDialect<arith::ArithDialect, cf::ControlFlowDialect,
                         memref::MemRefDialect, scf::SCFDialect,
                         tensor::TensorDialect>();
  });
}
