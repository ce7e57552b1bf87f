"""Tiles give the bits of the whole op: each form of loop, ragged rows, every scheme."""

import re
from dataclasses import dataclass

import numpy as np
import pytest

import moeq

N, K = 72, 128
ROUTINGS = {
    "ragged": ([3, 0, 40, 17, 1], 0),
    "rows-outside": ([5, 2, 0], 4),
    "empty": ([0, 0, 0], 2),
    "no-rows": ([0, 0], 0),
    "one-expert": ([33], 0),
    "all-to-one": ([0, 37, 0], 0),
}


@dataclass(frozen=True)
class Scheme:
    """Element types of the rows and of the weight, and the recipe that makes the rows."""

    rows: str
    weight: str
    recipe: str | None
    tiles: tuple[str, ...]


SCHEMES = {
    "fp8-block": Scheme(
        "!moeq.scaled<f8E4M3FN, block = [32], scale = f32>",
        "!moeq.scaled<f8E4M3FN, block = [32, 32], scale = f32>",
        "<deepgemm>",
        ("tile-m=16 tile-n=32", "tile-m=7 tile-n=16 fuse", "tile-m=128 tile-n=128"),
    ),
    "fp8-token-channel": Scheme(
        "!moeq.scaled<f8E4M3FN, block = [*], scale = f32>",
        "!moeq.scaled<f8E4M3FN, block = [*], scale = f32>",
        "<vllm_token>",
        ("tile-m=9 tile-n=17", "tile-m=16 tile-n=32 fuse"),
    ),
    "fp8-tensor": Scheme(
        "!moeq.scaled<f8E4M3FN, block = [*, *], scale = f32>",
        "!moeq.scaled<f8E4M3FN, block = [*, *], scale = f32>",
        "<amax>",
        ("tile-m=16 tile-n=32 fuse",),
    ),
    "mxfp8": Scheme(
        "!moeq.scaled<f8E4M3FN, block = [32], scale = f8E8M0FNU>",
        "!moeq.scaled<f8E4M3FN, block = [32], scale = f8E8M0FNU>",
        "<ocp>",
        ("tile-m=16 tile-n=24", "tile-m=8 tile-n=72 fuse"),
    ),
    "int8": Scheme(
        "!moeq.scaled<i8, block = [*], scale = f32>",
        "!moeq.scaled<i8, block = [*], scale = f32>",
        "<int8_sym, zero_block = one>",
        ("tile-m=16 tile-n=24 fuse",),
    ),
    "w4a16": Scheme(
        "bf16",
        "!moeq.scaled<ui4, block = [32], scale = f16, zero = i8>",
        None,
        ("tile-m=16 tile-n=24",),
    ),
    "bf16": Scheme("bf16", "bf16", None, ("tile-m=16 tile-n=24",)),
}

# Loops that only a transform script makes: tiles of one expert, windows of rows of all.
LOOPS = {
    "experts": "transform.structured.tile_using_forall %op tile_sizes [1, 16, 32]"
    " : (!transform.any_op) -> (!transform.any_op, !transform.any_op)",
    "experts-for": "transform.structured.tile_using_for %op tile_sizes [1, 16, 32]"
    " : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op,"
    " !transform.any_op)",
    "windows": "transform.structured.tile_using_forall %op tile_sizes [0, 16, 32]"
    " : (!transform.any_op) -> (!transform.any_op, !transform.any_op)",
}


def bf16(values: np.ndarray) -> np.ndarray:
    """The upper halves of f32 numbers."""
    return (values.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)


def program(scheme: Scheme, experts: int) -> str:
    """Rows quantized and multiplied, with an epilogue that sees each kind of operand,
    the row and the column."""
    quantize = (
        f"""
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x{K}xbf16>
  %e = tensor.empty(%m) : tensor<?x{K}x!a>
  %a = moeq.quantize input(%x : tensor<?x{K}xbf16>) outs(%e : tensor<?x{K}x!a>)
      recipe({scheme.recipe}) -> tensor<?x{K}x!a>"""
        if scheme.recipe
        else ""
    )
    return f"""
!a = {scheme.rows}
!w = {scheme.weight}
func.func @f(%x: tensor<?x{K}xbf16>, %w: tensor<{experts}x{N}x{K}x!w>,
    %offsets: tensor<{experts + 1}xi32>, %scale: tensor<?xf32>,
    %bias: tensor<{experts}x{N}xf32>, %residual: tensor<?x{N}xbf16>,
    %init: tensor<?x{N}xbf16>) -> tensor<?x{N}xbf16> {{{quantize}
  %0 = moeq.grouped_matmul lhs({"%a" if scheme.recipe else "%x"} : tensor<?x{K}x!a>)
      rhs(%w : tensor<{experts}x{N}x{K}x!w>) offsets(%offsets : tensor<{experts + 1}xi32>)
      outs(%init : tensor<?x{N}xbf16>)
      epilogue(%scale, %bias, %residual
          : tensor<?xf32>, tensor<{experts}x{N}xf32>, tensor<?x{N}xbf16>)
      maps [row, column, row_column] {{
    ^bb0(%acc: f32, %row: index, %column: index, %s: f32, %b: f32, %r: bf16):
      %1 = arith.addf %acc, %b : f32
      %2 = arith.muli %row, %column : index
      %3 = arith.index_cast %2 : index to i32
      %4 = arith.sitofp %3 : i32 to f32
      %5 = arith.addf %1, %4 : f32
      %6 = arith.mulf %5, %s : f32
      %7 = arith.extf %r : bf16 to f32
      %8 = arith.addf %6, %7 : f32
      %9 = arith.truncf %8 : f32 to bf16
      moeq.yield %9 : bf16
  }} -> tensor<?x{N}xbf16>
  return %0 : tensor<?x{N}xbf16>
}}
"""


