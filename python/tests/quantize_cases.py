"""Programs of quantization on memrefs, and a matrix of them: every recipe in every orientation,
layout and op, with sizes that leave a tail everywhere. On a CPU and on a GPU they give the same
bytes (bench/quantize_bytes.py)."""

import itertools
import random
from dataclasses import dataclass, replace

import numpy as np

from programs import (
    ELEMENTS,
    PER_ROW,
    PER_TENSOR,
    activation_options,
    poison_scaled,
    result_shapes,
    width,
)
from reference import activation, formats
from reference.quantize import PRESETS
from reference.scaled import Format
from test_columnwise import offsets_of, sample
from test_kernels import memref

LAYOUTS = ("row_major", "mn_major", "padded", "swizzle_128x4")
MX = Format("f8E4M3FN", (32,), "f8E8M0FNU")
BLOCK = Format("f8E4M3FN", (128,), "f32")


def on_memrefs(
    x, recipe, outs, columnwise, offsets=None, rows=None, function=None, rounded="bf16",
    grad=None, weight=None, bias_grad=False, name="f", **options,
):  # fmt: skip
    """A function of one op on memrefs, rows dynamic, and the arrays to run it on, those that it
    writes poisoned: quantize, act_quant of a function, or act_quant_grad of it for the gradient
    `grad`."""
    features = width(x, function or "identity") if grad is None else x.shape[1]
    arguments, body = [], ""
    for key, values in (("grad", grad), ("input", x)):
        if values is not None:
            type_ = memref((None, values.shape[1]), ELEMENTS[values.dtype])
            arguments.append((f"%{key}", type_, values))
            body += f" {key}(%{key} : {type_})"
    if weight is not None:
        arguments.append(("%weight", memref((None,), "f32"), weight))
        body += f" row_weight(%weight : {arguments[-1][1]})"
    for key, values in (("rows", rows), ("offsets", offsets)):
        if values is not None:
            static = None if key == "rows" else len(values)
            arguments.append((f"%{key}", memref((static,), "i32"), np.asarray(values, np.int32)))
            body += f" {key}(%{key} : {arguments[-1][1]})"
    count = len(x if rows is None else rows)
    shapes = result_shapes(count, features, outs, columnwise, offsets)
    names = ["outs"] * bool(outs) + ["columnwise"] * bool(columnwise)
    for key, format, shape in zip(names, [f for f in (outs, columnwise) if f], shapes, strict=True):
        group, types = [], []
        transposed = key == "columnwise" and format.block[-1] != 1
        for part, array in enumerate(poison_scaled(shape, format).components()):
            stored = ("i8" if formats.is_packed(format.value) else format.value, format.scale)
            along_rows = transposed != (part > 0 and format.layout == "mn_major")
            extents = [array.shape[0], None] if along_rows else [None, array.shape[1]]
            group.append(f"%{key}{part}")
            types.append(memref(extents, (*stored, format.zero)[part]))
            arguments.append((group[-1], types[-1], array))
        body += f" {key}({', '.join(group)} : {', '.join(types)} as {format})"
    if bias_grad:
        sums = np.full((len(offsets) - 1, features), np.nan, np.float32)
        arguments.append(("%sums", memref(sums.shape, "f32"), sums))
        body += f" bias_grad(%sums : {arguments[-1][1]})"
    op = "quantize"
    if function:
        op = "act_quant" if grad is None else "act_quant_grad"
        body += f" function({function}){activation_options(**options)}"
        body += f" intermediate_round({rounded})"
    parameters = str(PRESETS[recipe]).removeprefix("#moeq.recipe")
    signature = ", ".join(f"{name}: {type_}" for name, type_, _ in arguments)
    text = (
        f"func.func @{name}({signature}) {{\n  moeq.{op} {body} recipe({parameters})\n  return\n}}"
    )
    return text, [array for _, _, array in arguments]


