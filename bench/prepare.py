#!/usr/bin/env python3
"""Compiles the programs of a suite into build/bench, without a GPU.

python3 bench/prepare.py [--suite NAME] [--chip CHIP]
"""

import argparse
import subprocess
import sys

from suites import OUT, ROOT, SUITES


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--suite", choices=SUITES, default="smoke")
    parser.add_argument("--chip", default="sm_90a")
    options = parser.parse_args()
    folder = OUT / options.suite
    folder.mkdir(parents=True, exist_ok=True)
    failed = 0
    for name, text in SUITES[options.suite].items():
        source = folder / f"{name}.mlir"
        source.write_text(text)
        print(f"== {name}", flush=True)
        compiler = [ROOT / "build" / "bin" / "moeq-compile", source]
        flags = [f"--chip={options.chip}", "-o", folder / name]
        failed += subprocess.run([*compiler, *flags]).returncode != 0
    if failed:
        print(f"{failed} of {len(SUITES[options.suite])} programs failed", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
