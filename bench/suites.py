"""What the suites compile and measure: programs by name, shapes, and the goals and peers of
their rows."""

import itertools
import json
import re
from dataclasses import dataclass, replace
from functools import cache
from math import ceil
from pathlib import Path

import act_quant_cases

ROOT = Path(__file__).parents[1]
# Where prepare.py puts compiled programs, a folder each.
PROGRAMS = ROOT / "build" / "bench" / "programs"


@dataclass(frozen=True)
class Format:
    """An operand's type: elements, and the scales that go with them, if any."""

    element: str
    block: tuple[int | str, ...] = ()  # "*": a whole row
    scale: str | None = None
    packing: str | None = None
    layout: str | None = None

    def __str__(self) -> str:
        if not self.scale:
            return self.element
        fields = [self.element, f"block = [{', '.join(map(str, self.block))}]"]
        fields += [f"scale = {self.scale}"]
        fields += [f"packing = {self.packing}"] if self.packing else []
        fields += [f"layout = {self.layout}"] if self.layout else []
        return f"!moeq.scaled<{', '.join(fields)}>"

    @property
    def bits(self) -> int:
        """Of an element."""
        return int(re.match(r"[a-z]+(\d+)", self.element)[1])

    def plain(self) -> "Format":
        """The same elements in row-major order."""
        return replace(self, packing=None)


@dataclass(frozen=True)
class Scheme:
    """The operands of a matmul and how its sums are accumulated."""

    lhs: Format
    rhs: Format
    accumulate: str | None = None
    # The largest relative error, by norm, of a result; None: its bits are the reference's.
    error: float | None = 2.5e-3

    @property
    def result(self) -> str:
        return "f16" if self.lhs.element == "f16" else "bf16"

    @property
    def dense(self) -> str:
        """The ceiling of its products: that of FP8 or that of BF16."""
        is_eight_bit = self.lhs.bits == 8 and self.lhs.scale != "f8E8M0FNU"
        return "D8" if is_eight_bit else "D16"


def by_vector(element: str, packing: str | None = None) -> Format:
    return Format(element, ("*",), "f32", packing)


MXFP8 = Format("f8E4M3FN", (32,), "f8E8M0FNU")
PACKED = "fragments"


# A scheme's name is that of its column in the goals and peers.
SCHEMES = {
    "fp8": Scheme(by_vector("f8E4M3FN"), by_vector("f8E4M3FN"), "fast", 5e-3),
    "fp8-block": Scheme(
        Format("f8E4M3FN", (128,), "f32"), Format("f8E4M3FN", (128, 128), "f32"), "promote<128>"
    ),
    "int8": Scheme(by_vector("i8"), by_vector("i8"), error=None),
    "mxfp8": Scheme(MXFP8, replace(MXFP8, packing=PACKED)),
    "int8-w8a16": Scheme(Format("bf16"), by_vector("i8", PACKED)),
    "fp8-w8a16": Scheme(Format("bf16"), by_vector("f8E4M3FN", PACKED)),
    "int4-w4a16": Scheme(Format("bf16"), Format("i4", (128,), "bf16", PACKED)),
    "mxfp4-w4a16": Scheme(Format("bf16"), Format("f4E2M1FN", (32,), "f8E8M0FNU", PACKED)),
    "bf16": Scheme(Format("bf16"), Format("bf16")),
    "f16": Scheme(Format("f16"), Format("f16")),
}

# Elements of an expert's weight below which a row has no goal.
SMALL_WEIGHTS = 1 << 22


