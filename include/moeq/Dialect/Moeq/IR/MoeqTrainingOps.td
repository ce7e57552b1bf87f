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

def Moeq_ActQuantGradOp : Moeq_QuantizingOp<"act_quant_grad"> {
  let summary = "gradient of an activation, quantized";
  let description = [{
    `moeq.activate_grad`, then rounding to `intermediate_round`, then
    `moeq.quantize` under the recipe: the same bits as the two ops apart. `outs`,
    of the shape of the input, is what the gradient of the rows reads,
    `columnwise` that of the weights; what they and `offsets` [E + 1] mean is
    said at `moeq.quantize`.

    `bias_grad` [E, F] or [E, 2F], f32, is the gradient by the bias that was
    added to the input: of each group, the sums of the rounded numbers over its
    rows, before they are quantized. The order of a sum depends on its rows
    alone; docs/Spec.md states it. A group without rows has zeros.

    ```mlir
    %q, %t = moeq.act_quant_grad grad(%da : tensor<?x14336xbf16>) input(%h : tensor<?x28672xbf16>)
        offsets(%o : tensor<9xi32>) outs(%init : tensor<?x28672x!mx>)
        columnwise(%initt : tensor<28672x?x!mx>) function(swiglu) intermediate_round(bf16)
        recipe(<te_mx>) -> tensor<?x28672x!mx>, tensor<28672x?x!mx>
    ```
  }];
  let arguments = (ins Moeq_FloatShaped:$grad, Moeq_FloatShaped:$input,
                       Optional<Moeq_F32Shaped>:$row_weight,
                       Optional<Moeq_I32Shaped>:$offsets,
                       Variadic<Moeq_Shaped>:$outs, Variadic<Moeq_Shaped>:$columnwise,
                       Optional<Moeq_F32Shaped>:$bias_grad,
                       Moeq_Activation:$function,
                       DefaultValuedAttr<Moeq_GateLayout, "::mlir::moeq::GateLayout::GateFirst">:$gate_layout,
                       DefaultValuedAttr<Moeq_ExpMode, "::mlir::moeq::ExpMode::Ieee">:$exp,
                       OptionalAttr<F32Attr>:$limit, OptionalAttr<F32Attr>:$alpha,
                       DefaultValuedAttr<Moeq_IntermediateRound, "::mlir::moeq::IntermediateRound::None">:$intermediate_round,
                       Moeq_RecipeAttr:$recipe, OptionalAttr<TypeAttr>:$outs_format,
                       OptionalAttr<TypeAttr>:$columnwise_format);
  let assemblyFormat = [{
    `grad` `(` $grad `:` type($grad) `)` `input` `(` $input `:` type($input) `)`
    (`row_weight` `(` $row_weight^ `:` type($row_weight) `)`)?
    (`offsets` `(` $offsets^ `:` type($offsets) `)`)?
    (`outs` `(` $outs^ `:` type($outs) (`as` $outs_format^)? `)`)?
    (`columnwise` `(` $columnwise^ `:` type($columnwise) (`as` $columnwise_format^)? `)`)?
    (`bias_grad` `(` $bias_grad^ `:` type($bias_grad) `)`)?
    `function` `(` $function `)`
    (`gate_layout` `(` $gate_layout^ `)`)? (`exp` `(` $exp^ `)`)?
    (`limit` `(` $limit^ `)`)? (`alpha` `(` $alpha^ `)`)?
    (`intermediate_round` `(` $intermediate_round^ `)`)?
    `recipe` `(` $recipe `)` attr-dict (`->` type($results)^)?
  }];
}

#endif // MOEQ_DIALECT_MOEQ_IR_MOEQTRAININGOPS_TD
