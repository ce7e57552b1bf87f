//===- Passes.td - Passes on the moeq dialect --------------*- tablegen -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOEQ_DIALECT_MOEQ_TRANSFORMS_PASSES_TD
#define MOEQ_DIALECT_MOEQ_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def MoeqTile : Pass<"moeq-tile"> {
  let summary = "matmuls to loops over their tiles";
  let description = [{
    Replaces each `moeq.matmul` and `moeq.grouped_matmul` on scaled tensors by an
    `scf.forall` over tiles of rows and columns, with a `moeq.matmul` on slices,
    epilogue included. The numbers stay the same bit for bit.

    The rows of a grouped matmul are ragged: its loop runs over as many row tiles
    as S rows of E experts can need, min(S floordiv tile + E, S ceildiv tile * E).
    Each finds its expert, first row and number of rows from the offsets, so no
    row is padded; the last tile of an expert is partial, surplus tiles are empty.

    Tile sizes must be multiples or divisors of the scale blocks. The tile of an
    op's `config` wins over the options; the config then moves to the loop, as
    `moeq.config`. K is not tiled. Matmuls with a static extent of 0 stay as they are.
  }];
  let options = [
    Option<"tileM", "tile-m", "int64_t", /*default=*/"128",
           "Rows of a tile (default: 128)">,
    Option<"tileN", "tile-n", "int64_t", /*default=*/"128",
           "Columns of a tile (default: 128)">,
    Option<"fuse", "fuse", "bool", /*default=*/"false",
           "Move the quantize or act_quant of the rows into the loop, which "
           "repeats it in each column of tiles; a remark tells where (default: "
           "false)">
  ];
  let statistics = [
    Statistic<"numTiled", "tiled", "Matmuls tiled">,
    Statistic<"numFused", "fused", "Quantizations moved into a loop">
  ];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::moeq::MoeqDialect",
    "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"
  ];
}

def MoeqUnpackScaled : Pass<"moeq-unpack-scaled", "::mlir::ModuleOp"> {
  let summary = "scaled tensors to their components";
  let description = [{
    Rewrites each tensor of `!moeq.scaled` to its components (values, scales and,
    with zero points, zeros), function signatures included. moeq ops take their
    component form, `lhs(%values, %scales : ... as !moeq.scaled<...>)`. Runs after
    tiling and before bufferization: scaled tensors never become memrefs.

    All uses are checked before anything is rewritten. An error is located at the
    op: a type whose block does not fit its tensor, an op that has no meaning on
    scaled tensors, a slice that cuts a scale block. An extract may start at a
    multiple of the block or lie inside one; an insert starts at a multiple and
    covers whole blocks or reaches the end. What is not proved, from constants,
    loop steps and value bounds, is an error too, or, with `assert-cuts`, a
    `cf.assert` before the slice.

    Attributes of an argument or result go to its values, those of bufferization
    to each component. Where a signature has
    scaled tensors, each of its components is named by `moeq.name`: `NAME`,
    `NAME.scale` and `NAME.zero` after the tensor's own `moeq.name`, or else after
    the index that it had, `arg0` or `result0`.
  }];
  let options = [
    Option<"assertCuts", "assert-cuts", "bool", /*default=*/"false",
           "Check at run time what cannot be proved of a slice, instead of "
           "rejecting it (default: false)">
  ];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::cf::ControlFlowDialect", "::mlir::moeq::MoeqDialect",
    "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"
  ];
}

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

    The host reads the offsets then. For a GPU there is `device-offsets`: each
    expert of a static number gets a `moeq.grouped_matmul` of one group, on all rows,
    its slice of the weight and its two offsets. A launch is sized by the upper bound
    of rows, and finds its own on the device.
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
           "Experts that form=linear unrolls at most; more make an scf.for">,
    Option<"deviceOffsets", "device-offsets", "bool", /*default=*/"false",
           "form=linear without reading offsets on the host (default: false)">
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

