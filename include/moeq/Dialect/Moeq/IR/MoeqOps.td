//===- MoeqOps.td - Ops of the moeq dialect ----------------*- tablegen -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOEQ_DIALECT_MOEQ_IR_MOEQOPS_TD
#define MOEQ_DIALECT_MOEQ_IR_MOEQOPS_TD

include "moeq/Dialect/Moeq/IR/MoeqAttrs.td"
include "moeq/Dialect/Moeq/IR/MoeqInterfaces.td"
include "moeq/Dialect/Moeq/IR/MoeqTypes.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

//===----------------------------------------------------------------------===//
// Constraints and base classes
//===----------------------------------------------------------------------===//

def Moeq_ScaledTensor : Type<
    And<[IsRankedTensorTypePred, CPred<"::mlir::moeq::isScaledTensor($_self)">]>,
    "ranked tensor of !moeq.scaled whose rank is at least that of the block, or 2 if "
    "it has groups, with a static last extent if values have 4 bits",
    "::mlir::RankedTensorType">;

// A tensor, scaled or plain, or a memref. Unranked ones and encodings have no place here.
def Moeq_Shaped : AnyTypeOf<[AnyRankedTensor, AnyRankedOrUnrankedMemRef],
    "ranked tensor or memref", "::mlir::ShapedType"> {
  let predicate = CPred<"::mlir::moeq::isRankedTensorOrMemRef($_self)">;
}
class Moeq_ShapedOf<string elementPred, string what> : Type<
    And<[CPred<"::mlir::moeq::isRankedTensorOrMemRef($_self)">,
         SubstLeaves<"$_self", "::llvm::cast<::mlir::ShapedType>($_self).getElementType()",
                     CPred<elementPred>>]>,
    "ranked tensor or memref of " # what, "::mlir::ShapedType">;
def Moeq_F32Shaped : Moeq_ShapedOf<"$_self.isF32()", "f32">;
def Moeq_I32Shaped : Moeq_ShapedOf<"$_self.isSignlessInteger(32)", "i32">;
// The types of activations and results: f32, bf16, f16.
def Moeq_FloatShaped : Moeq_ShapedOf<
    "$_self.isF32() || $_self.isBF16() || $_self.isF16()", "f32, bf16 or f16">;

class Moeq_Op<string mnemonic, list<Trait> traits = []>
    : Op<Moeq_Dialect, mnemonic, traits>;

// A computing op: destination style on tensors or memrefs. The operand groups
// from `outs` on are the inits.
class Moeq_DpsOp<string mnemonic, list<Trait> traits = []>
    : Moeq_Op<mnemonic, !listconcat([
        DeclareOpInterfaceMethods<DestinationStyleOpInterface>,
        DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
        DeclareOpInterfaceMethods<Moeq_ComponentOpInterface>], traits)> {
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let hasVerifier = 1;
}

// An op that quantizes: rowwise, columnwise, or both from one read.
class Moeq_QuantizingOp<string mnemonic>
    : Moeq_DpsOp<mnemonic, [AttrSizedOperandSegments]> {
  let extraClassDeclaration = [{
    /// Whether there is but a rowwise result, whose rows have no groups.
    bool isRowwiseOnly() { return !getOffsets() && getColumnwise().empty(); }
  }];
}

// A matmul: its epilogue is verified after the ops in it.
class Moeq_EpilogueOp<string mnemonic>
    : Moeq_DpsOp<mnemonic, [AttrSizedOperandSegments, SingleBlock]> {
  let regions = (region MaxSizedRegion<1>:$epilogue);
  let hasRegionVerifier = 1;
  code epilogueDeclaration = [{
    /// The accumulators among the arguments of the epilogue: they come first,
    /// then row and column.
    unsigned getNumAccumulators() { return getGated() ? 2 : 1; }
  }];
  let extraClassDeclaration = epilogueDeclaration;
}

//===----------------------------------------------------------------------===//
// Scaled tensors
//===----------------------------------------------------------------------===//

