//===- Passes.td - Passes on the moeq dialect --------------*- tablegen -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOEQ_DIALECT_MOEQ_TRANSFORMS_PASSES_TD
#define MOEQ_DIALECT_MOEQ_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def MoeqDecompose : Pass<"moeq-decompose"> {
  let summary = "layers to ops, and grouped matmuls to one matmul an expert";
  let description = [{
    Replaces each `moeq.experts` by `moeq.route`, `group`, `gather`, `quantize`,
    `grouped_matmul`, `activate` and `combine`; `moeq-fuse` then merges what can be
    merged.

    - The outputs of the matmuls have the type of `hidden`, and so has the
      activation where it is not quantized. Where it is, `intermediate_round` is
      the type that the activation is rounded to before.
    - `weight_on_input` multiplies the gathered rows, rounded to the type of
      `hidden`, by the router weight.
    - Shared experts are extra slots with weight 1, after the routed ones.
    - Rows that `expert_map` drops are read by no matmul. Under scales that span
      rows they are zeros, so that they change no scale.

    With `form=linear` each `moeq.grouped_matmul`, of a layer or not, becomes one
    `moeq.matmul` an expert on slices of the rows and of the stacked weight;
    experts without rows are skipped. Operands that cannot be sliced (laid-out
    scales) keep the grouped form, with a remark. Both forms give the same bits.
  }];
  let options = [
    Option<"form", "form", "::mlir::moeq::DecomposeForm",
           /*default=*/"::mlir::moeq::DecomposeForm::Grouped", "Form of a grouped matmul", [{
             ::llvm::cl::values(
               clEnumValN(::mlir::moeq::DecomposeForm::Grouped, "grouped",
                          "moeq.grouped_matmul"),
               clEnumValN(::mlir::moeq::DecomposeForm::Linear, "linear",
                          "one moeq.matmul an expert"))
           }]>,
    Option<"unrollLimit", "unroll-limit", "int64_t", /*default=*/"16",
           "Experts that form=linear unrolls at most; more make an scf.for">
  ];
  let statistics = [
    Statistic<"numLayers", "layers", "Layers decomposed to ops">,
    Statistic<"numLinear", "linear", "Grouped matmuls decomposed to matmuls">
  ];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::moeq::MoeqDialect",
    "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"
  ];
}

#endif // MOEQ_DIALECT_MOEQ_TRANSFORMS_PASSES_TD
