"""The matmul kernels of chips without wgmma, executed without a GPU."""

import numpy as np
import pytest

import moeq
from reference import compare, formats
from reference.matmul import int_matmul, matmul
from reference.scaled import WHOLE, Format, Scaled
from simt import Machine
from test_kernels import memref, operand_text, random_operand

INTEGER = Format("i8", (WHOLE,))


def packed(element, value, *block, **options):
    return element, Format(value, block, packing="fragments", **options)


PACKED = {
    "int8": packed("bf16", "i8", WHOLE),
    "int8-f16": packed("f16", "i8", WHOLE, scale="f16"),
    "int8-groups": packed("bf16", "i8", 64, scale="bf16"),
    "e4m3": packed("bf16", "f8E4M3FN", WHOLE),
    "e4m3-groups": packed("f16", "f8E4M3FN", 128),
    "e5m2": packed("bf16", "f8E5M2", WHOLE),
    "e5m2-groups": packed("bf16", "f8E5M2", 32),
    "int4": packed("bf16", "i4", 128, scale="bf16"),
    "int4-f16": packed("f16", "i4", 64, scale="f16"),
    "int4-groups": packed("bf16", "i4", 32, scale="bf16"),
    "uint4-groups": packed("f16", "ui4", 32, scale="f16", zero="i8"),
    "uint4": packed("bf16", "ui4", 128, scale="bf16", zero="i8"),
    "mxfp4": packed("bf16", "f4E2M1FN", 32, scale="f8E8M0FNU"),
}
SCHEMES = {
    "bf16": ("bf16", "bf16"),
    "f16": ("f16", "f16"),
    "int8": (INTEGER, INTEGER),
    "fp8": (Format("f8E4M3FN", (WHOLE,)), Format("f8E5M2", (WHOLE,))),
    "fp8-block": (Format("f8E4M3FN", (128,)), Format("f8E4M3FN", (128, 128))),
}
# 8-bit floats are widened on sm_80.
CHIPS = [("sm_80", scheme) for scheme in SCHEMES] + [("sm_89", "fp8"), ("sm_89", "fp8-block")]
# Of both a tail; K ends within a stage, or with one of its blocks. Packed weights
# have whole chunks.
COLUMNS, DEPTH = 144, 272
PACKED_COLUMNS = 192


@pytest.fixture
def rng():
    return np.random.default_rng(13)


def execute(text: str, chip: str, *arrays) -> None:
    """Runs the kernels of @f of `text` for a chip with two multiprocessors."""
    target = f'module attributes {{moeq.target = #moeq.target<chip = "{chip}", sms = 2>}}'
    module = moeq.parse(f"{target} {{ {text} }}")
    module.run_pipeline(
        "builtin.module(moeq-outline-kernels,moeq-attach-target,"
        "gpu.module(convert-moeq-gpu-to-nvgpu,canonicalize,cse),canonicalize)"
    )
    printed = module.print(generic=True)
    assert "nvvm.ldmatrix" in printed
    Machine(printed).run("f", arrays)


def operands(rng, scheme, rows, experts):
    """A of `rows` and B of the experts: numbers, their arguments and texts."""
    left, right = SCHEMES[scheme]
    depth = 256 if scheme == "fp8-block" else DEPTH
    a, a_types = random_operand(rng, left, (*rows, depth))
    b, b_types = random_operand(rng, right, (experts, COLUMNS, depth))
    b_types = [t.replace("memref<?x", f"memref<{experts}x") for t in b_types]
    a_arguments, a_text = operand_text("a", left, a_types)
    b_arguments, b_text = operand_text("b", right, b_types)
    return a, b, f"{a_arguments}, {b_arguments}", f"lhs{a_text} rhs{b_text}"


def components(x):
    return x.components() if isinstance(x, Scaled) else [x]


def assert_product(c, a, b, scheme):
    """Rows of one expert: of integers the bits."""
    if scheme == "int8":
        compare.assert_same(c, int_matmul(a, b, "bf16"))
    else:
        compare.assert_within(c, matmul(a, b), "bf16")


