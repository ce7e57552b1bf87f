"""The gradients of a grouped MLP, fc2(act(fc1(x))), compiled for the CPU, against an f64 model
that differences of its loss confirm. docs/Spec.md, "Gradients", derives the bounds."""

from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import moeq
import programs
from reference import activation, formats
from reference.quantize import PRESETS, quantize
from reference.scaled import Format

EXAMPLE = Path(__file__).parents[2] / "examples" / "te-grouped-linear-tiny-mxfp8.mlir"
EXPERTS, MODEL, HIDDEN = 3, 64, 96
COUNTS = (37, 0, 130)
MX = Format("f8E4M3FN", (32,), "f8E8M0FNU")
# The root mean square of what a rounding changes, relative: half a unit in the last place,
# spread evenly. MXFP8 rounds to 4 significant bits, bf16 to 8.
ROUNDING = {"bf16": 2.0**-8 / 3**0.5, "mxfp8": 2.0**-4 / 3**0.5}
# How much larger the relative error of act'(h), and of the products with it, may be than that
# of h: the mean square of h act''(h) / act'(h) over normal h.
CONDITION = 2.0
# Roundings that a gradient sees, of its operands: x and w1 through act'(h); dy and w2 through
# da; a or dh; x.
NOISE = (2 * CONDITION**2 + 2 + 1 + 1) ** 0.5


@dataclass
class Mlp:
    """Operands and gradients, in f64."""

    function: str
    x: np.ndarray
    w1: np.ndarray
    w2: np.ndarray
    dy: np.ndarray

    @property
    def offsets(self) -> np.ndarray:
        return np.cumsum([0, *COUNTS]).astype(np.int32)

    def groups(self):
        return [(e, slice(*ends)) for e, ends in enumerate(pairwise(self.offsets))]

    def activate(self, h):
        return activation.activate_f64(h, self.function)

    def loss(self, x, w1, w2) -> float:
        """The sum of y * dy."""
        return sum(
            np.sum(self.activate(x[rows] @ w1[e].T) @ w2[e].T * self.dy[rows])
            for e, rows in self.groups()
        )

    def gradients(self) -> dict[str, np.ndarray]:
        found = {"dx": np.zeros_like(self.x)}
        found |= {"dw1": np.zeros_like(self.w1), "dw2": np.zeros_like(self.w2)}
        for e, rows in self.groups():
            h = self.x[rows] @ self.w1[e].T
            found["dw2"][e] = self.dy[rows].T @ self.activate(h)
            da = self.dy[rows] @ self.w2[e]
            dh = np.prod(activation.gradient_factors(da, h, self.function), axis=0)
            found["dw1"][e] = dh.T @ self.x[rows]
            found["dx"][rows] = dh @ self.w1[e]
        return found


def mlp(function: str, element: str = "f64") -> Mlp:
    """Normal numbers, of which `element` can hold all."""
    rng = np.random.default_rng(3)
    columns = HIDDEN * (2 if function in activation.GATED else 1)
    rows = sum(COUNTS)
    shapes = (rows, MODEL), (EXPERTS, columns, MODEL), (EXPERTS, MODEL, HIDDEN), (rows, MODEL)
    sizes = 1, MODEL**-0.5, HIDDEN**-0.5, 1
    numbers = [rng.normal(0, size, shape) for size, shape in zip(sizes, shapes, strict=True)]
    if element != "f64":
        numbers = [formats.round_to(n, element).astype(np.float64) for n in numbers]
    return Mlp(function, *numbers)


FUNCTIONS = ("swiglu", "srelu")


@pytest.mark.parametrize("function", [*FUNCTIONS, "gelu_tanh", "clamped_swiglu"])
def test_model_by_differences(function):
    """The model's gradients in random directions."""
    m, rng, step = mlp(function), np.random.default_rng(4), 1e-5
    for name, argument in (("dx", "x"), ("dw1", "w1"), ("dw2", "w2")):
        direction = rng.normal(size=getattr(m, argument).shape)
        values = {"x": m.x, "w1": m.w1, "w2": m.w2}
        ends = [
            m.loss(**values | {argument: values[argument] + sign * step * direction})
            for sign in (1, -1)
        ]
        got = np.sum(m.gradients()[name] * direction)
        np.testing.assert_allclose(got, (ends[0] - ends[1]) / (2 * step), rtol=1e-5)


def relative_error(got, want) -> float:
    return float(np.linalg.norm(got.astype(np.float64) - want) / np.linalg.norm(want))


def check(got: dict, m: Mlp, rounding: float) -> None:
    """Each gradient is within the bound; one without the derivative would not be."""
    for name, want in m.gradients().items():
        assert relative_error(got[name], want) <= NOISE * rounding, name
    wrong = Mlp("identity", m.x, m.w1[:, :HIDDEN], m.w2, m.dy).gradients()["dx"]
    assert relative_error(wrong, m.gradients()["dx"]) > 0.5


@pytest.mark.parametrize("function", FUNCTIONS)
def test_bf16(function):
    m = mlp(function, "bf16")
    bf16 = {name: formats.round_to(getattr(m, name), "bf16") for name in ("x", "w1", "w2", "dy")}
    x, w1, w2, dy = bf16.values()

    def rows_times(a, w, columns, form=""):
        init = programs.poison((len(a), columns), "bf16")
        return programs.grouped_matmul(a, w, m.offsets, init, form=form)

    def contracted(a, b):
        init = programs.poison((EXPERTS, a.shape[1], b.shape[1]), "f32")
        return programs.grouped_matmul(a, b, m.offsets, init, form="contract(rows)")

    h = rows_times(x, w1, w1.shape[1])
    a = programs.activate(h, function, "bf16")
    da = rows_times(dy, w2, HIDDEN, "transpose_rhs")
    dh = programs.activate_grad(da, h, function, "bf16")
    got = {
        "dx": rows_times(dh, w1, MODEL, "transpose_rhs"),
        "dw1": contracted(dh, x),
        "dw2": contracted(dy, a),
    }
    check(got, m, ROUNDING["bf16"])


def arrays(q) -> list[np.ndarray]:
    return q.components()


@pytest.mark.parametrize("function", FUNCTIONS)
def test_mxfp8(function):
    """The example: forward, then backward, whose weight gradients are added to ones."""
    m = mlp(function, "bf16")
    module = moeq.parse(EXAMPLE.read_text())

    def weight(w):
        return arrays(quantize(w.astype(np.float32), MX, PRESETS["te_mx"]))

    x, dy = (formats.round_to(v, "bf16").view(np.uint16) for v in (m.x, m.dy))
    _, h, *transposed = moeq.run(
        module, f"{function}_forward", [x, *weight(m.w1), *weight(m.w2), m.offsets]
    )
    padded = np.cumsum([0, *(-(-n // 128) * 128 for n in COUNTS)]).astype(np.int32)
    w1t, w2t = (np.ascontiguousarray(w.transpose(0, 2, 1)) for w in (m.w1, m.w2))
    ones = [np.ones(w.shape, np.float32) for w in (m.w1, m.w2)]
    dx, dw1, dw2 = moeq.run(
        module,
        f"{function}_backward",
        [dy, h, *transposed, *weight(w1t), *weight(w2t), m.offsets, padded, *ones],
    )
    got = {"dx": dx.view(formats.BF16), "dw1": dw1 - 1, "dw2": dw2 - 1}
    check(got, m, ROUNDING["mxfp8"])
