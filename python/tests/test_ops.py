"""Each op compiled for the CPU against its NumPy model."""

import zlib

import numpy as np
import pytest

import programs
from programs import PER_ROW, PER_TENSOR, Epilogue, poison
from reference import activation, formats, matmul, quantize, routing
from reference.compare import assert_route, assert_same, assert_ulps, assert_within
from reference.quantize import PRESETS, Recipe
from reference.scaled import Format, Scaled

F32 = np.float32


def rng_of(*seed):
    """A generator that the names of a test choose."""
    return np.random.default_rng(zlib.crc32(repr([str(s) for s in seed]).encode()))


def check_same(got: Scaled, want: Scaled):
    for got_part, want_part in zip(got.components(), want.components(), strict=True):
        assert_same(got_part, want_part)


# ---- quantize, dequantize

FORMATS = [
    Format("f8E4M3FN", PER_TENSOR),
    Format("f8E4M3FN", PER_ROW),
    Format("f8E4M3FN", (128,)),
    Format("f8E4M3FN", (16, 32)),
    Format("f8E5M2", (32,)),
    Format("f8E4M3FN", PER_ROW, "bf16"),
    Format("f8E4M3FN", (32,), "f16"),
    Format("i8", PER_ROW),
    Format("i8", (64,)),
    Format("i4", (32,)),
]
MX = [
    Format("f8E4M3FN", (32,), "f8E8M0FNU"),
    Format("f8E5M2", (32,), "f8E8M0FNU"),
    Format("f4E2M1FN", (32,), "f8E8M0FNU"),
]


def sample(shape, seed, element="f32"):
    """Rows of different sizes, an all-zero one, and one tiny one."""
    rng = rng_of(seed, shape)
    x = rng.normal(size=shape) * np.exp2(rng.integers(-12, 13, (shape[0], 1)))
    if shape[0] > 2:
        x[1] = 0
        x[2] *= 1e-38
    return formats.round_to(x.astype(F32), element)


@pytest.mark.parametrize("format", FORMATS, ids=str)
@pytest.mark.parametrize("shape", [(5, 256), (3, 100), (1, 1), (0, 64), (4, 33)])
def test_quantize_formats(format, shape):
    x = sample(shape, "formats")
    check_same(programs.quantize(x, format, Recipe()), quantize.quantize(x, format, Recipe()))


@pytest.mark.parametrize("format", MX, ids=str)
@pytest.mark.parametrize("name", ["te_mx", "ocp"])
@pytest.mark.parametrize("shape", [(5, 256), (3, 100), (2, 1)])
def test_quantize_mx(format, name, shape):
    x = sample(shape, name)
    check_same(
        programs.quantize(x, format, PRESETS[name]), quantize.quantize(x, format, PRESETS[name])
    )


def format_of(name: str, block: int) -> Format:
    """A type that the preset makes."""
    value = {"int8_sym": "i8", "int8_asym": "i8", "awq": "ui4", "int4_sym": "i4"}.get(
        name, "f8E4M3FN"
    )
    zero = "i8" if PRESETS[name].zero_point == "affine" else None
    return Format(value, (block,), "f8E8M0FNU" if name in ("te_mx", "ocp") else "f32", zero)


@pytest.mark.parametrize("name", [n for n in PRESETS if n not in ("te_mx", "ocp")])
def test_quantize_presets(name):
    recipe, format = PRESETS[name], format_of(name, 64)
    x = sample((16, 256), name)
    check_same(programs.quantize(x, format, recipe), quantize.quantize(x, format, recipe))


@pytest.mark.parametrize("element", ["bf16", "f16"])
def test_quantize_16_bit_inputs(element):
    x = sample((8, 128), element, element)
    format = Format("f8E4M3FN", PER_ROW)
    check_same(
        programs.quantize(x, format, PRESETS["deepgemm"]),
        quantize.quantize(x, format, PRESETS["deepgemm"]),
    )


