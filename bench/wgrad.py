"""Suite `wgrad`: the matmuls of the backward pass, against the dense matmul of the same run.

Each program is checked with groups of uneven sizes, of which one is empty, and with NaN in rows
that belong to no group, and timed with equal ones.
"""

import functools
import itertools
import time

import torch

import grouped
import measure
import moeq
from measure import DEVICE
from suites import (
    GRADIENT_FORMATS,
    GRADIENT_GOALS,
    GRADIENT_ROWS,
    GRADIENTS,
    PROGRAMS,
    SCHEMES,
    Gradient,
)

# Of the rows of an expert, where they are transposed.
PADDED_ROWS = 128
# Rows that belong to no group, before and behind them.
SURPLUS_ROWS = 3
E4M3_NAN = 0x7F


def uneven(experts: int, rows: int, step: int) -> list[int]:
    """So many rows in all, no two groups alike, one of them empty."""
    shares = torch.rand(experts, device=DEVICE) + 0.1
    shares[experts // 2] = 0
    counts = (shares / shares.sum() * rows / step).long() * step
    counts[0] += rows - int(counts.sum())
    return counts.tolist()


class Operands:
    """The operands of a gradient for groups of so many rows."""

    def __init__(self, gradient: Gradient, counts: list[int], surplus: int):
        self.gradient, self.surplus = gradient, surplus
        self.offsets = torch.tensor([surplus, *counts], device=DEVICE).cumsum(0).int()
        rows = int(self.offsets[-1]) + surplus
        lhs, rhs, out = gradient.shapes(rows)
        self.tensors = {"offsets": self.offsets}
        for name, shape in (("a", lhs), ("b", rhs)):
            self.tensors[name] = grouped.values_of(shape, gradient.format)
            scale = grouped.scales_of(shape, gradient.format)
            if scale is not None:
                is_mn_major = gradient.format.layout == "mn_major"
                self.tensors[f"{name}.scale"] = scale.t().contiguous() if is_mn_major else scale
        if surplus:
            self.poison()
        self.sum = torch.randn(out, device=DEVICE) if gradient.adds else None
        self.out_shape, self.flops = out, 2.0 * sum(counts) * gradient.n * gradient.k

    def poison(self) -> None:
        """Of rows outside of every group."""
        for name in ("a", "b") if self.gradient.kind == "wgrad" else ("a",):
            for outside in (slice(0, self.surplus), slice(-self.surplus, None)):
                if self.gradient.format.scale:
                    self.tensors[name].view(torch.uint8)[:, outside] = E4M3_NAN
                else:
                    self.tensors[name][outside] = float("nan")

    def numbers(self, name: str) -> torch.Tensor:
        """Rows [S, ..] in f32."""
        values = self.tensors[name]
        if not self.gradient.format.scale:
            return values
        scale = self.tensors[f"{name}.scale"]
        if self.gradient.format.layout == "mn_major":
            scale = scale.t()
        return grouped.dequantized(values, scale, self.gradient.format).t()

    def reference(self) -> torch.Tensor:
        a, b = self.numbers("a"), self.numbers("b")
        result = torch.full(self.out_shape, float("nan"), device=DEVICE)
        for e, (start, end) in enumerate(itertools.pairwise(self.offsets.tolist())):
            rows = a[start:end].float()
            if self.gradient.kind == "wgrad":
                result[e] = rows.t() @ b[start:end].float()
            else:
                result[start:end] = rows @ b[e].float()
        return result if self.sum is None else result + self.sum

    def arguments(self) -> dict:
        """With a result that is poisoned, or that the sum is added to."""
        if self.sum is not None:
            return self.tensors | {"result0": self.sum.clone()}
        out = measure.poisoned(self.out_shape, grouped.DTYPES[self.gradient.result])
        return self.tensors | {"result0": out}

    def torch_grouped(self):
        """The peer, where PyTorch has one."""
        a, b, ends = self.tensors["a"], self.tensors["b"], self.offsets[1:]
        if self.gradient.format.scale or self.surplus or self.gradient.adds:
            return None
        if self.gradient.kind == "wgrad":
            return lambda _: torch._grouped_mm(a.t(), b, offs=ends)
        return lambda _: torch._grouped_mm(a, b, offs=ends)


def check(kernels, operands: Operands) -> dict:
    """Two launches: what they give, and whether they give the same."""
    results = []
    for _ in range(2):
        arguments = operands.arguments()
        kernels.launch("gradient", arguments)
        torch.cuda.synchronize()
        results.append(arguments["result0"])
    expected = operands.reference()
    inside = ~expected.isnan()
    unwritten = int(results[0][inside].isnan().sum())
    error = measure.relative_error(results[0][inside], expected[inside])
    # Rows outside of every group stay as they are.
    kept = bool(results[0][~inside].isnan().all())
    bits = [r.view(torch.int16 if r.element_size() == 2 else torch.int32) for r in results]
    repeats = torch.equal(*bits)
    limit = SCHEMES[operands.gradient.scheme].error
    ok = unwritten == 0 and kept and repeats and error <= limit
    return {"error_norm": error, "unwritten": unwritten, "repeats": repeats, "ok": ok}


def gradient_row(gradient: Gradient, rows: int, dense, config: str = "") -> dict:
    kernels = moeq.load(PROGRAMS / gradient.program(config))
    step = PADDED_ROWS if gradient.format.scale else 1
    surplus = PADDED_ROWS if gradient.format.scale else SURPLUS_ROWS
    counts = uneven(gradient.experts, 1000 * gradient.experts // step * step, step)
    row = {"config": config} | check(kernels, Operands(gradient, counts, surplus))
    operands = Operands(gradient, [rows] * gradient.experts, 0)
    equal = check(kernels, operands)
    row["ok"] &= equal["ok"]
    row["error_norm"] = max(row["error_norm"], equal["error_norm"])
    arguments = operands.arguments()
    functions = [dense, lambda stream: kernels.launch("gradient", arguments, stream)]
    if peer := operands.torch_grouped():
        try:
            peer(0)
            functions.append(peer)
        except (RuntimeError, AttributeError) as failure:
            row["torch_error"] = str(failure).splitlines()[0][:120]
    dense_seconds, seconds, *peer_seconds = measure.in_turns(*functions)
    peak, rate = dense.flops / dense_seconds, operands.flops / seconds
    row |= {"us": seconds * 1e6, "tflops": rate * 1e-12, "dense": peak, "of_dense": rate / peak}
    row["goal"] = GRADIENT_GOALS.get((gradient.kind, gradient.scheme))
    if peer_seconds:
        row |= {"torch_us": peer_seconds[0] * 1e6, "of_torch": peer_seconds[0] / seconds}
    return row


def name_of(gradient: Gradient, rows: int) -> str:
    g = gradient
    adds = " added" if g.adds else ""
    return f"{g.kind} {g.scheme} {g.result}{adds} E={g.experts} {g.n}x{g.k} rows={rows}"


def wgrad(records, deadline: float) -> None:
    torch.manual_seed(int(time.time()))
    torch.backends.cuda.matmul.allow_tf32 = False
    measure.PAUSE_SECONDS = 0.1
    for scheme in GRADIENT_FORMATS:
        dense = measure.Dense("fp8" if SCHEMES[scheme].dense == "D8" else "bf16")
        for gradient in GRADIENTS:
            if gradient.scheme != scheme:
                continue
            for rows in GRADIENT_ROWS:
                records.attempt(
                    name_of(gradient, rows),
                    functools.partial(gradient_row, gradient, rows, dense),
                    deadline,
                )
                torch.cuda.empty_cache()


SECTIONS = {"wgrad": wgrad}
