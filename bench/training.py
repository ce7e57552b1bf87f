"""Suite `training`: the experts of examples/te-grouped-linear-mxfp8.mlir, forward and backward,
against gradients in f32 of the operands before their quantization, and against the dense BF16
rate of the same run: Hopper multiplies MXFP8 exactly only as BF16.
"""

import functools
import itertools
import time
from dataclasses import dataclass

import torch

import act_quant
import grouped
import measure
import moeq
from suites import PROGRAMS, TRAINING
from wgrad import PADDED_ROWS, uneven

EXPERTS, MODEL, HIDDEN = 8, 4096, 8192
ROWS = 8192
# docs/Spec.md, "Gradients": roundings to 4 significant bits, with a condition of 2.
LIMIT = (2 * 2**2 + 2 + 1 + 1) ** 0.5 * 2.0**-4 / 3**0.5


@dataclass
class Operands:
    """As a training step has them, in BF16, with the gradient of the result."""

    function: str
    counts: list[int]

    def __post_init__(self):
        columns = HIDDEN * (2 if self.function == "swiglu" else 1)
        rows = sum(self.counts)
        self.offsets = act_quant.offsets_of(self.counts)
        padded = [grouped.ceil_div(n, PADDED_ROWS) * PADDED_ROWS for n in self.counts]
        self.padded_offsets = act_quant.offsets_of(padded)
        self.x = measure.gaussian((rows, MODEL), torch.bfloat16)
        self.dy = measure.gaussian((rows, MODEL), torch.bfloat16)
        self.w1 = measure.gaussian((EXPERTS, columns, MODEL), torch.bfloat16).mul_(MODEL**-0.5)
        self.w2 = measure.gaussian((EXPERTS, MODEL, HIDDEN), torch.bfloat16).mul_(HIDDEN**-0.5)
        # Three matmuls for each weight.
        self.flops = 2.0 * rows * MODEL * (columns + HIDDEN)

    def activate(self, h):
        if self.function == "srelu":
            return torch.relu(h) ** 2
        gate, up = h.chunk(2, -1)
        return torch.nn.functional.silu(gate) * up

    def check(self, got: dict) -> float:
        """The largest relative error of the result and the gradients, or NaN if one has any."""
        pairs = {name: [0.0, 0.0] for name in got}

        def compare(name, where, want, added=0):
            difference = (got[name][where].float() - added - want).norm() ** 2
            pairs[name][0] += float(difference)
            pairs[name][1] += float(want.norm() ** 2)

        for e, ends in enumerate(itertools.pairwise(self.offsets.tolist())):
            rows = slice(*ends)
            x, dy = self.x[rows].float(), self.dy[rows].float()
            w1, w2 = self.w1[e].float(), self.w2[e].float()
            h = (x @ w1.t()).requires_grad_()
            with torch.enable_grad():
                a = self.activate(h)
            (dh,) = torch.autograd.grad(a, h, dy @ w2)
            a = a.detach()
            compare("y", rows, a @ w2.t())
            compare("dx", rows, dh @ w1)
            compare("dw1", e, dh.t() @ x, added=1)
            compare("dw2", e, dy.t() @ a, added=1)
        return largest([(difference / norm) ** 0.5 for difference, norm in pairs.values()])


def largest(errors: list[float]) -> float:
    """NaN if any is, which `max` may pass over."""
    return float(torch.tensor(errors, dtype=torch.float64).max())


def quantized(weight: torch.Tensor, name: str) -> dict:
    """A weight [E, n, k] in blocks along k."""
    parts = [act_quant.quantize(part.contiguous(), "mxfp8") for part in weight]
    values, scales = (torch.stack(part) for part in zip(*parts, strict=True))
    return {name: values, f"{name}.scale": scales}


class Step:
    """Forward and backward of one function, on the same operands each time."""

    def __init__(self, operands: Operands):
        self.kernels = moeq.load(PROGRAMS / TRAINING)
        self.function = operands.function
        o, offsets = operands, {"offsets": operands.offsets}
        self.inputs = offsets | {"x": o.x} | quantized(o.w1, "w1") | quantized(o.w2, "w2")
        self.forward_outputs = act_quant.poisoned_outputs(
            self.kernels, f"{self.function}_forward", self.inputs
        )
        kept = dict(zip(("h", "xt", "at"), ("result1", "result2", "result3"), strict=True))
        saved = {name: self.forward_outputs[result] for name, result in kept.items()}
        saved |= {
            f"{name}.scale": self.forward_outputs[f"{kept[name]}.scale"] for name in ("xt", "at")
        }
        self.grads = offsets | saved | {"dy": o.dy, "padded_offsets": o.padded_offsets}
        self.grads |= quantized(o.w1.transpose(1, 2), "w1t")
        self.grads |= quantized(o.w2.transpose(1, 2), "w2t")
        # What the gradients are added to.
        self.grads |= {"dw1": torch.ones_like(o.w1.float()), "dw2": torch.ones_like(o.w2.float())}
        self.backward_outputs = act_quant.poisoned_outputs(
            self.kernels, f"{self.function}_backward", self.grads
        )

    def forward(self, stream: int = 0) -> None:
        self.kernels.launch(f"{self.function}_forward", self.inputs | self.forward_outputs, stream)

    def backward(self, stream: int = 0) -> None:
        self.kernels.launch(f"{self.function}_backward", self.grads | self.backward_outputs, stream)

    def results(self) -> dict:
        found = {"y": self.forward_outputs["result0"], "dx": self.backward_outputs["result0"]}
        return found | {name: self.grads[name] for name in ("dw1", "dw2")}


def step_row(function: str, dense) -> dict:
    errors = []
    for counts in (uneven(EXPERTS, ROWS, 1), [ROWS // EXPERTS] * EXPERTS):
        operands = Operands(function, counts)
        step = Step(operands)
        step.forward()
        step.backward()
        torch.cuda.synchronize()
        errors.append(operands.check(step.results()))
    dense_seconds, *seconds = measure.in_turns(dense, step.forward, step.backward)
    peak = dense.flops / dense_seconds
    row = {
        "error_norm": largest(errors),
        "ok": largest(errors) <= LIMIT,
        "dense": peak,
        "forward_us": seconds[0] * 1e6,
        "backward_us": seconds[1] * 1e6,
    }
    return row | {"of_dense": 3 * operands.flops / sum(seconds) / peak}


def training(records: measure.Records, deadline: float) -> None:
    torch.manual_seed(int(time.time()))
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.set_grad_enabled(False)
    measure.PAUSE_SECONDS = 0.1
    dense = measure.Dense("bf16")
    for function in ("swiglu", "srelu"):
        records.attempt(function, functools.partial(step_row, function, dense), deadline)
        torch.cuda.empty_cache()


SECTIONS = {"training": training}
