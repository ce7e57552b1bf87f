"""The gradients of SiLU, rounded to bf16 by a rounding test: the bounds of which products are taken
hold for every gate, and the kernel's numbers are those of the CPU."""

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
