"""moeq.activate, in f64: within 2 ulp of the result's type."""

import math

import numpy as np

from reference import formats
from reference.quantize import Recipe, quantize
from reference.scaled import Format, Scaled

GATED = ("swiglu", "geglu", "reglu", "clamped_swiglu")
erfc = np.vectorize(math.erfc, otypes=[np.float64])


def sigmoid(x):
    small = np.exp(-np.abs(x))
    return np.where(x >= 0, 1, small) / (1 + small)


def silu(x):
    with np.errstate(over="ignore", invalid="ignore"):
        return np.where(x == -np.inf, 0, x / (1 + np.exp(-x)))


def gelu(x):
    # 1 + erf(y) = erfc(-y), which has no cancellation.
    return 0.5 * x * erfc(-x / math.sqrt(2))


def gelu_tanh(x):
    # 0.5 (1 + tanh(y)) = sigmoid(2 y).
    return x * sigmoid(2 * math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))


def split(x, layout: str):
    """The gate and up halves of [S, 2F]."""
    if layout == "interleaved":
        return x[:, 0::2], x[:, 1::2]
    if layout == "interleaved_8":
        groups = x.reshape(len(x), x.shape[1] // 16, 2, 8)
        return (groups[:, :, half].reshape(len(x), x.shape[1] // 2) for half in (0, 1))
    first, second = np.split(x, 2, axis=1)
    return (first, second) if layout == "gate_first" else (second, first)


def prepack(x, source: str, target: str):
    """[E, 2F, ...] from one gate layout to another: columns are moved, bits are equal."""
    columns = np.arange(x.shape[1])[None]
    numbered = np.concatenate([*split(columns, source)], axis=1)[0]  # gates, then ups
    place = np.concatenate([*split(columns, target)], axis=1)[0]
    out = np.empty_like(x)
    out[:, place] = x[:, numbered]
    return out


def activate_f64(x, function, gate_layout="gate_first", limit=7.0, alpha=1.702, row_weight=None):
    """[S, F], or [S, 2F] for a gated function, to [S, F] in f64."""
    x = np.asarray(x).astype(np.float64)
    if function in GATED:
        g, u = split(x, gate_layout)
        if function == "clamped_swiglu":
            g, u = np.minimum(g, limit), np.clip(u, -limit, limit)
            y = g * sigmoid(alpha * g) * (u + 1)
        else:
            gate = {"swiglu": silu, "geglu": gelu, "reglu": lambda v: np.maximum(v, 0)}[function]
            y = gate(g) * u
    else:
        y = {
            "identity": lambda v: v,
            "relu": lambda v: np.maximum(v, 0),
            "srelu": lambda v: np.maximum(v, 0) ** 2,
            "silu": silu,
            "gelu": gelu,
            "gelu_tanh": gelu_tanh,
        }[function](x)
    return y if row_weight is None else y * np.asarray(row_weight, np.float64)[:, None]


def activate(x, function, element="f32", **options) -> np.ndarray:
    """The activation rounded to `element`."""
    return formats.round_to(activate_f64(x, function, **options), element)


def act_quant(
    x, function, format: Format, recipe: Recipe, intermediate_round="none", **options
) -> Scaled:
    """activate, round to `intermediate_round`, quantize: equal bytes given the
    activation's value."""
    element = "f32" if intermediate_round == "none" else intermediate_round
    return quantize(activate(x, function, element, **options), format, recipe)
