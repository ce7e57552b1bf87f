#!/usr/bin/env python3
"""Compiles the programs of a suite into build/bench, without a GPU.

python3 bench/prepare.py [--suite NAME] [--scheme NAME ...] [--chip CHIP]
"""

import argparse
import subprocess
import sys

from suites import PROGRAMS, ROOT, SCHEMES, SUITES, programs


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--suite", choices=SUITES, default="smoke")
    parser.add_argument("--scheme", choices=SCHEMES, nargs="*", default=tuple(SCHEMES))
    parser.add_argument("--chip", default="sm_90a")
    options = parser.parse_args()
    PROGRAMS.mkdir(parents=True, exist_ok=True)
    failed = 0
    sources = programs(options.suite, options.scheme)
    for name, text in sources.items():
        source = PROGRAMS / f"{name}.mlir"
        source.write_text(text)
        print(f"== {name}", flush=True)
        compiler = [ROOT / "build" / "bin" / "moeq-compile", source]
        flags = [f"--chip={options.chip}", "-o", PROGRAMS / name]
        failed += subprocess.run([*compiler, *flags]).returncode != 0
    if failed:
        print(f"{failed} of {len(sources)} programs failed", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