def random_array(rng, argument, rows: int) -> np.ndarray:
    """An argument of the program; its dynamic extents are the rows."""
    shape = tuple(rows if n < 0 else n for n in argument.shape)
    if argument.element == "f8E8M0FNU":
        return rng.integers(120, 134, shape, np.uint8)
    if argument.element == "f8E4M3FN":
        return rng.integers(0, 0x7F, shape, np.uint8) | rng.choice(
            np.array([0, 0x80], np.uint8), shape
        )
    if argument.element == "i8":
        return rng.integers(-128, 128, shape, np.int8)
    if argument.element == "bf16":
        return bf16(rng.standard_normal(shape))
    dtype = {"f32": np.float32, "f16": np.float16}[argument.element]
    return rng.uniform(0.01, 1, shape).astype(dtype)


def inputs_of(module: moeq.Module, counts: list[int], outside: int) -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    arguments, _ = module.signature("f")
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    return [
        offsets if argument.element == "i32" else random_array(rng, argument, sum(counts) + outside)
        for argument in arguments
    ]


@pytest.mark.parametrize("routing", ROUTINGS)
@pytest.mark.parametrize(
    ("scheme", "tile"), [(name, tile) for name, s in SCHEMES.items() for tile in s.tiles]
)
def test_tiles_give_the_same_bits(scheme, tile, routing):
    counts, outside = ROUTINGS[routing]
    module = moeq.parse(program(SCHEMES[scheme], len(counts)))
    inputs = inputs_of(module, counts, outside)
    (expected,) = moeq.run(module, "f", inputs)
    tiled = module.clone().run_pipeline(f"moeq-tile{{{tile}}}")
    assert "scf.forall" in str(tiled) and "moeq.grouped_matmul" not in str(tiled)
    assert ("fuse" in tile and scheme != "fp8-tensor") == (
        "moeq.quantize" in str(tiled).partition("scf.forall")[2]
    )
    np.testing.assert_array_equal(moeq.run(tiled, "f", inputs)[0], expected)


@pytest.mark.parametrize("routing", ROUTINGS)
@pytest.mark.parametrize("loop", LOOPS)
def test_loops_give_the_same_bits(loop, routing):
    counts, outside = ROUTINGS[routing]
    text = program(SCHEMES["fp8-block"], len(counts))
    module = moeq.parse(text)
    inputs = inputs_of(module, counts, outside)
    (expected,) = moeq.run(module, "f", inputs)
    results = LOOPS[loop].count("!transform.any_op") - 1
    script = f"""
module attributes {{transform.with_named_sequence}} {{
  transform.named_sequence @__transform_main(%module: !transform.any_op {{transform.readonly}}) {{
    %op = transform.structured.match ops{{["moeq.grouped_matmul"]}} in %module
        : (!transform.any_op) -> !transform.any_op
    {", ".join(f"%{i}" for i in range(results))} = {LOOPS[loop]}
    transform.yield
  }}
}}
"""
    tiled = str(moeq.parse(text + script).run_pipeline("transform-interpreter"))
    tiled = moeq.parse(re.sub(r"  module attributes.*", "}", tiled, flags=re.DOTALL))
    assert "scf.for" in str(tiled)
    np.testing.assert_array_equal(moeq.run(tiled, "f", inputs)[0], expected)


@pytest.mark.parametrize("routing", ROUTINGS)
def test_tiles_of_linear_form_give_the_same_bits(routing):
    counts, outside = ROUTINGS[routing]
    module = moeq.parse(program(SCHEMES["fp8-token-channel"], len(counts)))
    inputs = inputs_of(module, counts, outside)
    (expected,) = moeq.run(module, "f", inputs)
    tiled = module.clone().run_pipeline(
        "moeq-decompose{form=linear},moeq-tile{tile-m=16 tile-n=24}"
    )
    assert str(tiled).count("scf.forall") >= len(counts)
    np.testing.assert_array_equal(moeq.run(tiled, "f", inputs)[0], expected)
