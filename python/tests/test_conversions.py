"""Small floats converted on the CPU: every code, every 16-bit number."""

import numpy as np
import pytest

import programs
from reference import formats
from reference.compare import assert_same

F32 = np.float32


@pytest.mark.parametrize("element", ["f8E4M3FN", "f8E5M2", "f8E8M0FNU"])
def test_decode_every_code(element):
    codes = np.arange(256, dtype=np.uint8)
    assert_same(programs.convert(codes, element, "f32"), formats.decode(codes, element))


@pytest.mark.parametrize("element", ["f8E4M3FN", "f8E5M2"])
@pytest.mark.parametrize("source", ["f16", "bf16"])
def test_encode_every_16_bit_number(element, source):
    x = np.arange(65536, dtype=np.uint16).view(formats.STORAGE[source])
    assert_same(programs.convert(x, source, element), formats.encode(x, element))


@pytest.mark.parametrize("element", ["f8E4M3FN", "f8E5M2"])
def test_encode_f32_near_midpoints(element):
    codes = np.arange(0x7B if element == "f8E5M2" else 0x7E, dtype=np.uint8)
    middles = (formats.decode(codes, element) + formats.decode(codes + 1, element)) / F32(2)
    x = np.concatenate([np.nextafter(middles, F32(s)) for s in (-np.inf, np.inf)] + [middles])
    x = np.concatenate([x, -x, np.random.default_rng(0).normal(0, 100, 10000)]).astype(F32)
    assert_same(programs.convert(x, "f32", element), formats.encode(x, element))
