"""Suite `act-quant`: activation and quantization against the floor of memory.

All bytes of the results, padding included, are compared with a model in PyTorch, given the value
of the activation. Large inputs are timed against what a copy of the same bytes takes by its
bandwidth, small ones against a copy kernel (copy16) that is launched in the same way; and what a
framework does instead, an activation, a quantization and the padding of the scales apart, is timed
in turns with ours.
"""

import functools
import itertools
from pathlib import Path

import torch

import act_quant_peers
import measure
import moeq
import suites
from act_quant_cases import (
    CASES,
    GROUPS,
    PEER_CASES,
    ROW_TILE,
    ROWS,
    SCHEMES,
    SMALL_ROWS,
    Case,
    padded_rows,
)
from measure import DEVICE, FP8

SMALL_LIMIT = 1.3  # times the time of a copy of the same bytes
SMALL_COPIES = (
    64  # sets of operands that take turns, so that a call finds as little in caches as a copy does
)
SPLITS = {
    "balanced": [ROWS // GROUPS] * GROUPS,
    "unbalanced": [9000, 0, 1, 127, 128, 129, 7000, 15615],
}
EDGES = [0, 1, 31, 127, 128, 129, 33, 5]
POISON = 0x5A


def load(name: str) -> moeq.Kernels:
    return moeq.load(suites.PROGRAMS / name)


def offsets_of(counts) -> torch.Tensor:
    return torch.tensor([0, *counts], device=DEVICE).cumsum(0).to(torch.int32)


def poisoned_outputs(kernels: moeq.Kernels, entry: str, tensors: dict) -> dict:
    outputs = {}
    for out in kernels.outputs(entry, tensors):
        dtype = {"f32": torch.float32, "bf16": torch.bfloat16}.get(out.element, torch.uint8)
        out_bytes = torch.empty(out.shape, device=DEVICE, dtype=dtype)
        out_bytes.view(torch.uint8).fill_(POISON)
        outputs[out.name] = out_bytes
    return outputs


# ---- the model


def quantize(x: torch.Tensor, scheme: str) -> tuple[torch.Tensor, torch.Tensor]:
    """Codes and scales, as bytes and as stored, of blocks along the last dimension."""
    s = SCHEMES[scheme]
    rows, columns = x.shape
    block = s.block or columns
    padded = torch.nn.functional.pad(x.float(), (0, -columns % block))
    blocks = padded.view(rows, -1, block)
    amax = blocks.abs().amax(-1)
    # By a number PyTorch would multiply by its reciprocal on a GPU.
    divisor = torch.tensor(127.0 if s.value == "i8" else 448.0, device=DEVICE)
    if scheme == "mxfp8":
        bits = (amax * torch.tensor(1 / 448, device=DEVICE)).view(torch.int32)
        exponent, mantissa = bits >> 23, bits & 0x7FFFFF
        up = torch.where(exponent == 0, mantissa > 0x400000, mantissa != 0)
        scale = (exponent + up).to(torch.uint8)
        q = blocks * torch.exp2(127.0 - scale.double())[..., None].float()
    elif scheme == "fp8-block":
        scale = amax.clamp(min=1e-4) / divisor
        q = blocks * (1 / scale)[..., None]
    elif scheme == "fp8-token":
        scale = amax.clamp(min=2.0**-9) / divisor
        q = blocks / scale[..., None]
    else:
        scale = amax.clamp(min=1e-10) / divisor
        q = blocks / scale[..., None]
    q = q.view(rows, -1)[:, :columns]
    if s.value == "i8":
        return q.round().clamp(-127, 127).to(torch.int8).view(torch.uint8), scale
    return q.clamp(-448, 448).to(FP8).view(torch.uint8), scale


def swizzled(scales: torch.Tensor) -> torch.Tensor:
    rows, columns = scales.shape
    tiles = scales.view(rows // 128, 4, 32, columns // 4, 4)
    return tiles.permute(0, 3, 2, 1, 4).reshape(rows, columns)


def expected(case: Case, activated: torch.Tensor, offsets: torch.Tensor, got: dict) -> dict:
    """All bytes of the results; what is in no group is what `got` holds if it is poison."""
    bounds, rows = offsets.tolist(), len(activated)
    want, padded = {}, 0
    total = padded_rows(rows)
    for name, tensor in got.items():
        want[name] = torch.zeros_like(tensor)
    if case.rowwise:
        want["result0"].fill_(POISON)
        if not case.padded:
            want["result0.scale"].view(torch.uint8).fill_(POISON)
    column = f"result{int(case.rowwise)}"
    if case.columnwise == "row_major":
        want[column].fill_(POISON)
    for begin, end in itertools.pairwise(bounds):
        part = activated[begin:end]
        if case.rowwise and len(part):
            codes, scales = quantize(part, case.scheme)
            want["result0"][begin:end] = codes
            at = padded if case.padded else begin
            want["result0.scale"][at : at + len(part), : scales.shape[1]] = scales
        if case.columnwise and len(part):
            codes, scales = quantize(part.t().contiguous(), case.scheme)
            block = SCHEMES[case.scheme].block
            where = slice(padded // block, padded // block + scales.shape[1])
            if case.columnwise == "row_major":
                want[column][begin:end] = codes.t()
                want[f"{column}.scale"][where] = scales.t()
            else:
                want[column][:, padded : padded + len(part)] = codes
                want[f"{column}.scale"][:, where] = scales
        padded += -(-len(part) // ROW_TILE) * ROW_TILE
    assert padded <= total
    if case.layout == "swizzle_128x4":
        names = ["result0"] * case.rowwise
        names += [column] * (case.columnwise == "transposed")
        for name in names:
            want[f"{name}.scale"] = swizzled(want[f"{name}.scale"])
    return want


def differences(case: Case, kernels: moeq.Kernels, counts, outside=0) -> int:
    """Bytes that differ, for rows of all sizes."""
    rows = sum(counts) + outside
    x = torch.randn(rows, case.columns, device=DEVICE, dtype=torch.bfloat16)
    x *= torch.exp2(torch.randint(-8, 9, (rows, 1), device=DEVICE)).bfloat16()
    offsets = offsets_of(counts)
    x[offsets[-1] :] = float("nan")
    if rows > 40:
        x[40] = 0
    activation = load(case.activation().name)
    tensors = {"x": x}
    tensors |= poisoned_outputs(activation, "activate", tensors)
    activation.launch("activate", tensors)
    inputs = {"x": x, "offsets": offsets}
    got = poisoned_outputs(kernels, "act_quant", inputs)
    kernels.launch("act_quant", inputs | got)
    torch.cuda.synchronize()
    want = expected(case, tensors["result0"], offsets, got)
    return sum(
        int((got[name].view(torch.uint8) != want[name].view(torch.uint8)).sum()) for name in got
    )


# ---- time


def rotated(kernels: moeq.Kernels, entry: str, inputs: list[dict]):
    """A function that enqueues the kernels on the next of some sets of inputs."""
    calls = []
    for tensors in inputs:
        tensors = tensors | poisoned_outputs(kernels, entry, tensors)
        calls.append((kernels.prepare(entry, tensors), tensors))
    turns = itertools.cycle(calls)
    return lambda stream: next(turns)[0](stream)


def inputs_of(case: Case, counts, copies: int) -> list[dict]:
    return [
        {
            "x": torch.randn(sum(counts), case.columns, device=DEVICE, dtype=torch.bfloat16),
            "offsets": offsets_of(counts),
        }
        for _ in range(copies)
    ]


def case_row(case: Case, split: str, bandwidth: float) -> dict:
    kernels, counts = load(case.name), SPLITS[split]
    bad = differences(case, kernels, EDGES, outside=7) + differences(case, kernels, counts)
    seconds = measure.graph_time(rotated(kernels, "act_quant", inputs_of(case, counts, copies=2)))
    floor = case.bytes(ROWS) / bandwidth
    row = {"us": seconds * 1e6, "floor_us": floor * 1e6, "gbps": case.bytes(ROWS) / seconds * 1e-9}
    row |= {"score": floor / seconds, "goal": case.goal, "differences": bad, "ok": bad == 0}
    if peer := suites.figures()["act_quant"].get(case.name.removesuffix("-padded")):
        row |= {"peer_us": peer[0], "peer": peer[1], "of_peer": peer[0] * 1e-6 / seconds}
    return row


def cases(records: measure.Records, deadline: float) -> None:
    measure.PAUSE_SECONDS = 0.05
    bandwidth = measure.copy_bandwidth()
    records.add(row="ceilings", CB=bandwidth)
    for case in CASES:
        for split in SPLITS:
            if split == "balanced" or case.padded or case.columnwise:
                function = functools.partial(case_row, case, split, bandwidth)
                records.attempt(f"{case.name} {split}", function, deadline)
                torch.cuda.empty_cache()


def small_row(case: Case, rows: int) -> dict:
    """Against a copy of as many bytes, half of them read and half of them written."""
    kernels, counts = load(case.name), [rows // GROUPS] * GROUPS
    bad = differences(case, kernels, counts)
    copy = moeq.load(Path(__file__).parent / "copy16")
    pieces = case.bytes(rows) // 32
    sources = [
        {"x": torch.randint(0, 127, (pieces, 16), device=DEVICE, dtype=torch.int8)}
        for _ in range(SMALL_COPIES)
    ]
    ours = rotated(kernels, "act_quant", inputs_of(case, counts, SMALL_COPIES))
    ours_seconds, copy_seconds = measure.in_turns(ours, rotated(copy, "copy", sources))
    ratio = ours_seconds / copy_seconds
    row = {"us": ours_seconds * 1e6, "copy_us": copy_seconds * 1e6, "of_copy": ratio}
    return row | {"goal": SMALL_LIMIT, "differences": bad, "ok": bad == 0}


def small(records: measure.Records, deadline: float) -> None:
    measure.PAUSE_SECONDS = 0.02
    for case in CASES:
        for rows in SMALL_ROWS:
            function = functools.partial(small_row, case, rows)
            records.attempt(f"{case.name} {rows} rows", function, deadline)
            torch.cuda.empty_cache()


def peer_row(case: Case) -> dict:
    """Rowwise and columnwise MXFP8 with padded scales: ours, and by compiled PyTorch with the
    padding apart. What the peers give is not compared: their exponential is another."""
    counts = SPLITS["balanced"]
    kernels, inputs = load(case.name), inputs_of(case, counts, copies=2)
    bad = differences(case, kernels, counts)
    ours = rotated(kernels, "act_quant", inputs)
    peers = act_quant_peers.functions(case, inputs[0]["x"], counts)
    seconds, *times = measure.in_turns(ours, *peers.values())
    row = {"us": seconds * 1e6, "differences": bad, "ok": bad == 0}
    return row | {f"{name}_us": t * 1e6 for name, t in zip(peers, times, strict=True)}


def peers(records: measure.Records, deadline: float) -> None:
    measure.PAUSE_SECONDS = 0.1
    for case in PEER_CASES:
        records.attempt(case.name, functools.partial(peer_row, case), deadline)


SECTIONS = {"cases": cases, "small": small, "peers": peers}
