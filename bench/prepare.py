#!/usr/bin/env python3
"""Compiles the programs of a suite into build/bench, without a GPU.

python3 bench/prepare.py [--suite NAME] [--scheme NAME ...] [--sweep [--top N]] [--chip CHIP]

With --sweep each problem is also compiled with the configs that moeq-select-config
considers for its rows: all, or the N with the least estimates for each row.
"""

import argparse
import json
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import chain

from suites import PROGRAMS, ROOT, ROWS, SCHEMES, SUITES, Problem, programs, sweep_file

BIN = ROOT / "build" / "bin"
# Kernels of a matmul that the compiler may choose for its numbers of rows.
VARIANTS = 4


def candidates(problem: Problem, tokens: int) -> list[str]:
    """The configs that the compiler considers at a number of tokens, the least estimate
    first."""
    experts, rows = problem.spread(tokens)
    command = [BIN / "moeq-opt", "-", f"-moeq-select-config=expected-rows={rows}"]
    command += ["-o", "/dev/null", "--remarks-filter=moeq-select-config"]
    text = replace(problem, experts=experts).text()
    remark = subprocess.run(command, input=text, capture_output=True, text=True, check=True).stderr
    found = re.findall(r"#moeq\.config(<[^>]*>) ([0-9.]+) us", remark)
    return [config for config, _ in sorted(found, key=lambda pair: float(pair[1]))]


def compile_program(name: str, text: str, chip: str) -> bool:
    source = PROGRAMS / f"{name}.mlir"
    source.write_text(text)
    command = [BIN / "moeq-compile", source, f"--chip={chip}", "-o", PROGRAMS / name]
    command += [f"--variants={VARIANTS}"]
    done = subprocess.run(command, capture_output=True, text=True)
    print(f"== {name}\n{done.stdout}{done.stderr}", end="", flush=True)
    return done.returncode == 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--suite", choices=SUITES, default="smoke")
    parser.add_argument("--scheme", choices=SCHEMES, nargs="*", default=tuple(SCHEMES))
    parser.add_argument("--sweep", action="store_true")
    parser.add_argument("--top", type=int, help="the most configs of a row in a sweep")
    parser.add_argument("--chip", default="sm_90a")
    options = parser.parse_args()
    PROGRAMS.mkdir(parents=True, exist_ok=True)
    sources = programs(options.suite, options.scheme)
    if options.sweep:
        rows = [row for row in ROWS[options.suite] if row.problem.scheme in options.scheme]
        for problem in dict.fromkeys(row.problem for row in rows):
            tokens = {row.tokens for row in rows if row.problem == problem}
            configs = {t: candidates(problem, t)[: options.top] for t in sorted(tokens)}
            sweep_file(problem).write_text(json.dumps(configs))
            sources |= {problem.program(c): problem.text(c) for c in chain(*configs.values())}
    with ThreadPoolExecutor(2) as pool:
        jobs = [pool.submit(compile_program, *item, options.chip) for item in sources.items()]
        failed = sum(not job.result() for job in jobs)
    if failed:
        print(f"{failed} of {len(sources)} programs failed", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
