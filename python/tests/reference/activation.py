"""moeq.activate, in f64: within 2 ulp of the result's type."""

import math

import numpy as np

from reference import formats
from reference.compare import unit
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
    if layout == "interleaved_64":
        groups = x.reshape(len(x), x.shape[1] // 128, 2, 64)
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


def factors(x, function, gate_layout="gate_first", limit=7.0, alpha=1.702, row_weight=None):
    """What the result is a product of, in order: the activation of the gate, for a gated
    function the other half, and the row's weight."""
    x = np.asarray(x).astype(np.float64)
    g, u = split(x, gate_layout) if function in GATED else (x, None)
    if function == "clamped_swiglu":
        g, u = np.minimum(g, limit), np.clip(u, -limit, limit) + 1
        result = [g * sigmoid(np.float64(np.float32(alpha)) * g), u]
    elif function in GATED:
        gate = {"swiglu": silu, "geglu": gelu, "reglu": lambda v: np.maximum(v, 0)}[function]
        result = [gate(g), u]
    else:
        result = [
            {
                "identity": lambda v: v,
                "relu": lambda v: np.maximum(v, 0),
                "srelu": lambda v: np.maximum(v, 0) ** 2,
                "silu": silu,
                "gelu": gelu,
                "gelu_tanh": gelu_tanh,
            }[function](x)
        ]
    if row_weight is not None:
        result.append(np.asarray(row_weight, np.float64)[:, None])
    return result


def slope(x, function, alpha=1.702):
    """The derivative of the function of x, for a gated function of its gate."""
    gate = {"swiglu": "silu", "geglu": "gelu", "reglu": "relu"}.get(function, function)
    match gate:
        case "identity":
            return np.ones_like(x)
        case "relu":
            return np.where(x > 0, 1.0, 0.0)
        case "srelu":
            return 2 * np.maximum(x, 0)
        case "gelu":
            density = np.exp(-np.square(x) / 2) / math.sqrt(2 * math.pi)
            return 0.5 * erfc(-x / math.sqrt(2)) + x * density
        case "gelu_tanh":
            c = 2 * math.sqrt(2 / math.pi)
            z, weight = c * (x + 0.044715 * x**3), c * (x + 3 * 0.044715 * x**3)
        case _:
            weight = z = (np.float64(np.float32(alpha)) if "clamped" in gate else 1) * x
    return sigmoid(z) + weight * sigmoid(z) * sigmoid(-z)


def gradient_factors(
    grad, x, function, gate_layout="gate_first", limit=7.0, alpha=1.702, row_weight=None
):
    """What the gradient by x is a product of: the gradient by the result with the row's
    weight and the other factor, and a derivative, each in the shape of x."""
    d, x = (np.asarray(v).astype(np.float64) for v in (grad, x))
    if row_weight is not None:
        d = d * np.asarray(row_weight, np.float64)[:, None]
    if function not in GATED:
        return d, slope(x, function)
    g, u = split(x, gate_layout)
    options = {"gate_layout": gate_layout, "limit": limit, "alpha": alpha}
    value, factor = factors(x, function, **options)
    inside_g = inside_u = 1.0
    if function == "clamped_swiglu":
        inside_g, inside_u = np.where(g > limit, 0.0, 1.0), np.where(np.abs(u) > limit, 0.0, 1.0)
        g = np.minimum(g, limit)
    outer, inner = np.empty_like(x), np.empty_like(x)
    # The columns of a layout, found by splitting their numbers.
    gates, ups = (c[0] for c in split(np.arange(x.shape[1])[None], gate_layout))
    outer[:, gates], inner[:, gates] = d * factor, slope(g, function, alpha) * inside_g
    outer[:, ups], inner[:, ups] = d, value * inside_u
    return outer, inner


def activate_f64(x, function, **options):
    """[S, F], or [S, 2F] for a gated function, to [S, F] in f64."""
    return math.prod(factors(x, function, **options))


def ulp_bound(x, function, **options):
    """How many ulp of f32 a result may be off: 2 ulp of the activation, and half an ulp
    of each factor that is a sum and of each product."""
    value, *others = factors(x, function, **options)
    error = 2 * unit(value, "f32")
    for i, factor in enumerate(others):
        is_sum = function == "clamped_swiglu" and i == 0
        factor_error = is_sum * unit(factor, "f32") / 2
        error = error * np.abs(factor) + (np.abs(value) + error) * factor_error
        value = value * factor
        error = error + unit(value, "f32") / 2
    return error / unit(value, "f32")


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
