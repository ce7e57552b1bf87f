"""The kernels that quantize rows of groups, rowwise and columnwise, executed without a GPU:
the bytes that the loops of the CPU give, padding and what no row writes included."""

from dataclasses import replace

import numpy as np
import pytest

from programs import PER_ROW
from quantize_cases import BLOCK, CASES, LAYOUTS, MX, on_memrefs
from reference import formats
from reference.scaled import Format
from test_columnwise import offsets_of, sample
from test_kernels import run


def check(x, recipe, outs, columnwise, *args, few=None, **options):
    """Runs one op on both: by the kernel for few numbers or that for many, or by either as
    their count says."""
    text, arrays = on_memrefs(x, recipe, outs, columnwise, *args, **options)
    run(text, *arrays, branch=few)


COUNTS = [[0], [1], [31, 0, 32], [33, 127], [0, 129, 5]]


def rng_of(*seed):
    return np.random.default_rng([len(str(s)) for s in seed])


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("columnwise", [None, "row_major", "transposed"])
@pytest.mark.parametrize(("recipe", "format"), [("te_mx", MX), ("deepgemm", BLOCK)])
def test_groups(recipe, format, columnwise, layout):
    rng = rng_of(recipe, columnwise, layout)
    for i, (counts, columns) in enumerate(zip(COUNTS, (64, 256, 33, 296, 40), strict=True)):
        few = (i + LAYOUTS.index(layout)) % 2 == 0
        row = replace(format, layout=layout, groups=len(counts))
        column = {
            None: None,
            "row_major": replace(row, block=(*format.block, 1)),
            "transposed": replace(row, groups=0),
        }[columnwise]
        x = sample(rng, sum(counts) + 2, columns)
        check(x, recipe, row, column, offsets_of(counts), few=few)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("transposed", [False, True])
def test_without_groups(transposed, layout):
    rng = rng_of(layout)
    row = replace(MX, layout=layout)
    for i, (rows, columns) in enumerate(((70, 264), (1, 31), (128, 64))):
        column = row if transposed else replace(row, block=(32, 1))
        few = (i + LAYOUTS.index(layout)) % 2 == 0
        check(sample(rng, rows, columns), "te_mx", row, column, few=few)


@pytest.mark.parametrize("few", [False, True])
@pytest.mark.parametrize("element", ["f32", "f16", "bf16"])
@pytest.mark.parametrize("recipe", ["ocp", "te_mx"])
def test_elements(recipe, element, few):
    rng = rng_of(recipe, element)
    check(sample(rng, 37, 72, element), recipe, MX, replace(MX, block=(32, 1)), few=few)
    check(sample(rng, 37, 72, element), recipe, None, MX, few=few)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(
    ("recipe", "format"),
    [
        ("vllm_token", Format("f8E4M3FN", PER_ROW)),
        ("int8_sym", Format("i8", PER_ROW)),
        ("int8_asym", Format("i8", (32,), "f32", "i8")),
        ("int4_sym", Format("i4", (32,), "bf16")),
    ],
)
def test_rows_of_groups(recipe, format, layout):
    rng = rng_of(recipe, layout)
    for counts, columns in (([33, 0, 127], 72), ([2], 2056), ([3], 264)):
        for groups in (0, len(counts)):
            if groups == 0 and layout != "row_major":
                continue
            row = replace(format, layout=layout, groups=groups)
            check(sample(rng, sum(counts) + 3, columns), recipe, row, None, offsets_of(counts))


@pytest.mark.parametrize("value", ["f8E4M3FN", "i8"])
def test_quotients_of_rows(value):
    """Scales of all sizes: quotients come from reciprocals unless scales are extreme."""
    rng = rng_of("quotients", value)
    x = sample(rng, 40, 264)
    x = x.astype(np.float32) * np.exp2(rng.integers(-110, 110, (40, 1))).astype(np.float32)
    x = formats.round_to(x, "bf16")
    check(x, "amax", Format(value, PER_ROW), None)


@pytest.mark.parametrize("recipe", ["te", "vllm_group", "torchao"])
@pytest.mark.parametrize("block", [32, 64, 128])
def test_recipes(recipe, block):
    rng = rng_of(recipe)
    format = Format("f8E5M2" if block == 64 else "f8E4M3FN", (block,))
    x = sample(rng, 140, 136)
    check(x, recipe, format, format, offsets_of([1, 130]), few=recipe != "te")
    check(x, recipe, None, format, offsets_of([1, 130]), few=recipe == "te")


@pytest.mark.parametrize("few", [False, True])
def test_gathered_rows(few):
    rng = rng_of("gathered")
    rows = rng.integers(0, 9, 70).astype(np.int32)
    rows[[3, 40, 69]] = -1
    x = sample(rng, 9, 64)
    check(x, "te_mx", MX, replace(MX, block=(32, 1), groups=2), offsets_of([35, 33]), rows, few=few)
    check(x, "te_mx", MX, MX, offsets_of([35, 33]), rows, few=few)


@pytest.mark.parametrize("function", ["swiglu", "srelu", "geglu"])
@pytest.mark.parametrize("rounded", ["bf16", "f16", "none"])
@pytest.mark.parametrize("few", [False, True])
def test_act_quant(function, rounded, few):
    rng = rng_of(function, rounded)
    x = formats.round_to(rng.normal(size=(75, 144)).astype(np.float32) * 4, "bf16")
    x[5] *= np.float32(1e4)
    offsets = offsets_of([40, 0, 31])
    row = replace(MX, layout="swizzle_128x4", groups=3)
    check(x, "te_mx", row, MX, offsets, function=function, rounded=rounded, few=few)
    check(x, "te_mx", MX, None, offsets, function=function, rounded=rounded, few=not few)


@pytest.mark.parametrize("few", [False, True])
def test_groups_of_two_steps(few):
    """More groups than a warp has lanes."""
    rng = rng_of("many")
    counts = rng.integers(0, 4, 70)
    row = replace(MX, groups=70)
    check(sample(rng, int(counts.sum()), 32), "te_mx", row, None, offsets_of(counts), few=few)


def test_matrix():
    """Each recipe, layout, orientation and op is in the cases that a GPU is compared in."""
    assert len(CASES) >= 300
    assert len({case.name for case in CASES}) == len(CASES)
    blocks = [case for case in CASES if case.orientation == "row+transposed"]
    for of in ("recipe", "layout"):
        assert {getattr(case, of) for case in blocks} >= set(
            ("te_mx", "ocp", "deepgemm", "vllm_group", "te", "torchao")
            if of == "recipe"
            else LAYOUTS
        )
    rows = {count for case in CASES for count in case.counts}
    assert rows >= {0, 1, 31, 32, 33, 127, 128, 129}


@pytest.mark.parametrize("case", CASES[3 :: len(CASES) // 16], ids=lambda case: case.name)
def test_some_of_the_matrix(case):
    text, arrays = case.build()
    run(text, *arrays)
