//===- MoeqAttrs.td - Attributes of the moeq dialect -------*- tablegen -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOEQ_DIALECT_MOEQ_IR_MOEQATTRS_TD
#define MOEQ_DIALECT_MOEQ_IR_MOEQATTRS_TD

include "moeq/Dialect/Moeq/IR/MoeqBase.td"
include "moeq/Dialect/Moeq/IR/MoeqEnums.td"

class Moeq_Attr<string name, string attrMnemonic> : AttrDef<Moeq_Dialect, name> {
  let mnemonic = attrMnemonic;
}

def Moeq_RecipeAttr : Moeq_Attr<"Recipe", "recipe"> {
  let summary = "how values and scales are made from numbers";
  let description = [{
    Every parameter of a quantization, explicit. `docs/Spec.md` gives the
    formulas. A recipe is written as a preset's name, or as parameters over the
    defaults below, or as a preset's name with parameters over the preset's:

    ```mlir
    #moeq.recipe<deepgemm>
    #moeq.recipe<scale = amax_mul_rcp, apply = mul_rcp, amax_floor = 1.0e-04>
    #moeq.recipe<deepgemm, scale_round = e8m0_up>
    ```

    | parameter | default | values |
    |---|---|---|
    | `amax_floor` | 0.0 | amax = max(amax, floor) |
    | `scale` | `amax_div_max` | `amax_mul_rcp`, `rcp_of_quant` |
    | `scale_round` | `none` | `pow2_up`, `e8m0_up`, `e8m0_floor` |
    | `apply` | `divide` | `mul_rcp`, `mul_quant` |
    | `zero_block` | `one` | `floor`, `min` |
    | `compute` | `f32` | `f64` |
    | `lo`, `hi` | the value type's symmetric range | integer codes |
    | `zero_point` | `none` | `affine` |
    | `nonfinite` | `propagate` | `te_fp8`, `te_mx` |

    Presets: `amax` (the defaults), `deepgemm`, `vllm_group`, `vllm_token`, `te`,
    `te_mx`, `torchao`, `ocp`, `int8_sym`, `int8_asym`, `awq`, `int4_sym`.
  }];
  let parameters = (ins
    APFloatParameter<"f32">:$amaxFloor,
    "::mlir::moeq::ScaleFormula":$scale,
    "::mlir::moeq::ScaleRound":$scaleRound,
    "::mlir::moeq::ScaleApply":$apply,
    "::mlir::moeq::ZeroBlock":$zeroBlock,
    "::mlir::moeq::ScaleCompute":$compute,
    "::std::optional<int64_t>":$lo,
    "::std::optional<int64_t>":$hi,
    "::mlir::moeq::ZeroPointRule":$zeroPoint,
    "::mlir::moeq::Nonfinite":$nonfinite
  );
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The preset of this name, or null.
    static RecipeAttr getPreset(::mlir::MLIRContext *context, ::llvm::StringRef name);
    /// The names of all presets.
    static ::llvm::ArrayRef<::llvm::StringRef> getPresetNames();
    /// The range of integer codes for values of type `value`: [lo, hi] where
    /// given, else the symmetric range of the type (-127..127, -7..7), or, with
    /// affine zero points, the whole range of the type.
    ::std::pair<int64_t, int64_t> getRange(::mlir::Type value) const;
  }];
}

def Moeq_AccumulateAttr : Moeq_Attr<"Accumulate", "accumulate"> {
  let summary = "how the partial sums of a matmul are accumulated";
  let description = [{
    `fast`: one accumulator for all of K (the Hopper FP8 tensor core keeps fewer
    than 23 bits of it). `promote<128>`: the partial sum of each 128 elements of
    K is added to a second f32 accumulator, which bounds the error.
  }];
  let parameters = (ins "int64_t":$interval);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Whether there is one accumulator for all of K.
    bool isFast() const { return getInterval() == 0; }
  }];
}

def Moeq_ConfigAttr : Moeq_Attr<"Config", "config"> {
  let summary = "how a matmul is lowered to a kernel";
  let description = [{
    Chosen by `moeq-select-config`; one that is already on the op wins.

    | parameter | meaning |
    |---|---|
    | `tile` | rows and columns of the output tile of a CTA |
    | `stages` | stages of the shared-memory ring |
    | `consumers` | consumer warpgroups |
    | `schedule` | `simple`, `persistent` (tiles round robin), `ping_pong`, `dynamic` (persistent, each CTA takes the next tile when it is free) |
    | `swap_ab` | weights as the wgmma M operand |
    | `split_k` | 1, or 2, 4 or 8 parts of K that the CTAs of a cluster sum, each one (docs/Spec.md, "Matmul") |
    | `raster` | row tiles of a raster group |
    | `cluster` | 1, or 2 CTAs that share what their tiles, neighbours in the order of the tiles, have in common |
    | `ctas` | CTAs that share a multiprocessor, its registers and its shared memory |
  }];
  let parameters = (ins
    ArrayRefParameter<"int64_t">:$tile,
    DefaultValuedParameter<"int64_t", "4">:$stages,
    DefaultValuedParameter<"int64_t", "2">:$consumers,
    DefaultValuedParameter<"::mlir::moeq::Schedule",
                           "::mlir::moeq::Schedule::Persistent">:$schedule,
    DefaultValuedParameter<"bool", "false">:$swapAb,
    DefaultValuedParameter<"int64_t", "1">:$splitK,
    DefaultValuedParameter<"int64_t", "16">:$raster,
    DefaultValuedParameter<"int64_t", "1">:$cluster,
    DefaultValuedParameter<"int64_t", "1">:$ctas
  );
  let builders = [
    AttrBuilder<(ins "::llvm::ArrayRef<int64_t>":$tile, "int64_t":$stages, "int64_t":$consumers,
                     "::mlir::moeq::Schedule":$schedule, "bool":$swapAb, "int64_t":$splitK,
                     "int64_t":$raster, "int64_t":$cluster, CArg<"int64_t", "1">:$ctas), [{
      return $_get($_ctxt, tile, stages, consumers, schedule, swapAb, splitK, raster, cluster, ctas);
    }]>
  ];
  let skipDefaultBuilders = 1;
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Moeq_TargetAttr : Moeq_Attr<"Target", "target"> {
  let summary = "the chip that a module is compiled for";
  let description = [{
    On a module, as `moeq.target`. What is not given is that of the chip:

    ```mlir
    module attributes {moeq.target = #moeq.target<chip = "sm_90a", sms = 132>} {}
    ```
  }];
  let parameters = (ins
    "::mlir::StringAttr":$chip,
    DefaultValuedParameter<"int64_t", "0", "multiprocessors; 0 is the chip's">:$sms,
    DefaultValuedParameter<"int64_t", "0", "bytes of shared memory a CTA; 0 is the chip's">:$shared_memory
  );
  let assemblyFormat = "`<` struct($chip, $sms, $shared_memory) `>`";
  let genVerifyDecl = 1;
}

#endif // MOEQ_DIALECT_MOEQ_IR_MOEQATTRS_TD
