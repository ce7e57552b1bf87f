//===- MoeqBase.td - The moeq dialect ----------------------*- tablegen -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOEQ_DIALECT_MOEQ_IR_MOEQBASE_TD
#define MOEQ_DIALECT_MOEQ_IR_MOEQBASE_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/DialectBase.td"
include "mlir/IR/EnumAttr.td"

def Moeq_Dialect : Dialect {
  let name = "moeq";
  let cppNamespace = "::mlir::moeq";
  let summary = "Quantized mixture-of-experts layers";
  let description = [{
    Expert-routed matmuls on quantized operands, with the routing, activation
    and quantization around them, on tensors and, after bufferization, memrefs.

    Letters used throughout: `T` tokens, `k` experts a token, `S = T * k` routed
    rows, `E` local experts, `K` input features, `N` output features, `F` hidden
    features of an expert.
  }];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let extraClassDeclaration = [{
    /// Each in the source that defines the storage of what it registers.
    void registerTypes();
    void registerAttributes();
  }];
}

#endif // MOEQ_DIALECT_MOEQ_IR_MOEQBASE_TD
