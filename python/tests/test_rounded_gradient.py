"""SiLU and its gradients, rounded to bf16 by a rounding test: the bounds of which products are
taken hold for every gate, and the kernel's numbers are those of the CPU."""

from dataclasses import replace

import ml_dtypes
import numpy as np
import pytest

import programs
from quantize_cases import MX
from test_columnwise import offsets_of
from test_quantize_kernels import check

UNIT = 2.0**-23
GATES = np.arange(1 << 16, dtype=np.uint16).view(ml_dtypes.bfloat16)
# Zeros, the least, the largest subnormal, the least normal, 1, -8 and below, the largest number,
# infinities and NaN.
SPECIALS = GATES[
    [
        *(0x0000, 0x8000, 0x0001, 0x8001, 0x007F, 0x8080, 0x3F80, 0xBF80),
        *(0xC100, 0xC101, 0x7F7F, 0xFF7F, 0x7F80, 0xFF80, 0x7FC0, 0xFFC0),
    ]
]


def specified(gates: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The derivative and the value of SiLU, f32, as the CPU computes them."""
    ones = np.ones((1, len(gates)), np.float32)
    x = np.concatenate([gates.astype(np.float32)[None], ones], axis=1)
    both = programs.activate_grad(ones, x, "swiglu")[0]
    return both[: len(gates)], both[len(gates) :]


def bounds(gates, exp_error: float, reciprocal_error: float):
    """Those of the derivative and of the value (RoundedGradient.cpp), where ex2.approx and
    rcp.approx are off by so many units."""
    f32 = np.float32

    def off(x, units):
        x = (x * (1 + units * UNIT)).astype(f32)
        return np.where(np.abs(x) < np.finfo(f32).tiny, f32(0), x)

    x = gates.astype(f32)
    exponent = x * -f32(float.fromhex("0x1.715476p+0"))
    exp = off(np.exp2(exponent.astype(np.float64)), exp_error)
    sigmoid = off(1 / (exp + f32(1)).astype(np.float64), reciprocal_error)
    value = x * sigmoid
    product = value * (exp * sigmoid)
    slope, slack = sigmoid + product, product.astype(np.float64) * x + sigmoid
    slack = slack.astype(f32).astype(np.float64) * 6 * UNIT
    factors = f32(1 - 11 * UNIT), f32(1 + 11 * UNIT)
    return (
        ((slope - slack).astype(f32), (slope + slack).astype(f32)),
        tuple(value * factor for factor in factors),
    )


@pytest.mark.parametrize("exp_error", [-2, 0, 2])
@pytest.mark.parametrize("reciprocal_error", [-1, 0, 1])
def test_bounds(exp_error, reciprocal_error):
    """At the largest errors that the PTX ISA allows; of few gates they have a boundary between
    two bf16 within."""
    with np.errstate(invalid="ignore", over="ignore", under="ignore"):
        gates = GATES[np.isfinite(GATES.astype(np.float32)) & (GATES >= -8)]
        found = bounds(gates, exp_error, reciprocal_error)
    for (low, high), exact in zip(found, specified(gates), strict=True):
        assert (np.minimum(low, high) <= exact).all()
        assert (exact <= np.maximum(low, high)).all()
        assert (np.signbit(low) == np.signbit(high)).all()
        ends = low.astype(ml_dtypes.bfloat16), high.astype(ml_dtypes.bfloat16)
        assert (ends[0] != ends[1]).mean() < 0.01


def wide(rng, shape) -> np.ndarray:
    """bf16 of all exponents, zeros, infinities and NaN, most of them ordinary."""
    bits = rng.integers(0, 1 << 16, shape).astype(np.uint16).view(ml_dtypes.bfloat16)
    return np.where(rng.random(shape) < 0.7, rng.normal(size=shape).astype(bits.dtype), bits)


@pytest.mark.parametrize("layout", ["gate_first", "interleaved"])
def test_gates(layout):
    """Of ordinary gates all. Groups have one row, whose sums are its numbers."""
    rng = np.random.default_rng(2)
    rows = 8
    size = np.abs(GATES.astype(np.float32))
    is_ordinary = (size >= 2**-16) & (size < 16)
    rest = rng.permutation(GATES[~is_ordinary])
    gates = np.concatenate([GATES[is_ordinary], rest[: 8192 - is_ordinary.sum()]])
    gates = rng.permutation(gates).reshape(rows, -1)
    up, grad = wide(rng, gates.shape), wide(rng, gates.shape)
    pair = (gates, up) if layout == "gate_first" else (np.stack([gates, up], -1),)
    x = np.concatenate([half.reshape(rows, -1) for half in pair], axis=1)
    check(
        x, "te_mx", replace(MX, layout="swizzle_128x4", groups=rows), None, offsets_of([1] * rows),
        function="swiglu", grad=grad, gate_layout=layout, bias_grad=True,
    )  # fmt: skip


@pytest.mark.parametrize("function", ["silu", "swiglu", "srelu"])
@pytest.mark.parametrize("weighted", [False, True])
def test_wide(function, weighted):
    rng = np.random.default_rng(4)
    counts = (1, 0, 1, 3)
    columns = 256
    x = wide(rng, (5, columns * (2 if function == "swiglu" else 1)))
    check(
        x, "te_mx", None, MX, offsets_of(counts), function=function, bias_grad=True,
        grad=wide(rng, (5, columns)),
        weight=np.exp2(rng.integers(-60, 60, 5)).astype(np.float32) if weighted else None,
    )  # fmt: skip


def by_size(of: np.ndarray, *numbers: np.ndarray) -> list[np.ndarray]:
    """Rows of the numbers in the order of |of|: what is larger by far would hide the bits of the
    rest of its block, those of zeros too."""
    order = np.argsort(np.abs(of.astype(np.float32)), kind="stable")
    return [array[order][None] for array in numbers]


@pytest.mark.parametrize("function", ["silu", "swiglu"])
def test_special_activations(function):
    numbers = [SPECIALS] if function == "silu" else np.meshgrid(SPECIALS, SPECIALS)
    numbers = [np.resize(array.ravel(), 256) for array in numbers]
    activated = programs.activate(np.concatenate(numbers)[None], function)[0]
    x = np.concatenate(by_size(activated, *numbers), axis=1)
    check(x, "te_mx", MX, None, offsets_of([1]), function=function, few=False)


@pytest.mark.parametrize("result", ["gate", "up"])
def test_specials(result):
    """All triples of gate, up and gradient."""
    gates, ups, grads = (array.ravel() for array in np.meshgrid(*[SPECIALS] * 3))
    both = programs.activate_grad(grads[None], np.concatenate([gates, ups])[None], "swiglu")[0]
    of = np.split(both, 2)[result == "up"]
    gate, up, grad = by_size(of, gates, ups, grads)
    row = replace(MX, layout="swizzle_128x4", groups=1)
    check(
        np.concatenate([gate, up], axis=1), "te_mx", row, None, offsets_of([1]), grad=grad,
        function="swiglu", bias_grad=True,
    )  # fmt: skip


def test_subnormal_gates():
    """Those of bf16 are not 0 on the CPU."""
    gates = np.concatenate([GATES[1:128], -GATES[1:128]])
    found = programs.activate(gates[None], "silu")[0]
    np.testing.assert_array_equal(found, gates.astype(np.float32) / 2)
