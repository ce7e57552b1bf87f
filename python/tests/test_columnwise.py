"""Quantization of grouped rows, rowwise and columnwise, in every layout of scales: bytes
against the NumPy model, padding and rows outside of every group included."""

from dataclasses import replace

import numpy as np
import pytest

import programs
from programs import PER_ROW, PER_TENSOR, poison_scaled
from reference import activation, formats, groups
from reference.compare import assert_same
from reference.quantize import PRESETS, quantize
from reference.scaled import Format, Scaled

LAYOUTS = ("row_major", "mn_major", "padded", "swizzle_128x4")
# Recipe, value, block, scale, zero point.
MX = [("te_mx", "f8E4M3FN", 32, "f8E8M0FNU", None), ("ocp", "f8E5M2", 32, "f8E8M0FNU", None)]
BLOCKS = [
    ("deepgemm", "f8E4M3FN", 128, "f32", None),
    ("vllm_group", "f8E4M3FN", 128, "f32", None),
    ("te", "f8E4M3FN", 32, "f32", None),
    ("torchao", "f8E4M3FN", 64, "f32", None),
    ("int8_asym", "i8", 32, "f32", "i8"),
    ("int4_sym", "i4", 32, "bf16", None),
]
TOKEN = [("vllm_token", "f8E4M3FN", "f32", None), ("int8_sym", "i8", "f32", None)]
# The rows of each group, and how many follow that are in none.
COUNTS = [
    ([0], 0),
    ([1], 0),
    ([31, 0, 32], 0),
    ([33, 127], 2),
    ([0, 128, 0, 129], 1),
    ([61, 7], 0),
]


def offsets_of(counts):
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)


