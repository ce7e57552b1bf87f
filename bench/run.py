#!/usr/bin/env python3
"""Checks and times the programs that prepare.py compiled. Needs Python, PyTorch and the
CUDA driver.

    python3 bench/run.py [--suite NAME] [--scheme NAME ...] --out FILE.jsonl [--limit SECONDS]

Each section of the suite runs in a process of its own, so that one that hangs or loses
the device does not take the others along; `--section NAME` runs one in this process
(for compute-sanitizer). The table of all rows is printed last.
"""

import argparse
import importlib
import json
import math
import statistics
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "python"))

from suites import ROWS, SCHEMES, SECTIONS, SUITES

COLUMNS = (
    "CB", "D8", "D16", "us", "tflops", "gbps", "dense", "of_dense", "floor_us", "score", "copy_us",
    "of_copy", "goal", "differences", "unfused_us", "fused_us", "padding_us", "forward_us",
    "backward_us", "peer_us", "peer",
    "of_peer", "torch_us", "of_torch", "error_norm", "unwritten", "repeats", "failures", "ok",
)  # fmt: skip


def table(rows: list[dict]) -> str:
    """The rows as text, with the columns that any of them has."""
    columns = [c for c in COLUMNS if any(row.get(c) is not None for row in rows)]
    lines = [["row", *columns]]
    for row in rows:
        if "error" in row:
            lines.append([row["row"], f"ERROR {row['error']}"])
        else:
            lines.append([row["row"], *(text(row.get(c)) for c in columns)])
    widths = [
        max(len(line[i]) for line in lines if len(line) > i and (i == 0 or len(line) > 2))
        for i in range(len(columns) + 1)
    ]
    return "\n".join(
        "  ".join(cell.ljust(w) if i == 0 else cell.rjust(w) for i, (cell, w) in pairs).rstrip()
        for pairs in (enumerate(zip(line, widths, strict=False)) for line in lines)
    )


def regret(rows: list[dict]) -> str:
    """How much longer the compiler's own choice takes than the best config of each row, by
    the medians of what was timed again."""
    times: dict[str, dict[str, list[float]]] = {}
    for row in rows:
        if "round" in row and row.get("ok"):
            times.setdefault(row["shape"], {}).setdefault(row["config"], []).append(row["us"])
    lines, ratios = [], []
    for shape, rounds in times.items():
        found = {config: statistics.median(turns) for config, turns in rounds.items()}
        own = found.pop("", None)
        if own is None or not found:
            continue
        best = min(found, key=found.get)
        ratios.append(max(own / found[best], 1.0))
        lines.append(f"{shape:44} {own:8.1f} us, best {found[best]:8.1f} us {best}")
    mean = math.exp(sum(map(math.log, ratios)) / max(len(ratios), 1))
    worst = max(ratios, default=1.0)
    lines.append(f"regret: {mean - 1:.1%} geometric mean, {worst - 1:.1%} worst")
    return "\n".join(lines)


def text(value) -> str:
    if value is None:
        return ""
    if isinstance(value, float) and value >= 1e9:
        return f"{value * 1e-12:.4g}T"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def sections_of(options) -> list[str]:
    """The parts of a suite: its schemes, where it is one of rows."""
    if options.suite not in ROWS:
        return list(SECTIONS[options.suite])
    schemes = dict.fromkeys(row.problem.scheme for row in ROWS[options.suite])
    return [s for s in schemes if not options.scheme or s in options.scheme]


def run_section(options, deadline: float) -> None:
    from measure import Records

    records = Records(options.out)
    if options.suite in ROWS:
        from grouped import measure_rows

        rows = [row for row in ROWS[options.suite] if row.problem.scheme == options.section]
        rows = [row for row in rows if not options.tokens or row.tokens in options.tokens]
        measure_rows(rows, records, deadline, options.sweep)
        return
    section = importlib.import_module(options.suite.replace("-", "_")).SECTIONS[options.section]
    extra = {"tokens": options.tokens} if options.tokens and options.section == "layer" else {}
    section(records, deadline, **extra)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--suite", choices=SUITES, default="smoke")
    parser.add_argument("--out", required=True, type=Path, help="file of JSON lines")
    parser.add_argument("--limit", type=float, default=540, help="seconds in all")
    parser.add_argument("--scheme", choices=SCHEMES, nargs="*", help="of suites of rows")
    parser.add_argument(
        "--sweep", action="store_true", help="every config of each row, and the model's regret"
    )
    parser.add_argument("--section", help="run one section in this process")
    parser.add_argument("--tokens", type=int, nargs="*", help="token counts")
    options = parser.parse_args()
    deadline = time.time() + options.limit

    if options.section:
        run_section(options, deadline)
        return 0

    options.out.unlink(missing_ok=True)
    options.out.touch()
    sections = sections_of(options)
    for i, section in enumerate(sections):
        left = deadline - time.time()
        share = left / (len(sections) - i)
        command = [sys.executable, __file__, "--suite", options.suite, "--out", options.out]
        command += ["--section", section, "--limit", str(max(share - 15, 5))]
        command += ["--tokens", *map(str, options.tokens)] if options.tokens else []
        command += ["--sweep"] if options.sweep else []
        try:
            status = subprocess.run([str(c) for c in command], timeout=share).returncode
            ended = f"ended with {status}" if status else None
        except subprocess.TimeoutExpired:
            ended = "ran out of time"
        if ended:
            with options.out.open("a") as file:
                file.write(json.dumps({"row": f"section {section}", "error": ended}) + "\n")
    rows = [json.loads(line) for line in options.out.read_text().splitlines()]
    print("\n" + table(rows))
    if options.sweep:
        print("\n" + regret(rows))
    return 0 if rows and all(row.get("ok", "error" not in row) for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
