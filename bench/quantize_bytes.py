#!/usr/bin/env python3
"""Compares the bytes of quantization on a GPU with those of the CPU: the matrix of
python/tests/quantize_cases.py, every recipe, orientation, layout and op.

    python3 bench/quantize_bytes.py prepare         compiles, and runs all on this CPU
    python3 bench/quantize_bytes.py check           runs all on the GPU

What `prepare` leaves in build/bench is all that `check` needs. The outputs are poisoned, so that
padding and what no kernel writes are compared too; a NaN equals any NaN.
"""

import argparse
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[1]
PROGRAMS = ROOT / "build" / "bench" / "quantize-bytes"
# Programs that are compiled together.
TOGETHER = 36
NAMES = 20  # of programs that differ, printed at most

sys.path[:0] = [str(ROOT / "python"), str(ROOT / "python" / "tests")]


def carried(array: np.ndarray) -> np.ndarray:
    """The array as a type that NumPy itself has, and can store."""
    return array.view(np.int16) if array.dtype.name == "bfloat16" else array


def write_part(cases, source: Path) -> None:
    """The text of some cases, and beside it their arrays, and those that are others after they
    ran here."""
    import moeq

    texts, arrays = [], {}
    for case in cases:
        text, before = case.build(case.name)
        texts.append(text)
        after = [array.copy() for array in before]
        names = [f"arg{i}" for i in range(len(after))]
        moeq.run(moeq.parse(text), case.name, dict(zip(names, after, strict=True)))
        for i, (old, new) in enumerate(zip(before, after, strict=True)):
            arrays[f"{case.name} {i} {old.dtype.name}"] = carried(old)
            if old.tobytes() != new.tobytes():
                arrays[f"{case.name} {i} after"] = carried(new)
    source.write_text("\n".join(texts))
    np.savez_compressed(source.with_suffix(".npz"), **arrays)


def compile_part(source: Path, chip: str) -> bool:
    command = [ROOT / "build/bin/moeq-compile", source, f"--chip={chip}"]
    done = subprocess.run([*command, "-o", source.with_suffix("")], capture_output=True, text=True)
    print(f"{source.stem} {done.stderr}", flush=True)
    return done.returncode == 0


def prepare(chip: str) -> int:
    from quantize_cases import CASES

    PROGRAMS.mkdir(parents=True, exist_ok=True)
    jobs = []
    with ThreadPoolExecutor(1) as pool:
        for i in range(0, len(CASES), TOGETHER):
            source = PROGRAMS / f"part{i // TOGETHER}.mlir"
            write_part(CASES[i : i + TOGETHER], source)
            jobs.append(pool.submit(compile_part, source, chip))
    return 0 if all(job.result() for job in jobs) else 1


def is_nan(array: np.ndarray, element: str) -> np.ndarray:
    if element == "bfloat16":
        array = (array.view(np.uint16).astype(np.uint32) << 16).view(np.float32)
    return np.isnan(array) if array.dtype.kind == "f" else np.zeros(array.shape, bool)


def differing(got: np.ndarray, want: np.ndarray, element: str) -> int:
    """Elements that are not the same bytes."""
    bits = f"u{want.itemsize}"
    same = got.view(bits) == want.view(bits)
    return int((~(same | is_nan(got, element) & is_nan(want, element))).sum())


def check() -> int:
    import torch

    import moeq

    count, bad = 0, {}
    for archive in sorted(PROGRAMS.glob("part*.npz")):
        kernels, arrays = moeq.load(archive.with_suffix("")), np.load(archive)
        programs: dict[str, list[tuple[np.ndarray, str]]] = {}
        for key in arrays.files:
            name, _, what = key.split()
            if what != "after":
                programs.setdefault(name, []).append((arrays[key], what))
        launched = {}
        for name, operands in programs.items():
            launched[name] = [torch.from_numpy(before).cuda() for before, _ in operands]
            kernels.launch(name, launched[name])
        torch.cuda.synchronize()
        count += len(launched)
        for name, operands in programs.items():
            for i, (before, element) in enumerate(operands):
                key = f"{name} {i} after"
                want = arrays[key] if key in arrays.files else before
                different = differing(launched[name][i].cpu().numpy(), want, element)
                if different:
                    bad.setdefault(name, {})[i] = different
    for name, found in list(bad.items())[:NAMES]:
        print(f"{name}: elements that differ, by argument: {found}")
    print(f"{count} programs, {len(bad)} with other bytes than on the CPU")
    return 1 if bad or not count else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("prepare", "check"))
    parser.add_argument("--chip", default="sm_90a")
    options = parser.parse_args()
    return prepare(options.chip) if options.what == "prepare" else check()


if __name__ == "__main__":
    sys.exit(main())