@dataclass(frozen=True)
class Problem:
    """Rows [S, k] times weights [experts, n, k], S = top_k a token. `form` says where rows are:
    ragged by offsets; masked, [experts, M, k] with counts; or gathered by index."""

    scheme: str
    experts: int
    top_k: int
    n: int
    k: int
    form: str = "ragged"

    def program(self, config: str = "") -> str:
        """The name of its program, with a config, `<tile = ...>`, or the compiler's choice."""
        form = "" if self.form == "ragged" else f"-{self.form}"
        name = f"grouped-matmul-{self.scheme}{form}-e{self.experts}-n{self.n}-k{self.k}"
        return "-".join([name, *re.findall(r"\w+", config)])

    def spread(self, tokens: int) -> tuple[int, int]:
        """The experts that random rows of so many tokens reach, and the rows of each."""
        rows = tokens * self.top_k
        used = max(1, round(self.experts * (1 - (1 - 1 / self.experts) ** rows)))
        return used, ceil(rows / used)

    def text(self, config: str = "") -> str:
        scheme = SCHEMES[self.scheme]
        masked = f"{self.experts}x" if self.form == "masked" else ""
        a, b, c = (
            f"tensor<{masked}?x{self.k}x{scheme.lhs}>",
            f"tensor<{self.experts}x{self.n}x{self.k}x{scheme.rhs}>",
            f"tensor<{masked}?x{self.n}x{scheme.result}>",
        )
        offsets, rows = f"tensor<{self.experts + 1}xi32>", "tensor<?xi32>"
        arguments = {"a": a, "b": b}
        if self.form == "masked":
            arguments["counts"] = f"tensor<{self.experts}xi32>"
        else:
            arguments["offsets"] = offsets
        if self.form == "gathered":
            arguments["rows"] = rows
        named = ", ".join(f'%{n}: {t} {{moeq.name = "{n}"}}' for n, t in arguments.items())
        operands = " ".join(f"{n}(%{n} : {t})" for n, t in list(arguments.items())[2:])
        sized, dim = ("rows", 0) if self.form == "gathered" else ("a", int(bool(masked)))
        accumulated = f"accumulate(<{scheme.accumulate}>)" if scheme.accumulate else ""
        chosen = f"config({config})" if config else ""
        return f"""
func.func @grouped_matmul({named}) -> {c} {{
  %dim = arith.constant {dim} : index
  %size = tensor.dim %{sized}, %dim : {arguments[sized]}
  %init = tensor.empty(%size) : {c}
  %c = moeq.grouped_matmul lhs(%a : {a}) rhs(%b : {b}) {operands}
      outs(%init : {c}) {accumulated} {chosen} -> {c}
  return %c : {c}
}}
"""


# Of the operands of a gradient, which wgrad reads transposed where they have scales.
GRADIENT_FORMATS = {
    "bf16": Format("bf16"),
    "fp8-block": Format("f8E4M3FN", (128,), "f32", layout="mn_major"),
    "mxfp8": Format("f8E4M3FN", (32,), "f8E8M0FNU"),
}


@dataclass(frozen=True)
class Gradient:
    """A matmul of the backward pass of rows [S, k] times weights [experts, n, k]: `wgrad`, the
    gradient of the weights, a sum over rows; `dgrad`, that of the rows, by the same weights."""

    kind: str
    scheme: str
    experts: int
    n: int
    k: int
    result: str = "bf16"
    adds: bool = False  # to the result

    @property
    def format(self) -> Format:
        return GRADIENT_FORMATS[self.scheme]

    def program(self, config: str = "") -> str:
        name = f"{self.kind}-{self.scheme}-e{self.experts}-n{self.n}-k{self.k}-{self.result}"
        return "-".join([name + ("-adds" if self.adds else ""), *re.findall(r"\w+", config)])

    def shapes(self, rows="?") -> tuple[tuple, tuple, tuple]:
        """Of the operands and the result. Scaled rows are transposed."""
        weight = (self.experts, self.n, self.k)
        if self.kind == "dgrad":
            return (rows, self.n), weight, (rows, self.k)
        if self.format.scale:
            return (self.n, rows), (self.k, rows), weight
        return (rows, self.n), (rows, self.k), weight

    def text(self, config: str = "") -> str:
        """On tensors, with the result `result0`; on memrefs where it is added in place."""
        kind = "memref" if self.adds else "tensor"
        a, b, c = (
            f"{kind}<{'x'.join(map(str, shape))}x{element}>"
            for shape, element in zip(
                self.shapes(), (self.format, self.format, self.result), strict=True
            )
        )
        offsets = f"{kind}<{self.experts + 1}xi32>"
        named = {"a": a, "b": b, "offsets": offsets} | ({"result0": c} if self.adds else {})
        arguments = ", ".join(f'%{n}: {t} {{moeq.name = "{n}"}}' for n, t in named.items())
        form = "contract(rows)" if self.kind == "wgrad" else "transpose_rhs"
        form += " add_to_outs" if self.adds else ""
        accumulate = SCHEMES[self.scheme].accumulate
        form += f" accumulate(<{accumulate}>)" if accumulate else ""
        form += f" config({config})" if config else ""
        matmul = f"moeq.grouped_matmul lhs(%a : {a}) rhs(%b : {b}) offsets(%offsets : {offsets})"
        if self.adds:
            body = f"{matmul} outs(%result0 : {c}) {form}\n  return"
            return f"func.func @gradient({arguments}) {{\n  {body}\n}}\n"
        size = ""
        if self.kind == "dgrad":
            size = f"%zero = arith.constant 0 : index\n  %rows = tensor.dim %a, %zero : {a}\n  "
        return f"""
func.func @gradient({arguments}) -> {c} {{
  {size}%init = tensor.empty({"%rows" if size else ""}) : {c}
  %c = {matmul}
      outs(%init : {c}) {form} -> {c}
  return %c : {c}
}}
"""