def Moeq_PackOp : Moeq_Op<"pack", [Pure]> {
  let summary = "a scaled tensor of its components";
  let description = [{
    Constants of scaled type are a `moeq.pack` of constants.

    ```mlir
    %0 = moeq.pack %values, %scales
        : tensor<4x256xf8E4M3FN>, tensor<4x2xf32>
        -> tensor<4x256x!moeq.scaled<f8E4M3FN, block = [128], scale = f32>>
    ```
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$components);
  let results = (outs Moeq_ScaledTensor:$result);
  let assemblyFormat = "$components attr-dict `:` type($components) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Moeq_UnpackOp : Moeq_Op<"unpack", [Pure]> {
  let summary = "the components of a scaled tensor";
  let description = [{
    ```mlir
    %values, %scales = moeq.unpack %0
        : tensor<4x256x!moeq.scaled<f8E4M3FN, block = [128], scale = f32>>
        -> tensor<4x256xf8E4M3FN>, tensor<4x2xf32>
    ```
  }];
  let arguments = (ins Moeq_ScaledTensor:$source);
  let results = (outs Variadic<AnyRankedTensor>:$components);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($components)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Moeq_QuantizeOp : Moeq_QuantizingOp<"quantize"> {
  let summary = "numbers to a scaled tensor, under a recipe";
  let description = [{
    Quantizes [.., K] to a scaled tensor of the same shape. With `rows`, result
    row r is the quantized input row `rows[r]` ([T, K] to [S, K]); rows whose
    index is negative keep the init. The values are bit-exact on every target.

    ```mlir
    %q = moeq.quantize input(%x : tensor<?x4096xbf16>) outs(%init : tensor<?x4096x!a>)
        recipe(<deepgemm>) -> tensor<?x4096x!a>
    ```

    `columnwise`, beside `outs` or alone, is what a matmul reads that contracts
    the rows: its blocks lie along columns of [S, K]. With a block [b, 1] it is
    [S, K], with any other the transposed tensor [K, S], of whose block the last
    extent goes along the rows. A row whose index is negative counts as zeros in
    it. `outs` has blocks inside rows then.

    `offsets` [E + 1]: the rows are those of E groups. No block crosses a group;
    `outs` may have, and a columnwise result with a block [b, 1] has, `groups = E`.
    A transposed result is [K, P], with P = (S floordiv 128 + E) * 128, and row r
    of group e is in its column padded_offsets[e] + r - offsets[e] (see
    `moeq.group`). Codes and scales of padding are zero bytes; rows outside every
    group are not read, and keep the init.

    ```mlir
    %q, %t = moeq.quantize input(%x : tensor<?x4096xbf16>) offsets(%o : tensor<9xi32>)
        outs(%init : tensor<?x4096x!mx>) columnwise(%initt : tensor<4096x?x!mx>)
        recipe(<te_mx>) -> tensor<?x4096x!mx>, tensor<4096x?x!mx>
    ```
  }];
  let arguments = (ins Moeq_FloatShaped:$input, Optional<Moeq_I32Shaped>:$rows,
                       Optional<Moeq_I32Shaped>:$offsets,
                       Variadic<Moeq_Shaped>:$outs, Variadic<Moeq_Shaped>:$columnwise,
                       Moeq_RecipeAttr:$recipe, OptionalAttr<TypeAttr>:$outs_format,
                       OptionalAttr<TypeAttr>:$columnwise_format);
  let assemblyFormat = [{
    `input` `(` $input `:` type($input) `)` (`rows` `(` $rows^ `:` type($rows) `)`)?
    (`offsets` `(` $offsets^ `:` type($offsets) `)`)?
    (`outs` `(` $outs^ `:` type($outs) (`as` $outs_format^)? `)`)?
    (`columnwise` `(` $columnwise^ `:` type($columnwise) (`as` $columnwise_format^)? `)`)?
    `recipe` `(` $recipe `)` attr-dict (`->` type($results)^)?
  }];
}

def Moeq_DequantizeOp : Moeq_DpsOp<"dequantize"> {
  let summary = "a scaled tensor to numbers";
  let description = [{
    `(value - zero) * scale` in f32, rounded once to the result's type.

    ```mlir
    %y = moeq.dequantize input(%q : tensor<?x4096x!a>) outs(%init : tensor<?x4096xf32>)
        -> tensor<?x4096xf32>
    ```
  }];
  let arguments = (ins Variadic<Moeq_Shaped>:$input, Moeq_FloatShaped:$outs,
                       OptionalAttr<TypeAttr>:$input_format);
  let assemblyFormat = [{
    `input` `(` $input `:` type($input) (`as` $input_format^)? `)`
    `outs` `(` $outs `:` type($outs) `)` attr-dict (`->` type($results)^)?
  }];
}

//===----------------------------------------------------------------------===//
// Routing
//===----------------------------------------------------------------------===//

def Moeq_RouteOp : Moeq_DpsOp<"route"> {
  let summary = "logits to expert ids and weights";
  let description = [{
    Logits [T, E] (and `bias` [E]) to the ids [T, k] (i32) and weights [T, k]
    (f32) of the k experts with the highest scores, best first. The bias (and,
    with `n_group`, the group mask) chooses, the unbiased score weighs. The lower
    id wins a tie; a NaN score ranks below every number; ids are distinct and in
    range. `renormalize` divides by the sum of the chosen scores (a zero sum
    gives zeros), then `scale` multiplies.

    With `n_group(g) topk_group(h)` the experts form g groups of E/g; only those
    of the h groups with the highest `group_score` take part.

    The softmax sums exp(x - max) as 32 strided partial sums, then as a balanced
    tree, on every target, so that ids do not depend on the target.

    ```mlir
    %ids, %weights = moeq.route logits(%l : tensor<?x8xf32>)
        outs(%i, %w : tensor<?x2xi32>, tensor<?x2xf32>) score(softmax) renormalize
        -> tensor<?x2xi32>, tensor<?x2xf32>
    ```
  }];
  let arguments = (ins Moeq_FloatShaped:$logits, Optional<Moeq_F32Shaped>:$bias,
                       Moeq_I32Shaped:$ids, Moeq_F32Shaped:$weights,
                       DefaultValuedAttr<Moeq_ScoreFunction, "::mlir::moeq::ScoreFunction::Softmax">:$score,
                       UnitAttr:$renormalize,
                       OptionalAttr<F32Attr>:$scale,
                       OptionalAttr<I64Attr>:$n_group,
                       OptionalAttr<I64Attr>:$topk_group,
                       DefaultValuedAttr<Moeq_GroupScore, "::mlir::moeq::GroupScore::Max">:$group_score);
  let assemblyFormat = [{
    `logits` `(` $logits `:` type($logits) `)` (`bias` `(` $bias^ `:` type($bias) `)`)?
    `outs` `(` $ids `,` $weights `:` type($ids) `,` type($weights) `)`
    (`score` `(` $score^ `)`)? (`renormalize` $renormalize^)? (`scale` `(` $scale^ `)`)?
    (`n_group` `(` $n_group^ `)`)? (`topk_group` `(` $topk_group^ `)`)?
    (`group_score` `(` $group_score^ `)`)? attr-dict (`->` type($results)^)?
  }];
}

def Moeq_GroupOp : Moeq_DpsOp<"group", [AttrSizedOperandSegments]> {
  let summary = "expert ids to rows sorted by expert";
  let description = [{
    A stable sort of the routed slots t * k + j of `ids` [T, k] by expert:

    - `rows` [S]: the source token of each sorted row, -1 past offsets[E];
    - `slots` [T, k]: the sorted row of each slot, -1 if dropped;
    - `offsets` [E + 1]: the first row of each expert, then the number of rows;
    - `padded_offsets` [E + 1], on request: the same with each expert's rows
      padded to a multiple of 128;
    - `sorted_weights` [S], on request, of `weights` [T, k]; 0 past offsets[E].

    An id outside 0..E-1 is dropped. `expert_map` [E_global] is applied once:
    id e means local expert expert_map[e], -1 for none.

    ```mlir
    %rows, %slots, %offsets = moeq.group ids(%ids : tensor<?x2xi32>)
        outs(%r, %s, %o : tensor<?xi32>, tensor<?x2xi32>, tensor<9xi32>)
        -> tensor<?xi32>, tensor<?x2xi32>, tensor<9xi32>
    ```
  }];
  let arguments = (ins Moeq_I32Shaped:$ids, Optional<Moeq_I32Shaped>:$expert_map,
                       Optional<Moeq_F32Shaped>:$weights,
                       Moeq_I32Shaped:$rows, Moeq_I32Shaped:$slots, Moeq_I32Shaped:$offsets,
                       Optional<Moeq_I32Shaped>:$padded_offsets,
                       Optional<Moeq_F32Shaped>:$sorted_weights);
  let assemblyFormat = [{
    `ids` `(` $ids `:` type($ids) `)`
    (`expert_map` `(` $expert_map^ `:` type($expert_map) `)`)?
    (`weights` `(` $weights^ `:` type($weights) `)`)?
    `outs` `(` $rows `,` $slots `,` $offsets `:` type($rows) `,` type($slots) `,` type($offsets) `)`
    (`padded_offsets` `(` $padded_offsets^ `:` type($padded_offsets) `)`)?
    (`sorted_weights` `(` $sorted_weights^ `:` type($sorted_weights) `)`)?
    attr-dict (`->` type($results)^)?
  }];
}

def Moeq_GatherOp : Moeq_DpsOp<"gather", [AttrSizedOperandSegments]> {
  let summary = "rows of a tensor in sorted order";
  let description = [{
    Result row r is input row `rows[r]`, scales included ([T, K] to [S, K]). Rows
    whose index is negative keep the init. Blocks must not span rows, and scales
    are row-major.

    ```mlir
    %g = moeq.gather input(%x : tensor<?x4096xbf16>) rows(%rows : tensor<?xi32>)
        outs(%init : tensor<?x4096xbf16>) -> tensor<?x4096xbf16>
    ```
  }];
  let arguments = (ins Variadic<Moeq_Shaped>:$input, Moeq_I32Shaped:$rows,
                       Variadic<Moeq_Shaped>:$outs,
                       OptionalAttr<TypeAttr>:$input_format, OptionalAttr<TypeAttr>:$outs_format);
  let assemblyFormat = [{
    `input` `(` $input `:` type($input) (`as` $input_format^)? `)`
    `rows` `(` $rows `:` type($rows) `)`
    `outs` `(` $outs `:` type($outs) (`as` $outs_format^)? `)` attr-dict (`->` type($results)^)?
  }];
}

def Moeq_CombineOp : Moeq_DpsOp<"combine"> {
  let summary = "expert outputs back to tokens";
  let description = [{
    Result row t is the sum over j of `weights[t, j] * input[slots[t, j]]`, in
    ascending j, by fma in f32 from 0, rounded once. Without weights the factor
    is 1. A slot of -1 adds nothing and reads nothing.

    ```mlir
    %y = moeq.combine input(%x : tensor<?x4096xbf16>) slots(%slots : tensor<?x2xi32>)
        weights(%w : tensor<?x2xf32>) outs(%init : tensor<?x4096xbf16>) -> tensor<?x4096xbf16>
    ```
  }];
  let arguments = (ins Moeq_FloatShaped:$input, Moeq_I32Shaped:$slots,
                       Optional<Moeq_F32Shaped>:$weights, Moeq_FloatShaped:$outs);
  let assemblyFormat = [{
    `input` `(` $input `:` type($input) `)` `slots` `(` $slots `:` type($slots) `)`
    (`weights` `(` $weights^ `:` type($weights) `)`)?
    `outs` `(` $outs `:` type($outs) `)` attr-dict (`->` type($results)^)?
  }];
}

//===----------------------------------------------------------------------===//
// Activation
//===----------------------------------------------------------------------===//

def Moeq_ActivateOp : Moeq_DpsOp<"activate"> {
  let summary = "activation function, gated or plain";
  let description = [{
    Plain functions map [S, F] to [S, F], gated ones [S, 2F] to [S, F]; f32 inside,
    rounded once. With g the gate and u the up half, which lie apart under
    `gate_first` and `up_first`, and alternate by single columns under
    `interleaved` and by 64 under `interleaved_64` (F a multiple of 64):

    | function | value |
    |---|---|
    | `identity`, `relu` | x, max(x, 0) |
    | `srelu` | max(x, 0)^2 |
    | `silu` | x / (1 + exp(-x)) |
    | `gelu` | x * 0.5 * (1 + erf(x / sqrt 2)) |
    | `gelu_tanh` | 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))) |
    | `swiglu`, `geglu`, `reglu` | silu(g) * u, gelu(g) * u, relu(g) * u |
    | `clamped_swiglu` | g' * sigmoid(alpha g') * (u' + 1), g' = min(g, limit), u' = clamp(u, -limit, limit) |

    `row_weight` [S] multiplies the value (in f32, before the one rounding).

    ```mlir
    %a = moeq.activate input(%h : tensor<?x28672xbf16>) outs(%init : tensor<?x14336xbf16>)
        function(swiglu) -> tensor<?x14336xbf16>
    ```
  }];
  let arguments = (ins Moeq_FloatShaped:$input, Optional<Moeq_F32Shaped>:$row_weight,
                       Moeq_FloatShaped:$outs,
                       Moeq_Activation:$function,
                       DefaultValuedAttr<Moeq_GateLayout, "::mlir::moeq::GateLayout::GateFirst">:$gate_layout,
                       DefaultValuedAttr<Moeq_ExpMode, "::mlir::moeq::ExpMode::Ieee">:$exp,
                       OptionalAttr<F32Attr>:$limit, OptionalAttr<F32Attr>:$alpha);
  let assemblyFormat = [{
    `input` `(` $input `:` type($input) `)`
    (`row_weight` `(` $row_weight^ `:` type($row_weight) `)`)?
    `outs` `(` $outs `:` type($outs) `)` `function` `(` $function `)`
    (`gate_layout` `(` $gate_layout^ `)`)? (`exp` `(` $exp^ `)`)?
    (`limit` `(` $limit^ `)`)? (`alpha` `(` $alpha^ `)`)? attr-dict (`->` type($results)^)?
  }];
}

