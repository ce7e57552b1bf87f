"""The generated references are current, and their examples parse."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

import generate_docs  # noqa: E402

# What the examples of the ops leave to the reader.
ALIASES = {
    "a": "!moeq.scaled<f8E4M3FN, block = [*], scale = f32>",
    "mx": "!moeq.scaled<f8E4M3FN, block = [32], scale = f8E8M0FNU>",
    "packed": "!moeq.scaled<f8E4M3FN, block = [*], scale = f32, packing = fragments>",
}


def examples(page: str) -> list[tuple[str, str]]:
    """The MLIR examples of a page, with the heading that each is under."""
    found, heading, block = [], "", None
    for line in (ROOT / "docs" / page).read_text().splitlines():
        if block is not None:
            if line == "```":
                found.append((heading, "\n".join(block)))
                block = None
            else:
                block.append(line)
        elif line == "```mlir":
            block = []
        elif line.startswith("### "):
            heading = line.strip("# ").split(" ")[0].strip("`")
    return found


def split_types(text: str) -> list[str]:
    """The types of a comma-separated list; a comma inside brackets is part of one."""
    types, depth = [""], 0
    for i, char in enumerate(text):
        depth += (char in "<([") - (char in ">)]" and text[i - 1] != "-")
        if char == "," and depth == 0:
            types.append("")
        else:
            types[-1] += char
    return [t.strip() for t in types]


def parameters(example: str) -> dict[str, str]:
    """The values that an example uses and does not define, with their types."""
    defined = set(re.findall(r"%\w+(?=:|(?:, %\w+)* =)", example))
    values = {}
    for names, types in re.findall(
        r"[( ]((?:%\w+, )*%\w+)\s*: ((?:[^()]|\([^()]*\))*?)(?:\)|\s+->|\s*$| as )", example, re.M
    ):
        listed, kinds = names.split(", "), split_types(types)
        # Inside a region one type may stand for several operands.
        for name, kind in zip(listed, kinds, strict=False) if len(kinds) >= len(listed) else ():
            if name not in defined:
                values.setdefault(name, kind)
    return values


def wrap(example: str) -> str:
    """A module around an example: ops in a function, attributes and types on one."""
    aliases = "".join(f"!{name} = {text}\n" for name, text in ALIASES.items())
    if example.startswith("module"):
        return example
    if example.startswith(("!", "#")):
        values = ", ".join(example.splitlines())
        return f"func.func private @f() attributes {{examples = [{values}]}}"
    arguments = ", ".join(f"{name}: {kind}" for name, kind in parameters(example).items())
    return f"{aliases}func.func @f({arguments}) {{\n{example}\nreturn\n}}"


@pytest.mark.parametrize("page", generate_docs.PAGES)
def test_current(page):
    assert page not in generate_docs.stale(), "run scripts/generate_docs.py"


@pytest.mark.parametrize(("name", "example"), examples("Dialect.md"))
def test_example(name, example):
    text = wrap(example)
    run = subprocess.run(
        [ROOT / "build" / "bin" / "moeq-opt"], input=text, capture_output=True, text=True
    )
    assert run.returncode == 0, f"{text}\n{run.stderr}"
    assert name.split(".")[-1] in run.stdout or name[0].isupper()


def test_every_op_has_an_example():
    page = (ROOT / "docs" / "Dialect.md").read_text()
    ops = set(re.findall(r"^### `(moeq\.\w+)`", page, re.M))
    # The terminator of an epilogue is in the examples of the matmuls.
    assert ops - {name for name, _ in examples("Dialect.md")} == {"moeq.yield"}
