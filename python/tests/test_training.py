"""Matmuls of the backward pass: sums over rows, transposed weights."""

from itertools import pairwise

import numpy as np
import pytest

import programs
from reference import activation, formats, groups
from reference.compare import assert_same, assert_within
from reference.evaluate import FUNCTIONS, check_gradient
from reference.matmul import contract_rows, grouped_matmul
from reference.quantize import PRESETS, quantize
from reference.scaled import Format, Scaled
from test_columnwise import check as check_quantized
from test_kernels import run

FP8 = "f8E4M3FN"
# The rows of each expert: none, fewer than a stage of a kernel, more.
COUNTS = [(3, 0, 5), (0, 0, 0), (1, 70, 64)]
N, K = 24, 40


@pytest.fixture
def rng():
    return np.random.default_rng(5)


def offsets_of(counts) -> np.ndarray:
    return np.cumsum([1, *counts]).astype(np.int32)


def rows_of(rng, offsets, columns, element) -> np.ndarray:
    """Numbers in the rows of the experts, NaN in one before and two after them."""
    x = np.full((offsets[-1] + 2, columns), np.nan)
    x[offsets[0] : offsets[-1]] = rng.normal(size=(offsets[-1] - offsets[0], columns))
    return formats.round_to(x, element)


@pytest.mark.parametrize("counts", COUNTS)
@pytest.mark.parametrize(("element", "out"), [("bf16", "f32"), ("f16", "f16"), ("f32", "bf16")])
@pytest.mark.parametrize("added", [False, True])
def test_contract_rows(rng, counts, element, out, added):
    offsets = offsets_of(counts)
    dy, x = rows_of(rng, offsets, N, element), rows_of(rng, offsets, K, element)
    shape = (len(counts), N, K)
    init = formats.round_to(rng.normal(size=shape), out) if added else programs.poison(shape, out)
    form = "contract(rows)" + (" add_to_outs" if added else "")
    got = programs.grouped_matmul(dy, x, offsets, init, form=form)
    assert_within(got, contract_rows(dy, x, offsets, init if added else None), out)
    if not added:
        assert not got[np.array(counts) == 0].any()


def transposed(rng, format: Format, rows: int, depth: int) -> Scaled:
    recipe = PRESETS["te_mx"] if format.scale == "f8E8M0FNU" else PRESETS["deepgemm"]
    x = rng.normal(size=(rows, depth)).astype(np.float32)
    return quantize(x, format, recipe)


@pytest.mark.parametrize("counts", [(1, 0, 2), (0, 0), (2, 3)])
@pytest.mark.parametrize(
    "format", [Format(FP8, (128,)), Format(FP8, (32,), "f8E8M0FNU"), Format("i8", (64,))], ids=str
)
def test_contract_columns_of_blocks(rng, counts, format):
    """Scaled operands are transposed; each expert has padded rows."""
    offsets = (np.cumsum([0, *counts]) * 128).astype(np.int32)
    depth = offsets[-1] + 5
    dy, x = transposed(rng, format, N, depth), transposed(rng, format, K, depth)
    init = programs.poison((len(counts), N, K), "f32")
    got = programs.grouped_matmul(dy, x, offsets, init, form="contract(rows)")
    assert_within(got, contract_rows(dy, x, offsets), "f32")


@pytest.mark.parametrize("counts", COUNTS)
@pytest.mark.parametrize("element", ["bf16", "f32"])
def test_transpose_rhs(rng, counts, element):
    """The weight of the forward pass, [E, N, K], gives the gradient of its rows."""
    offsets = offsets_of(counts)
    dy = rows_of(rng, offsets, N, element)
    w = formats.round_to(rng.normal(size=(len(counts), N, K)), element)
    init = np.full((len(dy), K), 3, dy.dtype)
    got = programs.grouped_matmul(dy, w, offsets, init, form="transpose_rhs")
    assert_within(got, grouped_matmul(dy, w.transpose(0, 2, 1), offsets, init), element)
    copied = np.ascontiguousarray(w.transpose(0, 2, 1))
    assert_same(got, programs.grouped_matmul(dy, copied, offsets, init))


def test_kept_by_other_forms(rng):
    """Tiles and linears are of rows times weights: the others stay as they are."""
    offsets = offsets_of((3, 4))
    dy, x = rows_of(rng, offsets, N, "f32"), rows_of(rng, offsets, K, "f32")
    init = programs.poison((2, N, K), "f32")
    want = programs.grouped_matmul(dy, x, offsets, init, form="contract(rows)")
    for form in ("moeq-decompose{form=linear}", "moeq-fuse,moeq-tile", "moeq-select-config"):
        pipeline = f"builtin.module({form})"
        got = programs.grouped_matmul(
            dy, x, offsets, init, form="contract(rows)", pipeline=pipeline
        )
        assert_same(got, want)


# ---- activations

LAYOUTS = ["gate_first", "up_first", "interleaved", "interleaved_64"]


