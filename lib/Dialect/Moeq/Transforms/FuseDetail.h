//===- FuseDetail.h - What the patterns of moeq-fuse share ------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOEQ_LIB_DIALECT_MOEQ_TRANSFORMS_FUSEDETAIL_H
#define MOEQ_LIB_DIALECT_MOEQ_TRANSFORMS_FUSEDETAIL_H

#include "moeq/Dialect/Moeq/IR/Moeq.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/Remarks.h"

namespace mlir::moeq::detail {

/// Whether the elements of `value` are undefined.
inline bool isUndefined(Value value) {
  return value.getDefiningOp<tensor::EmptyOp>() != nullptr;
}

/// Tells that `name` was merged at `op`.
inline void remarkFused(Operation *op, StringRef name) {
  remark::passed(op->getLoc(),
                 remark::RemarkOpts::name(name).category("moeq-fuse"));
}

/// The matmul that makes `value`, if its epilogue can do what `op`, in the same
/// block, does with it: nobody else reads it, and the rows that a grouped
/// matmul does not reach are undefined. Else null.
template <typename OpTy>
OpTy getFusable(Value value, Operation *op) {
  auto matmul = value.getDefiningOp<OpTy>();
  if (!matmul || matmul->getBlock() != op->getBlock() ||
      matmul.getLhsFormat() || matmul.getRhsFormat() ||
      !llvm::all_of(matmul->getUsers(),
                    [&](Operation *user) { return user == op; }))
    return {};
  if constexpr (std::is_same_v<OpTy, GroupedMatmulOp>)
    if (matmul.contractsRows()) // It has no epilogue.
      return {};
  bool reachesAll = std::is_same_v<OpTy, MatmulOp>;
  return reachesAll || isUndefined(matmul.getOuts()) ? matmul : OpTy();
}

/// A matmul of `lhs` and `rhs`, in all else like another.
MatmulOp createMatmul(OpBuilder &b, MatmulOp like, ValueRange lhs,
                      ValueRange rhs, ValueRange operands,
                      ArrayRef<int32_t> maps, Value outs, bool gated);
GroupedMatmulOp createMatmul(OpBuilder &b, GroupedMatmulOp like, ValueRange lhs,
                             ValueRange rhs, ValueRange operands,
                             ArrayRef<int32_t> maps, Value outs, bool gated);

/// The matmul whose epilogue can apply the function of `op`, an activate or
/// act_quant, or null. Gate and up of an element are in one thread only where
/// they alternate by kGateGroup; an operand of map row_column would have two
/// elements there, of which a gated epilogue gets one.
template <typename OpTy, typename ActOp>
OpTy getFusableActivation(ActOp op) {
  OpTy matmul = getFusable<OpTy>(op.getInput(), op);
  if (!matmul || matmul.getGated())
    return {};
  bool fits =
      !isGated(op.getFunction()) ||
      (op.getGateLayout() == GateLayout::Interleaved64 &&
       !llvm::is_contained(matmul.getEpilogueMaps(),
                           static_cast<int32_t>(EpilogueMap::RowColumn)));
  return fits ? matmul : OpTy();
}

/// Whether the epilogue of the matmul that makes the input of `op`, an activate
/// or act_quant, can apply its gated function.
template <typename ActOp>
bool isFusableGate(ActOp op) {
  return isGated(op.getFunction()) &&
         (getFusableActivation<MatmulOp>(op) ||
          getFusableActivation<GroupedMatmulOp>(op));
}

} // namespace mlir::moeq::detail

#endif // MOEQ_LIB_DIALECT_MOEQ_TRANSFORMS_FUSEDETAIL_H
