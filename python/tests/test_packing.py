"""Packed weights on the CPU: the order of `packing = fragments`."""

import numpy as np
import pytest

import moeq
from moeq.weights import Weight
from reference import formats
from reference.compare import assert_same
from reference.scaled import Format

FORMATS = {
    "int8": {},
    "fp8_e5m2": {"scale": "bf16"},
    "mxfp8": {},
    "mxfp4": {},
    "int4": {"group": 64, "scale": "bf16"},
    "uint4": {"group": 128, "scale": "f16"},
}
SHAPE = (2, 128, 256)


def random_weight(scheme, shape=SHAPE, seed=0) -> Weight:
    numbers = np.random.default_rng(seed).normal(size=shape).astype(np.float32)
    return moeq.quantize_weight(numbers, scheme, **FORMATS[scheme])


def parts_of(weight) -> list[np.ndarray]:
    """The bytes of the components."""
    parts = (weight.values, weight.scales, weight.zeros)
    return [np.ascontiguousarray(p).view(np.uint8) for p in parts if p is not None]


def check_same(got, want):
    for a, b in zip(got, parts_of(want), strict=True):
        assert_same(a.view(np.uint8).reshape(b.shape), b)


def prepack_text(weight, target, gates="") -> str:
    extents = "x".join(map(str, SHAPE))
    source_type, target_type = f"tensor<{extents}x{weight.type}>", f"tensor<{extents}x{target}>"
    return f"""
    func.func @f(%w: {source_type} {{moeq.name = "w"}}) -> {target_type} {{
      %init = tensor.empty() : {target_type}
      %r = moeq.prepack input(%w : {source_type}) outs(%init : {target_type}) {gates}
          -> {target_type}
      return %r : {target_type}
    }}"""


@pytest.mark.parametrize("scheme", FORMATS)
def test_prepack(scheme):
    """moeq.prepack and its inverse are what the package's twin is."""
    weight = random_weight(scheme)
    packed = moeq.pack_fragments(weight)
    there = prepack_text(weight, packed.type)
    check_same(moeq.run(moeq.parse(there), "f", weight.arguments("w")), packed)
    back = prepack_text(packed, weight.type)
    check_same(moeq.run(moeq.parse(back), "f", packed.arguments("w")), weight)
    check_same(parts_of(moeq.unpack_fragments(packed)), weight)


@pytest.mark.parametrize("scheme", ["int8", "mxfp4"])
def test_gates_and_packing(scheme):
    """Both moves at once are one after the other."""
    weight = random_weight(scheme)
    gates = "from(gate_first) to(interleaved_64)"
    moved = moeq.run(
        moeq.parse(prepack_text(weight, weight.type, gates)), "f", weight.arguments("w")
    )
    want = moeq.pack_fragments(Weight(weight.type, moved[0].view(weight.values.dtype), moved[1]))
    text = prepack_text(weight, want.type, gates)
    check_same(moeq.run(moeq.parse(text), "f", weight.arguments("w")), want)


@pytest.mark.parametrize("scheme", ["int8", "uint4", "mxfp4"])
def test_constants(scheme):
    """Constants are packed when they are canonicalized."""
    weight = random_weight(scheme)
    packed = moeq.pack_fragments(weight)
    format_ = Format.parse(weight.type)
    names, lines, types = [], [], []
    elements = ("i8" if formats.is_packed(format_.value) else format_.value, format_.scale)
    for i, (part, element) in enumerate(
        zip(parts_of(weight), (*elements, format_.zero), strict=False)
    ):
        shape = (weight.values, weight.scales, weight.zeros)[i].shape
        types.append(f"tensor<{'x'.join(map(str, shape))}x{element}>")
        names.append(f"%c{i}")
        lines.append(f'%c{i} = arith.constant dense<"0x{part.tobytes().hex()}"> : {types[-1]}')
    extents = "x".join(map(str, SHAPE))
    source, target = f"tensor<{extents}x{weight.type}>", f"tensor<{extents}x{packed.type}>"
    newline = "\n      "
    module = moeq.parse(f"""
    func.func @f() -> {target} {{
      {newline.join(lines)}
      %w = moeq.pack {", ".join(names)} : {", ".join(types)} -> {source}
      %init = tensor.empty() : {target}
      %r = moeq.prepack input(%w : {source}) outs(%init : {target}) -> {target}
      return %r : {target}
    }}""").run_pipeline("canonicalize")
    assert "moeq.prepack" not in module.print()
    check_same(moeq.run(module, "f", []), packed)


@pytest.mark.parametrize("scheme", FORMATS)
def test_matmul(scheme):
    """A matmul of packed weights is that of the same weights, bit for bit."""
    weight = random_weight(scheme)
    tokens = formats.round_to(np.random.default_rng(1).normal(size=(20, SHAPE[2])), "bf16")
    inputs = {"x": tokens, "o": np.array([0, 13, 20], np.int32)}

    def run(weight):
        w = f"tensor<2x128x256x{weight.type}>"
        return moeq.run(
            moeq.parse(f"""
    func.func @f(%x: tensor<?x256xbf16> {{moeq.name = "x"}}, %w: {w} {{moeq.name = "w"}},
                 %o: tensor<3xi32> {{moeq.name = "o"}}) -> tensor<?x128xbf16> {{
      %zero = arith.constant 0 : index
      %rows = tensor.dim %x, %zero : tensor<?x256xbf16>
      %init = tensor.empty(%rows) : tensor<?x128xbf16>
      %r = moeq.grouped_matmul lhs(%x : tensor<?x256xbf16>) rhs(%w : {w})
          offsets(%o : tensor<3xi32>) outs(%init : tensor<?x128xbf16>) -> tensor<?x128xbf16>
      return %r : tensor<?x128xbf16>
    }}"""),
            "f",
            inputs | weight.arguments("w"),
        )[0]

    assert_same(run(moeq.pack_fragments(weight)), run(weight))


def test_torch():
    torch = pytest.importorskip("torch")
    numbers = torch.randn(SHAPE).to(torch.bfloat16)
    for scheme, changes in FORMATS.items():
        weight = moeq.quantize_weight(numbers, scheme, **changes)
        packed = moeq.pack_fragments(weight)
        arrays = [
            None if p is None else p.view(torch.uint8).numpy()
            for p in (weight.values, weight.scales, weight.zeros)
        ]
        values = moeq.pack_fragments(Weight(weight.type, *arrays[:1], *arrays[1:])).values
        assert_same(packed.values.view(torch.uint8).numpy(), values)


def test_errors():
    weight = random_weight("int8")
    with pytest.raises(moeq.Error, match=r"expects a packed weight, got !moeq\.scaled<i8"):
        moeq.unpack_fragments(weight)
    with pytest.raises(moeq.Error, match="expects a weight that is not packed, got"):
        moeq.pack_fragments(moeq.pack_fragments(weight))
    narrow = random_weight("int8", (2, 96, 128))
    with pytest.raises(
        moeq.Error, match="expects N and K that are multiples of 64, got 96 and 128"
    ):
        moeq.pack_fragments(narrow)