def MoeqFuse : Pass<"moeq-fuse"> {
  let summary = "merge ops where the bits stay the same";
  let description = [{
    | before | after |
    |---|---|
    | `quantize` of a `gather` of undefined rows | `quantize` with `rows` |
    | `gather` of a `quantize` | `quantize` with `rows` |
    | `quantize` of an `activate` | `act_quant` that rounds to the activate's type |
    | `activate` of a matmul | the matmul's epilogue, with `gate_layout(interleaved_64)` a gated one |
    | gated `act_quant` of a matmul, `interleaved_64` | `quantize` of a matmul with a gated epilogue |
    | elementwise `linalg.generic` of a matmul | the matmul's epilogue |
    | bf16 matmul of two `dequantize`d E8M0-scaled FP8 operands | matmul of the scaled operands |
    | `group` with unused results on request | `group` without |

    The producer must have no other use. Each conversion of a `linalg.generic`, and
    the rounding to the type of the matmul, is kept. Under a grouped matmul the
    rows outside every group must be undefined (its init a `tensor.empty`), since
    an epilogue does not reach them. A remark tells of each merge.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::mlir::moeq::MoeqDialect",
    "::mlir::tensor::TensorDialect"
  ];
}

def MoeqSelectConfig : Pass<"moeq-select-config"> {
  let summary = "choose the tile and the schedule of each matmul's kernel";
  let description = [{
    Attaches a `#moeq.config` to each `moeq.matmul` and `moeq.grouped_matmul` that
    has none, by the cost model of `moeq/Target/CostModel.h` for the chip of
    `moeq.target` on the module. An analysis remark lists the candidates, best
    first, with their times, waves and what bounds them. A config that is there is
    kept, and marked by `moeq.given_config`: without a kernel of it
    `moeq-outline-kernels` fails.

    Extents that are not static are taken to be 8 experts and 4096 columns or
    elements of K, and dynamic rows to be `expected-rows` an expert. With
    `variants` above 1 a matmul of dynamic rows gets up to as many configs, each for
    one range of rows or several, chosen by `scf.if` on the rows.

    Rows that a grouped matmul gathers by the `rows` of a `moeq.group` are gathered
    by a `moeq.gather` before it where the model says that this is faster: of many
    rows, which a matmul multiplies more slowly as it gathers them itself.

    Rows of a matmul whose weights are packed, both with E8M0 scales, become bf16 by
    a `moeq.dequantize` before it: the products are of these by definition.
  }];
  let options = [
    Option<"chip", "chip", "std::string", /*default=*/"\"sm_90a\"",
           "Chip, where the module names none">,
    Option<"variants", "variants", "int64_t", /*default=*/"1",
           "The most configs of a matmul with dynamic rows">,
    Option<"expectedRows", "expected-rows", "int64_t", /*default=*/"1024",
           "Rows of an expert, where they are not static">
  ];
  let statistics = [
    Statistic<"numSelected", "selected", "Configs attached">,
    Statistic<"numKept", "kept", "Configs that were there">
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect", "::mlir::moeq::MoeqDialect",
    "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"
  ];
}

def MoeqPlan : Pass<"moeq-plan"> {
  let summary = "plan the tiles of grouped matmuls on the device";
  let description = [{
    Makes a `moeq.plan` for each `moeq.grouped_matmul` on tensors whose `config`
    has `swap_ab`, and so a tile of any width up to that of the config: from its
    offsets, for the multiprocessors of the chip of `moeq.target` (or sm_90a).
    One that has a plan keeps it; one of more than 1024 experts, which a plan
    cannot hold, remains without. So does one with small tiles: a plan takes 2 us on
    an H200, and saves by an even last wave of tiles, which is short if they are small.
    But [136, 128] where rows have block scales has one: it is for few tiles.
  }];
  let options = [
    Option<"minTile", "min-tile", "int64_t", /*default=*/"32768",
           "Elements of a tile from which on there is a plan">
  ];
  let statistics = [Statistic<"numPlans", "plans", "Plans made">];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::moeq::MoeqDialect",
    "::mlir::tensor::TensorDialect"
  ];
}

def MoeqSmoothQuant : Pass<"moeq-smooth-quant", "::mlir::ModuleOp"> {
  let summary = "layers of float weights to INT8, by SmoothQuant";
  let description = [{
    Splits each function @F that has a `moeq.experts` of plain float weights:

    - `@F_prepare` takes the weights and what a calibration run found, the largest
      magnitudes `amax13` [1, K] of the hidden states and `amax2` [E, F] of the input
      of the second matmul, and returns what @F takes. It is run once.
    - @F quantizes rows and weights to i8, under `int8_sym`, with a scale a row. It
      has one more argument, `smooth` [1, K], by which the hidden states are
      multiplied before the layer: where a norm with a gain of its own feeds nothing
      but the layer, `linalg-fuse-elementwise-ops` merges the two.

    Hidden states are shared by the experts, and so are their factors s13, of
    `moeq.smooth`; those of the second matmul, s2, are an expert's own. Weights are
    w13 * s13 and w2 * s2, and 1 / s2 goes to what precedes the second matmul: the
    `up` columns of w13 and of its bias, or all columns under `identity` and `relu`.
    Other functions do not commute with a factor: then there is no `amax2`, and a
    remark says so.

    With `power-of-two` all this changes no bit of the layer in floats, but for
    overflow and subnormal numbers; `quantize=false` leaves it there. Weights, and
    that bias, must be arguments of the function that nothing else uses.
  }];
  let options = [
    Option<"alpha", "alpha", "double", /*default=*/"0.5",
           "How much of the range of activations weights take over, 0 to 1">,
    Option<"floor", "floor", "double", /*default=*/"1e-5",
           "The smallest amax of a channel">,
    Option<"powerOfTwo", "power-of-two", "bool", /*default=*/"false",
           "Factors that are powers of two (default: false)">,
    Option<"quantize", "quantize", "bool", /*default=*/"true",
           "Quantize to i8; else the layer stays in floats (default: true)">
  ];
  let statistics = [Statistic<"numLayers", "layers", "Layers split">];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::moeq::MoeqDialect",
    "::mlir::tensor::TensorDialect"
  ];
}

#endif // MOEQ_DIALECT_MOEQ_TRANSFORMS_PASSES_TD
