#!/usr/bin/env python3
"""Compiles the programs of a suite into build/bench, without a GPU.

python3 bench/prepare.py [--suite NAME] [--scheme NAME ...] [--sweep] [--chip CHIP]

With --sweep each problem is also compiled with every config that moeq-select-config
considers for it.
"""

import argparse
import json
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from suites import PROGRAMS, ROOT, ROWS, SCHEMES, SUITES, programs, sweep_file

BIN = ROOT / "build" / "bin"
# Kernels of a matmul that the compiler may choose for its numbers of rows.
VARIANTS = 4
# Rows an expert at which the candidates are asked for: some depend on them.
SWEEP_ROWS = (1, 16, 64, 256, 1024)


def candidates(source: Path) -> list[str]:
    """The configs that the compiler considers for the matmul of a program."""
    found = {}
    for rows in SWEEP_ROWS:
        command = [BIN / "moeq-opt", source, f"-moeq-select-config=expected-rows={rows}"]
        command += ["-o", "/dev/null", "--remarks-filter=moeq-select-config"]
        remark = subprocess.run(command, capture_output=True, text=True, check=True).stderr
        found |= dict.fromkeys(re.findall(r"#moeq\.config(<[^>]*>)", remark))
    return list(found)


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
    parser.add_argument("--chip", default="sm_90a")
    options = parser.parse_args()
    PROGRAMS.mkdir(parents=True, exist_ok=True)
    sources = programs(options.suite, options.scheme)
    if options.sweep:
        for problem in {row.problem for row in ROWS[options.suite]}:
            if problem.program() not in sources:
                continue
            source = PROGRAMS / f"{problem.program()}.mlir"
            source.write_text(problem.text())
            configs = candidates(source)
            sweep_file(problem).write_text(json.dumps(configs))
            sources |= {problem.program(c): problem.text(c) for c in configs}
    with ThreadPoolExecutor(2) as pool:
        jobs = [pool.submit(compile_program, *item, options.chip) for item in sources.items()]
        failed = sum(not job.result() for job in jobs)
    if failed:
        print(f"{failed} of {len(sources)} programs failed", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