def sample(rng, rows, columns, element="bf16"):
    """Rows of all sizes: an all-zero one, tiny ones, and NaN and infinities."""
    x = rng.normal(size=(rows, columns)) * np.exp2(rng.integers(-20, 21, (rows, 1)))
    if rows > 3 and columns > 1:
        x[1], x[2] = 0, x[2] * 1e-38
        x[3, 0], x[3, columns // 2] = np.inf, -np.inf
        x[rows - 1, columns - 1] = np.nan
    return formats.round_to(x.astype(np.float32), element)


def check(x, recipe, outs, columnwise, offsets=None, rows=None, got=None, numbers=None):
    """All bytes of both results against the model. `numbers` are what is quantized, where
    that is not `x`; `got` the results where they are there."""
    recipe = PRESETS[recipe]
    if got is None:
        got = programs.quantize_both(x, recipe, outs, columnwise, offsets, rows)
    source = x if numbers is None else numbers
    count = len(source if rows is None else rows)
    shapes = programs.result_shapes(count, source.shape[1], outs, columnwise, offsets)
    models = [groups.rowwise] * bool(outs) + [groups.columnwise] * bool(columnwise)
    made = [format for format in (outs, columnwise) if format]
    for result, model, format, shape in zip(got, models, made, shapes, strict=True):
        # Packed and unpacked: of poison of 4 bits that is what is there.
        init = Scaled.of_components(format, shape, poison_scaled(shape, format).components())
        want = model(source, format, recipe, init, offsets, rows)
        for name in ("values", "scales", "zeros"):
            if (part := getattr(want, name)) is not None:
                assert_same(getattr(result, name), part, f"{model.__name__} {name}")


def check_counts(name, outs, columnwise, grouped=True, columns=(1, 33, 67)):
    rng = np.random.default_rng(len(name))
    for (counts, outside), width in zip(COUNTS, columns * 2, strict=True):
        offsets = offsets_of(counts) if grouped else None
        fitted = [
            replace(f, groups=len(counts)) if f and f.groups else f for f in (outs, columnwise)
        ]
        x = sample(rng, sum(counts) + outside, width)
        check(x, name, *fitted, offsets)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("orientation", ["rowwise", "columnwise", "transposed"])
@pytest.mark.parametrize("scheme", MX + BLOCKS, ids=lambda s: f"{s[0]}-{s[1]}-{s[2]}")
def test_grouped_blocks(scheme, orientation, layout):
    name, value, block, scale, zero = scheme
    if value == "i4" and orientation == "columnwise":
        pytest.skip("a byte of two columns would have two scales")
    row = Format(value, (block,), scale, zero, layout, groups=1)
    if orientation == "rowwise":
        return check_counts(name, row, None)
    if orientation == "transposed":
        # The padded rows are a tensor's columns: no groups are needed.
        return check_counts(name, None, replace(row, groups=0))
    return check_counts(name, None, replace(row, block=(block, 1)))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("scheme", TOKEN, ids=lambda s: s[0])
def test_grouped_tokens(scheme, layout):
    name, value, scale, zero = scheme
    check_counts(name, Format(value, PER_ROW, scale, zero, layout, groups=1), None)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("scheme", MX + BLOCKS[:1], ids=lambda s: s[0])
def test_both_without_groups(scheme, transposed, layout):
    name, value, block, scale, zero = scheme
    row = Format(value, (block,), scale, zero, layout)
    column = row if transposed else replace(row, block=(block, 1))
    check_counts(name, row, column, grouped=False)


def test_both_of_groups():
    row = Format("f8E4M3FN", (32,), "f8E8M0FNU", None, "swizzle_128x4", groups=1)
    check_counts("te_mx", row, replace(row, groups=0))
    check_counts("te_mx", replace(row, layout="row_major", groups=0), replace(row, block=(32, 1)))


def test_transposed_tensor_scale():
    rng = np.random.default_rng(3)
    tensor = Format("f8E4M3FN", PER_TENSOR)
    check(sample(rng, 37, 50)[4:36], "te", None, tensor)


@pytest.mark.parametrize("block", [(32, 1), (32,)])
def test_gathered_rows(block):
    rng = np.random.default_rng(5)
    rows = rng.integers(0, 9, 70).astype(np.int32)
    rows[[3, 40, 69]] = -1
    row = Format("f8E4M3FN", (32,), "f8E8M0FNU")
    column = Format("f8E4M3FN", block, "f8E8M0FNU", groups=2 * (len(block) == 2))
    check(sample(rng, 9, 64), "te_mx", row, column, offsets_of([35, 33]), rows)


@pytest.mark.parametrize("function", ["swiglu", "srelu"])
@pytest.mark.parametrize("block", [(32, 1), (32,)])
def test_act_quant_both(function, block):
    rng = np.random.default_rng(11)
    counts = [40, 0, 31]
    x = formats.round_to(rng.normal(size=(75, 128)).astype(np.float32), "bf16")
    row = Format("f8E4M3FN", (32,), "f8E8M0FNU", layout="swizzle_128x4", groups=3)
    column = Format("f8E4M3FN", block, "f8E8M0FNU", groups=3 * (len(block) == 2))
    options = {"offsets": offsets_of(counts), "function": function, "intermediate_round": "bf16"}
    got = programs.quantize_both(x, PRESETS["te_mx"], row, column, **options)
    activated = programs.activate(x, function, "bf16")
    assert np.isfinite(activation.activate(x, function, "bf16").astype(np.float32)).all()
    check(x, "te_mx", row, column, offsets_of(counts), got=got, numbers=activated)


SYMMETRIC = [
    *MX,
    *BLOCKS[:4],
    ("amax", "f8E5M2", 128, "f32", None),
    ("vllm_token", "f8E4M3FN", 64, "f32", None),
    ("int8_sym", "i8", 32, "f32", None),
    ("int4_sym", "i4", 32, "bf16", None),
]


def test_symmetric_recipes():
    """All of them are tried."""
    assert {s[0] for s in SYMMETRIC} == {
        name for name, recipe in PRESETS.items() if recipe.zero_point == "none"
    }


@pytest.mark.parametrize("scheme", SYMMETRIC, ids=lambda s: s[0])
@pytest.mark.parametrize("counts", [(33, 5), (128,), (1, 257, 0)], ids=str)
def test_columnwise_is_rowwise_of_the_transpose(scheme, counts):
    """Both by the program: of each group, codes and scales."""
    name, value, block, scale, _ = scheme
    rng = np.random.default_rng(sum(counts))
    offsets, x = offsets_of(counts), sample(rng, sum(counts), 40)
    recipe = PRESETS[name]
    row = Format(value, (block,), scale)
    column = Format(value, (block, 1), scale, groups=len(counts))
    # A byte of two columns would have two scales.
    if not formats.is_packed(value):
        [got] = programs.quantize_both(x, recipe, None, column, offsets)
    [transposed] = programs.quantize_both(x, recipe, None, row, offsets)
    for begin, end, padded in zip(
        offsets[:-1], offsets[1:], groups.padded_offsets(offsets)[:-1], strict=True
    ):
        if begin == end:
            continue
        want = programs.quantize(np.ascontiguousarray(x[begin:end].T), row, recipe)
        at = slice(padded // block, padded // block + want.scales.shape[1])
        if not formats.is_packed(value):
            assert_same(got.values[begin:end].T, want.values)
            assert_same(got.scales[at].T, want.scales)
        assert_same(transposed.values[:, padded : padded + end - begin], want.values)
        assert_same(transposed.scales[:, at], want.scales)


def test_model_of_a_swizzled_tile():
    """The byte of (r, c) in a tile is (r mod 32) * 16 + (r div 32) * 4 + c."""
    scales = np.arange(128 * 4).reshape(128, 4).astype(np.int32)
    flat = groups.lay_out(scales, "swizzle_128x4").ravel()
    for r, c in [(0, 0), (1, 0), (31, 3), (32, 1), (127, 3)]:
        assert flat[r % 32 * 16 + r // 32 * 4 + c] == scales[r, c]


def test_quantize_of_no_rows_is_empty():
    assert quantize(np.zeros((0, 4)), Format("f8E4M3FN", (32,)), PRESETS["amax"]).shape == (0, 4)
