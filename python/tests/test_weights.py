"""quantize_weight, and the unpacking of checkpoints."""

import numpy as np
import pytest

import moeq
from moeq.weights import SCHEMES
from reference import formats
from reference.compare import assert_same
from reference.quantize import PRESETS, dequantize, quantize
from reference.scaled import Format, Scaled

VARIANTS = [
    ("int8", {}),
    ("int8", {"group": 64, "scale": "f16"}),
    ("int8", {"recipe": "int8_asym", "zero": "i8", "group": 32}),
    ("fp8_e4m3", {"scale": "bf16"}),
    ("fp8_e4m3", {"group": 128, "recipe": "deepgemm"}),
    ("fp8_e5m2", {}),
    ("int4", {"group": 32, "scale": "f16"}),
    ("int4", {"group": 64, "scale": "bf16"}),
    ("int4", {}),
    ("uint4", {"group": 32}),
    ("uint4", {"scale": "f16"}),
    ("uint4", {"group": 64, "scale": "bf16", "zero": "bf16"}),
    ("mxfp8", {"recipe": "te_mx"}),
    ("mxfp8", {}),
    ("mxfp4", {}),
]


def random_weight(shape, element="f32", seed=0):
    numbers = np.random.default_rng(seed).normal(size=shape).astype(np.float32)
    numbers[..., 0, :32] = 0  # a block of zeros
    return formats.round_to(numbers, element)


def as_scaled(weight, shape) -> Scaled:
    format = Format.parse(weight.type)
    parts = [weight.values, weight.scales.view(formats.STORAGE[format.scale])]
    if weight.zeros is not None:
        parts.append(weight.zeros.view(formats.STORAGE[format.zero]))
    return Scaled.of_components(format, shape, parts)


@pytest.mark.parametrize("element", ["f32", "f16", "bf16"])
@pytest.mark.parametrize("shape", [(3, 5, 256), (7, 128)])
@pytest.mark.parametrize(("scheme", "changes"), VARIANTS, ids=str)
def test_quantize_weight(scheme, changes, shape, element):
    """Codes, scales and zero points are those of the NumPy model, bit for bit."""
    weight = random_weight(shape, element)
    got = as_scaled(moeq.quantize_weight(weight, scheme, **changes), shape)
    recipe = changes.get("recipe", SCHEMES[scheme].recipe)
    want = quantize(weight, got.format, PRESETS[recipe])
    assert_same(got.values, want.values, "values")
    assert_same(got.scales, want.scales, "scales")
    if want.zeros is not None:
        assert_same(got.zeros, want.zeros, "zeros")


def test_stack_is_its_experts():
    """A stack has the components of each expert."""
    weight = random_weight((4, 6, 64))
    stack = moeq.quantize_weight(weight, "int4", group=32)
    for expert in range(4):
        one = moeq.quantize_weight(weight[expert], "int4", group=32)
        assert one.type == stack.type
        assert_same(one.values, stack.values[expert])
        assert_same(one.scales, stack.scales[expert])


def test_arguments():
    """The components are what a module of the weight's type takes."""
    weight = random_weight((8, 64))
    quantized = moeq.quantize_weight(weight, "uint4", group=32, scale="f16")
    module = moeq.parse(f"""
    func.func @f(%w: tensor<8x64x{quantized.type}> {{moeq.name = "w"}}) -> tensor<8x64xf32> {{
      %init = tensor.empty() : tensor<8x64xf32>
      %r = moeq.dequantize input(%w : tensor<8x64x{quantized.type}>)
          outs(%init : tensor<8x64xf32>) -> tensor<8x64xf32>
      return %r : tensor<8x64xf32>
    }}""")
    (got,) = moeq.run(module, "f", quantized.arguments("w"))
    assert_same(got, dequantize(as_scaled(quantized, (8, 64))))
    assert np.abs(got - weight).max() <= 0.6 * quantized.scales.max()


def test_torch():
    torch = pytest.importorskip("torch")
    weight = random_weight((2, 4, 128), "bf16")
    tensor = torch.from_numpy(weight.view(np.int16)).view(torch.bfloat16)
    for scheme in SCHEMES:
        got, want = moeq.quantize_weight(tensor, scheme), moeq.quantize_weight(weight, scheme)
        for part in ("values", "scales"):
            tensor_part = getattr(got, part).view(torch.uint8).numpy()
            assert_same(tensor_part, getattr(want, part).view(np.uint8))


