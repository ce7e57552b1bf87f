"""Runs a file on the CPU and checks it against NumPy, op by op: one line a result.

    python check.py FILE.mlir [ENTRY]

Of a layer at real size its tiny twin is run, the file beside it whose name has
`-tiny`. The inputs are random; each dynamic extent is that of the tokens.
"""

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import moeq
from reference import compare, evaluate, formats, layer
from reference.generic import Op, parse
from reference.scaled import Format, Scaled

TOKENS = 37
LARGEST = 1 << 26  # elements of an argument that the reference takes
LAYER_BOUND = 5e-3  # of the norm: what roundings to the next code make of a whole layer


class UnsuitableError(Exception):
    """The file cannot be checked; says why."""


def extents_of(text: str) -> list[str]:
    """The extents of a tensor type."""
    return re.match(r"tensor<((?:[\d?]+x)*)", text).group(1).split("x")[:-1]


def shape_of(text: str, tokens: int) -> tuple[int, ...]:
    """The extents of a tensor type, the dynamic ones that of the tokens."""
    return tuple(tokens if n == "?" else int(n) for n in extents_of(text))


def roles(function: Op) -> dict[str, str]:
    """What each argument is to the first op of moeq that takes it."""
    found: dict[str, str] = {}
    for op in function.regions[0][0].ops:
        if op.name in evaluate.GROUPS:
            named = evaluate.operand_groups(op, {name: name for name in op.operands})
            for role, name in named.items():
                if isinstance(name, str):
                    found.setdefault(name, role)
    return found


def random_scaled(rng, shape, format: Format) -> Scaled:
    """A tensor whose rows have about unit norm."""
    small = 1 / np.sqrt(max(shape[-1], 1))
    if formats.is_integer(format.value):
        lo, hi = {"i8": (-127, 127), "i4": (-8, 7), "ui4": (0, 15)}[format.value]
        values = rng.integers(lo, hi + 1, shape).astype(np.int8)
        small /= hi / 2
    else:
        values = formats.encode(rng.normal(size=shape).astype(np.float32), format.value)
    scales = format.scale_shape(shape)
    if format.scale == "f8E8M0FNU":
        center = int(np.round(np.log2(small))) + 127
        stored = rng.integers(center - 1, center + 2, scales).astype(np.uint8)
    else:
        stored = formats.round_to(small * rng.uniform(0.5, 1.5, scales), format.scale)
    zeros = None
    if format.zero:
        zeros = rng.integers(0, 16, scales).astype(formats.STORAGE[format.zero])
    return Scaled(format, values, stored, zeros)


def random_argument(rng, type_: str, role: str, experts: int, tokens: int):
    shape, element = shape_of(type_, tokens), evaluate.element_type(type_)
    if int(np.prod(shape)) > LARGEST:
        raise UnsuitableError(
            f"an argument of type {type_} is too large, and there is no tiny twin"
        )
    if element.startswith("!moeq.scaled"):
        return random_scaled(rng, shape, Format.parse(element))
    if role == "offsets":
        cuts = np.sort(rng.integers(0, tokens + 1, shape[0] - 2))
        return np.array([0, *cuts, tokens], np.int32)
    if role == "expert_map":
        return np.where(np.arange(shape[0]) < experts, np.arange(shape[0]), -1).astype(np.int32)
    if element.startswith("i"):
        return rng.integers(-1, max(experts, 1), shape).astype(formats.STORAGE[element])
    return formats.round_to(rng.normal(size=shape), element)


def arrays_of(value) -> list[np.ndarray]:
    return value.components() if isinstance(value, Scaled) else [value]


def with_every_result(text: str, entry: str, function: Op) -> tuple[str, list[tuple[str, str]]]:
    """The module with the function returning every tensor that it makes: its text in
    the generic form, and the names and types of what it returns."""
    made = [
        (name, type_)
        for op in function.regions[0][0].ops
        if op.name != "tensor.empty"
        for name, type_ in zip(op.results, op.result_types, strict=True)
        if type_.startswith("tensor<")
    ]
    at = text.index(f'sym_name = "{entry}"')
    start = text.index('"func.return"(', at)
    end = text.index("-> ()", start)
    names, types = (", ".join(parts) for parts in zip(*made, strict=True))
    text = text[:start] + f'"func.return"({names}) : ({types}) ' + text[end:]
    signature = ", ".join(type_ for _, type_ in function.regions[0][0].arguments)
    old = text.rindex("function_type = ", 0, at)
    arrow = text.index(") -> ", old) + len(") -> ")
    stop = arrow + len(first_type(text[arrow:]))
    return text[:old] + f"function_type = ({signature}) -> ({types})" + text[stop:], made


def first_type(text: str) -> str:
    """The type, or list of types in parentheses, with which `text` begins."""
    depth = 0
    for i, c in enumerate(text):
        depth += c in "(<["
        depth -= c in ")>]" and text[i - 1 : i + 1] != "->"
        if depth == 0 and (c in ")," or text[i + 1 : i + 2] in (",", "}")):
            return text[: i + (c != ",")]
    return text


def results_of(arrays: list[np.ndarray], made) -> dict:
    """The values of SSA names, from the arrays that the function returned."""
    arrays, values = iter(arrays), {}
    for name, type_ in made:
        element = evaluate.element_type(type_)
        if not element.startswith("!moeq.scaled"):
            values[name] = next(arrays).view(formats.STORAGE[element])
            continue
        format = Format.parse(element)
        parts = [next(arrays) for _ in range(3 if format.zero else 2)]
        shape = parts[0].shape
        if formats.is_packed(format.value):
            shape = (*shape[:-1], int(extents_of(type_)[-1]))
        parts[0] = parts[0].view(np.uint8 if "f4" in format.value else parts[0].dtype)
        parts[1] = parts[1].view(formats.STORAGE[format.scale])
        values[name] = Scaled.of_components(format, shape, parts)
    return values


