"""moeq.matmul and moeq.grouped_matmul: exact sums with the bound of the op's
documentation, and equal bits where both operands are integers with one scale."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from reference import formats
from reference.scaled import Scaled

UNIT = {"f32": 2.0**-24, "bf16": 2.0**-9, "f16": 2.0**-12, "f64": 0.0}


@dataclass
class Bounded:
    """Exact numbers, and how far from them a result may be before it is rounded."""

    value: np.ndarray
    error: np.ndarray

    def rounding(self, element: str) -> "Bounded":
        """The same after one rounding to `element`."""
        tiny = {"f16": 2.0**-25, "f32": 2.0**-150}.get(element, 2.0**-134)
        return Bounded(
            self.value,
            self.error + 2 * UNIT[element] * (np.abs(self.value) + self.error) + tiny,
        )


def operand(x) -> np.ndarray:
    """The numbers that take part in the products, in f64."""
    return x.numbers() if isinstance(x, Scaled) else np.asarray(x).astype(np.float64)


def is_mx(x) -> bool:
    return isinstance(x, Scaled) and x.format.scale == "f8E8M0FNU"


def to_bf16(x: Scaled) -> np.ndarray:
    """MX on both sides: each operand is first dequantized to bf16."""
    with np.errstate(over="ignore"):
        return formats.round_to(x.numbers(), "bf16").astype(np.float64)


def matmul(a, b, accumulator_bits: int = 23) -> Bounded:
    """`a` [M, K] times the transpose of `b` [N, K]. `accumulator_bits` is 13 for FP8
    on Hopper with `fast`."""
    if is_mx(a) and is_mx(b):
        a, b = to_bf16(a), to_bf16(b)
    x, y = operand(a), operand(b)
    with np.errstate(invalid="ignore", over="ignore"):
        magnitude = np.abs(x) @ np.abs(y).T
        error = (x.shape[1] + 2) * 2.0**-accumulator_bits * magnitude
        return Bounded(x @ y.T, error)


def grouped_matmul(a, b, offsets, init, accumulator_bits: int = 23) -> Bounded:
    """Rows [S, K] times the weight [E, N, K] of their expert; rows outside every
    group keep the init."""
    value = np.array(init, np.float64)
    error = np.zeros_like(value)
    for e in range(len(offsets) - 1):
        rows = slice(offsets[e], offsets[e + 1])
        part = matmul(a[rows], b[e], accumulator_bits)
        value[rows], error[rows] = part.value, part.error
    return Bounded(value, error)


def contract_rows(a, b, offsets, init=None) -> Bounded:
    """For each expert the transpose of its rows of `a` [S, N] times those of `b` [S, K];
    scaled operands are [N, S] and [K, S]. `init` is added."""
    scaled = isinstance(a, Scaled)
    if is_mx(a) and is_mx(b):
        x, y = to_bf16(a), to_bf16(b)
    else:
        x, y = operand(a), operand(b)
    x, y = (x, y) if scaled else (x.T, y.T)
    parts = [matmul(x[:, start:end], y[:, start:end]) for start, end in pairwise(offsets)]
    sum_ = Bounded(np.stack([p.value for p in parts]), np.stack([p.error for p in parts]))
    if init is not None:
        sum_.value = sum_.value + np.asarray(init).astype(np.float64)
        sum_.error = sum_.error + 2.0**-24 * np.abs(sum_.value)
    return sum_


def int_matmul(a: Scaled, b: Scaled, element: str = "f32") -> np.ndarray:
    """int8 times int8 with one scale a row and a column: the exact i32 sum, converted
    once, times the product of the scales. Equal bits."""
    total = (a.values.astype(np.int64) @ b.values.astype(np.int64).T).astype(np.int32)
    scales = a.scale_numbers().reshape(-1, 1) * b.scale_numbers().reshape(1, -1)
    return formats.round_to(total.astype(np.float32) * scales, element)