@pytest.mark.parametrize(
    "recipe",
    [
        Recipe(scale="amax_mul_rcp"),
        Recipe(scale="amax_mul_rcp", apply="mul_rcp"),
        Recipe(scale="rcp_of_quant"),
        Recipe(scale="rcp_of_quant", apply="mul_quant"),
        Recipe(scale_round="pow2_up"),
        Recipe(scale="rcp_of_quant", scale_round="pow2_up", apply="mul_quant"),
        Recipe(apply="mul_rcp"),
        Recipe(compute="f64"),
        Recipe(zero_block="min"),
        Recipe(amax_floor=0.25, zero_block="floor"),
    ],
    ids=str,
)
def test_quantize_parameters(recipe):
    x = sample((12, 96), recipe)
    x[2] = x[3]  # a reciprocal of a tiny scale overflows, and is tested by the presets
    format = Format("f8E4M3FN", (32,))
    check_same(programs.quantize(x, format, recipe), quantize.quantize(x, format, recipe))


@pytest.mark.parametrize("name", PRESETS)
def test_quantize_zeros_and_nonfinite(name):
    """Blocks of zeros, of either sign; with infinities, NaN, and both."""
    x = sample((8, 64), name)
    x[0, 3], x[3, 40], x[4, 5], x[4, 6] = np.inf, -np.inf, np.nan, np.inf
    x[5, :32], x[5, 32:], x[6], x[7] = 0, -0.0, np.nan, np.inf
    recipe, format = PRESETS[name], format_of(name, 32)
    check_same(programs.quantize(x, format, recipe), quantize.quantize(x, format, recipe))


@pytest.mark.parametrize("dims", ["static", "rows", "all"])
def test_quantize_dynamic_extents(dims):
    x, format = sample((7, 130), dims), Format("f8E4M3FN", (128,))
    check_same(
        programs.quantize(x, format, Recipe(), dims=dims), quantize.quantize(x, format, Recipe())
    )


def test_quantize_rows():
    x, format = sample((5, 64), "rows"), Format("f8E4M3FN", PER_ROW)
    rows = np.array([3, -1, 0, 3, 4, -1, 1], np.int32)
    got = programs.quantize(x, format, PRESETS["vllm_token"], rows=rows)
    want = quantize.quantize(x, format, PRESETS["vllm_token"])
    kept = programs.poison_scaled((7, 64), format)
    check_same(got, routing.gather(want, rows, kept))


@pytest.mark.parametrize(
    "format",
    [*FORMATS, *MX, Format("ui4", (32,), "bf16", "i8"), Format("i8", PER_ROW, "f32", "f32")],
    ids=str,
)
@pytest.mark.parametrize("element", ["f32", "bf16", "f16"])
def test_dequantize(format, element):
    rng = rng_of(format, element)
    shape = (6, 67)
    codes = rng.integers(0, 256, shape).astype(np.uint8)
    if formats.is_integer(format.value):
        lo, hi = {"i8": (-128, 128), "i4": (-8, 8), "ui4": (0, 16)}[format.value]
        codes = rng.integers(lo, hi, shape).astype(np.int8)
    elif formats.is_packed(format.value):
        codes &= 15
    scales = format.scale_shape(shape)
    stored = formats.round_to(rng.uniform(0.01, 4, scales), "f32")
    if format.scale == "f8E8M0FNU":
        stored = rng.integers(0, 256, scales).astype(np.uint8)
    elif format.scale != "f32":
        stored = formats.round_to(stored, format.scale)
    zeros = None
    if format.zero:
        zeros = rng.integers(0, 16, scales).astype(formats.STORAGE[format.zero])
    q = Scaled(format, codes, stored, zeros)
    assert_same(programs.dequantize(q, element), quantize.dequantize(q, element))


# ---- routing


