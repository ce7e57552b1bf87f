"""The models themselves: every encoding against exact fractions, and cases in which
each parameter shows."""

import itertools
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest

from reference import formats, routing
from reference.compare import assert_same, ulps
from reference.quantize import PRESETS, Recipe, dequantize, e8m0_up, parse_recipe, quantize
from reference.scaled import WHOLE, Format, Scaled

FLOAT8 = {"f8E4M3FN": (4, 3, 7), "f8E5M2": (5, 2, 15)}


def exact(code: int, element: str) -> Fraction | None:
    """The number of an 8-bit code by its fields; None for NaN and infinity."""
    exponent_bits, mantissa_bits, bias = FLOAT8[element]
    exponent = code >> mantissa_bits & (1 << exponent_bits) - 1
    mantissa = code & (1 << mantissa_bits) - 1
    if element == "f8E4M3FN" and code & 0x7F == 0x7F:
        return None
    if element == "f8E5M2" and exponent == 31:
        return None
    if exponent == 0:
        value = Fraction(mantissa, 1 << mantissa_bits) * Fraction(2) ** (1 - bias)
    else:
        value = (1 + Fraction(mantissa, 1 << mantissa_bits)) * Fraction(2) ** (exponent - bias)
    return -value if code & 0x80 else value


@pytest.mark.parametrize("element", FLOAT8)
def test_decode_is_exact(element):
    for code in range(256):
        want, got = exact(code, element), formats.decode(np.uint8(code), element)
        assert want is None or Fraction(float(got)) == want
        assert (want is None) == (not np.isfinite(got))


@pytest.mark.parametrize("element", FLOAT8)
def test_encode_rounds_once(element):
    """Midpoints of neighbours, and their f32 neighbours on both sides."""
    codes = [c for c in range(128) if exact(c, element) is not None]
    for low, high in itertools.pairwise(codes):
        middle = np.float32((exact(low, element) + exact(high, element)) / 2)
        even = low if low % 2 == 0 else high
        up, down = np.nextafter(middle, np.float32(np.inf)), np.nextafter(middle, np.float32(0))
        for sign, bit in ((1, 0), (-1, 128)):
            got = formats.encode(sign * np.array([down, middle, up], np.float32), element)
            assert list(got) == [low | bit, even | bit, high | bit]


@pytest.mark.parametrize("element", FLOAT8)
def test_encode_edges(element):
    top = {"f8E4M3FN": 0x7E, "f8E5M2": 0x7B}[element]
    numbers = np.array([np.inf, -np.inf, np.nan, -np.nan, 1e30, 0.0, -0.0], np.float32)
    want = [top, top | 128, 0x7F, 0x7F, top, 0, 128]
    assert list(formats.encode(numbers, element)) == want


def test_every_half_to_fp8():
    halves = np.arange(65536, dtype=np.uint16).view(np.float16).astype(np.float32)
    for element, dtype in formats.FLOAT8.items():
        got = formats.encode(halves, element)
        clamped = np.clip(np.nan_to_num(halves), -formats.MAX[element], formats.MAX[element])
        want = np.where(np.isnan(halves), 0x7F, clamped.astype(dtype).view(np.uint8))
        assert_same(got, want)


def test_e8m0():
    codes = np.arange(256, dtype=np.uint8)
    numbers = formats.decode(codes, "f8E8M0FNU")
    assert np.isnan(numbers[255]) and (numbers[:255] == np.exp2(np.arange(255.0) - 127)).all()
    assert [e8m0_up(n) for n in numbers[:255]] == list(range(255))
    assert [e8m0_up(np.nextafter(n, np.float32(np.inf))) for n in numbers[1:254]] == list(
        range(2, 255)
    )


def test_fp4():
    want = np.arange(16, dtype=np.uint8).view(ml_dtypes.float4_e2m1fn).astype(np.float32)
    assert_same(formats.decode(np.arange(16, dtype=np.uint8), "f4E2M1FN"), want)
    x = np.linspace(-8, 8, 1025, dtype=np.float32)
    clamped = np.clip(x, -6, 6)
    got = formats.decode(formats.encode(x, "f4E2M1FN"), "f4E2M1FN")
    assert_same(got, clamped.astype(ml_dtypes.float4_e2m1fn).astype(np.float32))


@pytest.mark.parametrize("length", [0, 1, 2, 7, 8])
@pytest.mark.parametrize("element", ["i4", "ui4", "f4E2M1FN"])
def test_packing(element, length):
    low = -8 if element == "i4" else 0
    values = (np.arange(3 * length).reshape(3, length) % 16 + low).astype(formats.STORAGE[element])
    packed = formats.pack4(values)
    assert packed.shape == (3, -(-length // 2))
    assert_same(formats.unpack4(packed, length, element), values)
    if length % 2:
        assert (packed[:, -1] >> 4 == 0).all()


def test_rounding_to_bf16_is_single():
    just_above = 1 + 2.0**-8 + 2.0**-30
    assert float(formats.round_to(np.float64(just_above), "bf16")) == 1 + 2.0**-7
    just_below = 1 + 3 * 2.0**-8 - 2.0**-30
    assert float(formats.round_to(np.float64(just_below), "bf16")) == 1 + 2.0**-7


def test_fma_rounds_once():
    a, b, c = np.float32(1 + 2.0**-12), np.float32(1 + 2.0**-12), np.float32(2.0**-40)
    want = Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c))
    below, above = np.float32(1 + 2.0**-11), np.float32(1 + 2.0**-11 + 2.0**-23)
    nearest = min((below, above), key=lambda v: abs(Fraction(float(v)) - want))
    assert routing.fma(a, b, c) == nearest