def sweep_file(problem: Problem) -> Path:
    """Where prepare.py lists the configs of a problem that a sweep measures, by tokens."""
    return PROGRAMS / f"{problem.program()}.configs.json"


@dataclass(frozen=True)
class Row:
    """One measurement: a problem at a number of tokens."""

    problem: Problem
    tokens: int
    routing: str

    @property
    def name(self) -> str:
        p = self.problem
        return f"{p.scheme} E={p.experts} K={p.k} N={p.n} T={self.tokens} {self.routing}"

    @property
    def goal(self) -> float | None:
        """The score that the row should reach; small problems are there to be right."""
        p = self.problem
        if p.n * p.k < SMALL_WEIGHTS:
            return None
        goals = figures()["goals"].get(p.scheme, {}).get(f"{p.experts} {self.tokens}")
        return goals[-1 if p.n == 7168 else 0] if goals else None

    @property
    def peer(self) -> tuple[float, str] | None:
        """The time of the best peer at this shape, us, and who it is."""
        p = self.problem
        found = figures()["peers"].get(f"{p.experts} {p.k} {p.n} {self.tokens}", {})
        return found.get(p.scheme)


@cache
def figures() -> dict:
    return json.loads((Path(__file__).parent / "figures.json").read_text())


def example(name: str) -> str:
    return (ROOT / "examples" / f"{name}.mlir").read_text()


MIXTRAL = ((14336, 4096), (4096, 14336))  # (N, K)
EIGHT_BIT = ("fp8", "fp8-block", "int8", "bf16")
WEIGHT_ONLY = ("int8-w8a16", "fp8-w8a16", "int4-w4a16", "mxfp4-w4a16")
ROUTINGS = ("uniform", "zipf")


def rows_of(shapes, schemes=EIGHT_BIT, routings=ROUTINGS) -> list[Row]:
    """The rows of (experts, top_k, n, k, tokens...) for each scheme and routing."""
    return [
        Row(Problem(scheme, experts, top_k, n, k), tokens, routing)
        for scheme in schemes
        for experts, top_k, n, k, all_tokens in shapes
        for tokens in all_tokens
        for routing in routings
    ]


POWERS = (64, 128, 256, 512, 1024, 2048, 4096)
TABLE = [
    (8, 2, 256, 128, (64,)),
    (8, 2, 1792, 1024, (64,)),
    (8, 2, 14336, 4096, POWERS),
    (8, 2, 7168, 4096, POWERS),
    (8, 2, 28672, 4096, (4096,)),
    (8, 2, 4096, 14336, (4096,)),
    (8, 2, 32768, 6144, (4096,)),
    (8, 2, 6144, 16384, (4096,)),
]
LONG = (8, 2, 14336, 4096, (16384,))
ROWS = {
    "table": rows_of(TABLE) + rows_of([*TABLE, LONG], WEIGHT_ONLY),
    "small-m": rows_of(
        [(8, 2, n, 4096, (1, 8, 16, 32, 64, 96, 128, 192)) for n in (14336, 7168)]
        + [(60, 4, 2816, 2048, (1, 8, 16, 32, 64, 96, 128, 192))]
    ),
    "dsv3": rows_of(
        [
            (experts, 8, n, k, (128, 4096, 8192))
            for experts in (256, 32)
            for n, k in ((4096, 7168), (7168, 2048))
        ]
    ),
    "mxfp8": rows_of([(8, 2, n, k, (4096,)) for n, k in MIXTRAL], ("mxfp8",)),
}


