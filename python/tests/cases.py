"""Reads the cases of test/Cases (the format is in its README.md)."""

import json
from pathlib import Path

import numpy as np

from reference import formats

FOLDER = Path(__file__).parents[2] / "test" / "Cases"
NAMED = {"nan": np.nan, "inf": np.inf, "-inf": -np.inf}


def all_cases() -> dict[str, dict]:
    """Every case by its id."""
    return {
        case["id"]: case
        for file in sorted(FOLDER.glob("*.json"))
        for case in json.loads(file.read_text())
    }


def lcg(gen: dict, count: int) -> list:
    """The pseudo-random choices of `gen`."""
    x, chosen = gen["seed"], []
    for _ in range(count):
        x = (1664525 * x + 1013904223) % 2**32
        chosen.append(gen["choices"][(x >> 16) % len(gen["choices"])])
    return chosen


def tensor(spec: dict) -> np.ndarray:
    """The array of a tensor, in the storage type of its elements; "positive finite" and
    the like stay strings in an object array."""
    shape, element = spec["shape"], spec["dtype"]
    dtype = formats.STORAGE[element]
    number = lambda v: NAMED.get(v, v)  # noqa: E731
    if "data" in spec:
        data = [number(v) for v in spec["data"]]
        words = any(isinstance(v, str) for v in data)
        return (
            np.array(data, object if words else np.float64)
            .reshape(shape)
            .astype(object if words else dtype)
        )
    if "gen" in spec:
        return np.array(lcg(spec["gen"], int(np.prod(shape)))).reshape(shape).astype(dtype)
    result = np.zeros(shape, np.float64)
    if "fill" in spec:
        result[...] = number(spec["fill"])
        for index, value in spec.get("set", []):
            result[tuple(index)] = number(value)
    elif "row_values" in spec:
        result[...] = np.array([number(v) for v in spec["row_values"]]).reshape(-1, 1)
    else:
        for axis, key in enumerate(("rows", "cols")):
            for part in spec.get(key, []):
                where = (slice(None),) * axis + (slice(part["from"], part["to"]),)
                result[where] = number(part["value"])
    return result.astype(dtype)
