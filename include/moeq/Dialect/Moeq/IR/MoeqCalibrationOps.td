//===- MoeqCalibrationOps.td - What is made of statistics --*- tablegen -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ops on what a calibration run found out about a model. Included by
// MoeqOps.td.
//
//===----------------------------------------------------------------------===//

#ifndef MOEQ_DIALECT_MOEQ_IR_MOEQCALIBRATIONOPS_TD
#define MOEQ_DIALECT_MOEQ_IR_MOEQCALIBRATIONOPS_TD

def Moeq_SmoothOp : Moeq_DpsOp<"smooth"> {
  let summary = "SmoothQuant factors from the amax of activations and weights";
  let description = [{
    The factor of channel k of expert e, by which weights are multiplied and the
    activations that meet them divided (Xiao et al., SmoothQuant, equation 4):

        s = a^alpha / w^(1 - alpha),  a = max(amax[e, k], floor),
                                      w = max(max_n |weight[e, n, k]|, floor)

    for `weight` [E, N, K] and the largest magnitudes `amax` [E, K] of the
    activations of a calibration run. `amax` [1, K] serves all experts. A result
    [1, K], not [E, K], is one for all experts, of the maxima over them: for
    activations that experts share.

    With `power_of_two` a factor is rounded to the nearest power of two, by its
    exponent: then products and quotients by it are exact. A NaN gives NaN; an
    infinite maximum counts as the largest f32. The bits are the same on every
    target; the relative error is at most 2^-16.

    ```mlir
    %s = moeq.smooth amax(%a : tensor<8x4096xf32>) weight(%w : tensor<8x14336x4096xbf16>)
        outs(%init : tensor<8x4096xf32>) alpha(5.0e-01) power_of_two -> tensor<8x4096xf32>
    ```
  }];
  let arguments = (ins Moeq_F32Shaped:$amax, Moeq_FloatShaped:$weight, Moeq_F32Shaped:$outs,
                       DefaultValuedAttr<F32Attr, "0.5f">:$alpha,
                       DefaultValuedAttr<F32Attr, "1.0e-5f">:$floor,
                       UnitAttr:$power_of_two);
  let assemblyFormat = [{
    `amax` `(` $amax `:` type($amax) `)` `weight` `(` $weight `:` type($weight) `)`
    `outs` `(` $outs `:` type($outs) `)` (`alpha` `(` $alpha^ `)`)? (`floor` `(` $floor^ `)`)?
    (`power_of_two` $power_of_two^)? attr-dict (`->` type($results)^)?
  }];
  let extraClassDeclaration = [{
    /// Whether one factor of a channel serves all experts.
    bool isShared() {
      return ::llvm::cast<::mlir::ShapedType>(getOuts().getType()).getDimSize(0) == 1;
    }
  }];
}

#endif // MOEQ_DIALECT_MOEQ_IR_MOEQCALIBRATIONOPS_TD