def find_function(module: Op, entry: str | None) -> Op:
    """The function to check: `entry`, else the first that uses moeq."""
    for function in module.regions[0][0].ops:
        if function.name != "func.func" or not function.regions or not function.regions[0]:
            continue
        name = function.attributes["sym_name"].strip('"')
        uses = any(op.name in evaluate.GROUPS for op in function.regions[0][0].ops)
        if name == entry or (entry is None and uses):
            return function
    raise UnsuitableError(f"the module has no function {entry or 'that uses moeq'}")


def check_layer(op: Op, values: dict, got) -> evaluate.Outcome:
    """A moeq.experts op as a whole."""
    inputs = evaluate.operand_groups(op, values)
    inputs.pop("outs")
    names = (
        "top_k", "function", "score", "renormalize", "scale", "n_group", "topk_group",
        "group_score", "act_format", "recipe", "intermediate_round", "weight_on_input",
        "shared_experts", "gate_layout", "limit", "alpha",
    )  # fmt: skip
    want = layer.experts(**inputs, **evaluate.options(op, names))
    difference = np.linalg.norm(got.astype(np.float64) - want)
    error = float(difference / max(np.linalg.norm(want), 1e-30))
    assert error <= LAYER_BOUND, f"the layer is off by {error} of its norm"
    return evaluate.Outcome(error, LAYER_BOUND, "of the norm")


@dataclass
class Line:
    """A check: how it came out, or why it failed."""

    what: str
    outcome: evaluate.Outcome | None
    failure: str = ""

    def __str__(self):
        if self.outcome is None:
            return f"{self.what:32} FAILED {self.failure}"
        o = self.outcome
        return f"{self.what:32} error {o.error:<9.3g} bound {o.bound:g} {o.unit}"


def attempt(what: str, function, *arguments) -> Line:
    try:
        return Line(what, function(*arguments))
    except AssertionError as error:
        return Line(what, None, str(error))


def check(
    text: str, name: str, entry: str | None = None, tokens: int = TOKENS, seed: int = 0
) -> Iterator[Line]:
    """Checks a function of a module: each op that it decomposes to, that the whole and
    the decomposed function give equal bits at each level, and layers as a whole."""
    module = moeq.parse(text, name)
    original = find_function(parse(module.print(generic=True)), entry)
    entry = original.attributes["sym_name"].strip('"')
    rng = np.random.default_rng(seed)
    known = roles(original)
    arguments = original.regions[0][0].arguments
    weights = [shape_of(t, tokens) for a, t in arguments if known.get(a) in ("w13", "rhs")]
    experts = weights[0][0] if weights and len(weights[0]) == 3 else 0
    inputs = [random_argument(rng, t, known.get(a, ""), experts, tokens) for a, t in arguments]
    arrays = [array for value in inputs for array in arrays_of(value)]

    decomposed = module.clone().run_pipeline("moeq-decompose")
    generic = decomposed.print(generic=True)
    function = find_function(parse(generic), entry)
    rewritten, made = with_every_result(generic, entry, function)
    results = moeq.run(moeq.parse(rewritten, name), entry, arrays, level="layer")
    values = results_of(results, made)
    for (argument, _), value in zip(function.regions[0][0].arguments, inputs, strict=True):
        values[argument] = value
    for op in function.regions[0][0].ops:
        for result in op.results:
            values.setdefault(result, None)
        if op.name in evaluate.GROUPS:
            results = [values[result] for result in op.results]
            yield attempt(f"{op.results[0]} {op.name}", evaluate.check_op, op, values, results)

    returned = [values[name] for name in function.regions[0][0].ops[-1].operands]
    flat = [array for value in returned for array in arrays_of(value)]

    def same_bits(level):
        for got, want in zip(moeq.run(module, entry, arrays, level=level), flat, strict=True):
            compare.assert_same(got, want.view(got.dtype), f"at level {level}")
        return evaluate.EQUAL

    for level in ("layer", "ops", "tiles"):
        yield attempt(f"level {level}", same_bits, level)
    for op in original.regions[0][0].ops:
        if op.name == "moeq.experts":
            given = dict(zip((a for a, _ in arguments), inputs, strict=True))
            given |= {o: None for o in op.operands if o not in given}
            yield attempt("layer", check_layer, op, given, returned[0])


def tiny_twin(path: Path) -> Path:
    """The file itself, or the one beside it that has the same layer in small: the twin
    of MODEL-SIZE-SCHEME is MODEL-tiny-SCHEME."""
    for twin in path.parent.glob("*-tiny-*" + path.suffix):
        model, scheme = twin.stem.split("-tiny-")
        if path.stem.startswith(model + "-") and path.stem.endswith("-" + scheme):
            return twin
    return path


def main(arguments: list[str]) -> int:
    path = tiny_twin(Path(arguments[0]))
    print(f"{path.name}, {TOKENS} tokens")
    failed = False
    try:
        for line in check(path.read_text(), path.name, *arguments[1:2]):
            print(line)
            failed |= line.outcome is None
        return 1 if failed else 0
    except (moeq.Error, UnsuitableError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
