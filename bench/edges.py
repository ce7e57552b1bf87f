"""Suite `edges`: the counts of rows that break kernels, on every family of kernels.

Each family runs ROUTINGS random routings whose counts come from COUNTS, with NaN in the rows of A
that belong to no expert and in a result whose other rows must stay as they are; results are
compared with the reference and from launch to launch, and a row alone with itself in a batch.
Section `big` has more than 2^31 elements in every operand.
"""

import functools
import random
import time

import torch

import grouped
import measure
import moeq
from measure import DEVICE
from suites import BIG, BIG_TOKENS, EDGES, PROGRAMS, SCHEMES

ROUTINGS = 200
COUNTS = (0, 1, 7, 8, 9, 63, 64, 65, 127, 128, 129, 255, 256, 257, 1000)
SURPLUS_ROWS = 5
BATCH = 4096
BITS = torch.int16


def poison_of(tensor: torch.Tensor):
    """What a format has for a NaN, or its largest number."""
    if tensor.dtype == torch.uint8:
        return 255
    return float("nan") if tensor.is_floating_point() else 127


def placed(tensor: torch.Tensor, shape: tuple[int, ...], index) -> torch.Tensor:
    """A tensor of poison that has the rows of another one at `index`."""
    result = torch.full(shape, poison_of(tensor), device=DEVICE, dtype=torch.float32)
    result = result.to(tensor.dtype)
    bits = (t.view(torch.uint8) if t.element_size() == 1 else t for t in (result, tensor))
    target, source = bits
    target[index] = source
    return result


class Placement:
    """Where the rows [S, k] of a routing are in A, and the rows of its result in C."""

    def __init__(self, problem, counts: torch.Tensor):
        offsets, rows = grouped.offsets_of(counts), int(counts.sum())
        expert = torch.repeat_interleave(torch.arange(len(counts), device=DEVICE), counts)
        ragged = torch.arange(rows, device=DEVICE)
        self.extra = {"offsets": offsets}
        self.lhs_shape, self.lhs = (rows + SURPLUS_ROWS,), (ragged,)
        self.out_shape, self.out = self.lhs_shape, self.lhs
        if problem.form == "masked":
            self.extra = {"counts": counts.int()}
            self.lhs_shape = self.out_shape = (len(counts), int(counts.max()) + SURPLUS_ROWS)
            self.lhs = self.out = (expert, ragged - offsets[expert])
        if problem.form == "gathered":
            self.lhs = (torch.randperm(rows + SURPLUS_ROWS, device=DEVICE)[:rows],)
            index = torch.nn.functional.pad(self.lhs[0], (0, SURPLUS_ROWS), value=1 << 30)
            self.extra["rows"] = index.int()


class Family:
    """One program with operands for the largest routing."""

    def __init__(self, problem, config: str):
        self.problem = problem
        self.kernels = moeq.load(PROGRAMS / problem.program(config))
        self.weights = grouped.Weights(problem)
        rows = max(problem.experts * max(COUNTS), BATCH)
        self.scheme = SCHEMES[problem.scheme]
        self.a = grouped.values_of((rows, problem.k), self.scheme.lhs)
        self.sa = grouped.scales_of((rows, problem.k), self.scheme.lhs)
        self.dtype = grouped.DTYPES[self.scheme.result]

    def launch(self, rows: slice, counts: torch.Tensor) -> tuple[torch.Tensor, bool]:
        """The result for some rows of A by their counts, and whether it left alone what is of no
        expert. All that the kernel should not read is poisoned."""
        where = Placement(self.problem, counts)
        out = measure.poisoned((*where.out_shape, self.problem.n), self.dtype)
        tensors = {"b": self.weights.copies[0], "result0": out} | where.extra
        for name, tensor in (("a", self.a), ("a.scale", self.sa)):
            if tensor is not None:
                shape = (*where.lhs_shape, tensor.shape[1])
                tensors[name] = placed(tensor[rows], shape, where.lhs)
        if self.weights.scale is not None:
            tensors["b.scale"] = self.weights.taken_scale
        self.kernels.launch("grouped_matmul", tensors)
        torch.cuda.synchronize()
        result = out[where.out]
        out[where.out] = float("nan")
        return result, bool(torch.isnan(out).all())

    def check(self, counts: list[int]) -> str | None:
        """What is wrong at a routing, or None."""
        rows = slice(0, sum(counts))
        counts = torch.tensor(counts, device=DEVICE)
        (out, untouched), (again, _) = self.launch(rows, counts), self.launch(rows, counts)
        sa = None if self.sa is None else self.sa[rows]
        b, sb = self.weights.values, self.weights.scale
        offsets = grouped.offsets_of(counts)
        expected = grouped.reference(self.scheme, self.a[rows], sa, b, sb, offsets)
        if not untouched:
            return "wrote rows of no expert"
        if not torch.equal(out.view(BITS), again.view(BITS)):
            return "differs from launch to launch"
        if len(out) == 0:
            return None
        error = grouped.error_of(self.scheme, out, expected)
        if grouped.is_right(self.scheme, error):
            return None
        return f"error {error:.3g}, expects at most {self.scheme.error or 0}"

    def check_alone(self) -> str | None:
        """Whether rows depend on the batch that they are in."""
        experts = self.problem.experts
        counts = grouped.counts_of(BATCH, experts, 1, "uniform")
        batch, _ = self.launch(slice(0, BATCH), counts)
        bounds = grouped.offsets_of(counts).tolist()
        for row in random.sample(range(BATCH), 16):
            owner = [int(bounds[e] <= row < bounds[e + 1]) for e in range(experts)]
            alone, _ = self.launch(slice(row, row + 1), torch.tensor(owner, device=DEVICE))
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


def big_row() -> dict:
    counts = grouped.counts_of(BIG_TOKENS, BIG.experts, BIG.top_k, "uniform")
    case = grouped.Case(grouped.Weights(BIG), counts)
    out = case.launch(case.tensors())
    torch.cuda.synchronize()
    return case.check(out)


def big(records, deadline: float) -> None:
    torch.backends.cuda.matmul.allow_tf32 = False
    records.attempt(f"big {BIG.program()} T={BIG_TOKENS}", big_row, deadline)


SECTIONS = {"edges": edges, "big": big}
