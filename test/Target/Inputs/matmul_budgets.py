"""The matrix scheme x place of the rows x order of the operands, and K whole or in parts, of
grouped matmuls.

matmul_budgets.py prints a module with a function for each. matmul_budgets.py FILE reads what
moeq-compile prints of its kernels, and says which of them use more than the numbers in the file:
bytes of shared memory, registers a thread at launch, bytes of spill stores.
"""

import re
import sys
from pathlib import Path

from suites import Problem

SCHEMES = ("fp8", "fp8-block", "fp8-block-mn", "int8", "bf16", "f16")
FORMS = ("ragged", "masked", "gathered")
CONFIGS = {
    "rows": "<tile = [128, 256], schedule = dynamic, raster = 8>",
    "swapped": "<tile = [64, 256], schedule = dynamic, swap_ab = true>",
    "split": "<tile = [64, 256], schedule = dynamic, swap_ab = true, split_k = 2>",
}
# Packed weights are the first operand.
PACKED = ("mxfp8", "int8-w8a16", "fp8-w8a16", "int4-w4a16", "mxfp4-w4a16")
PACKED_CONFIGS = {
    "swapped": "<tile = [64, 128], schedule = dynamic, swap_ab = true>",
    "split": "<tile = [64, 128], schedule = dynamic, swap_ab = true, split_k = 2>",
}
USED = re.compile(
    r"(\w+)_grouped_matmul: .*shared memory (\d+) .*registers (\d+), spill stores (\d+)"
)


def functions():
    """The name of each, and its text."""
    for scheme in SCHEMES + PACKED:
        for form in FORMS:
            for order, config in (PACKED_CONFIGS if scheme in PACKED else CONFIGS).items():
                name = f"{scheme}-{form}-{order}".replace("-", "_")
                text = Problem(scheme.removesuffix("-mn"), 8, 2, 1024, 512, form).text(config)
                if scheme.endswith("-mn"):
                    along_k = "block = [128], scale = f32"
                    text = text.replace(along_k, f"{along_k}, layout = mn_major")
                yield name, text.replace("@grouped_matmul", f"@{name}")


def exceeded(budgets: Path, output: str) -> list[str]:
    """What is wrong, a line for each kernel."""
    lines = [line.split() for line in budgets.read_text().splitlines() if line[0] != "#"]
    limits = {name: [int(x) for x in numbers] for name, *numbers in lines}
    used = {name: [int(x) for x in numbers] for name, *numbers in USED.findall(output)}
    wrong = [f"no kernel {name}" for name in limits.keys() - used.keys()]
    for name, numbers in used.items():
        limit = limits.get(name, [])
        if len(limit) != len(numbers) or any(x > y for x, y in zip(numbers, limit, strict=True)):
            wrong.append(f"{name} {' '.join(map(str, numbers))}, expects at most {limit}")
    return wrong


if len(sys.argv) == 1:
    print("\n".join(text for _, text in functions()))
else:
    failures = exceeded(Path(sys.argv[1]), sys.stdin.read())
    print("\n".join(failures))
    sys.exit(bool(failures))