@pytest.mark.parametrize("score", ["softmax", "sigmoid"])
@pytest.mark.parametrize("renormalize", [False, True])
@pytest.mark.parametrize(("experts", "k"), [(8, 2), (1, 1), (60, 4), (256, 8), (300, 3), (5, 5)])
def test_route(score, renormalize, experts, k):
    logits = rng_of(score, experts).normal(0, 2, (17, experts)).astype(F32)
    ids, weights = programs.route(logits, k, score, renormalize, scale=2.5)
    want = routing.scores(logits, score)
    assert_route(ids, weights, want, k, renormalize, 2.5)


@pytest.mark.parametrize("element", ["bf16", "f16"])
def test_route_16_bit_logits(element):
    logits = formats.round_to(rng_of(element).normal(size=(9, 16)), element)
    ids, weights = programs.route(logits, 3)
    assert_route(ids, weights, routing.scores(logits), 3)


@pytest.mark.parametrize("group_score", ["max", "top2_sum"])
def test_route_groups_and_bias(group_score):
    """DeepSeek's routing: sigmoid scores, a bias that only chooses, groups."""
    rng = rng_of(group_score)
    logits, bias = rng.normal(size=(33, 64)).astype(F32), rng.normal(0, 0.1, 64).astype(F32)
    ids, weights = programs.route(
        logits, 6, "sigmoid", True, 2.5, bias, n_group=8, topk_group=3, group_score=group_score
    )
    score = routing.scores(logits, "sigmoid")
    want = routing.select(score, 6, bias, 8, 3, group_score)
    assert_same(ids, want)
    assert_ulps(weights, routing.route_weights(score, want, True, 2.5), "f32", 8)


def test_route_extremes():
    logits = np.array([[1e4, -1e4, 0, 0], [np.inf, 0, 0, 0], [-np.inf] * 4, [-200] * 4], F32)
    ids, weights = programs.route(logits, 2)
    assert ids[0, 0] == 0 and weights[0].tolist() == [1, 0]
    for row in ids:
        assert len(set(row)) == 2 and row.min() >= 0 and row.max() < 4
    assert_same(ids[3], np.array([0, 1], np.int32))


def test_no_tokens():
    ids, weights = programs.route(np.zeros((0, 8), F32), 2)
    assert ids.shape == weights.shape == (0, 2)
    rows, slots, offsets = programs.group(np.zeros((0, 2), np.int32), 8)
    assert rows.shape == (0,) and slots.shape == (0, 2) and not offsets.any()


@pytest.mark.parametrize(
    ("tokens", "k", "experts"), [(1, 1, 1), (13, 2, 8), (64, 8, 256), (7, 3, 4)]
)
@pytest.mark.parametrize("kind", ["uniform", "one", "dropped"])
def test_group(tokens, k, experts, kind):
    rng = rng_of(tokens, kind)
    low, high = {"uniform": (0, experts), "one": (0, 1), "dropped": (-2, experts + 3)}[kind]
    ids = rng.integers(low, high, (tokens, k)).astype(np.int32)
    weights = rng.uniform(size=(tokens, k)).astype(F32)
    got = programs.group(ids, experts, weights=weights, padded=True)
    want = routing.group(ids, experts, weights=weights)
    for a, b in zip(got, want, strict=True):
        assert_same(a, b)


