//===- MoeqTrainingOps.td - The backward pass --------------*- tablegen -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ops of the backward pass alone: its matmuls are moeq.grouped_matmul. Included
// by MoeqOps.td.
//
//===----------------------------------------------------------------------===//

#ifndef MOEQ_DIALECT_MOEQ_IR_MOEQTRAININGOPS_TD
#define MOEQ_DIALECT_MOEQ_IR_MOEQTRAININGOPS_TD

def Moeq_ActivateGradOp : Moeq_DpsOp<"activate_grad"> {
  let summary = "gradient of an activation by its input";
  let description = [{
    Of the gradient by the result of a `moeq.activate`, [S, F], and the input of
    it, [S, F] or [S, 2F], the gradient by this input, in its shape and layout:
    for f of x or f(g) * u

    - plain: d * f'(x);
    - gated: (d * u) * f'(g) in the columns of the gate, d * f(g) in those of up;
    - `clamped_swiglu`: the same for g', u' + 1, and 0 where g or u is beyond its
      limit.

    `row_weight` [S] multiplies d first. f32 inside, rounded once. At a kink (0 of
    `relu`, `reglu`) the gradient is 0, at a limit that of the inside.

    ```mlir
    %dh = moeq.activate_grad grad(%da : tensor<?x14336xbf16>) input(%h : tensor<?x28672xbf16>)
        outs(%init : tensor<?x28672xbf16>) function(swiglu) -> tensor<?x28672xbf16>
    ```
  }];
  let arguments = (ins Moeq_FloatShaped:$grad, Moeq_FloatShaped:$input,
                       Optional<Moeq_F32Shaped>:$row_weight, Moeq_FloatShaped:$outs,
                       Moeq_Activation:$function,
                       DefaultValuedAttr<Moeq_GateLayout, "::mlir::moeq::GateLayout::GateFirst">:$gate_layout,
                       DefaultValuedAttr<Moeq_ExpMode, "::mlir::moeq::ExpMode::Ieee">:$exp,
                       OptionalAttr<F32Attr>:$limit, OptionalAttr<F32Attr>:$alpha);
  let assemblyFormat = [{
    `grad` `(` $grad `:` type($grad) `)` `input` `(` $input `:` type($input) `)`
    (`row_weight` `(` $row_weight^ `:` type($row_weight) `)`)?
    `outs` `(` $outs `:` type($outs) `)` `function` `(` $function `)`
    (`gate_layout` `(` $gate_layout^ `)`)? (`exp` `(` $exp^ `)`)?
    (`limit` `(` $limit^ `)`)? (`alpha` `(` $alpha^ `)`)? attr-dict (`->` type($results)^)?
  }];
}

#endif // MOEQ_DIALECT_MOEQ_IR_MOEQTRAININGOPS_TD