def Moeq_ActQuantOp : Moeq_QuantizingOp<"act_quant"> {
  let summary = "activate and quantize in one op";
  let description = [{
    `moeq.activate`, then rounding to `intermediate_round`, then
    `moeq.quantize` under the recipe: the same bits as the two ops apart. What
    `outs`, `columnwise` and `offsets` [E + 1] mean is said there, of [S, F].

    ```mlir
    %q = moeq.act_quant input(%h : tensor<?x28672xbf16>) outs(%init : tensor<?x14336x!a>)
        function(swiglu) intermediate_round(bf16) recipe(<vllm_token>) -> tensor<?x14336x!a>
    ```
  }];
  let arguments = (ins Moeq_FloatShaped:$input, Optional<Moeq_F32Shaped>:$row_weight,
                       Optional<Moeq_I32Shaped>:$offsets,
                       Variadic<Moeq_Shaped>:$outs, Variadic<Moeq_Shaped>:$columnwise,
                       Moeq_Activation:$function,
                       DefaultValuedAttr<Moeq_GateLayout, "::mlir::moeq::GateLayout::GateFirst">:$gate_layout,
                       DefaultValuedAttr<Moeq_ExpMode, "::mlir::moeq::ExpMode::Ieee">:$exp,
                       OptionalAttr<F32Attr>:$limit, OptionalAttr<F32Attr>:$alpha,
                       DefaultValuedAttr<Moeq_IntermediateRound, "::mlir::moeq::IntermediateRound::None">:$intermediate_round,
                       Moeq_RecipeAttr:$recipe, OptionalAttr<TypeAttr>:$outs_format,
                       OptionalAttr<TypeAttr>:$columnwise_format);
  let assemblyFormat = [{
    `input` `(` $input `:` type($input) `)`
    (`row_weight` `(` $row_weight^ `:` type($row_weight) `)`)?
    (`offsets` `(` $offsets^ `:` type($offsets) `)`)?
    (`outs` `(` $outs^ `:` type($outs) (`as` $outs_format^)? `)`)?
    (`columnwise` `(` $columnwise^ `:` type($columnwise) (`as` $columnwise_format^)? `)`)?
    `function` `(` $function `)`
    (`gate_layout` `(` $gate_layout^ `)`)? (`exp` `(` $exp^ `)`)?
    (`limit` `(` $limit^ `)`)? (`alpha` `(` $alpha^ `)`)?
    (`intermediate_round` `(` $intermediate_round^ `)`)?
    `recipe` `(` $recipe `)` attr-dict (`->` type($results)^)?
  }];
}