@pytest.mark.parametrize(("chip", "scheme"), CHIPS)
def test_ragged(rng, chip, scheme):
    counts = (3, 0, 130, 17)
    offsets = np.cumsum([0, *counts]).astype(np.int32)
    a, b, arguments, text = operands(rng, scheme, (offsets[-1] + 2,), len(counts))
    c = np.full((len(components(a)[0]), COLUMNS), 7, formats.STORAGE["bf16"])
    init = c.copy()
    out = memref((None, COLUMNS), "bf16")
    execute(
        f"""func.func @f({arguments}, %o: memref<5xi32>, %c: {out}) {{
          moeq.grouped_matmul {text} offsets(%o : memref<5xi32>) outs(%c : {out})
          return
        }}""",
        chip, *components(a), *components(b), offsets, c,
    )  # fmt: skip
    for e in range(len(counts)):
        rows = slice(offsets[e], offsets[e + 1])
        assert_product(c[rows], a[rows], b[e], scheme)
    np.testing.assert_array_equal(c[offsets[-1] :], init[offsets[-1] :])


@pytest.mark.parametrize(("chip", "scheme"), CHIPS)
def test_masked(rng, chip, scheme):
    """With a bias that each expert has of its own."""
    counts, most = np.array([70, 0, 1], np.int32), 70
    a, b, arguments, text = operands(rng, scheme, (len(counts), most), len(counts))
    bias = rng.standard_normal((len(counts), COLUMNS)).astype(np.float32)
    c = np.full((len(counts), most, COLUMNS), 7, np.float32)
    init = c.copy()
    out, bias_type = memref((len(counts), None, COLUMNS), "f32"), memref(bias.shape, "f32")
    execute(
        f"""func.func @f({arguments}, %n: memref<3xi32>, %bias: {bias_type}, %c: {out}) {{
          moeq.grouped_matmul {text} counts(%n : memref<3xi32>) outs(%c : {out})
              epilogue(%bias : {bias_type}) maps [column] {{
            ^bb0(%acc: f32, %row: index, %column: index, %x: f32):
              %s = arith.addf %acc, %x : f32
              moeq.yield %s : f32
          }}
          return
        }}""".replace("memref<?x70x", "memref<3x70x"),
        chip, *components(a), *components(b), counts, bias, c,
    )  # fmt: skip
    for e, count in enumerate(counts):
        expected = matmul(a[e][:count], b[e])
        expected.value += bias[e]
        expected.error += 2.0**-23 * (np.abs(expected.value) + np.abs(bias[e]))
        compare.assert_within(c[e, :count], expected, "f32")
        np.testing.assert_array_equal(c[e, count:], init[e, count:])


@pytest.mark.parametrize(("chip", "scheme"), CHIPS)
def test_gathered(rng, chip, scheme):
    """Rows that an index names; -1 names zeros."""
    counts, tokens = (33, 0, 5), 9
    offsets = np.cumsum([0, *counts]).astype(np.int32)
    a, b, arguments, text = operands(rng, scheme, (tokens,), len(counts))
    rows = rng.integers(-1, tokens, offsets[-1]).astype(np.int32)
    c = np.full((len(rows), COLUMNS), 7, formats.STORAGE["bf16"])
    out = memref((None, COLUMNS), "bf16")
    execute(
        f"""func.func @f({arguments}, %o: memref<4xi32>, %r: memref<?xi32>, %c: {out}) {{
          moeq.grouped_matmul {text} offsets(%o : memref<4xi32>) rows(%r : memref<?xi32>)
              outs(%c : {out})
          return
        }}""",
        chip, *components(a), *components(b), offsets, rows, c,
    )  # fmt: skip
    for e in range(len(counts)):
        span = slice(offsets[e], offsets[e + 1])
        named = rows[span] >= 0
        assert_product(c[span][named], a[rows[span][named]], b[e], scheme)
    assert not c[rows < 0].any()


