"""Reads manifest.json: sizes and expressions. Needs nothing but Python.

An expression is an integer or a tree: {"symbol": "T"}, {"num_sms": true}, or
{"op": o, "args": [...]} with o of + - * ceildiv floordiv min max lt select.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from moeq.errors import Error

VERSION = 1

# Bytes of an element of each type.
SIZES = {
    "f64": 8, "i64": 8, "f32": 4, "i32": 4, "f16": 2, "bf16": 2, "i16": 2,
    "f8E4M3FN": 1, "f8E5M2": 1, "f8E8M0FNU": 1, "i8": 1, "i1": 1,
}  # fmt: skip

OPERATIONS = {
    "+": lambda *values: sum(values),
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "ceildiv": lambda a, b: -(-a // b),
    "floordiv": lambda a, b: a // b,
    "min": min,
    "max": max,
    "lt": lambda a, b: int(a < b),
    "select": lambda condition, a, b: a if condition else b,
}


def evaluate(expression, symbols: Mapping[str, int]) -> int:
    """The value of an expression; `symbols` holds the sizes and `num_sms`."""
    if isinstance(expression, int):
        return expression
    if "symbol" in expression:
        return symbols[expression["symbol"]]
    if "num_sms" in expression:
        return symbols["num_sms"]
    operation = OPERATIONS.get(expression.get("op"))
    if operation is None:
        raise Error(f"the manifest has an unknown expression: {expression}")
    return operation(*(evaluate(argument, symbols) for argument in expression["args"]))


@dataclass(frozen=True)
class Output:
    """What an entry gives: its caller allocates it."""

    name: str
    element: str
    shape: tuple[int, ...]


def check_version(manifest: dict) -> None:
    if manifest.get("version") != VERSION:
        raise Error(f"expects a manifest of version {VERSION}, got {manifest.get('version')}")


def bind_sizes(entry: dict, shapes: Mapping[str, tuple[int, ...]]) -> dict[str, int]:
    """The sizes of an entry's symbols, from the shapes of its arguments, all checked."""
    sizes: dict[str, int] = {}
    for argument in entry["arguments"]:
        shape = shapes.get(argument["name"])
        if shape is None:
            continue
        expected = argument["shape"]
        if len(shape) != len(expected):
            raise Error(f"{argument['name']}: expects rank {len(expected)}, got {len(shape)}")
        for extent, want in zip(shape, expected, strict=True):
            if isinstance(want, dict) and "symbol" in want:
                sizes.setdefault(want["symbol"], extent)
    for argument in entry["arguments"]:
        if argument["name"] not in shapes:
            continue
        got = tuple(shapes[argument["name"]])
        want = tuple(evaluate(extent, sizes) for extent in argument["shape"])
        if got != want:
            raise Error(f"{argument['name']}: expects shape {want}, got {got}")
    return sizes


def outputs(entry: dict, sizes: Mapping[str, int]) -> list[Output]:
    return [
        Output(a["name"], a["element"], tuple(evaluate(extent, sizes) for extent in a["shape"]))
        for a in entry["arguments"]
        if a["role"] == "output"
    ]