# The families of kernels that the suite `edges` runs: a problem and a config, or none for the
# compiler's choice. N and K leave a tail behind every tile, of whole chunks of packed weights.
EDGES = []
for scheme, form in itertools.product(SCHEMES, ("ragged", "masked", "gathered")):
    is_packed = bool(SCHEMES[scheme].rhs.packing)
    for n, k in ((1024, 512), (448, 640) if is_packed else (456, 720)):
        EDGES.append((Problem(scheme, 8, 2, n, k, form), ""))
    # Parts of K in the CTAs of a cluster; they are uneven but for packed weights.
    tile, stages = ("[64, 128]", 4) if is_packed else ("[64, 256]", 3)
    config = f"<tile = {tile}, stages = {stages}, schedule = dynamic, swap_ab = true, split_k = 2>"
    n, k = (448, 1024) if is_packed else (456, 880)
    EDGES.append((Problem(scheme, 8, 2, n, k, form), config))
# More than 2^31 elements in each of A, B and C, and the tokens that it takes.
BIG, BIG_TOKENS = Problem("fp8", 256, 8, 7168, 7168), 40000


# The gradients that the suite `wgrad` measures, at each number of rows a group, and what
# wgrad should reach of the dense matmul.
GRADIENT_ROWS = (4096, 8192)
GRADIENT_GOALS = {("wgrad", "bf16"): 0.90, ("wgrad", "fp8-block"): 0.62}
GRADIENTS = [
    Gradient(kind, scheme, experts, n, k, result)
    for kind, scheme, result in (
        ("wgrad", "bf16", "bf16"),
        ("wgrad", "bf16", "f32"),
        ("wgrad", "mxfp8", "bf16"),
        ("wgrad", "fp8-block", "bf16"),
        ("dgrad", "bf16", "bf16"),
    )
    for experts in (4, 8)
    for n, k in ((7168, 4096), (7168, 2048))
] + [Gradient("wgrad", "bf16", 4, 7168, 2048, "f32", adds=True)]


# The example that the suite `training` runs.
TRAINING = "te-grouped-linear-mxfp8"


def programs(suite: str, schemes=SCHEMES) -> dict[str, str]:
    """The MLIR of a suite, by name."""
    if suite == "edges":
        edges = [*EDGES, (BIG, "")]
        return {p.program(c): p.text(c) for p, c in edges if p.scheme in schemes}
    if suite == "wgrad":
        return {g.program(): g.text() for g in GRADIENTS if g.scheme in schemes}
    if suite == "training":
        return {TRAINING: example(TRAINING)}
    if suite == "act-quant":
        return act_quant_cases.programs()
    if suite != "smoke":
        problems = {row.problem for row in ROWS[suite] if row.problem.scheme in schemes}
        return {p.program(): p.text() for p in sorted(problems, key=Problem.program)}
    problems = [Problem(scheme, 8, 2, n, k) for scheme in ("fp8", "bf16") for n, k in MIXTRAL]
    layer = {"mixtral-8x7b-fp8": example("mixtral-8x7b-fp8")}
    return layer | {p.program(): p.text() for p in problems}


# The parts of the suites that are not of rows; each is run by a module of the suite's name.
SECTIONS = {
    "smoke": ("matmul", "layer"),
    "edges": ("edges", "big"),
    "wgrad": ("wgrad",),
    "act-quant": ("cases", "small", "peers"),
    "training": ("training",),
}
SUITES = (*SECTIONS, *ROWS)