def packed_operands(rng, scheme, rows, experts):
    """As `operands`, of numbers whose products have exact sums in f32."""
    element, format_ = PACKED[scheme]
    depth = 384 if format_.block[-1] == 128 else 320
    shape = (experts, PACKED_COLUMNS, depth)
    a = rng.integers(-4, 5, (*rows, depth)).astype(formats.STORAGE[element])
    codes = np.arange(16 if formats.is_packed(format_.value) else 256, dtype=np.uint8)
    numbers = formats.decode(codes.view(formats.STORAGE[format_.value]), format_.value)
    with np.errstate(invalid="ignore"):
        codes = codes[(np.abs(numbers) < 200) & (numbers % 0.5 == 0)]
    values = rng.choice(codes, shape).view(formats.STORAGE[format_.value])
    if format_.value == "i4":
        values = (values ^ 8) - np.int8(8)
    exponents = rng.integers(-2, 3, format_.scale_shape(shape))
    scales = (
        (exponents + 127).astype(np.uint8)
        if format_.scale == "f8E8M0FNU"
        else np.ldexp(1.0, exponents).astype(formats.STORAGE[format_.scale])
    )
    zeros = rng.integers(-3, 18, scales.shape).astype(np.int8) if format_.zero else None
    b = Scaled(format_, values, scales, zeros)
    types = [memref(x.shape, t) for x, t in zip(b.components(), format_types(format_), strict=True)]
    b_arguments, b_text = operand_text("b", format_, types)
    a_type = memref((None, *a.shape[1:]), element)
    return a, b, f"%a: {a_type}, {b_arguments}", f"lhs(%a : {a_type}) rhs{b_text}"


def format_types(format_):
    stored = "i8" if formats.is_packed(format_.value) else format_.value
    return [stored, format_.scale] + ([format_.zero] if format_.zero else [])


def assert_packed(c, a, b, element):
    compare.assert_same(c, formats.round_to(matmul(a, b).value, element))


@pytest.mark.parametrize("chip", ["sm_80", "sm_89"])
@pytest.mark.parametrize("scheme", PACKED)
def test_packed(rng, chip, scheme):
    """Tiles of each width."""
    counts = (3, 0, 150, 17, 33)
    offsets = np.cumsum([0, *counts]).astype(np.int32)
    a, b, arguments, text = packed_operands(rng, scheme, (offsets[-1] + 2,), len(counts))
    element = PACKED[scheme][0]
    c = np.full((len(a), PACKED_COLUMNS), 7, formats.STORAGE[element])
    init = c.copy()
    out = memref((None, PACKED_COLUMNS), element)
    execute(
        f"""func.func @f({arguments}, %o: memref<6xi32>, %c: {out}) {{
          moeq.grouped_matmul {text} offsets(%o : memref<6xi32>) outs(%c : {out})
          return
        }}""",
        chip, a, *b.components(), offsets, c,
    )  # fmt: skip
    for e in range(len(counts)):
        rows = slice(offsets[e], offsets[e + 1])
        assert_packed(c[rows], a[rows], b[e], element)
    np.testing.assert_array_equal(c[offsets[-1] :], init[offsets[-1] :])


@pytest.mark.parametrize("scheme", ["e4m3-groups", "uint4", "mxfp4"])
def test_packed_gathered(rng, scheme):
    """Rows that an index names, with a result of f32 to which an epilogue adds its row."""
    counts, tokens = (33, 0, 5), 9
    offsets = np.cumsum([0, *counts]).astype(np.int32)
    a, b, arguments, text = packed_operands(rng, scheme, (tokens,), len(counts))
    rows = rng.integers(-1, tokens, offsets[-1]).astype(np.int32)
    added = rng.integers(-9, 9, len(rows)).astype(np.float32)
    c = np.full((len(rows), PACKED_COLUMNS), 7, np.float32)
    out = memref((None, PACKED_COLUMNS), "f32")
    execute(
        f"""func.func @f({arguments}, %o: memref<4xi32>, %r: memref<?xi32>, %x: memref<?xf32>,
                         %c: {out}) {{
          moeq.grouped_matmul {text} offsets(%o : memref<4xi32>) rows(%r : memref<?xi32>)
              outs(%c : {out}) epilogue(%x : memref<?xf32>) maps [row] {{
            ^bb0(%acc: f32, %row: index, %column: index, %y: f32):
              %s = arith.addf %acc, %y : f32
              moeq.yield %s : f32
          }}
          return
        }}""",
        "sm_80", a, *b.components(), offsets, rows, added, c,
    )  # fmt: skip
    for e in range(len(counts)):
        span = slice(offsets[e], offsets[e + 1])
        named = np.where(rows[span, None] >= 0, a[rows[span]], 0).astype(a.dtype)
        assert_packed(c[span] - added[span, None], named, b[e], "f32")
