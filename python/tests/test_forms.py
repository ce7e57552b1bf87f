"""Whatever passes lead from a layer or from ops to loops, the bits are the same."""

from pathlib import Path

import numpy as np
import pytest

import moeq
from reference import formats

EXAMPLES = Path(__file__).parents[2] / "examples"
# Layers of experts; what takes offsets does not run on random ones.
TINY = sorted(p.name for p in EXAMPLES.glob("*-tiny-*.mlir") if "moeq.experts" in p.read_text())
FORMS = (
    "moeq-decompose,moeq-fuse,canonicalize,cse",
    "moeq-decompose{form=linear},canonicalize",
    "moeq-decompose{form=linear unroll-limit=0},moeq-fuse,canonicalize,cse",
    "moeq-decompose,moeq-fuse,moeq-tile{tile-m=4 tile-n=32},canonicalize,cse",
)
DEVICE_OFFSETS = "moeq-decompose,moeq-fuse,moeq-decompose{form=linear device-offsets=true}"
ROUTINGS = ("random", "one", "two")
CASES = ((0, "random"), (1, "one"), (9, "random"), (9, "two"))  # tokens, routing


def route(rng, tokens: int, experts: int, routing: str) -> np.ndarray:
    """Logits that spread the tokens over all experts, or over one or two favourites,
    which leaves the others empty when top_k allows."""
    logits = rng.standard_normal((tokens, experts)).astype(np.float32)
    favourites = {"random": [], "one": [experts - 1], "two": [0, experts // 2]}[routing]
    logits[:, favourites] += 20
    return logits


def fill(rng, kind, tokens: int, routing: str) -> np.ndarray:
    """Finite numbers for an argument of this type."""
    shape = tuple(tokens if n < 0 else n for n in kind.shape)
    if kind.name == "logits":
        return route(rng, *shape, routing)
    if kind.name == "expert_map":
        return np.where(np.arange(shape[0]) % 3 == 1, -1, np.arange(shape[0]) // 2).astype(np.int32)
    if kind.name.endswith(".zero"):
        return rng.integers(0, 16, shape).astype(np.int8)
    if kind.element == "f8E8M0FNU":
        return rng.integers(118, 126, shape).astype(np.uint8)
    if kind.element in ("i8", "f8E4M3FN"):
        codes = rng.integers(0, 256, shape).astype(np.uint8)
        nan = kind.element == "f8E4M3FN" and (codes & 0x7F) == 0x7F
        codes[nan] = 0
        return codes.view(np.int8) if kind.element == "i8" else codes
    numbers = rng.standard_normal(shape)
    if kind.name.endswith(".scale"):
        numbers = np.abs(numbers) / 64
    array = numbers.astype(formats.STORAGE[kind.element])
    return array.view(np.uint16) if kind.element == "bf16" else array


def run_all(text: str, entry: str, inputs: list, forms) -> None:
    """Runs the function as it is and after each pipeline, and compares the bytes."""
    expected = moeq.run(moeq.parse(text), entry, inputs, level="layer")
    for form in forms:
        module = moeq.parse(text).run_pipeline(f"builtin.module({form})")
        for want, got in zip(expected, moeq.run(module, entry, inputs, level="layer"), strict=True):
            assert want.shape == got.shape and want.tobytes() == got.tobytes(), form


def check_layer(text: str, entry: str, tokens: int, routing: str, forms=FORMS) -> None:
    rng = np.random.default_rng([tokens, ROUTINGS.index(routing)])
    arguments, _ = moeq.parse(text).signature(entry)
    run_all(text, entry, [fill(rng, kind, tokens, routing) for kind in arguments], forms)


@pytest.mark.parametrize("name", TINY)
def test_example(name):
    text = (EXAMPLES / name).read_text()
    entry = text.split("func.func @")[1].split("(")[0]
    forms = FORMS
    if "packing" in text:  # A tile has whole chunks of packed rows.
        forms = [form.replace("tile-n=32", "tile-n=64") for form in FORMS]
    for tokens, routing in CASES:
        check_layer(text, entry, tokens, routing, forms)


@pytest.mark.parametrize("name", [name for name in TINY if name.startswith("mixtral")])
def test_device_offsets(name):
    """A matmul an expert whose offsets are data, of which two experts have rows."""
    check_layer((EXAMPLES / name).read_text(), "mixtral_layer", 9, "two", (DEVICE_OFFSETS,))


@pytest.mark.parametrize("block", ["[*]", "[*, *]"])
def test_expert_map(block):
    """Dropped rows, under scales inside a row and over all rows; all rows dropped."""
    act = f"!moeq.scaled<f8E4M3FN, block = {block}, scale = f32>"
    text = f"""
    func.func @mapped(%hidden: tensor<?x64xbf16> {{moeq.name = "hidden"}},
        %logits: tensor<?x8xf32> {{moeq.name = "logits"}},
        %w13: tensor<4x64x64x{act}> {{moeq.name = "w13"}},
        %w2: tensor<4x64x32x{act}> {{moeq.name = "w2"}},
        %map: tensor<8xi32> {{moeq.name = "expert_map"}}, %init: tensor<?x64xbf16>)
        -> tensor<?x64xbf16> {{
      %0 = moeq.experts hidden(%hidden : tensor<?x64xbf16>) logits(%logits : tensor<?x8xf32>)
          w13(%w13 : tensor<4x64x64x{act}>) w2(%w2 : tensor<4x64x32x{act}>)
          expert_map(%map : tensor<8xi32>) outs(%init : tensor<?x64xbf16>) top_k(2)
          function(swiglu) quantize(<te> to {act}) -> tensor<?x64xbf16>
      return %0 : tensor<?x64xbf16>
    }}"""
    for tokens, routing in CASES:
        check_layer(text, "mapped", tokens, routing)


def test_epilogue():
    """Ops behind a matmul, rounded to bf16 in between, and in its epilogue."""
    text = """
    #id = affine_map<(d0, d1) -> (d0, d1)>
    #row = affine_map<(d0, d1) -> (d0)>
    func.func @chain(%a: tensor<?x48xbf16>, %b: tensor<3x40x48xbf16>, %offsets: tensor<4xi32>,
        %w: tensor<?xf32>, %residual: tensor<?x40xf32>) -> tensor<?x40xf16> {
      %zero = arith.constant 0.0 : bf16
      %c0 = arith.constant 0 : index
      %s = tensor.dim %a, %c0 : tensor<?x48xbf16>
      %i = tensor.empty(%s) : tensor<?x40xbf16>
      %c = moeq.grouped_matmul lhs(%a : tensor<?x48xbf16>) rhs(%b : tensor<3x40x48xbf16>)
          offsets(%offsets : tensor<4xi32>) outs(%i : tensor<?x40xbf16>) -> tensor<?x40xbf16>
      %d = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]}
          outs(%c : tensor<?x40xbf16>) {
        ^bb0(%x: bf16):
          %0 = arith.maximumf %x, %zero : bf16
          linalg.yield %0 : bf16
      } -> tensor<?x40xbf16>
      %o = tensor.empty(%s) : tensor<?x40xf16>
      %e = linalg.generic {indexing_maps = [#id, #row, #id, #id],
                           iterator_types = ["parallel", "parallel"]}
          ins(%d, %w, %residual : tensor<?x40xbf16>, tensor<?xf32>, tensor<?x40xf32>)
          outs(%o : tensor<?x40xf16>) {
        ^bb0(%x: bf16, %y: f32, %r: f32, %u: f16):
          %i0 = linalg.index 0 : index
          %i1 = arith.index_cast %i0 : index to i32
          %i2 = arith.sitofp %i1 : i32 to f32
          %0 = arith.extf %x : bf16 to f32
          %1 = arith.mulf %0, %y : f32
          %2 = arith.addf %1, %r : f32
          %3 = arith.addf %2, %i2 : f32
          %4 = arith.truncf %3 : f32 to f16
          linalg.yield %4 : f16
      } -> tensor<?x40xf16>
      return %e : tensor<?x40xf16>
    }"""
    assert str(moeq.parse(text).run_pipeline("moeq-fuse")).count("linalg.generic") == 0
    rng = np.random.default_rng(5)
    inputs = [
        rng.standard_normal((13, 48)).astype(formats.BF16).view(np.uint16),
        rng.standard_normal((3, 40, 48)).astype(formats.BF16).view(np.uint16),
        np.array([0, 6, 6, 13], np.int32),
        rng.standard_normal(13).astype(np.float32),
        rng.standard_normal((13, 40)).astype(np.float32),
    ]
    run_all(
        text,
        "chain",
        inputs,
        ("moeq-fuse", "moeq-decompose{form=linear}", "moeq-fuse,moeq-decompose{form=linear}"),
    )


def test_dequantize():
    """A bf16 matmul of dequantized MX operands, and the matmul of the operands, whose
    scales reach overflow, underflow and NaN."""
    text = """
    !a = !moeq.scaled<f8E4M3FN, block = [32], scale = f8E8M0FNU>
    !b = !moeq.scaled<f8E5M2, block = [64], scale = f8E8M0FNU>
    func.func @mx(%a: tensor<?x96x!a>, %b: tensor<24x96x!b>) -> tensor<?x24xf32> {
      %c0 = arith.constant 0 : index
      %m = tensor.dim %a, %c0 : tensor<?x96x!a>
      %ia = tensor.empty(%m) : tensor<?x96xbf16>
      %ib = tensor.empty() : tensor<24x96xbf16>
      %o = tensor.empty(%m) : tensor<?x24xf32>
      %da = moeq.dequantize input(%a : tensor<?x96x!a>) outs(%ia : tensor<?x96xbf16>)
          -> tensor<?x96xbf16>
      %db = moeq.dequantize input(%b : tensor<24x96x!b>) outs(%ib : tensor<24x96xbf16>)
          -> tensor<24x96xbf16>
      %c = moeq.matmul lhs(%da : tensor<?x96xbf16>) rhs(%db : tensor<24x96xbf16>)
          outs(%o : tensor<?x24xf32>) -> tensor<?x24xf32>
      return %c : tensor<?x24xf32>
    }"""
    assert "dequantize" not in str(moeq.parse(text).run_pipeline("moeq-fuse"))
    rng = np.random.default_rng(6)
    for low, high in ((100, 150), (0, 256)):
        inputs = []
        for values, scales in (((17, 96), (17, 3)), ((24, 96), (24, 2))):
            codes = rng.integers(0, 256, values).astype(np.uint8)
            codes[(codes & 0x7C) == 0x7C] = 0  # no Inf or NaN among the values
            inputs += [codes, rng.integers(low, high, scales).astype(np.uint8)]
        run_all(text, "mx", inputs, ("moeq-fuse",))


@pytest.mark.parametrize("function", ["swiglu", "clamped_swiglu", "geglu", "silu"])
@pytest.mark.parametrize("quantized", [False, True])
def test_activation(function, quantized):
    """An activation behind a matmul with a bias, and in its epilogue: what the matmul
    rounds, the epilogue rounds."""
    features = 256 if function == "silu" else 128
    options = f"function({function})"
    options += "" if function == "silu" else " gate_layout(interleaved_64)"
    result = "!a" if quantized else "f16"
    behind = (
        f"%y = moeq.activate input(%c : tensor<?x256xbf16>) row_weight(%w : tensor<?xf32>) "
        f"outs(%o : tensor<?x{features}xf16>) {options} -> tensor<?x{features}xf16>"
    )
    if quantized:
        behind = (
            f"%y = moeq.act_quant input(%c : tensor<?x256xbf16>) row_weight(%w : tensor<?xf32>) "
            f"outs(%o : tensor<?x{features}x!a>) {options} intermediate_round(bf16) "
            f"recipe(<vllm_token>) -> tensor<?x{features}x!a>"
        )
    text = f"""
    !a = !moeq.scaled<f8E4M3FN, block = [*], scale = f32>
    func.func @chain(%a: tensor<?x48x!a>, %b: tensor<3x256x48x!a>, %offsets: tensor<4xi32>,
        %bias: tensor<3x256xf32>, %w: tensor<?xf32>) -> tensor<?x{features}x{result}> {{
      %c0 = arith.constant 0 : index
      %s = tensor.dim %a, %c0 : tensor<?x48x!a>
      %i = tensor.empty(%s) : tensor<?x256xbf16>
      %o = tensor.empty(%s) : tensor<?x{features}x{result}>
      %c = moeq.grouped_matmul lhs(%a : tensor<?x48x!a>) rhs(%b : tensor<3x256x48x!a>)
          offsets(%offsets : tensor<4xi32>) outs(%i : tensor<?x256xbf16>)
          epilogue(%bias : tensor<3x256xf32>) maps [column] {{
        ^bb0(%acc: f32, %row: index, %column: index, %e: f32):
          %0 = arith.index_cast %column : index to i32
          %1 = arith.sitofp %0 : i32 to f32
          %2 = arith.addf %acc, %1 : f32
          %3 = arith.addf %2, %e : f32
          %4 = arith.truncf %3 : f32 to bf16
          moeq.yield %4 : bf16
      }} -> tensor<?x256xbf16>
      {behind}
      return %y : tensor<?x{features}x{result}>
    }}"""
    fused = str(moeq.parse(text).run_pipeline("moeq-fuse"))
    assert ("epilogue gated" in fused) == (function != "silu")
    assert ("moeq.act" in fused) == (function == "silu" and quantized)
    rng = np.random.default_rng(8)
    codes = [rng.integers(0, 0x70, shape).astype(np.uint8) for shape in ((13, 48), (3, 256, 48))]
    inputs = [
        codes[0],
        rng.random((13, 1)).astype(np.float32) / 64,
        codes[1],
        rng.random((3, 256, 1)).astype(np.float32) / 64,
        np.array([0, 6, 6, 13], np.int32),
        rng.standard_normal((3, 256)).astype(np.float32),
        rng.standard_normal(13).astype(np.float32),
    ]
    tile = "moeq-tile{tile-m=4 tile-n=64}"
    linear = "moeq-fuse,moeq-decompose{form=linear}"
    run_all(text, "chain", inputs, ("moeq-fuse", linear, f"moeq-fuse,{tile}", f"{linear},{tile}"))


def test_gated_layer():
    """A layer whose weights were prepacked, its first matmul gated or not."""
    act = "!moeq.scaled<f8E4M3FN, block = [*], scale = f32>"
    text = f"""
    func.func @gated(%hidden: tensor<?x64xbf16> {{moeq.name = "hidden"}},
        %logits: tensor<?x4xf32> {{moeq.name = "logits"}},
        %w13: tensor<4x128x64x{act}> {{moeq.name = "w13"}},
        %w2: tensor<4x64x64x{act}> {{moeq.name = "w2"}},
        %init: tensor<?x64xbf16> {{moeq.name = "init"}}) -> tensor<?x64xbf16> {{
      %0 = moeq.experts hidden(%hidden : tensor<?x64xbf16>) logits(%logits : tensor<?x4xf32>)
          w13(%w13 : tensor<4x128x64x{act}>) w2(%w2 : tensor<4x64x64x{act}>)
          outs(%init : tensor<?x64xbf16>) top_k(2) function(swiglu) gate_layout(interleaved_64)
          quantize(<vllm_token> to {act}) -> tensor<?x64xbf16>
      return %0 : tensor<?x64xbf16>
    }}"""
    fused = str(moeq.parse(text).run_pipeline("builtin.module(moeq-decompose,moeq-fuse)"))
    assert "epilogue gated" in fused and "moeq.act" not in fused
    forms = [form.replace("tile-n=32", "tile-n=64") for form in FORMS]
    for tokens, routing in CASES:
        check_layer(text, "gated", tokens, routing, forms)


GATHERED = """
!scaled = !moeq.scaled<f8E4M3FN, block = [8], scale = f32>
func.func @f(%x: tensor<?x?x!scaled>, %w: tensor<?x?x?x!scaled>, %ids: tensor<?x2xi32>,
             %r: tensor<?xi32>, %s: tensor<?x2xi32>, %o: tensor<?xi32>, %c: tensor<?x?xbf16>)
    -> tensor<?x?xbf16> {
  %rows, %slots, %offsets = moeq.group ids(%ids : tensor<?x2xi32>)
      outs(%r, %s, %o : tensor<?xi32>, tensor<?x2xi32>, tensor<?xi32>)
      -> tensor<?xi32>, tensor<?x2xi32>, tensor<?xi32>
  %0 = moeq.grouped_matmul lhs(%x : tensor<?x?x!scaled>) rhs(%w : tensor<?x?x?x!scaled>)
      offsets(%offsets : tensor<?xi32>) rows(%rows : tensor<?xi32>)
      outs(%c : tensor<?x?xbf16>) -> tensor<?x?xbf16>
  return %0 : tensor<?x?xbf16>
}"""


@pytest.mark.parametrize("tokens", [0, 1, 9])
def test_gather_before_a_matmul(tokens):
    """Extents that are not static are taken to be large: the rows are gathered first."""
    form = "moeq-select-config"
    text = moeq.parse(GATHERED).run_pipeline(f"builtin.module({form})").print()
    assert "moeq.gather" in text and text.count("rows(") == 1
    rng = np.random.default_rng(tokens)
    experts, columns, depth = 3, 8, 40
    inputs = []
    for shape in ((tokens, depth), (experts, columns, depth)):
        values = formats.round_to(rng.standard_normal(shape), "f8E4M3FN")
        inputs += [values.view(np.uint8), rng.random((*shape[:-1], depth // 8)).astype(np.float32)]
    inputs.append(rng.integers(-1, experts, (tokens, 2)).astype(np.int32))
    for shape in ((2 * tokens,), (tokens, 2), (experts + 1,)):
        inputs.append(np.full(shape, -77, np.int32))
    inputs.append(np.full((2 * tokens, columns), 0x3F80, np.uint16))
    run_all(GATHERED, "f", inputs, [form])