//===----------------------------------------------------------------------===//
// Matmul
//===----------------------------------------------------------------------===//

def Moeq_YieldOp : Moeq_Op<"yield", [Pure, Terminator, ReturnLike,
    ParentOneOf<["MatmulOp", "GroupedMatmulOp"]>]> {
  let summary = "the value of an epilogue";
  let arguments = (ins AnyType:$value);
  let assemblyFormat = "$value attr-dict `:` type($value)";
}

// What matmul and grouped_matmul share: scaled or plain operands, and an epilogue
// region whose block arguments are the f32 accumulator with all scales applied,
// the row, the column, and one element of each extra operand by its map. It
// yields the element that is stored.
def Moeq_MatmulOp : Moeq_EpilogueOp<"matmul"> {
  let summary = "2-D matmul of a row-major A and a transposed B";
  let description = [{
    `C[M, N] = A[M, K] * B[N, K]^T`, f32 accumulation in ascending k (i32 where
    both operands are integers). Scales that span K are applied once at the end,
    `acc * (sa * sb)`; others by block, `acc = fma(partial, sa * sb, acc)`. With
    E8M0 scales on both sides each operand is first dequantized to bf16.

    The optional epilogue maps the accumulator (f32) to the element stored;
    without one it is rounded once to the result's type. Each extra operand of
    the epilogue has a map: `row` ([M]), `column` ([N]) or `row_column` ([M, N]).
    The region captures only scalars.

    A `gated` epilogue takes two accumulators, those of gate and up, for each
    element of C [M, N / 2]: the weights have the layout `interleaved_64` of
    `moeq.activate`. A `column` operand is [N], and gives two elements too.

    The bound to test against: with u the unit roundoff of the result's type,
    `|C - C'| <= u |C'| + (K + 2) 2^-23 sum |a b|`, where C' is the exact sum of
    the dequantized products (the factor is 2^-13 on Hopper FP8 with `fast`).

    ```mlir
    %c = moeq.matmul lhs(%a : tensor<?x256x!a>) rhs(%b : tensor<128x256x!a>)
        outs(%init : tensor<?x128xbf16>)
        epilogue(%bias : tensor<128xf32>) maps [column] {
      ^bb0(%acc: f32, %row: index, %col: index, %b0: f32):
        %s = arith.addf %acc, %b0 : f32
        %r = arith.truncf %s : f32 to bf16
        moeq.yield %r : bf16
    } -> tensor<?x128xbf16>
    ```
  }];
  let arguments = (ins Variadic<Moeq_Shaped>:$lhs, Variadic<Moeq_Shaped>:$rhs,
                       Variadic<Moeq_Shaped>:$epilogue_operands,
                       Moeq_FloatShaped:$outs,
                       OptionalAttr<TypeAttr>:$lhs_format, OptionalAttr<TypeAttr>:$rhs_format,
                       DefaultValuedOptionalAttr<DenseI32ArrayAttr, "{}">:$epilogue_maps,
                       OptionalAttr<Moeq_AccumulateAttr>:$accumulate,
                       OptionalAttr<Moeq_ConfigAttr>:$config, UnitAttr:$gated);
  let assemblyFormat = [{
    `lhs` `(` $lhs `:` type($lhs) (`as` $lhs_format^)? `)`
    `rhs` `(` $rhs `:` type($rhs) (`as` $rhs_format^)? `)`
    `outs` `(` $outs `:` type($outs) `)`
    (`accumulate` `(` $accumulate^ `)`)? (`config` `(` $config^ `)`)? attr-dict-with-keyword
    custom<Epilogue>($gated, $epilogue_operands, type($epilogue_operands), $epilogue_maps,
                     $epilogue)
    (`->` type($results)^)?
  }];
}