# The recipes whose blocks lie along rows or columns, of whole rows, of other values, and of
# several rows.
BLOCKS = {
    "te_mx": MX,
    "ocp": Format("f8E5M2", (32,), "f8E8M0FNU"),
    "deepgemm": BLOCK,
    "vllm_group": BLOCK,
    "te": Format("f8E4M3FN", (32,)),
    "torchao": Format("f8E5M2", (64,)),
}
TOKENS = {"vllm_token": Format("f8E4M3FN", PER_ROW), "int8_sym": Format("i8", PER_ROW)}
OTHERS = {
    "int8_asym": Format("i8", (32,), "f32", "i8"),
    "int4_sym": Format("i4", (32,), "bf16"),
    "awq": Format("ui4", (32,), "f32", "i8"),
}
TENSORS = {
    "te": Format("f8E4M3FN", PER_TENSOR),
    "deepgemm": Format("f8E4M3FN", (128, 128)),
    "amax": Format("f8E5M2", PER_TENSOR),
}
ORIENTATIONS = ("row", "column", "transposed", "row+column", "row+transposed")
OPS = ("quantize", "act_quant", "act_quant_grad")
FUNCTIONS = ("swiglu", "srelu", "geglu", "silu", "gelu_tanh", "clamped_swiglu", "relu")
GATES = ("gate_first", "up_first", "interleaved", "interleaved_64")
COUNTS = (
    (0,), (1,), (31, 0, 32), (33, 127), (0, 129, 5), (128, 61), (2, 3, 5, 7, 11, 13), (97, 0, 1),
)  # fmt: skip
COLUMNS = (1, 31, 32, 33, 64, 127, 128, 129, 192, 256, 97)
OUTSIDE = 2  # rows that follow those of groups


@dataclass(frozen=True)
class Case:
    """One program. Without groups the rows are all those of `counts`."""

    recipe: str
    format: Format
    orientation: str
    op: str
    function: str | None
    gate_layout: str
    rounded: str
    element: str
    counts: tuple[int, ...]
    columns: int
    grouped: bool
    number: int

    @property
    def layout(self) -> str:
        return self.format.layout

    @property
    def name(self) -> str:
        what = self.orientation.replace("+", "_")
        return f"{self.op}_{self.recipe}_{what}_{self.layout}_{self.number}"

    def results(self) -> tuple[Format | None, Format | None]:
        groups = len(self.counts) if self.grouped else 0
        row = replace(self.format, groups=groups)
        column = None
        if "column" in self.orientation:
            column = replace(row, block=(*self.format.block, 1))
        elif "transposed" in self.orientation:
            column = self.format
        return row if "row" in self.orientation else None, column

    def build(self, name: str = "f"):
        """Its text, a function of this name, and arrays."""
        rng = np.random.default_rng(self.number)
        count = sum(self.counts) + (OUTSIDE if self.grouped else 0)
        halves = 2 if self.function in activation.GATED else 1
        options = {}
        if self.op == "quantize":
            x = sample(rng, count, self.columns, self.element)
        else:
            numbers = rng.normal(0, 3, (count, halves * self.columns))
            x = formats.round_to(numbers.astype(np.float32), self.element)
            options = {"function": self.function, "rounded": self.rounded}
            if halves == 2:
                options["gate_layout"] = self.gate_layout
            options["weight"] = rng.normal(size=count).astype(np.float32)
        if self.op == "act_quant_grad":
            options["grad"] = sample(rng, count, self.columns, self.element)
            options["bias_grad"] = self.grouped
        offsets = offsets_of(self.counts) if self.grouped else None
        return on_memrefs(x, self.recipe, *self.results(), offsets, name=name, **options)


def make_cases() -> list[Case]:
    """In a fixed order, with sizes and types drawn by a fixed seed."""
    draw = random.Random(4)
    found = [
        (recipe, replace(format, layout=layout), orientation, op, True)
        for recipe, format in BLOCKS.items()
        for layout, orientation, op in itertools.product(LAYOUTS, ORIENTATIONS, OPS)
    ]
    found += [
        (recipe, replace(format, layout=layout), "row", op, True)
        for recipe, format in (TOKENS | OTHERS).items()
        for layout, op in itertools.product(LAYOUTS, OPS)
    ]
    found += [
        (recipe, format, "row", op, False)
        for recipe, format in TENSORS.items()
        for op in OPS[:2]
        if op == "quantize" or format.block == PER_TENSOR
    ]
    cases = []
    for number, (recipe, format, orientation, op, grouped) in enumerate(found):
        function = None if op == "quantize" else draw.choice(FUNCTIONS)
        columns, gate_layout = draw.choice(COLUMNS), draw.choice(GATES)
        if function in activation.GATED and gate_layout == "interleaved_64":
            columns = draw.choice((64, 128, 192))
        cases.append(
            Case(
                recipe, format, orientation, op, function, gate_layout,
                draw.choice(("bf16", "bf16", "f16", "none")),
                draw.choice(("bf16", "bf16", "f16", "f32")),
                draw.choice(COUNTS), columns, grouped, number,
            )
        )  # fmt: skip
    return cases


CASES = make_cases()
