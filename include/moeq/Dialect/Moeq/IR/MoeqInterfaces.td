//===- MoeqInterfaces.td - Interfaces of moeq ops ----------*- tablegen -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOEQ_DIALECT_MOEQ_IR_MOEQINTERFACES_TD
#define MOEQ_DIALECT_MOEQ_IR_MOEQINTERFACES_TD

include "mlir/IR/OpBase.td"

def Moeq_ComponentOpInterface : OpInterface<"ComponentOpInterface"> {
  let cppNamespace = "::mlir::moeq";
  let description = [{
    An op some of whose operand groups may be scaled tensors. Such a group holds
    either one scaled tensor, or, in component form, its components (values,
    scales, zeros) with the scaled type in the attribute `<group>_format`.
  }];
  let methods = [
    StaticInterfaceMethod<[{
      The operand groups that may be scaled: index of the operand segment and
      name of the format attribute, in segment order.
    }], "::llvm::ArrayRef<::mlir::moeq::ScaledGroup>", "getScaledGroups">,
    InterfaceMethod<"The first operand of a segment and their number.",
      "::std::pair<unsigned, unsigned>", "getOperandSegment",
      (ins "unsigned":$segment),
      [{ return $_op.getODSOperandIndexAndLength(segment); }]>
  ];
}

#endif // MOEQ_DIALECT_MOEQ_IR_MOEQINTERFACES_TD