ERRORS = [
    ({"group": 96}, "expects a group that divides K = 256, got 96"),
    ({"group": -1}, "expects a group that divides K = 256, got -1"),
    ({"value": "f8E4M3FNUZ"}, "expects types with a signed zero, got 'f8E4M3FNUZ'"),
    ({"value": "f8E4M3FN", "zero": "i8"}, "zero points only on integer values, got values of f8E4"),
    ({"zero": "bf16"}, "expects a zero type of i8 or the scale type 'f32', got 'bf16'"),
    ({"recipe": "awq"}, "expects zero points exactly where the recipe is affine"),
    ({"recipe": "fastest"}, "expects a preset's name or a parameter, got 'fastest'"),
    ({"size": 4}, "expects value, group, scale, zero or recipe to change"),
]


@pytest.mark.parametrize(("changes", "message"), ERRORS)
def test_errors(changes, message):
    with pytest.raises(moeq.Error, match=message):
        moeq.quantize_weight(random_weight((4, 256)), "int4", **changes)


def test_error_of_scheme_and_array():
    weight = random_weight((4, 63))
    with pytest.raises(moeq.Error, match=r"expects a scheme of int8, .*, got int3"):
        moeq.quantize_weight(weight, "int3")
    with pytest.raises(moeq.Error, match="expects an even K for values of i4, got 63"):
        moeq.quantize_weight(weight, "int4", group=21)
    with pytest.raises(moeq.Error, match="float32, float16 or bfloat16, got float64"):
        moeq.quantize_weight(weight.astype(np.float64), "int8")
    with pytest.raises(moeq.Error, match=r"\[N, K\] or \[E, N, K\], got shape \[63\]"):
        moeq.quantize_weight(weight[0], "int8")


@pytest.mark.parametrize(
    ("scheme", "changes", "number", "message"),
    [
        ("int8", {"scale": "f16"}, 1e7, "channel 2, group 0: expects a scale below 65504"),
        ("int4", {"scale": "f16"}, -1e6, "channel 2, group 1: expects a scale below 65504"),
        ("uint4", {"scale": "f16"}, 1e6, "channel 2, group 1: expects a scale below 65504"),
        ("int8", {}, np.inf, "channel 2, group 0: expects finite weights"),
        ("int4", {"scale": "bf16"}, np.nan, "channel 2, group 1: expects finite weights"),
        ("mxfp4", {}, np.nan, "channel 2, group 4: expects finite weights"),
    ],
)  # fmt: skip
def test_scale_too_narrow(scheme, changes, number, message):
    """An error of preparation, which names the place, and not an infinity in the result."""
    weight = random_weight((3, 4, 256))
    weight[1, 2, 130] = number
    with pytest.raises(moeq.Error, match="expert 1, " + message):
        moeq.quantize_weight(weight, scheme, **changes)
    weight[1, 2, 130] = 1000
    moeq.quantize_weight(weight, scheme, **changes)


# ------------------------------------------------------------------------------
# Checkpoints