@pytest.mark.parametrize("name", PRESETS)
def test_recipes_round_trip(name):
    assert parse_recipe(f"#moeq.recipe<{name}>") == PRESETS[name]
    assert str(parse_recipe(str(PRESETS[name]))) == str(PRESETS[name])


def test_format_round_trips():
    for format in (
        Format("f8E4M3FN", (WHOLE, WHOLE)),
        Format("ui4", (128,), "bf16", "i8"),
        Format("f8E4M3FN", (128, 128)),
        Format("i4", (128,), "bf16", packing="fragments"),
    ):
        assert Format.parse(str(format)) == format


def test_formulas_differ():
    """The formulas of a scale give different bits for one input: the reason for recipes."""
    x = np.random.default_rng(0).normal(size=(64, 128)).astype(np.float32)
    format = Format("f8E4M3FN", (128,))
    div, mul, rcp = (
        quantize(x, format, Recipe(scale=formula)).scales
        for formula in ("amax_div_max", "amax_mul_rcp", "rcp_of_quant")
    )
    assert (div != mul).any() and (mul != rcp).any() and (div != rcp).any()


def test_zero_blocks():
    x = np.zeros((1, 32), np.float32)
    f32, mx = Format("f8E4M3FN", (32,)), Format("f8E4M3FN", (32,), "f8E8M0FNU")
    assert quantize(x, f32, Recipe()).scales == 1
    assert quantize(x, f32, Recipe(zero_block="min")).scales == 2.0**-126
    assert quantize(x, f32, PRESETS["vllm_token"]).scales == np.float32(1 / (448 * 512))
    assert quantize(x, mx, PRESETS["te_mx"]).scales == 0
    assert quantize(x, f32, PRESETS["te"]).scales == 1


def test_nonfinite_blocks():
    x = np.ones((3, 32), np.float32)
    x[0, 3], x[1, 3] = np.inf, np.nan
    f32, mx = Format("f8E4M3FN", (32,)), Format("f8E4M3FN", (32,), "f8E8M0FNU")
    q = quantize(x, f32, Recipe())
    assert np.isnan(q.scales[:2]).all() and (q.values[:2] == 0x7F).all()
    q = quantize(x, f32, PRESETS["te"])
    assert (q.scales[:2] == 1).all()
    assert (q.values[0, 3], q.values[1, 3], q.values[0, 0]) == (0x7E, 0x7F, 0x38)
    q = quantize(x, mx, PRESETS["te_mx"])
    assert list(q.scales.ravel()) == [0xFE, 0xFF, 119]
    assert (q.values[1] == 0x7F).all() and q.values[0, 3] == 0x7E


@pytest.mark.parametrize("name", ["int8_asym", "awq"])
def test_affine(name):
    x = np.random.default_rng(1).normal(2, 1, (4, 64)).astype(np.float32)
    element = "i8" if name == "int8_asym" else "ui4"
    q = quantize(x, Format(element, (32,), "f32", "i8"), PRESETS[name])
    step = q.format.expand(q.scales, x.shape)
    inside = np.abs(dequantize(q) - x) <= 0.51 * step
    lo, hi = PRESETS[name].lo, PRESETS[name].hi
    assert (inside | (q.values == lo) | (q.values == hi)).all()
    assert q.values.min() >= lo and q.values.max() <= hi


def test_symmetric_int8_has_no_minus_128():
    x = np.array([[-1.0, 0.5, 1e-3, 1.0]], np.float32)
    assert quantize(x, Format("i8", (WHOLE,)), PRESETS["int8_sym"]).values.min() == -127


def test_tail_blocks():
    x = np.arange(1, 36, dtype=np.float32).reshape(5, 7)
    q = quantize(x, Format("f8E4M3FN", (2, 4)), Recipe())
    assert q.scales.shape == (3, 2)
    assert q.scales[2, 1] == np.float32(35) / np.float32(448)


def test_group_selection():
    score = np.array([[0.1, 0.9, 0.5, 0.6, 0.3, 0.2, 0.0, 0.8]])
    assert list(routing.select(score, 2, n_group=4, topk_group=1)[0]) == [1, 0]
    top2 = routing.select(score, 2, n_group=4, topk_group=1, group_score="top2_sum")
    assert list(top2[0]) == [3, 2]
    biased = routing.select(score, 1, bias=np.array([0, 0, 0, 0, 0, 0, 2.0, 0]))
    assert list(biased[0]) == [6]


def test_zero_sum_renormalizes_to_zero():
    weights = routing.route_weights(np.zeros((1, 4)), np.array([[0, 1]]), renormalize=True)
    assert (weights == 0).all()


def test_group_drops_ids_out_of_range():
    ids = np.array([[0, 5], [-1, 1], [1, 0]], np.int32)
    rows, slots, offsets, padded, weights = routing.group(ids, 2, weights=np.arange(6.0))
    assert list(rows) == [0, 2, 1, 2, -1, -1]
    assert slots.tolist() == [[0, -1], [-1, 2], [3, 1]]
    assert list(offsets) == [0, 2, 4] and list(padded) == [0, 128, 256]
    assert list(weights) == [0, 5, 3, 4, 0, 0]


def test_ulps():
    assert ulps(np.float32(1 + 2.0**-23), np.float64(1), "f32") == 1
    assert ulps(np.float64(np.nan), np.float64(1), "f32") != 0
    assert ulps(np.float64(np.inf), np.float64(np.inf), "f32") == 0


def test_scaled_slices():
    values = np.zeros((3, 4, 8), np.uint8)
    scales = np.arange(3, dtype=np.float32).reshape(3, 1, 1)
    stack = Scaled(Format("f8E4M3FN", (WHOLE, WHOLE)), values, scales)
    assert stack[2].shape == (4, 8) and stack[2].scales == 2
    assert stack[2][1:3].scales.shape == (1, 1)