def activation_cases() -> list[tuple[str, str]]:
    """Each function, each gated one in each layout."""
    return [
        (function, layout)
        for function in FUNCTIONS
        for layout in LAYOUTS
        if function in activation.GATED or layout == LAYOUTS[0]
    ]


def options_of(function: str, layout: str) -> dict:
    options = {"gate_layout": layout} if function in activation.GATED else {}
    clamped = {"limit": 1.5, "alpha": 1.702} if function == "clamped_swiglu" else {}
    return options | clamped


@pytest.mark.parametrize(("function", "layout"), activation_cases())
@pytest.mark.parametrize(("element", "out"), [("f32", "f32"), ("bf16", "bf16")])
def test_activate_grad(rng, function, layout, element, out):
    options = options_of(function, layout)
    halves = 2 if function in activation.GATED else 1
    x = formats.round_to(rng.normal(0, 2, (7, 128 * halves)), element)
    d = formats.round_to(rng.normal(size=(7, 128)), element)
    weight = rng.normal(size=7).astype(np.float32)
    got = programs.activate_grad(d, x, function, out, weight, **options)
    factors = activation.gradient_factors(d, x, function, row_weight=weight, **options)
    check_gradient(got, factors, out)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_activate_grad_far_from_zero(rng, function):
    """Where exponentials are 0, subnormal or overflow; kinks; NaN."""
    options = options_of(function, "gate_first")
    sizes = 2.0 ** rng.uniform(-40, 20, (64, 256)) * rng.choice([-1, 1], (64, 256))
    x = sizes.astype(np.float32)
    x[0, :3] = 0, -0.0, 1.5
    columns = 128 if function in activation.GATED else 256
    d = np.ones((64, columns), np.float32)
    check_gradient(
        programs.activate_grad(d, x, function, **options),
        activation.gradient_factors(d, x, function, **options),
        "f32",
    )


@pytest.mark.parametrize(("function", "layout"), activation_cases())
def test_gradient_by_differences(rng, function, layout):
    """The formulas of the reference against differences of the function."""
    options = options_of(function, layout)
    x = rng.normal(0, 2, (3, 256 if function in activation.GATED else 128))
    d = rng.normal(size=(3, 128))
    outer, inner = activation.gradient_factors(d, x, function, **options)
    step = 1e-6
    for column in rng.choice(x.shape[1], 16, replace=False):
        shift = np.zeros_like(x)
        shift[:, column] = step
        change = activation.activate_f64(x + shift, function, **options)
        change = change - activation.activate_f64(x - shift, function, **options)
        want = (d * change).sum(1) / (2 * step)
        np.testing.assert_allclose((outer * inner)[:, column], want, atol=1e-4)


@pytest.mark.parametrize(("function", "layout"), activation_cases())
@pytest.mark.parametrize("block", [(32, 1), (32,)])
def test_act_quant_grad(rng, function, layout, block):
    """The bytes of activate_grad, then quantize."""
    options, counts = options_of(function, layout), (40, 0, 31)
    x = formats.round_to(rng.normal(size=(75, 128)), "bf16")
    grad = rng.normal(size=(75, 64 if function in activation.GATED else 128))
    grad = formats.round_to(grad, "bf16")
    row = Format(FP8, (32,), "f8E8M0FNU", layout="swizzle_128x4", groups=3)
    column = Format(FP8, block, "f8E8M0FNU", groups=3 * (len(block) == 2))
    offsets = offsets_of(counts)
    got = programs.quantize_both(
        x, PRESETS["te_mx"], row, column, offsets, function=function, intermediate_round="bf16",
        grad=grad, **options,
    )  # fmt: skip
    numbers = programs.activate_grad(grad, x, function, "bf16", **options)
    check_quantized(x, "te_mx", row, column, offsets, got=got, numbers=numbers)


