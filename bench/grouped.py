"""The operands of grouped matmuls, their f32 reference, and the row of one measurement."""

import functools
import itertools
import json
import time

import torch

import measure
import moeq
from measure import DEVICE, FP8
from suites import PROGRAMS, Problem, Row, sweep_file

# The largest relative error of a result; int8 is compared by bits.
ERROR = {"fp8": 5e-3}
OTHER_ERROR = 2.5e-3
# Up to so many tokens the weights are the traffic: calls rotate copies, so that none of
# them finds its weights in the L2 cache.
ROTATED_TOKENS = 256
L2_BYTES = 60 << 20
ROTATED_BYTES = 8 << 30


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


def values_of(shape, scheme: str) -> torch.Tensor:
    """Gaussian elements of a scheme's operands."""
    if scheme == "int8":
        normal = measure.gaussian(shape, torch.bfloat16)
        return normal.mul_(32).round_().clamp_(-127, 127).to(torch.int8)
    dtypes = {"bf16": torch.bfloat16, "f16": torch.float16}
    return measure.gaussian(shape, dtypes.get(scheme, FP8))


def ceil_div(x: int, y: int) -> int:
    return -(-x // y)


def scales_of(scheme: str, *shape: int, is_rhs: bool) -> torch.Tensor | None:
    """The scales of an operand [.., rows, k], or None for a scheme without any."""
    *outer, rows, k = shape
    if scheme in ("bf16", "f16"):
        return None
    if scheme == "mxfp8":  # 2^-3 to 2^3
        shape = (*outer, rows, ceil_div(k, 32))
        return torch.randint(124, 131, shape, device=DEVICE, dtype=torch.uint8)
    if scheme == "fp8-block":
        rows = ceil_div(rows, 128) if is_rhs else rows
        return torch.rand(*outer, rows, ceil_div(k, 128), device=DEVICE) + 0.5
    return torch.rand(*outer, rows, 1, device=DEVICE) + 0.5


def dequantized(values: torch.Tensor, scale: torch.Tensor, scheme: str) -> torch.Tensor:
    """A matrix [rows, k] in f32, its block scales applied."""
    wide = values.float()
    if scheme == "mxfp8":
        wide *= torch.exp2(scale.float() - 127).repeat_interleave(32, 1)[:, : wide.shape[1]]
    if scheme == "fp8-block":
        scale = scale.repeat_interleave(128, 1)[:, : wide.shape[1]]
        if len(scale) != len(wide):
            scale = scale.repeat_interleave(128, 0)[: len(wide)]
        wide *= scale
    return wide


def reference(scheme: str, a, sa, b, sb, offsets) -> torch.Tensor:
    """The result in f32; of int8, whose sums are exact, as the bf16 that it must equal."""
    bounds = offsets.tolist()
    dtype = torch.bfloat16 if scheme == "int8" else torch.float32
    result = torch.full((len(a), b.shape[1]), float("nan"), device=DEVICE, dtype=dtype)
    for e, (start, end) in enumerate(itertools.pairwise(bounds)):
        if start == end:
            continue
        rows = slice(start, end)
        if scheme == "int8":  # torch._int_mm takes more than 16 rows
            padded = torch.nn.functional.pad(a[rows], (0, 0, 0, max(0, 32 - (end - start))))
            sums = torch._int_mm(padded, b[e].t())[: end - start]
            result[rows] = (sums.float() * (sa[rows] * sb[e].t())).bfloat16()
            continue
        has_blocks = scheme in ("mxfp8", "fp8-block")
        x = dequantized(a[rows], sa[rows], scheme) if has_blocks else a[rows].float()
        w = dequantized(b[e], sb[e], scheme) if has_blocks else b[e].float()
        result[rows] = x @ w.t()
        if scheme == "fp8":
            result[rows] *= sa[rows] * sb[e].t()
    return result


class Weights:
    """The weights of a problem, several copies where calls are to rotate them."""

    def __init__(self, problem: Problem):
        self.problem = problem
        self.shape = (problem.experts, problem.n, problem.k)
        self.values = values_of(self.shape, problem.scheme)
        self.scale = scales_of(problem.scheme, *self.shape, is_rhs=True)
        self.copies = [self.values]

    def rotated(self) -> list[torch.Tensor]:
        """Copies that together are several times the L2 cache."""
        size = self.values.numel() * self.values.element_size()
        count = min(max(2, ceil_div(4 * L2_BYTES, size)), max(1, ROTATED_BYTES // size))
        while len(self.copies) < count:
            self.copies.append(self.values.clone())
        return self.copies


def torch_grouped(scheme: str, a, sa, b, sb, offsets):
    """The peer: PyTorch's own grouped matmul, or None where it has no such scheme."""
    if scheme == "bf16":
        return lambda _: torch._grouped_mm(a, b.transpose(-2, -1), offs=offsets[1:])
    if scheme != "fp8":
        return None
    return lambda _: torch._scaled_grouped_mm(
        a, b.transpose(-2, -1), sa.flatten(), sb.squeeze(-1), offs=offsets[1:],
        out_dtype=torch.bfloat16, use_fast_accum=True,
    )  # fmt: skip


def in_rotation(functions):
    """Calls them in turns."""
    turns = itertools.cycle(functions)
    return lambda stream: next(turns)(stream)


def matmul_row(
    row: Row, config: str, weights: Weights, ceilings: dict, peers: bool, seed: int
) -> dict:
    """Checks and times one row, with a config or the compiler's choice."""
    torch.manual_seed(seed)
    p = row.problem
    counts = counts_of(row.tokens, p.experts, p.top_k, row.routing)
    offsets = offsets_of(counts)
    rows = row.tokens * p.top_k
    a = values_of((rows, p.k), p.scheme)
    sa = scales_of(p.scheme, rows, p.k, is_rhs=False)
    kernels = moeq.load(PROGRAMS / p.program(config))
    dtype = torch.float16 if p.scheme == "f16" else torch.bfloat16

    def bound(values):
        out = measure.poisoned((rows, p.n), dtype)
        tensors = {"a": a, "b": values, "offsets": offsets, "result0": out}
        if sa is not None:
            tensors |= {"a.scale": sa, "b.scale": weights.scale}
        return tensors

    copies = weights.rotated() if row.tokens <= ROTATED_TOKENS else weights.copies[:1]
    calls = [bound(values) for values in copies]
    for tensors in calls:
        kernels.launch("grouped_matmul", tensors)
    torch.cuda.synchronize()
    out, again = calls[0]["result0"], calls[-1]["result0"]
    expected = reference(p.scheme, a, sa, weights.values, weights.scale, offsets)
    if out is again:
        again = out.clone()
        kernels.launch("grouped_matmul", calls[0])
        torch.cuda.synchronize()
    unwritten = int(torch.isnan(out).sum())
    bits = torch.int16
    repeats = torch.equal(out.view(bits), again.view(bits))
    if p.scheme == "int8":
        error = 0.0 if torch.equal(out.view(bits), expected.view(bits)) else float("inf")
    else:
        error = measure.relative_error(out, expected)
    del expected
    bound_of = ERROR.get(p.scheme, OTHER_ERROR)
    launches = [functools.partial(kernels.launch, "grouped_matmul", t) for t in calls]
    seconds = measure.graph_time(in_rotation(launches))
    size = a.element_size()
    flops = 2.0 * rows * p.n * p.k
    used = int((counts > 0).sum())
    bytes_ = row.tokens * p.k * size + used * p.n * p.k * size + rows * p.n * 2
    dense = ceilings["D8" if size == 1 and p.scheme != "mxfp8" else "D16"]
    floor = max(bytes_ / ceilings["CB"], flops / dense)
    result = {
        "shape": row.name,
        "config": config,
        "us": seconds * 1e6,
        "tflops": flops / seconds * 1e-12,
        "gbps": bytes_ / seconds * 1e-9,
        "score": floor / seconds,
        "goal": row.goal,
        "error_norm": error,
        "unwritten": unwritten,
        "repeats": repeats,
        "ok": unwritten == 0 and repeats and error <= bound_of,
    }
    if row.peer:
        result |= {
            "peer_us": row.peer[0],
            "peer": row.peer[1],
            "of_peer": row.peer[0] / result["us"],
        }
    if peers and (peer := torch_grouped(p.scheme, a, sa, weights.values, weights.scale, offsets)):
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
        configs = ["", *json.loads(sweep_file(problem).read_text())] if sweep else [""]
        # The configs of a row get the same operands.
        for i, row in enumerate(row for row in all_rows if row.problem == problem):
            for config in configs:
                measured = functools.partial(
                    matmul_row, row, config, weights, ceilings, not sweep, seed + i
                )
                records.attempt(f"{row.name} {config}".strip(), measured, deadline)
        del weights
        torch.cuda.empty_cache()
