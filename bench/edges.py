"""Suite `edges`: the counts of rows that break kernels, on every family of kernels.

Each family runs ROUTINGS random routings whose counts come from COUNTS, with NaN in the rows of A
that belong to no expert and in a result whose surplus rows must stay as they are; results are
compared with the reference and from launch to launch, and a row alone with itself in a batch.
"""

import functools
import random
import time

import torch

import grouped
import measure
import moeq
from measure import DEVICE
from suites import EDGES, PROGRAMS, SCHEMES

ROUTINGS = 200
COUNTS = (0, 1, 7, 8, 9, 63, 64, 65, 127, 128, 129, 255, 256, 257, 1000)
SURPLUS_ROWS = 5
BATCH = 4096
BITS = torch.int16


class Family:
    """One program with operands for the largest routing."""

    def __init__(self, problem, config: str):
        self.problem = problem
        self.kernels = moeq.load(PROGRAMS / problem.program(config))
        self.weights = grouped.Weights(problem)
        rows = max(problem.experts * max(COUNTS), BATCH) + SURPLUS_ROWS
        self.scheme = SCHEMES[problem.scheme]
        self.a = grouped.values_of((rows, problem.k), self.scheme.lhs)
        self.sa = grouped.scales_of((rows, problem.k), self.scheme.lhs)
        self.dtype = grouped.DTYPES[self.scheme.result]

    def launch(self, a, sa, offsets) -> torch.Tensor:
        out = measure.poisoned((len(a), self.problem.n), self.dtype)
        tensors = {"a": a, "b": self.weights.values, "offsets": offsets, "result0": out}
        scales = {"a.scale": sa, "b.scale": self.weights.scale}
        tensors |= {name: scale for name, scale in scales.items() if scale is not None}
        self.kernels.launch("grouped_matmul", tensors)
        return out

    def operands(self, rows: int):
        """The first rows of A, those after them poisoned where the format has a NaN."""
        a = self.a[: rows + SURPLUS_ROWS].clone()
        sa = None if self.sa is None else self.sa[: rows + SURPLUS_ROWS].clone()
        if a.dtype != torch.int8:
            a[rows:] = float("nan")
        if sa is not None:
            sa[rows:] = 255 if sa.dtype == torch.uint8 else float("nan")
        return a, sa

    def check(self, counts: list[int]) -> str | None:
        """What is wrong at a routing, or None."""
        rows = sum(counts)
        offsets = grouped.offsets_of(torch.tensor(counts, device=DEVICE))
        a, sa = self.operands(rows)
        out, again = self.launch(a, sa, offsets), self.launch(a, sa, offsets)
        expected = grouped.reference(
            self.scheme, a, sa, self.weights.values, self.weights.scale, offsets
        )
        torch.cuda.synchronize()
        if not torch.isnan(out[rows:]).all():
            return "wrote rows of no expert"
        if not torch.equal(out.view(BITS), again.view(BITS)):
            return "differs from launch to launch"
        if rows == 0:
            return None
        error = grouped.error_of(self.scheme, out[:rows], expected[:rows])
        if grouped.is_right(self.scheme, error):
            return None
        return f"error {error:.3g}, expects at most {self.scheme.error or 0}"

    def check_alone(self) -> str | None:
        """Whether rows depend on the batch that they are in."""
        experts = self.problem.experts
        counts = grouped.counts_of(BATCH, experts, 1, "uniform")
        offsets = grouped.offsets_of(counts)
        a, sa = self.operands(BATCH)
        batch = self.launch(a, sa, offsets)
        bounds = offsets.tolist()
        for row in random.sample(range(BATCH), 16):
            alone_counts = [int(bounds[e] <= row < bounds[e + 1]) for e in range(experts)]
            alone = self.launch(
                a[row : row + 1],
                None if sa is None else sa[row : row + 1],
                grouped.offsets_of(torch.tensor(alone_counts, device=DEVICE)),
            )
            if not torch.equal(alone.view(BITS), batch[row : row + 1].view(BITS)):
                return f"row {row} differs alone"
        return None


def edges_row(problem, config: str) -> dict:
    family = Family(problem, config)
    failures = []
    for i in range(ROUTINGS):
        counts = [random.choice(COUNTS) for _ in range(problem.experts)]
        if i < 2:  # nothing at all; one expert with everything
            counts = [0] * problem.experts
            counts[-1] = 1000 * i
        if wrong := family.check(counts):
            failures.append(f"{wrong} at {counts}")
    if wrong := family.check_alone():
        failures.append(wrong)
    row = {"routings": ROUTINGS, "failures": len(failures), "ok": not failures}
    return row | ({"first": failures[0][:300]} if failures else {})


def edges(records, deadline: float) -> None:
    seed = int(time.time())
    torch.manual_seed(seed)
    random.seed(seed)
    torch.backends.cuda.matmul.allow_tf32 = False
    records.add(row="seed", seed=seed)
    for problem, config in EDGES:
        records.attempt(
            f"edges {problem.program(config)}",
            functools.partial(edges_row, problem, config),
            deadline,
        )
        torch.cuda.empty_cache()


SECTIONS = {"edges": edges}