def Moeq_GroupedMatmulOp : Moeq_EpilogueOp<"grouped_matmul"> {
  let summary = "rows times the weight of their expert";
  let description = [{
    `C[r, :] = A[r, :] * B[e(r)]^T` for rows [S, K], weights [E, N, K] and
    `offsets` [E + 1] (i32, sorted): expert e has the rows offsets[e] to
    offsets[e + 1]. Rows outside every group are not read and keep the init.
    Scales, sums and the epilogue are those of `moeq.matmul`; a `column` operand
    of the epilogue is [E, N], taken at the row's expert. `row` is the row of C.

    `counts` [E] in place of offsets: the rows are masked. A is [E, M, K] and C
    [E, M, N], of which expert e has the first counts[e] of its M rows; the others
    are not read and keep the init. `row` operands are [E, M], `row_column` ones
    [E, M, N]; `row` counts the rows of all experts, e * M + i.

    `rows` [S], beside offsets: the rows are gathered. A is [T, K], its row
    rows[r] is that of row r of C; a negative index stands for a row of zeros.

    `plan` [E + 1, 4], which `moeq.plan` makes of the offsets, says in which order
    and in tiles of which widths a kernel takes the rows; no value depends on it.

    `transpose_rhs`: B is [E, K, N], a plain float. So the gradient of the rows
    takes the weight of the forward pass as it is. (Scaled weights have blocks
    along K: there a second one is quantized, [E, N, K] of this op.)

    `contract(rows)` is the gradient of the weight, [E, N, K]:
    `C[e] = A[rows of e]^T * B[rows of e]` for plain A [S, N] and B [S, K]. Scaled
    ones are transposed, [N, P] and [K, P], as a columnwise quantization leaves
    them: offsets count columns then, and are multiples of 128, as `padded_offsets` are.
    Each element is written, with 0 for an expert without rows; `add_to_outs` adds
    the sum to what the element was, before the one rounding. It has no epilogue.

    ```mlir
    %c = moeq.grouped_matmul lhs(%a : tensor<?x4096x!a>) rhs(%w : tensor<8x14336x4096x!a>)
        offsets(%o : tensor<9xi32>) outs(%init : tensor<?x14336xbf16>) accumulate(<fast>)
        -> tensor<?x14336xbf16>
    %g = moeq.grouped_matmul lhs(%dy : tensor<?x14336xbf16>) rhs(%x : tensor<?x4096xbf16>)
        offsets(%o : tensor<9xi32>) outs(%sum : tensor<8x14336x4096xf32>) contract(rows)
        add_to_outs -> tensor<8x14336x4096xf32>
    ```
  }];
  let arguments = (ins Variadic<Moeq_Shaped>:$lhs, Variadic<Moeq_Shaped>:$rhs,
                       Optional<Moeq_I32Shaped>:$offsets, Optional<Moeq_I32Shaped>:$counts,
                       Optional<Moeq_I32Shaped>:$rows, Optional<Moeq_I32Shaped>:$plan,
                       Variadic<Moeq_Shaped>:$epilogue_operands,
                       Moeq_FloatShaped:$outs,
                       OptionalAttr<TypeAttr>:$lhs_format, OptionalAttr<TypeAttr>:$rhs_format,
                       DefaultValuedOptionalAttr<DenseI32ArrayAttr, "{}">:$epilogue_maps,
                       OptionalAttr<Moeq_AccumulateAttr>:$accumulate,
                       OptionalAttr<Moeq_ConfigAttr>:$config, UnitAttr:$gated,
                       DefaultValuedAttr<Moeq_Contraction, "::mlir::moeq::Contraction::Columns">:$contract,
                       UnitAttr:$transpose_rhs, UnitAttr:$add_to_outs);
  let assemblyFormat = [{
    `lhs` `(` $lhs `:` type($lhs) (`as` $lhs_format^)? `)`
    `rhs` `(` $rhs `:` type($rhs) (`as` $rhs_format^)? `)`
    (`offsets` `(` $offsets^ `:` type($offsets) `)`)? (`counts` `(` $counts^ `:` type($counts) `)`)?
    (`rows` `(` $rows^ `:` type($rows) `)`)? (`plan` `(` $plan^ `:` type($plan) `)`)?
    `outs` `(` $outs `:` type($outs) `)` (`contract` `(` $contract^ `)`)?
    (`transpose_rhs` $transpose_rhs^)? (`add_to_outs` $add_to_outs^)?
    (`accumulate` `(` $accumulate^ `)`)? (`config` `(` $config^ `)`)? attr-dict-with-keyword
    custom<Epilogue>($gated, $epilogue_operands, type($epilogue_operands), $epilogue_maps,
                     $epilogue)
    (`->` type($results)^)?
  }];
  let extraClassDeclaration = epilogueDeclaration # [{
    /// Whether A and C are [E, M, ..], with `counts`.
    bool isMasked() { return static_cast<bool>(getCounts()); }
    /// Whether the sums run over rows, and C is [E, N, K].
    bool contractsRows() { return getContract() == Contraction::Rows; }
    /// Whether the operands are rows [.., K] and weights [E, N, K]: no rows are
    /// contracted, no weights transposed.
    bool hasUsualOperands() { return !contractsRows() && !getTransposeRhs(); }
  }];
}