def test_group_expert_map():
    ids = rng_of("map").integers(-1, 17, (20, 4)).astype(np.int32)
    expert_map = np.where(np.arange(16) % 3 == 0, np.arange(16) // 3, -1).astype(np.int32)
    got = programs.group(ids, 6, expert_map)
    for a, b in zip(got, routing.group(ids, 6, expert_map)[:3], strict=True):
        assert_same(a, b)


ROWS = np.array([2, 0, -1, 4, 4, -1], np.int32)


@pytest.mark.parametrize("element", ["f32", "bf16", "f16"])
def test_gather(element):
    x = formats.round_to(rng_of(element).normal(size=(5, 12)), element)
    init = np.full((6, 12), 3, x.dtype)
    assert_same(programs.gather(x, ROWS, init), routing.gather(x, ROWS, init))


@pytest.mark.parametrize("format", [FORMATS[1], FORMATS[2], FORMATS[9], MX[0]], ids=str)
def test_gather_scaled(format):
    recipe = PRESETS["te_mx"] if format.scale == "f8E8M0FNU" else PRESETS["vllm_group"]
    x = quantize.quantize(sample((5, 160), format), format, recipe)
    init = programs.poison_scaled((6, 160), format)
    check_same(programs.gather(x, ROWS, init), routing.gather(x, ROWS, init))


@pytest.mark.parametrize("element", ["f32", "bf16"])
@pytest.mark.parametrize("weighted", [False, True])
def test_combine(element, weighted):
    rng = rng_of(element, weighted)
    x = formats.round_to(rng.normal(size=(12, 9)), element)
    slots = rng.permutation(12).astype(np.int32).reshape(4, 3)
    slots[1, 2] = slots[3] = -1
    weights = rng.uniform(size=(4, 3)).astype(F32) if weighted else None
    assert_same(programs.combine(x, slots, weights), routing.combine(x, slots, weights))


# ---- activation

FUNCTIONS = [
    "identity", "relu", "srelu", "silu", "gelu", "gelu_tanh", "swiglu", "geglu", "reglu",
    "clamped_swiglu",
]  # fmt: skip


LAYOUTS = ["gate_first", "up_first", "interleaved", "interleaved_64"]


@pytest.mark.parametrize("source", LAYOUTS)
@pytest.mark.parametrize("target", LAYOUTS)
def test_prepack(source, target):
    rng = rng_of(source, target)
    bias = rng.normal(size=(3, 256)).astype(F32)
    assert_same(programs.prepack(bias, source, target), activation.prepack(bias, source, target))
    # A scale a column moves with it, one for all columns stays.
    for format in (
        Format(FP8, PER_ROW),
        Format(FP8, PER_TENSOR),
        Format("ui4", (32,), "bf16", "i8"),
    ):
        weight = operand(rng, (3, 256, 64), format)
        there = programs.prepack(weight, source, target)
        numbers = activation.prepack(weight.numbers(), source, target)
        np.testing.assert_array_equal(there.numbers(), numbers)
        check_same(programs.prepack(there, target, source), weight)


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("element", ["f32", "bf16"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_activate(function, element, layout):
    rng = rng_of(function, layout)
    x = formats.round_to(rng.normal(0, 3, (6, 256)), element)
    o = {"gate_layout": layout} if function in activation.GATED else {}
    if function not in activation.GATED and layout != "gate_first":
        return
    o |= {"limit": 7.0, "alpha": 1.702} if function == "clamped_swiglu" else {}
    got = programs.activate(x, function, element, **o)
    want = activation.activate_f64(x, function, **o)
    limit = activation.ulp_bound(x, function, **o) if element == "f32" else 1
    assert_ulps(got, want, element, limit)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_activate_far_from_zero(function):
    """Where exp is subnormal, up to where it is 0."""
    rng = rng_of(function)
    x = (rng.choice([-1, 1], (64, 512)) * 2 ** rng.uniform(-20, 7.5, (64, 512))).astype(F32)
    got = programs.activate(x, function)
    want = activation.activate_f64(x, function)
    assert_ulps(got, want, "f32", activation.ulp_bound(x, function))


def test_activate_row_weight():
    x, weight = sample((4, 8), "weight"), np.array([0.5, 0, -1, 3], F32)
    got = programs.activate(x, "swiglu", row_weight=weight)
    o = {"row_weight": weight}
    want = activation.activate_f64(x, "swiglu", **o)
    assert_ulps(got, want, "f32", activation.ulp_bound(x, "swiglu", **o))


@pytest.mark.parametrize("intermediate_round", ["none", "bf16", "f16"])
@pytest.mark.parametrize("name", ["vllm_token", "deepgemm"])
def test_act_quant_is_activate_then_quantize(intermediate_round, name):
    """The same bits as the two ops apart."""
    x = formats.round_to(rng_of(name).normal(size=(6, 512)), "bf16")
    format = Format("f8E4M3FN", PER_ROW if name == "vllm_token" else (128,))
    element = "f32" if intermediate_round == "none" else intermediate_round
    got = programs.act_quant(x, "swiglu", format, PRESETS[name], intermediate_round)
    values = programs.activate(x, "swiglu", element)
    check_same(got, programs.quantize(values, format, PRESETS[name]))
    check_same(got, quantize.quantize(values, format, PRESETS[name]))


# ---- matmul

FP8 = "f8E4M3FN"
SCHEMES = {
    "fp8 tensor": (Format(FP8, PER_TENSOR), Format(FP8, PER_TENSOR)),
    "fp8 token x channel": (Format(FP8, PER_ROW), Format(FP8, PER_ROW)),
    "fp8 block": (Format(FP8, (128,)), Format(FP8, (128, 128))),
    "fp8 e5m2": (Format("f8E5M2", PER_ROW), Format(FP8, PER_ROW)),
    "int8": (Format("i8", PER_ROW), Format("i8", PER_ROW)),
    "int8 block": (Format("i8", (64,)), Format("i8", (64,))),
    "mxfp8": (Format(FP8, (32,), "f8E8M0FNU"), Format(FP8, (32,), "f8E8M0FNU")),
    "int8 weight": ("bf16", Format("i8", PER_ROW)),
    "int8 weight groups": ("f16", Format("i8", (64,), "f16")),
    "fp8 weight": ("bf16", Format(FP8, PER_ROW)),
    "int4 weight": ("bf16", Format("i4", (32,), "bf16")),
    "uint4 weight with zeros": ("bf16", Format("ui4", (64,), "bf16", "i8")),
    "uint4 weight with float zeros": ("f16", Format("ui4", (64,), "f16", "f16")),
    "mxfp4 weight": ("bf16", Format("f4E2M1FN", (32,), "f8E8M0FNU")),
    "bf16": ("bf16", "bf16"),
    "f32": ("f32", "f32"),
}


def operand(rng, shape, format):
    if isinstance(format, str):
        return formats.round_to(rng.normal(size=shape), format)
    from check import random_scaled

    return random_scaled(rng, shape, format)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("shape", [(5, 7, 256), (1, 1, 33), (3, 130, 200), (0, 4, 64)])
@pytest.mark.parametrize("element", ["f32", "bf16"])
def test_matmul(scheme, shape, element):
    (m, n, k), (left, right) = shape, SCHEMES[scheme]
    rng = rng_of(scheme, shape)
    a, b = operand(rng, (m, k), left), operand(rng, (n, k), right)
    got = programs.matmul(a, b, element)
    assert_within(got, matmul.matmul(a, b), element)
    if scheme == "int8":
        assert_same(got, matmul.int_matmul(a, b, element))


def test_int8_sum_is_exact():
    """2^24 and more: a sum in f32 would round."""
    k = 2048
    a = Scaled(Format("i8", PER_ROW), np.full((1, k), 127, np.int8), np.ones((1, 1), F32))
    b = Scaled(Format("i8", PER_ROW), np.full((2, k), 127, np.int8), np.ones((2, 1), F32))
    b.values[1, 0] = 126
    assert programs.matmul(a, b).tolist() == [[127 * 127 * k, np.float32(127 * 127 * k - 127)]]


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("counts", [(3, 0, 5), (0, 0, 0), (8, 0, 0), (1, 1, 1)])
def test_grouped_matmul(scheme, counts):
    left, right = SCHEMES[scheme]
    rng = rng_of(scheme, counts)
    rows = sum(counts) + 3  # the first and the last two are outside every group
    offsets = np.cumsum([1, *counts]).astype(np.int32)
    a, b = operand(rng, (rows, 160), left), operand(rng, (3, 6, 160), right)
    if isinstance(a, Scaled) and a.format.value == FP8:
        a.values[[0, -1, -2]] = 0x7F
    init = np.full((rows, 6), -7, F32)
    got = programs.grouped_matmul(a, b, offsets, init)
    want = matmul.grouped_matmul(a, b, offsets, init)
    outside = [0, rows - 2, rows - 1]
    assert_same(got[outside], init[outside], "rows outside every group")
    inside = slice(1, rows - 2)
    assert_within(got[inside], matmul.Bounded(want.value[inside], want.error[inside]), "f32")


def test_epilogue():
    rng = rng_of("epilogue")
    a, b = operand(rng, (4, 64), "bf16"), operand(rng, (6, 64), "bf16")
    row, column, both = (rng.normal(size=s).astype(F32) for s in ((4,), (6,), (4, 6)))
    body = (
        "%p = arith.mulf %acc, %e0 : f32\n    %q = arith.addf %p, %e1 : f32\n"
        "    %y = arith.addf %q, %e2 : f32"
    )
    epilogue = Epilogue(body, [row, column, both], ["row", "column", "row_column"])
    got = programs.matmul(a, b, "f32", epilogue)
    exact = matmul.matmul(a, b)
    value = exact.value * row[:, None] + column + both
    error = exact.error * np.abs(row[:, None]) + 2.0**-22 * (
        np.abs(exact.value * row[:, None]) + np.abs(column) + np.abs(both)
    )
    assert_within(got, matmul.Bounded(value, error), "f32")


def test_epilogue_indices():
    a, b = np.ones((3, 8), F32), np.ones((2, 8), F32)
    body = (
        "%i = arith.index_cast %row : index to i32\n    %j = arith.index_cast %col : index to i32\n"
        "    %c = arith.constant 10 : i32\n    %k = arith.muli %i, %c : i32\n"
        "    %l = arith.addi %k, %j : i32\n    %f = arith.sitofp %l : i32 to f32\n"
        "    %y = arith.addf %acc, %f : f32"
    )
    got = programs.matmul(a, b, "f32", Epilogue(body, [], []))
    assert got.tolist() == [[8, 9], [18, 19], [28, 29]]


def test_epilogue_of_grouped_matmul():
    """A column operand is that of the row's expert."""
    rng = rng_of("grouped epilogue")
    a, b = operand(rng, (5, 32), "f32"), operand(rng, (2, 3, 32), "f32")
    bias = rng.normal(size=(2, 3)).astype(F32)
    epilogue = Epilogue("%y = arith.addf %acc, %e0 : f32", [bias], ["column"])
    offsets = np.array([0, 2, 5], np.int32)
    got = programs.grouped_matmul(a, b, offsets, poison((5, 3), "f32"), epilogue)
    want = matmul.grouped_matmul(a, b, offsets, np.zeros((5, 3)))
    value = want.value + bias[[0, 0, 1, 1, 1]]
    assert_within(got, matmul.Bounded(value, want.error + 2.0**-22 * np.abs(value)), "f32")


@pytest.mark.parametrize("dims", ["static", "rows", "all"])
def test_matmul_dynamic_extents(dims):
    rng = rng_of(dims)
    a, b = operand(rng, (5, 96), Format(FP8, (32,))), operand(rng, (7, 96), Format(FP8, (32, 32)))
    assert_within(programs.matmul(a, b, dims=dims), matmul.matmul(a, b), "f32")


def test_results_do_not_depend_on_the_batch():
    rng = rng_of("batch")
    a, b = (
        operand(rng, (9, 128), Format(FP8, PER_ROW)),
        operand(rng, (5, 128), Format(FP8, PER_ROW)),
    )
    assert_same(programs.matmul(a, b, "bf16")[4:6], programs.matmul(a[4:6], b, "bf16"))