def pack_words(codes, place) -> np.ndarray:
    """int32 words whose nibble i holds column place[i] of each eight columns."""
    words = np.zeros((*codes.shape[:-1], codes.shape[-1] // 8), np.uint32)
    for column in range(words.shape[-1]):
        for nibble in range(8):
            code = codes[..., 8 * column + place[nibble]].astype(np.uint32)
            words[..., column] |= code << np.uint32(4 * nibble)
    return words.view(np.int32)


def random_checkpoint(lead, depth, columns, group, seed=0):
    """Codes [.., K, N], zeros and scales [.., K / group, N]."""
    rng = np.random.default_rng(seed)
    groups = (*lead, depth // group, columns)
    return (
        rng.integers(0, 16, (*lead, depth, columns)),
        rng.integers(0, 16, groups),
        rng.uniform(0.5, 2, groups).astype(np.float16),
    )


def numbers_of(codes, zeros, scales, group):
    """Weights [.., N, K] of a checkpoint's parts, by the definition."""
    spread = lambda part: np.repeat(part.astype(np.float32), group, -2)  # noqa: E731
    numbers = (codes.astype(np.float32) - spread(zeros)) * spread(scales)
    return np.swapaxes(numbers, -1, -2)


IN_ORDER = range(8)
AWQ = (0, 2, 4, 6, 1, 3, 5, 7)


@pytest.mark.parametrize("lead", [(), (3,)])
@pytest.mark.parametrize("group", [32, 64])
def test_unpack_awq(lead, group):
    codes, zeros, scales = random_checkpoint(lead, 128, 24, group)
    got = moeq.unpack_awq(pack_words(codes, AWQ), pack_words(zeros, AWQ), scales)
    assert got.type == f"!moeq.scaled<ui4, block = [{group}], scale = f16, zero = i8>"
    assert_same(
        dequantize(as_scaled(got, (*lead, 24, 128))), numbers_of(codes, zeros, scales, group)
    )


def test_awq_order():
    """The known order: 0x76543210 holds columns 0, 2, 4, 6, 1, 3, 5, 7 from the lowest
    nibble up, so that column 1 is in nibble 4."""
    words = np.full((32, 1), 0x76543210, np.int32)
    scales = np.ones((1, 8), np.float16)
    got = moeq.unpack_awq(words, np.zeros((1, 1), np.int32), scales)
    assert list(got.values[:, 0] & 15) == [0, 4, 1, 5, 2, 6, 3, 7]


@pytest.mark.parametrize("lead", [(), (3,)])
@pytest.mark.parametrize(("offset", "extra"), [(1, {}), (0, {"zero_offset": 0})])
def test_unpack_gptq(lead, offset, extra):
    codes, zeros, scales = random_checkpoint(lead, 128, 16, 32)
    qweight = np.swapaxes(pack_words(np.swapaxes(codes, -1, -2), IN_ORDER), -1, -2)
    g_idx = np.arange(128, dtype=np.int32) // 32
    got = moeq.unpack_gptq(qweight, pack_words(zeros, IN_ORDER), scales, g_idx, **extra)
    want = numbers_of(codes, zeros + offset, scales, 32)
    assert_same(dequantize(as_scaled(got, (*lead, 16, 128))), want)


def test_checkpoint_errors():
    codes, zeros, scales = random_checkpoint((), 64, 16, 32)
    words, zero_words = pack_words(codes, AWQ), pack_words(zeros, AWQ)
    with pytest.raises(moeq.Error, match="qweight: expects int32, got int64"):
        moeq.unpack_awq(words.astype(np.int64), zero_words, scales)
    with pytest.raises(moeq.Error, match="scales: expects float16 or float32, got float64"):
        moeq.unpack_awq(words, zero_words, scales.astype(np.float64))
    with pytest.raises(
        moeq.Error, match=r"qzeros: expects two dimensions or more, got shape \[2\]"
    ):
        moeq.unpack_awq(words, zero_words[0], scales)
    # The packing of the other format.
    with pytest.raises(moeq.Error, match=r"scales: expects shape \[2, 2\] beside qweight, got"):
        moeq.unpack_gptq(words, zero_words, scales)
    with pytest.raises(
        moeq.Error, match=r"qzeros: expects shape \[2, 2\] beside qweight, got \[2, 1"
    ):
        moeq.unpack_awq(words, np.repeat(zero_words, 8, 1), scales)
    with pytest.raises(moeq.Error, match="scales: expects groups that divide K = 64, got 3 groups"):
        moeq.unpack_awq(words, np.ones((3, 2), np.int32), np.ones((3, 16), np.float16))
    qweight = np.swapaxes(pack_words(codes.T, IN_ORDER), -1, -2)
    with pytest.raises(moeq.Error, match="qweight: expects columns in words of 8, got N = 12"):
        moeq.unpack_gptq(qweight[:, :12], zero_words[:, :1], scales[:, :12])
    moved = np.arange(64, dtype=np.int32)[::-1] // 32
    with pytest.raises(moeq.Error, match="g_idx: expects row 0 in group 0, got 1"):
        moeq.unpack_gptq(qweight, zero_words, scales, moved)
