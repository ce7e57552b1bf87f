"""Writes the references in docs/ that TableGen knows, or checks that they are current.

python3 scripts/generate_docs.py [--check]
"""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
LLVM = Path("/usr/lib/llvm-22")
INCLUDE = ROOT / "include" / "moeq"

# File in docs/, title, and what TableGen makes it of: options and source.
PAGES = {
    "Dialect.md": (
        "The moeq dialect",
        [(("-gen-dialect-doc", "-dialect=moeq"), "Dialect/Moeq/IR/MoeqOps.td")],
    ),
    "MoeqGPU.md": (
        "The moeq_gpu dialect",
        [(("-gen-dialect-doc", "-dialect=moeq_gpu"), "Dialect/MoeqGPU/IR/MoeqGPUOps.td")],
    ),
    "Passes.md": (
        "Passes",
        [
            (("-gen-pass-doc",), str(path.relative_to(INCLUDE)))
            for path in sorted(INCLUDE.rglob("Passes.td"))
        ],
    ),
}


def generate(title: str, parts: list) -> str:
    """The text of a page."""
    text = [f"<!-- Written by scripts/generate_docs.py; do not edit. -->\n\n# {title}\n"]
    for options, source in parts:
        command = [LLVM / "bin" / "mlir-tblgen", *options, INCLUDE / source]
        command += [f"-I{ROOT / 'include'}", f"-I{LLVM / 'include'}"]
        made = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        for line in made.splitlines():
            # TableGen's own header, its title, and a table of contents for Hugo.
            if not line.startswith(("<!--", "# ")) and line != "[TOC]":
                text.append(line.rstrip())
    lines = "\n".join(text).splitlines()
    kept = [line for i, line in enumerate(lines) if line or lines[i - 1]]
    return "\n".join(kept).rstrip() + "\n"


def stale() -> list[str]:
    """The pages whose file differs from what TableGen says now."""
    return [
        name
        for name, page in PAGES.items()
        if not (path := ROOT / "docs" / name).exists() or path.read_text() != generate(*page)
    ]


if __name__ == "__main__":
    if "--check" in sys.argv[1:]:
        names = stale()
        for name in names:
            print(f"docs/{name} is stale: run scripts/generate_docs.py", file=sys.stderr)
        sys.exit(1 if names else 0)
    for name, page in PAGES.items():
        (ROOT / "docs" / name).write_text(generate(*page))