//===----------------------------------------------------------------------===//
// The layer
//===----------------------------------------------------------------------===//

def Moeq_ExpertsOp : Moeq_DpsOp<"experts", [AttrSizedOperandSegments]> {
  let summary = "a whole mixture-of-experts layer";
  let description = [{
    Hidden states [T, K] and router logits [T, E_router] to [T, K]: route, group,
    gather, w13, activation, w2, combine. `w13` is [E, 2F, K] ([E, F, K] for a
    plain activation), `w2` [E, K, F].

    `act_format` is the scaled type to which the inputs of both matmuls are
    quantized, under `recipe`; without it they stay as they are. `top_k` is the
    number of routed experts. `weight_on_input` applies the router weight to the
    rows of the first matmul's input, before quantization, and not to the output.
    `shared_experts = n`: the last n experts of w13 and w2 serve each token, with
    weight 1, as extra slots after the routed ones.

    ```mlir
    %y = moeq.experts hidden(%x : tensor<?x4096xbf16>) logits(%l : tensor<?x8xf32>)
        w13(%w13 : tensor<8x28672x4096x!a>) w2(%w2 : tensor<8x4096x14336x!a>)
        outs(%init : tensor<?x4096xbf16>) top_k(2) renormalize function(swiglu)
        quantize(<vllm_token> to !a) -> tensor<?x4096xbf16>
    ```
  }];
  let arguments = (ins Moeq_FloatShaped:$hidden, Moeq_FloatShaped:$logits,
                       Variadic<Moeq_Shaped>:$w13, Variadic<Moeq_Shaped>:$w2,
                       Optional<Moeq_F32Shaped>:$router_bias,
                       Optional<Moeq_F32Shaped>:$bias13, Optional<Moeq_F32Shaped>:$bias2,
                       Optional<Moeq_I32Shaped>:$expert_map,
                       Moeq_FloatShaped:$outs,
                       I64Attr:$top_k,
                       DefaultValuedAttr<Moeq_ScoreFunction, "::mlir::moeq::ScoreFunction::Softmax">:$score,
                       UnitAttr:$renormalize, OptionalAttr<F32Attr>:$scale,
                       OptionalAttr<I64Attr>:$n_group, OptionalAttr<I64Attr>:$topk_group,
                       DefaultValuedAttr<Moeq_GroupScore, "::mlir::moeq::GroupScore::Max">:$group_score,
                       Moeq_Activation:$function,
                       DefaultValuedAttr<Moeq_GateLayout, "::mlir::moeq::GateLayout::GateFirst">:$gate_layout,
                       DefaultValuedAttr<Moeq_ExpMode, "::mlir::moeq::ExpMode::Ieee">:$exp,
                       OptionalAttr<F32Attr>:$limit, OptionalAttr<F32Attr>:$alpha,
                       DefaultValuedAttr<Moeq_IntermediateRound, "::mlir::moeq::IntermediateRound::BF16">:$intermediate_round,
                       OptionalAttr<Moeq_RecipeAttr>:$recipe, OptionalAttr<TypeAttr>:$act_format,
                       OptionalAttr<Moeq_AccumulateAttr>:$accumulate,
                       UnitAttr:$weight_on_input,
                       DefaultValuedAttr<I64Attr, "0">:$shared_experts,
                       OptionalAttr<TypeAttr>:$w13_format, OptionalAttr<TypeAttr>:$w2_format);
  let assemblyFormat = [{
    `hidden` `(` $hidden `:` type($hidden) `)` `logits` `(` $logits `:` type($logits) `)`
    `w13` `(` $w13 `:` type($w13) (`as` $w13_format^)? `)`
    `w2` `(` $w2 `:` type($w2) (`as` $w2_format^)? `)`
    (`router_bias` `(` $router_bias^ `:` type($router_bias) `)`)?
    (`bias13` `(` $bias13^ `:` type($bias13) `)`)? (`bias2` `(` $bias2^ `:` type($bias2) `)`)?
    (`expert_map` `(` $expert_map^ `:` type($expert_map) `)`)?
    `outs` `(` $outs `:` type($outs) `)` `top_k` `(` $top_k `)`
    (`score` `(` $score^ `)`)? (`renormalize` $renormalize^)? (`scale` `(` $scale^ `)`)?
    (`n_group` `(` $n_group^ `)`)? (`topk_group` `(` $topk_group^ `)`)?
    (`group_score` `(` $group_score^ `)`)?
    `function` `(` $function `)` (`gate_layout` `(` $gate_layout^ `)`)? (`exp` `(` $exp^ `)`)?
    (`limit` `(` $limit^ `)`)? (`alpha` `(` $alpha^ `)`)?
    (`intermediate_round` `(` $intermediate_round^ `)`)?
    (`quantize` `(` $recipe^ `to` $act_format `)`)?
    (`accumulate` `(` $accumulate^ `)`)? (`weight_on_input` $weight_on_input^)?
    (`shared_experts` `(` $shared_experts^ `)`)? attr-dict (`->` type($results)^)?
  }];
}

include "moeq/Dialect/Moeq/IR/MoeqCalibrationOps.td"
include "moeq/Dialect/Moeq/IR/MoeqKernelOps.td"
include "moeq/Dialect/Moeq/IR/MoeqTrainingOps.td"

#endif // MOEQ_DIALECT_MOEQ_IR_MOEQOPS_TD
