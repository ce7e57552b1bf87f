"""Compiles an example and checks that each level reads back as it was written.

usage: check_stages.py EXAMPLE FOLDER MOEQ_COMPILE MOEQ_OPT
"""

import json
import pathlib
import shutil
import subprocess
import sys

LEVELS = ["1-layer", "2-ops", "3-tiles", "4-kernels", "5-hardware", "6-binary"]


def run(command, text=None):
    done = subprocess.run(command, input=text, capture_output=True, check=False)
    if done.returncode:
        sys.exit(f"{command} failed:\n{done.stderr.decode()}")
    return done.stdout


def main():
    example, folder, moeq_compile, moeq_opt = sys.argv[1:]
    folder = pathlib.Path(folder)
    shutil.rmtree(folder, ignore_errors=True)
    stages = folder / "stages"
    run([moeq_compile, example, "-o", folder / "out", f"--dump-stages={stages}"])
    for level in LEVELS:
        pretty = run([moeq_opt, stages / f"{level}.mlir"])
        bytecode = run([moeq_opt, "--emit-bytecode"], pretty)
        generic = run([moeq_opt, "--mlir-print-op-generic"], bytecode)
        if run([moeq_opt], generic) != pretty:
            sys.exit(f"{level} of {example} does not read back as it was written")
    manifest = json.loads((folder / "out" / "manifest.json").read_text())
    (entry,) = manifest["entries"].values()
    for kernel in entry["kernels"]:
        if f".entry {kernel['name']}(" not in (folder / "out" / kernel["file"]).read_text():
            sys.exit(f"{kernel['file']} has no entry {kernel['name']}")


main()
