"""Suite `smoke`: the whole Mixtral layer against an f32 reference, and the speed of its
grouped matmuls against the dense rate of the same run."""

import functools
import time

import torch

import grouped
import measure
import moeq
from measure import DEVICE, FP8
from suites import MIXTRAL, PROGRAMS, SCHEMES, Problem

EXPERTS, TOP_K, HIDDEN, FFN = 8, 2, 4096, 14336
ROWS = 8192
# The layer quantizes between its matmuls. A relative error d of what is quantized moves an
# element across an edge of its e4m3 code, whose step is at most 2^-3 of it, with probability
# d / step: a mean square of d * step. d is the error of the first matmul, and up to one bf16
# unit of the amax that scales the row. The second matmul adds its own error.
MATMUL_ERROR = SCHEMES["fp8"].error
LAYER_ERROR = ((MATMUL_ERROR + 2**-8) / 8) ** 0.5 + MATMUL_ERROR
# What the FP8 matmul should reach of D8.
GOALS = {("fp8", "balanced"): 0.92, ("fp8", "uniform"): 0.85}
TOKENS = (0, 1, 7, 64, 4096)
ROUTINGS = ("random", "skewed", "one-expert")


def load(name: str) -> moeq.Kernels:
    return moeq.load(PROGRAMS / name)


# ---- the layer


def logits_of(tokens: int, routing: str) -> torch.Tensor:
    logits = torch.randn(tokens, EXPERTS, device=DEVICE)
    if routing == "skewed":  # popularity 1 / rank
        logits -= 2 * torch.log(torch.arange(1, EXPERTS + 1, device=DEVICE).float())
    elif routing == "one-expert":  # expert 3 gets every token, expert 5 the second slots
        logits[:, 3] += 40
        logits[:, 5] += 20
    return logits


def quantize(x: torch.Tensor) -> torch.Tensor:
    """The recipe vllm_token, and back: the numbers that the FP8 codes stand for."""
    amax = x.abs().amax(-1, keepdim=True).clamp(min=2.0**-9)
    scale = amax / 448
    return (x / scale).to(FP8).float() * scale


def layer_reference(x, logits, w13, s13, w2, s2) -> torch.Tensor:
    """The layer in f32, with the roundings to bf16 and FP8 that it states."""
    weights, ids = torch.softmax(logits, -1).topk(TOP_K, -1)
    weights = weights / weights.sum(-1, keepdim=True)
    out = torch.zeros(len(x), HIDDEN, device=DEVICE)
    for expert in range(EXPERTS):
        token, slot = torch.nonzero(ids == expert, as_tuple=True)
        if len(token) == 0:
            continue
        rows = quantize(x[token].float())
        h = (rows @ (w13[expert].float() * s13[expert]).t()).bfloat16().float()
        gate, up = h.chunk(2, -1)
        a = quantize((torch.nn.functional.silu(gate) * up).bfloat16().float())
        y = (a @ (w2[expert].float() * s2[expert]).t()).bfloat16().float()
        out.index_add_(0, token, y * weights[token, slot, None])
    return out


def layer_row(kernels, weights, tokens: int, routing: str) -> dict:
    x = torch.randn(tokens, HIDDEN, device=DEVICE, dtype=torch.bfloat16)
    logits = logits_of(tokens, routing)
    w13, s13, w2, s2 = weights
    tensors = {
        "hidden": x, "logits": logits, "w13": w13, "w13.scale": s13, "w2": w2, "w2.scale": s2,
    }  # fmt: skip
    results = []
    for _ in range(2):
        out = measure.poisoned((tokens, HIDDEN))
        kernels.launch("mixtral_layer", tensors | {"result0": out})
        torch.cuda.synchronize()
        results.append(out)
    reference = layer_reference(x, logits, *weights)
    unwritten = int(torch.isnan(results[0]).sum())
    error = measure.relative_error(results[0], reference) if tokens else 0.0
    repeats = bool(torch.equal(results[0].view(torch.int16), results[1].view(torch.int16)))
    ok = unwritten == 0 and repeats and error <= LAYER_ERROR
    row = {"error_norm": error, "unwritten": unwritten, "repeats": repeats, "ok": ok}
    if tokens:
        bound = tensors | {"result0": results[0]}
        seconds = measure.graph_time(lambda s: kernels.launch("mixtral_layer", bound, s))
        row["us"] = seconds * 1e6
    return row


def layer(records, deadline: float, tokens=TOKENS, routings=ROUTINGS) -> None:
    torch.manual_seed(int(time.time()))
    torch.backends.cuda.matmul.allow_tf32 = False
    kernels = load("mixtral-8x7b-fp8")
    w13 = measure.gaussian((EXPERTS, 2 * FFN, HIDDEN), FP8)
    w2 = measure.gaussian((EXPERTS, HIDDEN, FFN), FP8)
    s13 = (torch.rand(EXPERTS, 2 * FFN, 1, device=DEVICE) + 0.5) / HIDDEN**0.5
    s2 = (torch.rand(EXPERTS, HIDDEN, 1, device=DEVICE) + 0.5) / FFN**0.5
    weights = (w13, s13, w2, s2)
    for count in tokens:
        for routing in routings:
            records.attempt(
                f"layer T={count} {routing}",
                functools.partial(layer_row, kernels, weights, count, routing),
                deadline,
            )


# ---- the grouped matmuls


def matmul_row(problem: Problem, routing: str, dense, bandwidth: float) -> dict:
    """Speed relative to the dense matmul, which is timed in turns with ours."""
    counts = torch.tensor([ROWS // EXPERTS] * EXPERTS, device=DEVICE)
    if routing == "uniform":
        counts = grouped.counts_of(ROWS // TOP_K, EXPERTS, TOP_K, routing)
    case = grouped.Case(grouped.Weights(problem), counts)
    tensors = case.tensors()
    out = case.launch(tensors)
    torch.cuda.synchronize()
    row = case.check(out)
    functions = [dense, functools.partial(case.launch, tensors)]
    peer = case.torch_grouped()
    try:
        peer(0)
        functions.append(peer)
    except (RuntimeError, AttributeError) as failure:
        row["torch_error"] = str(failure).splitlines()[0][:120]
    dense_seconds, seconds, *peer_seconds = measure.in_turns(*functions)
    peak = dense.flops / dense_seconds
    row |= case.score(seconds, {"CB": bandwidth, case.scheme.dense: peak})
    row |= {
        "dense": peak,
        "of_dense": row["tflops"] * 1e12 / peak,
        "largest_expert": int(counts.max()),
        "goal": GOALS.get((problem.scheme, routing)),
    }
    if peer_seconds:
        row |= {"torch_us": peer_seconds[0] * 1e6, "of_torch": peer_seconds[0] / seconds}
    return row


def matmul(records, deadline: float) -> None:
    torch.manual_seed(int(time.time()))
    torch.backends.cuda.matmul.allow_tf32 = False
    bandwidth = measure.copy_bandwidth()
    torch.cuda.empty_cache()
    records.add(row="ceilings", gpu=torch.cuda.get_device_name(), CB=bandwidth)
    for scheme in ("fp8", "bf16"):
        dense = measure.Dense(scheme)
        for n, k in MIXTRAL:
            problem = Problem(scheme, EXPERTS, TOP_K, n, k)
            for routing in ("balanced", "uniform"):
                records.attempt(
                    f"matmul {scheme} K={k} N={n} {routing}",
                    functools.partial(matmul_row, problem, routing, dense, bandwidth),
                    deadline,
                )
                torch.cuda.empty_cache()


SECTIONS = {"layer": layer, "matmul": matmul}
