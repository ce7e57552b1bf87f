"""The operands of grouped matmuls, their f32 reference, and the row of one measurement."""

import functools
import itertools
import json
import time

import torch

import measure
import moeq
from measure import DEVICE, FP8
from suites import PROGRAMS, SCHEMES, Format, Problem, Row, Scheme, sweep_file

# Up to so many tokens the weights are the traffic: calls rotate copies, so that none of
# them finds its weights in the L2 cache.
ROTATED_TOKENS = 256
L2_BYTES = 60 << 20
ROTATED_BYTES = 8 << 30
# The configs that a sweep times again beside the compiler's choice.
BEST = 3


def counts_of(tokens: int, experts: int, top_k: int, routing: str) -> torch.Tensor:
    """Rows of each expert: the top_k of normal logits, or of popularity 1 / rank."""
    noise = torch.randn(tokens, experts, device=DEVICE)
    if routing == "zipf":
        gumbel = -torch.log(-torch.log(torch.rand_like(noise).clamp(1e-9, 1 - 1e-9)))
        noise = gumbel - torch.log(torch.arange(1, experts + 1, device=DEVICE).float())
    ids = noise.topk(top_k, 1).indices
    return torch.bincount(ids.flatten(), minlength=experts)


def offsets_of(counts: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.pad(counts.cumsum(0), (1, 0)).int()


DTYPES = {"bf16": torch.bfloat16, "f16": torch.float16, "f32": torch.float32, "f8E4M3FN": FP8}


def ceil_div(x: int, y: int) -> int:
    return -(-x // y)


E2M1 = (0, 0.5, 1, 1.5, 2, 3, 4, 6)


def values_of(shape, format: Format) -> torch.Tensor:
    """Gaussian elements of an operand [.., rows, k]; of 4 bits any, two a byte."""
    if format.bits == 4:
        return torch.randint(0, 256, (*shape[:-1], shape[-1] // 2), device=DEVICE).to(torch.uint8)
    if format.element == "i8":
        normal = measure.gaussian(shape, torch.bfloat16)
        return normal.mul_(32).round_().clamp_(-127, 127).to(torch.int8)
    return measure.gaussian(shape, DTYPES[format.element])


def scales_of(shape, format: Format) -> torch.Tensor | None:
    """The scales of an operand [.., rows, k], or None for a format without any."""
    if not format.scale:
        return None
    *outer, rows, k = shape
    *_, down, along = (1, *format.block)
    scales = (*outer, ceil_div(rows, down), 1 if along == "*" else ceil_div(k, along))
    if format.scale == "f8E8M0FNU":  # 2^-3 to 2^3
        return torch.randint(124, 131, scales, device=DEVICE, dtype=torch.uint8)
    return (torch.rand(scales, device=DEVICE) + 0.5).to(DTYPES[format.scale])


def nibbles(values: torch.Tensor, format: Format) -> torch.Tensor:
    """The numbers of 4-bit values, the first one of a byte in its low half."""
    codes = torch.stack((values & 15, values >> 4), -1).flatten(-2)
    if format.element == "f4E2M1FN":
        return torch.tensor([*E2M1, *(-x for x in E2M1)], device=DEVICE)[codes.int()]
    return (codes.int() ^ 8).float() - 8 if format.element == "i4" else codes.float()


def dequantized(values: torch.Tensor, scale: torch.Tensor | None, format: Format) -> torch.Tensor:
    """A matrix [rows, k] in f32, its scales applied."""
    wide = nibbles(values, format) if format.bits == 4 else values.float()
    if scale is None:
        return wide
    scale = torch.exp2(scale.float() - 127) if scale.dtype == torch.uint8 else scale.float()
    if scale.shape[1] > 1:
        scale = scale.repeat_interleave(format.block[-1], 1)[:, : wide.shape[1]]
    if len(scale) != len(wide):
        scale = scale.repeat_interleave(format.block[0], 0)[: len(wide)]
    return wide.mul_(scale)


def reference(scheme: Scheme, a, sa, b, sb, offsets) -> torch.Tensor:
    """The result in f32; of integers, whose sums are exact, as the bf16 that it must equal."""
    is_integer = scheme.error is None
    dtype = torch.bfloat16 if is_integer else torch.float32
    result = torch.full((len(a), b.shape[1]), float("nan"), device=DEVICE, dtype=dtype)
    for e, (start, end) in enumerate(itertools.pairwise(offsets.tolist())):
        if start == end:
            continue
        rows = slice(start, end)
        if is_integer:  # torch._int_mm takes more than 16 rows
            padded = torch.nn.functional.pad(a[rows], (0, 0, 0, max(0, 32 - (end - start))))
            sums = torch._int_mm(padded, b[e].t())[: end - start]
            result[rows] = (sums.float() * (sa[rows] * sb[e].t())).bfloat16()
            continue
        x = dequantized(a[rows], None if sa is None else sa[rows], scheme.lhs)
        w = dequantized(b[e], None if sb is None else sb[e], scheme.rhs)
        result[rows] = x @ w.t()
    return result


def is_right(scheme: Scheme, error: float) -> bool:
    """Whether a result may have this error; NaN is wrong."""
    return error <= (scheme.error or 0.0)


def error_of(scheme: Scheme, out: torch.Tensor, expected: torch.Tensor) -> float:
    """The relative error, by norm; where bits must be equal, 0 or infinity."""
    if scheme.error is None:
        equal = torch.equal(out.view(torch.int16), expected.view(torch.int16))
        return 0.0 if equal else float("inf")
    return measure.relative_error(out, expected)


class Weights:
    """The weights of a problem, several copies where calls are to rotate them."""

    def __init__(self, problem: Problem):
        self.problem = problem
        self.shape = (problem.experts, problem.n, problem.k)
        format = SCHEMES[problem.scheme].rhs
        self.values = values_of(self.shape, format)
        self.scale = scales_of(self.shape, format)
        # What the program takes.
        taken = moeq.Weight(str(format.plain()), self.values, self.scale)
        if format.packing:
            taken = moeq.pack_fragments(taken)
        self.copies, self.taken_scale = [taken.values], taken.scales

    def rotated(self) -> list[torch.Tensor]:
        """Copies that together are several times the L2 cache."""
        taken = self.copies[0]
        size = taken.numel() * taken.element_size()
        count = min(max(2, ceil_div(4 * L2_BYTES, size)), max(1, ROTATED_BYTES // size))
        while len(self.copies) < count:
            self.copies.append(taken.clone())
        return self.copies


class Case:
    """A problem's operands for one routing, and calls of its program on them."""

    def __init__(self, weights: Weights, counts: torch.Tensor, config: str = ""):
        p = self.problem = weights.problem
        self.scheme = SCHEMES[p.scheme]
        self.weights, self.counts = weights, counts
        self.offsets = offsets_of(counts)
        self.rows = int(counts.sum())
        self.a = values_of((self.rows, p.k), self.scheme.lhs)
        self.sa = scales_of((self.rows, p.k), self.scheme.lhs)
        self.kernels = moeq.load(PROGRAMS / p.program(config))

    def tensors(self, values: torch.Tensor | None = None) -> dict:
        """The arguments by name, with a poisoned result, and a copy of the weights."""
        values = self.weights.copies[0] if values is None else values
        out = measure.poisoned((self.rows, self.problem.n), DTYPES[self.scheme.result])
        tensors = {"a": self.a, "b": values, "offsets": self.offsets, "result0": out}
        scales = {"a.scale": self.sa, "b.scale": self.weights.taken_scale}
        return tensors | {name: scale for name, scale in scales.items() if scale is not None}

    def launch(self, tensors: dict, stream: int = 0) -> torch.Tensor:
        self.kernels.launch("grouped_matmul", tensors, stream)
        return tensors["result0"]

    def check(self, out: torch.Tensor) -> dict:
        """What a result, of a launch that has ended, is worth."""
        b, sb = self.weights.values, self.weights.scale
        expected = reference(self.scheme, self.a, self.sa, b, sb, self.offsets)
        error, unwritten = error_of(self.scheme, out, expected), int(torch.isnan(out).sum())
        ok = unwritten == 0 and is_right(self.scheme, error)
        return {"error_norm": error, "unwritten": unwritten, "ok": ok}

    def torch_grouped(self):
        """The peer: PyTorch's own grouped matmul, or None where it has no such scheme."""
        a, b, ends = self.a, self.weights.values.transpose(-2, -1), self.offsets[1:]
        if self.problem.scheme == "bf16":
            return lambda _: torch._grouped_mm(a, b, offs=ends)
        if self.problem.scheme != "fp8":
            return None
        sa, sb = self.sa.flatten(), self.weights.scale.squeeze(-1)
        return lambda _: torch._scaled_grouped_mm(
            a, b, sa, sb, offs=ends, out_dtype=torch.bfloat16, use_fast_accum=True
        )

    def score(self, seconds: float, ceilings: dict) -> dict:
        """Rates of a call of so many seconds, and the least ones, which the bytes or the
        products allow, over them."""
        p, scheme = self.problem, self.scheme
        used = int((self.counts > 0).sum())
        bits = self.rows // p.top_k * p.k * scheme.lhs.bits + used * p.n * p.k * scheme.rhs.bits
        size = bits / 8 + self.rows * p.n * 2
        flops = 2.0 * self.rows * p.n * p.k
        floor = max(size / ceilings["CB"], flops / ceilings[scheme.dense])
        rates = {"tflops": flops / seconds * 1e-12, "gbps": size / seconds * 1e-9}
        return {"us": seconds * 1e6, "score": floor / seconds} | rates


def in_rotation(functions):
    """Calls them in turns."""
    turns = itertools.cycle(functions)
    return lambda stream: next(turns)(stream)


def matmul_row(
    row: Row, weights: Weights, ceilings: dict, peers: bool, seed: int, config: str = ""
) -> dict:
    """Checks and times one row, with a config or the compiler's choice."""
    torch.manual_seed(seed)
    p = row.problem
    case = Case(weights, counts_of(row.tokens, p.experts, p.top_k, row.routing), config)
    copies = weights.rotated() if row.tokens <= ROTATED_TOKENS else weights.copies[:1]
    calls = [case.tensors(values) for values in copies]
    out, again = (case.launch(tensors) for tensors in (calls[0], case.tensors(copies[-1])))
    torch.cuda.synchronize()
    result = {"shape": row.name, "config": config} | case.check(out)
    result["repeats"] = torch.equal(out.view(torch.int16), again.view(torch.int16))
    result["ok"] &= result["repeats"]
    launches = [functools.partial(case.launch, tensors) for tensors in calls]
    seconds = measure.graph_time(in_rotation(launches))
    result |= case.score(seconds, ceilings) | {"goal": row.goal}
    if row.peer:
        result |= {
            "peer_us": row.peer[0],
            "peer": row.peer[1],
            "of_peer": row.peer[0] / result["us"],
        }
    if peers and (peer := case.torch_grouped()):
        try:
            peer(0)
            torch_seconds = measure.graph_time(peer)
            result |= {"torch_us": torch_seconds * 1e6, "of_torch": torch_seconds / seconds}
        except (RuntimeError, AttributeError) as failure:
            result["torch_error"] = str(failure).splitlines()[0][:120]
    return result


def ceilings_of() -> dict:
    """CB in bytes a second, D8 and D16 in FLOP/s."""
    ceilings = {"CB": measure.copy_bandwidth()}
    torch.cuda.empty_cache()
    for name, scheme in (("D8", "fp8"), ("D16", "bf16")):
        dense = measure.Dense(scheme)
        ceilings[name] = dense.flops / measure.graph_time(dense)
        del dense
    torch.cuda.empty_cache()
    return ceilings


def sweep_row(row: Row, configs: list[str], measured, records, deadline: float) -> None:
    """Measures a row with the compiler's choice and each of `configs`, then that choice and
    the best three again, in turns."""

    def attempt(config: str, **more) -> dict:
        name = f"{row.name} {config}".strip()
        return records.attempt(name, lambda: more | measured(config=config), deadline)

    first = {config: attempt(config) for config in ["", *configs]}
    times = {config: found["us"] for config, found in first.items() if found.get("ok")}
    best = sorted(times, key=times.get)[:BEST]
    for turn in range(measure.ROUNDS):
        for config in dict.fromkeys(["", *best]):
            attempt(config, round=turn)


def measure_rows(all_rows: list[Row], records, deadline: float, sweep: bool) -> None:
    """Measures rows, those of one problem together, with each config where they are swept."""
    seed = int(time.time())
    torch.backends.cuda.matmul.allow_tf32 = False
    measure.PAUSE_SECONDS = 0.05
    ceilings = ceilings_of()
    records.add(row="ceilings", seed=seed, gpu=torch.cuda.get_device_name(), **ceilings)
    for problem in dict.fromkeys(row.problem for row in all_rows):
        if time.time() > deadline:
            records.add(row=problem.program(), error="skipped: out of time")
            continue
        weights = Weights(problem)
        swept = json.loads(sweep_file(problem).read_text()) if sweep else {}
        # The configs of a row get the same operands.
        for i, row in enumerate(row for row in all_rows if row.problem == problem):
            measured = functools.partial(matmul_row, row, weights, ceilings, not sweep, seed + i)
            if sweep:
                sweep_row(row, swept[str(row.tokens)], measured, records, deadline)
            else:
                records.attempt(row.name, measured, deadline)
        del weights
        torch.cuda.empty_cache()
