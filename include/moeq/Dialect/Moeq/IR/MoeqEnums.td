//===- MoeqEnums.td - Enumerations of the moeq dialect -----*- tablegen -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOEQ_DIALECT_MOEQ_IR_MOEQENUMS_TD
#define MOEQ_DIALECT_MOEQ_IR_MOEQENUMS_TD

include "mlir/IR/EnumAttr.td"

class Moeq_Enum<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::mlir::moeq";
}

// The physical layout of the scales of a whole tensor between two ops.
def Moeq_ScaleLayout : Moeq_Enum<"ScaleLayout", "layout of scales", [
  I32EnumAttrCase<"RowMajor", 0, "row_major">,
  I32EnumAttrCase<"MnMajor", 1, "mn_major">,
  I32EnumAttrCase<"Padded", 2, "padded">,
  I32EnumAttrCase<"Swizzle128x4", 3, "swizzle_128x4">
]>;

// The order of the elements of a whole weight [.., N, K] in memory.
def Moeq_Packing : Moeq_Enum<"Packing", "order of the elements of a weight", [
  I32EnumAttrCase<"None", 0, "none">,
  I32EnumAttrCase<"Fragments", 1, "fragments">
]>;

// How a router turns logits into scores.
def Moeq_ScoreFunction : Moeq_Enum<"ScoreFunction", "score of a router", [
  I32EnumAttrCase<"Softmax", 0, "softmax">,
  I32EnumAttrCase<"Sigmoid", 1, "sigmoid">
]>;

// How grouped top-k scores a group of experts.
def Moeq_GroupScore : Moeq_Enum<"GroupScore", "score of a group of experts", [
  I32EnumAttrCase<"Max", 0, "max">,
  I32EnumAttrCase<"Top2Sum", 1, "top2_sum">
]>;

def Moeq_Activation : Moeq_Enum<"Activation", "activation function", [
  I32EnumAttrCase<"Identity", 0, "identity">,
  I32EnumAttrCase<"Relu", 1, "relu">,
  I32EnumAttrCase<"Srelu", 2, "srelu">,
  I32EnumAttrCase<"Silu", 3, "silu">,
  I32EnumAttrCase<"Gelu", 4, "gelu">,
  I32EnumAttrCase<"GeluTanh", 5, "gelu_tanh">,
  I32EnumAttrCase<"Swiglu", 6, "swiglu">,
  I32EnumAttrCase<"Geglu", 7, "geglu">,
  I32EnumAttrCase<"Reglu", 8, "reglu">,
  I32EnumAttrCase<"ClampedSwiglu", 9, "clamped_swiglu">
]>;

// Where the gate and up columns of a gated activation's input [S, 2F] lie.
def Moeq_GateLayout : Moeq_Enum<"GateLayout", "layout of gate and up", [
  I32EnumAttrCase<"GateFirst", 0, "gate_first">,
  I32EnumAttrCase<"UpFirst", 1, "up_first">,
  I32EnumAttrCase<"Interleaved", 2, "interleaved">,
  I32EnumAttrCase<"Interleaved64", 3, "interleaved_64">
]>;

// The type to which an activation value is rounded before it is quantized.
def Moeq_IntermediateRound : Moeq_Enum<"IntermediateRound", "rounding between activation and quantization", [
  I32EnumAttrCase<"None", 0, "none">,
  I32EnumAttrCase<"BF16", 1, "bf16">,
  I32EnumAttrCase<"F16", 2, "f16">
]>;

// The algorithm of exp and of what is built on it.
def Moeq_ExpMode : Moeq_Enum<"ExpMode", "precision of exp", [
  I32EnumAttrCase<"Ieee", 0, "ieee">,
  I32EnumAttrCase<"Approx", 1, "approx">
]>;

// Which coordinate of the accumulator selects the element of an epilogue operand.
def Moeq_EpilogueMap : Moeq_Enum<"EpilogueMap", "map of an epilogue operand", [
  I32EnumAttrCase<"Row", 0, "row">,
  I32EnumAttrCase<"Column", 1, "column">,
  I32EnumAttrCase<"RowColumn", 2, "row_column">
]>;

// The dimension of the rows of a grouped matmul that its sums run over.
def Moeq_Contraction : Moeq_Enum<"Contraction", "contraction of a grouped matmul", [
  I32EnumAttrCase<"Columns", 0, "columns">,
  I32EnumAttrCase<"Rows", 1, "rows">
]>;

//===----------------------------------------------------------------------===//
// Parameters of #moeq.recipe
//===----------------------------------------------------------------------===//

def Moeq_ScaleFormula : Moeq_Enum<"ScaleFormula", "scale from amax", [
  I32EnumAttrCase<"AmaxDivMax", 0, "amax_div_max">,
  I32EnumAttrCase<"AmaxMulRcp", 1, "amax_mul_rcp">,
  I32EnumAttrCase<"RcpOfQuant", 2, "rcp_of_quant">
]>;

def Moeq_ScaleRound : Moeq_Enum<"ScaleRound", "rounding of a scale", [
  I32EnumAttrCase<"None", 0, "none">,
  I32EnumAttrCase<"Pow2Up", 1, "pow2_up">,
  I32EnumAttrCase<"E8M0Up", 2, "e8m0_up">,
  I32EnumAttrCase<"E8M0Floor", 3, "e8m0_floor">
]>;

def Moeq_ScaleApply : Moeq_Enum<"ScaleApply", "how a scale is applied", [
  I32EnumAttrCase<"Divide", 0, "divide">,
  I32EnumAttrCase<"MulRcp", 1, "mul_rcp">,
  I32EnumAttrCase<"MulQuant", 2, "mul_quant">
]>;

def Moeq_ZeroBlock : Moeq_Enum<"ZeroBlock", "scale of an all-zero block", [
  I32EnumAttrCase<"Floor", 0, "floor">,
  I32EnumAttrCase<"One", 1, "one">,
  I32EnumAttrCase<"Min", 2, "min">
]>;

def Moeq_ScaleCompute : Moeq_Enum<"ScaleCompute", "precision of the scale", [
  I32EnumAttrCase<"F32", 0, "f32">,
  I32EnumAttrCase<"F64", 1, "f64">
]>;

def Moeq_ZeroPointRule : Moeq_Enum<"ZeroPointRule", "rule of the zero point", [
  I32EnumAttrCase<"None", 0, "none">,
  I32EnumAttrCase<"Affine", 1, "affine">
]>;

def Moeq_Nonfinite : Moeq_Enum<"Nonfinite", "what a block with Inf or NaN gives", [
  I32EnumAttrCase<"Propagate", 0, "propagate">,
  I32EnumAttrCase<"TeFp8", 1, "te_fp8">,
  I32EnumAttrCase<"TeMx", 2, "te_mx">
]>;

//===----------------------------------------------------------------------===//
// Parameters of #moeq.config
//===----------------------------------------------------------------------===//

def Moeq_Schedule : Moeq_Enum<"Schedule", "schedule of a matmul kernel", [
  I32EnumAttrCase<"Simple", 0, "simple">,
  I32EnumAttrCase<"Persistent", 1, "persistent">,
  I32EnumAttrCase<"PingPong", 2, "ping_pong">,
  I32EnumAttrCase<"Dynamic", 3, "dynamic">
]>;

#endif // MOEQ_DIALECT_MOEQ_IR_MOEQENUMS_TD