@pytest.mark.parametrize(("function", "rounded"), [("swiglu", "bf16"), ("srelu", "none")])
@pytest.mark.parametrize("counts", [(40, 0, 31), (0, 129, 1), (300,)], ids=str)
def test_bias_grad(rng, function, rounded, counts):
    """The sums of what activate_grad gives, bit for bit, in the order that is stated."""
    columns = 64 if function in activation.GATED else 128
    x = formats.round_to(rng.normal(size=(sum(counts) + 3, 128)), "bf16")
    grad = formats.round_to(rng.normal(size=(len(x), columns)), "bf16")
    grad[-1] = np.nan  # of no group
    offsets = offsets_of(counts)
    row = Format(FP8, (32,), "f8E8M0FNU")
    *_, got = programs.quantize_both(
        x, PRESETS["te_mx"], row, None, offsets, function=function, intermediate_round=rounded,
        grad=grad, bias_grad=True,
    )  # fmt: skip
    numbers = programs.activate_grad(grad, x, function, "f32" if rounded == "none" else rounded)
    assert_same(got, groups.column_sums(numbers, offsets))
    # Far fewer than n roundings of sums of n rows, each of half a unit.
    exact = np.array([numbers[b:e].astype(np.float64).sum(0) for b, e in pairwise(offsets)])
    size = np.array([np.abs(numbers[b:e].astype(np.float64)).sum(0) for b, e in pairwise(offsets)])
    assert (np.abs(got - exact) <= (9 + max(counts) // 32) * 2.0**-24 * size).all()


# ---- kernels


@pytest.mark.parametrize("added", [False, True])
def test_general_kernel(rng, added):
    """Without tensor cores: f32."""
    counts = (3, 0, 4)
    offsets = offsets_of(counts)
    dy, x = rows_of(rng, offsets, 5, "f32"), rows_of(rng, offsets, 7, "f32")
    dw = rng.normal(size=(3, 5, 7)).astype(np.float32)
    want = contract_rows(dy, x, offsets, dw if added else None)
    text = f"""
    func.func @f(%a: memref<?x5xf32>, %b: memref<?x7xf32>, %o: memref<4xi32>,
                 %c: memref<3x5x7xf32>) {{
      moeq.grouped_matmul lhs(%a : memref<?x5xf32>) rhs(%b : memref<?x7xf32>)
          offsets(%o : memref<4xi32>) outs(%c : memref<3x5x7xf32>) contract(rows)
          {"add_to_outs" if added else ""}
      return
    }}"""
    run(text, dy, x, offsets, dw)
    assert_within(dw, want, "f32")


def test_general_kernel_of_transposed_weights(rng):
    offsets = offsets_of((2, 0, 5))
    dy = rows_of(rng, offsets, 5, "f32")
    w = rng.normal(size=(3, 5, 7)).astype(np.float32)
    dx = np.full((len(dy), 7), 3, np.float32)
    want = grouped_matmul(dy, w.transpose(0, 2, 1), offsets, dx)
    text = """
    func.func @f(%a: memref<?x5xf32>, %b: memref<3x5x7xf32>, %o: memref<4xi32>,
                 %c: memref<?x7xf32>) {
      moeq.grouped_matmul lhs(%a : memref<?x5xf32>) rhs(%b : memref<3x5x7xf32>)
          offsets(%o : memref<4xi32>) outs(%c : memref<?x7xf32>) transpose_rhs
      return
    }"""
    run(text, dy, w, offsets, dx)
    assert_within(dx, want, "f32")


@pytest.mark.parametrize(("function", "layout"), activation_cases())
@pytest.mark.parametrize(("rows", "columns"), [(5, 128), (3, 192)])
def test_activate_grad_kernel(rng, function, layout, rows, columns):
    options = options_of(function, layout)
    gated = function in activation.GATED
    width = columns * (2 if gated else 1)
    d, h = f"memref<?x{columns}xbf16>", f"memref<?x{width}xbf16>"
    layout_text = f"gate_layout({layout})" if gated else ""
    clamp = "limit(1.5) alpha(1.702)" if function == "clamped_swiglu" else ""
    text = f"""
    func.func @f(%d: {d}, %x: {h}, %w: memref<?xf32>, %y: memref<?x{width}xf32>) {{
      moeq.activate_grad grad(%d : {d}) input(%x : {h}) row_weight(%w : memref<?xf32>)
          outs(%y : memref<?x{width}xf32>) function({function}) {layout_text} {clamp}
      return
    }}"""
    grad = formats.round_to(rng.normal(size=(rows, columns)), "bf16")
    x = formats.round_to(rng.normal(size=(rows, width)), "bf16")
    weight = rng.normal(size=rows).astype(np.float32)
    y = np.full((rows, width), np.nan, np.float32)
    run(text, grad, x, weight, y)
    check_gradient(
        y, activation.gradient_factors(grad, x, function, row_weight=weight, **options), "f32"
    )


@pytest.mark.parametrize(("function", "columns"), [("swiglu", 64), ("srelu", 96)])
def test_act_quant_grad_kernels(rng, function, columns):
    """The gradient, then its quantization."""
    width = columns * (2 if function in activation.GATED else 1)
    d, h = f"memref<?x{columns}xbf16>", f"memref<?x{width}xbf16>"
    q, s = f"memref<?x{width}xf8E4M3FN>", f"memref<?x{width // 32}xf8E8M0FNU>"
    text = f"""
    func.func @f(%d: {d}, %x: {h}, %q: {q}, %s: {s}) {{
      moeq.act_quant_grad grad(%d : {d}) input(%x : {h})
          outs(%q, %s : {q}, {s} as !moeq.scaled<f8E4M3FN, block = [32], scale = f8E8M0FNU>)
          function({function}) intermediate_round(bf16) recipe(<te_mx>)
      return
    }}"""
    grad = formats.round_to(rng.normal(size=(5, columns)), "bf16")
    x = formats.round_to(rng.normal(size=(5, width)), "bf16")
    codes = np.zeros((5, width), formats.STORAGE[FP8])
    scales = np.zeros((5, width // 32), formats.STORAGE["f8E8M0FNU"])
    run(text, grad, x, codes, scales)
    assert codes.view(np.uint8).any()
