"""The kernels of act_quant_grad, executed without a GPU: the bytes that the loops of the CPU
give. Where a tile has gate and up of the same columns both are computed once."""

from dataclasses import replace

import numpy as np
import pytest

import moeq
from programs import PER_ROW
from reference import activation, formats
from reference.scaled import Format
from test_columnwise import offsets_of
from test_kernels import OUTLINE
from test_quantize_kernels import BLOCK, MX, check
from test_training import activation_cases, options_of

LAYOUTS = ("gate_first", "up_first", "interleaved", "interleaved_64")


def operands(rng, rows, columns, function, element="bf16"):
    """The gradient and the input, of which some rows are large."""
    width = columns * (2 if function in activation.GATED else 1)
    x = rng.normal(0, 2, (rows, width))
    grad = rng.normal(size=(rows, columns)) * np.exp2(rng.integers(-9, 9, (rows, 1)))
    return formats.round_to(grad, element), formats.round_to(x, element)


def launches(text: str) -> int:
    return moeq.parse(text).run_pipeline(OUTLINE).print().count("gpu.launch_func")


@pytest.mark.parametrize(("function", "layout"), activation_cases())
@pytest.mark.parametrize("transposed", [False, True])
def test_functions(function, layout, transposed):
    """Both results of groups, in every layout of the gate."""
    rng = np.random.default_rng(len(function))
    counts = (33, 0, 5)
    grad, x = operands(rng, 40, 192, function)
    row = replace(MX, layout="swizzle_128x4", groups=3)
    column = MX if transposed else replace(MX, block=(32, 1), groups=3)
    weight = rng.normal(size=40).astype(np.float32)
    check(
        x, "te_mx", row, column, offsets_of(counts), function=function, grad=grad,
        weight=weight, **options_of(function, layout),
    )  # fmt: skip


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("columns", [64, 128, 320])
@pytest.mark.parametrize(
    ("recipe", "row", "column"),
    [
        ("te_mx", MX, None),
        ("te_mx", None, MX),
        ("deepgemm", BLOCK, None),
        ("deepgemm", BLOCK, replace(BLOCK, block=(128, 1))),
        ("te", Format("f8E4M3FN", (64,)), Format("f8E4M3FN", (64,))),
        ("vllm_token", Format("f8E4M3FN", PER_ROW), None),
        ("int8_sym", Format("i8", PER_ROW), None),
    ],
)
def test_recipes(recipe, row, column, layout, columns):
    """Blocks that lie in one half, have both, or are a whole row."""
    rng = np.random.default_rng(columns)
    grad, x = operands(rng, 37, columns, "swiglu")
    check(x, recipe, row, column, function="swiglu", grad=grad, gate_layout=layout)


@pytest.mark.parametrize("columns", [1, 12, 33, 40])
@pytest.mark.parametrize("layout", LAYOUTS[:3])
def test_ragged_columns(columns, layout):
    """Columns that are no chunks, or whose halves have no whole blocks."""
    rng = np.random.default_rng(columns)
    grad, x = operands(rng, 35, columns, "reglu")
    column = replace(MX, block=(32, 1))
    check(x, "te_mx", MX, column, function="reglu", grad=grad, gate_layout=layout)
    check(x, "deepgemm", BLOCK, None, function="reglu", grad=grad, gate_layout=layout)
    four_bits = Format("i4", (2 * columns,), "bf16")
    check(x, "int4_sym", four_bits, None, function="reglu", grad=grad, gate_layout=layout)


@pytest.mark.parametrize("element", ["f32", "f16", "bf16"])
@pytest.mark.parametrize("rounded", ["none", "f16", "bf16"])
@pytest.mark.parametrize("function", ["swiglu", "srelu"])
def test_elements(element, rounded, function):
    rng = np.random.default_rng(3)
    grad, x = operands(rng, 33, 128, function, element)
    check(x, "te_mx", MX, MX, function=function, grad=grad, rounded=rounded)


def test_one_launch():
    text = """
    !mx = !moeq.scaled<f8E4M3FN, block = [32], scale = f8E8M0FNU>
    func.func @f(%d: memref<?x256xbf16>, %x: memref<?x512xbf16>, %q: memref<?x512xf8E4M3FN>,
                 %s: memref<?x16xf8E8M0FNU>, %t: memref<512x?xf8E4M3FN>,
                 %u: memref<512x?xf8E8M0FNU>) {
      moeq.act_quant_grad grad(%d : memref<?x256xbf16>) input(%x : memref<?x512xbf16>)
          outs(%q, %s : memref<?x512xf8E4M3FN>, memref<?x16xf8E8M0FNU> as !mx)
          columnwise(%t, %u : memref<512x?xf8E4M3FN>, memref<512x?xf8E8M0FNU> as !mx)
          function(swiglu) intermediate_round(bf16) recipe(<te_mx>)
      return
    }"""
    assert launches(text) == 1


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(
    ("recipe", "row", "column"),
    [
        ("te_mx", replace(MX, layout="swizzle_128x4", groups=4), MX),
        ("te_mx", MX, replace(MX, block=(32, 1), groups=4)),
        ("te_mx", replace(MX, layout="mn_major"), None),
        ("deepgemm", None, BLOCK),
        ("vllm_token", Format("f8E4M3FN", PER_ROW), None),
    ],
)
def test_bias_grad(recipe, row, column, layout):
    rng = np.random.default_rng(9)
    counts = (33, 0, 131, 1)
    grad, x = operands(rng, 170, 64, "swiglu")
    check(
        x, recipe, row, column, offsets_of(counts), function="swiglu", grad=grad,
        gate_layout=layout, bias_grad=True,
    )  # fmt: skip


@pytest.mark.parametrize("columns", [1, 33])
def test_bias_grad_of_ragged_columns(columns):
    """All numbers, those beyond the last whole chunk too; more blocks than one step adds."""
    rng = np.random.default_rng(columns)
    grad, x = operands(rng, 520, columns, "srelu", "f32")
    check(
        x, "te_mx", MX, None, offsets_of([515, 3]), function="srelu", grad=grad,
        rounded="none", bias_grad=True,
    )  # fmt: skip
