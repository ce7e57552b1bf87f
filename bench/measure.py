"""Measuring on a GPU: timing, ceilings, operands, records.

Calls are captured back to back in one CUDA graph of about 8 ms, replayed REPLAYS times
between events; a time is the median per call. The card is power-limited: what ran before
sets the clock, so each timing starts after a pause, and what is compared is timed in turns.
Operands are Gaussian, outputs poisoned.
"""

import json
import statistics
import time
import traceback

import torch

DEVICE = "cuda"
REPLAYS = 5
PAUSE_SECONDS = 1.0
ROUNDS = 3
REPLAY_SECONDS = 8e-3
FP8 = torch.float8_e4m3fn
# Errors after which the CUDA context is of no use.
STICKY = ("illegal", "misaligned", "unspecified launch failure", "hardware stack", "device-side")


def graph_time(function, stream=None) -> float:
    """Seconds a call of `function(stream handle)`, in a CUDA graph."""
    stream = stream or torch.cuda.Stream()
    with torch.cuda.stream(stream):
        handle = stream.cuda_stream
        for _ in range(2):
            function(handle)
        stream.synchronize()
        start, end = events()
        start.record()
        for _ in range(3):
            function(handle)
        end.record()
        stream.synchronize()
        estimate = max(start.elapsed_time(end) / 3e3, 1e-6)
        calls = max(2, min(400, int(REPLAY_SECONDS / estimate)))
        graph = torch.cuda.CUDAGraph()
        graph.capture_begin(capture_error_mode="thread_local")
        try:
            for _ in range(calls):
                function(handle)
        finally:
            graph.capture_end()
        graph.replay()
        stream.synchronize()
        time.sleep(PAUSE_SECONDS)
        times = []
        for _ in range(REPLAYS):
            start, end = events()
            start.record()
            graph.replay()
            end.record()
            times.append((start, end))
        stream.synchronize()
    return statistics.median(s.elapsed_time(e) for s, e in times) / calls * 1e-3


def events():
    return torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)


def copy_bandwidth() -> float:
    """CB: bytes read plus written a second by a 4 GiB copy."""
    source = torch.empty(1 << 32, device=DEVICE, dtype=torch.uint8).random_(0, 255)
    target = torch.empty_like(source)
    times = []
    for _ in range(8):
        start, end = events()
        start.record()
        target.copy_(source)
        end.record()
        torch.cuda.synchronize()
        times.append(start.elapsed_time(end))
    return 2 * source.numel() / (statistics.median(times) * 1e-3)


def in_turns(*functions) -> list[float]:
    """Seconds a call of each function: the median of ROUNDS rounds over all of them."""
    rounds = [[graph_time(function) for function in functions] for _ in range(ROUNDS)]
    return [statistics.median(times) for times in zip(*rounds, strict=True)]


class Dense:
    """The dense matmul of `size`^3 by the vendor's library: torch._scaled_mm with FP8
    operands, rowwise scales and fast accumulation (D8), torch.mm with BF16 ones (D16)."""

    def __init__(self, scheme: str, size: int = 8192):
        self.flops = 2 * size**3
        self.dtype = FP8 if scheme == "fp8" else torch.bfloat16
        self.a, self.b = gaussian((size, size), self.dtype), gaussian((size, size), self.dtype)
        self.row = torch.ones(size, 1, device=DEVICE)

    def __call__(self, _):
        if self.dtype != FP8:
            return torch.mm(self.a, self.b.t())
        return torch._scaled_mm(
            self.a, self.b.t(), scale_a=self.row, scale_b=self.row.t(), out_dtype=torch.bfloat16,
            use_fast_accum=True,
        )  # fmt: skip


def gaussian(shape, dtype) -> torch.Tensor:
    """Normal numbers in `dtype`, made by parts: FP8 has no generator."""
    result = torch.empty(shape, device=DEVICE, dtype=dtype)
    rows = result.view(-1, shape[-1])
    step = max(1, (1 << 28) // shape[-1])
    for i in range(0, len(rows), step):
        part = rows[i : i + step]
        part.copy_(torch.randn(part.shape, device=DEVICE, dtype=torch.bfloat16).to(dtype))
    return result


def poisoned(shape, dtype=torch.bfloat16) -> torch.Tensor:
    return torch.full(shape, float("nan"), device=DEVICE, dtype=dtype)


def relative_error(result: torch.Tensor, reference: torch.Tensor) -> float:
    """||result - reference|| / ||reference||; NaN where an element was not written."""
    norm = reference.norm()
    if norm == 0:
        return float(result.float().norm())
    return float((result.float() - reference).norm() / norm)


class Records:
    """Rows of results: printed, and appended to a file of JSON lines."""

    def __init__(self, path):
        self.path = path

    def add(self, **row) -> dict:
        rounded = {k: float(f"{v:.5g}") if isinstance(v, float) else v for k, v in row.items()}
        line = json.dumps(rounded)
        with open(self.path, "a") as file:
            file.write(line + "\n")
        print(line, flush=True)
        return rounded

    def attempt(self, name: str, function, deadline: float) -> dict:
        """Runs one row, and returns what was recorded: an error, after which the next row
        is tried, unless the device was lost."""
        if time.time() > deadline:
            return self.add(row=name, error="skipped: out of time")
        try:
            return self.add(row=name, **function())
        except Exception as error:
            message = str(error).splitlines()[0][:200] if str(error) else type(error).__name__
            frame = traceback.extract_tb(error.__traceback__)[-1]
            where = f"{frame.filename.rsplit('/')[-1]}:{frame.lineno}"
            added = self.add(row=name, error=f"{message} ({where})")
            if any(word in message for word in STICKY):
                raise SystemExit(f"the device was lost: {message}") from error
            return added
