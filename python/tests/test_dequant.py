"""moeq_gpu.dequant on every code, with the instructions of its lowering."""

import numpy as np
import pytest

import moeq
from moeq.packing import pack_fragments
from moeq.weights import Weight
from reference import formats
from reference.compare import assert_same
from simt import Machine

ROWS = COLUMNS = 64
VALUES = ("i8", "f8E4M3FN", "f8E5M2", "i4", "ui4", "f4E2M1FN")


def dequantize(value, element, values, scales=None, zeros=None, target=""):
    """The 64 x 64 numbers of chunks of packed values [chunks, bytes], of which each has
    scales, or zeros, by groups of columns and by rows."""
    vectors = {"values": ("i8", values)}
    if scales is not None:
        vectors["scales"] = ("f8E8M0FNU", scales)
    if zeros is not None:
        vectors["zeros"] = ("i8", zeros)
    allocations, beside = "", ""
    for name, (kind, chunks) in vectors.items():
        type_text = f"!moeq_gpu.vector<{chunks[0].size}x{kind}>"
        allocations += f"%{name} = moeq_gpu.alloc : {type_text}\n"
        if name != "values":
            beside += f" {name}(%{name} : {type_text})"
    text = f"""
module attributes {{gpu.container_module}} {{
  gpu.module @kernels {target} {{
    llvm.func @dequantize()
        attributes {{gpu.kernel, nvvm.kernel, nvvm.maxntid = array<i32: 256, 1, 1>}} {{
      {allocations}
      %a = moeq_gpu.dequant %values as {value}{beside}
          : !moeq_gpu.vector<{values[0].size}xi8> -> !moeq_gpu.operand<64x64x{element}>
      moeq_gpu.mma_wait pending 0 reading(%a : !moeq_gpu.operand<64x64x{element}>)
      moeq_gpu.roles producer(40) {{
      }} consumers(1, 232) {{
      ^bb0(%consumer: i32):
      }}
      llvm.return
    }}
  }}
  func.func @f() {{
    %one = arith.constant 1 : index
    %threads = arith.constant 256 : index
    gpu.launch_func @kernels::@dequantize blocks in (%one, %one, %one)
        threads in (%threads, %one, %one)
    return
  }}
}}"""
    module = moeq.parse(text).run_pipeline("gpu.module(convert-moeq-gpu-to-nvgpu,canonicalize)")
    machine = Machine(module.print(generic=True))
    results = []
    for chunk in range(len(values)):
        parts = [v[chunk].reshape(-1).view(np.uint8) for _, v in vectors.values()]
        machine.shared_image = np.concatenate(parts)
        machine.run("f", [])
        registers = machine.matmul_registers
        assert_same(registers[128:], registers[:128])
        results.append(operand(registers[:128], element))
    return np.stack(results)


def operand(registers, element):
    """Matrix A of four m64k16 instructions by its definition (PTX ISA, "wgmma: register
    fragments"): register i of thread t has row 16 (t / 32) + t % 32 / 4 + 8 (i % 2) and
    columns 2 (t % 4) + 8 (i / 2) and the next one."""
    pairs = registers.view(np.int16).view(formats.STORAGE[element]).reshape(128, 4, 4, 2)
    matrix = np.zeros((ROWS, COLUMNS), pairs.dtype)
    for t in range(128):
        for i in range(4):
            row = 16 * (t // 32) + t % 32 // 4 + 8 * (i % 2)
            column = 2 * (t % 4) + 8 * (i // 2)
            for step in range(4):
                matrix[row, 16 * step + column : 16 * step + column + 2] = pairs[t, step, i]
    return matrix


def packed(value, codes):
    """Chunks of codes [chunks, 64, 64] in their packed order."""
    bits = 4 if formats.is_packed(value) else 8
    values = formats.pack4(codes) if bits == 4 else codes
    scales = np.zeros((*codes.shape[:-1], 1), np.float32)
    type_text = f"!moeq.scaled<{value}, block = [*], scale = f32>"
    return pack_fragments(Weight(type_text, values.view(np.uint8), scales)).values.reshape(
        len(codes), -1
    )


def check(got, want):
    """The same bits, but for the payload of NaN."""
    with np.errstate(invalid="ignore"):  # Some NaN are signalling ones.
        assert_same(np.isnan(got), np.isnan(want))
    finite = ~np.isnan(want)
    assert_same(got.view(np.int16)[finite], want.view(np.int16)[finite])


@pytest.mark.parametrize("element", ["bf16", "f16"])
@pytest.mark.parametrize("value", VALUES)
def test_codes(value, element):
    codes, _ = every_pair(value, groups=2)
    got = dequantize(value, element, packed(value, codes))
    check_codes(got, codes, value, element)


@pytest.mark.parametrize("element", ["bf16", "f16"])
@pytest.mark.parametrize("value", ["f8E4M3FN", "f8E5M2"])
def test_codes_without_conversion(value, element):
    """On a chip that does not convert 8-bit floats."""
    codes, _ = every_pair(value, groups=2)
    target = '[#nvvm.target<chip = "sm_80", features = "+ptx70">]'
    got = dequantize(value, element, packed(value, codes), target=target)
    check_codes(got, codes, value, element)


def check_codes(got, codes, value, element):
    want = formats.decode(codes, value).astype(formats.STORAGE[element])
    check(got, want)


def every_pair(value, groups):
    """Codes and bytes [chunks, 64, groups] so that each code is beside each byte."""
    count, width = 16 if formats.is_packed(value) else 256, COLUMNS // groups
    chunks = 256 * max(count, width) // (groups * ROWS * width)
    pairs = np.arange(chunks * ROWS * groups)
    others = (pairs % 256).astype(np.uint8).reshape(chunks, ROWS, groups)
    codes = (np.arange(width) + width * (pairs[:, None] // 256)) % count
    codes = codes.reshape(chunks, ROWS, COLUMNS).astype(np.uint8)
    seen = codes.astype(np.int64) * 256 + np.repeat(others, width, 2)
    assert len(np.unique(seen)) == 256 * count
    if value == "i4":
        codes = (codes ^ 8) - np.uint8(8)
    return codes.view(formats.STORAGE[value]), others


@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize("value", ["i8", "i4", "ui4"])
def test_zeros(value, groups):
    """Differences are exact."""
    codes, zeros = every_pair(value, groups)
    got = dequantize(value, "bf16", packed(value, codes), zeros=zeros.transpose(0, 2, 1))
    spread = np.repeat(zeros.view(np.int8), COLUMNS // groups, 2).astype(np.float32)
    check(got, (formats.decode(codes, value).astype(np.float32) - spread).astype(formats.BF16))


@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize("value", ["f8E4M3FN", "f8E5M2", "f4E2M1FN"])
def test_e8m0_scales(value, groups):
    """One rounding to bf16 where there is no exact number, and NaN for the scale 255."""
    codes, scales = every_pair(value, groups)
    got = dequantize(value, "bf16", packed(value, codes), scales=scales.transpose(0, 2, 1))
    numbers = np.exp2(scales.astype(np.float64) - 127)
    numbers[scales == 255] = np.nan
    numbers = np.repeat(numbers, COLUMNS // groups, 2)
    with np.errstate(over="ignore", invalid="ignore"):
        want = (formats.decode(codes, value).astype(np.float64) * numbers).astype(formats.BF16)
    check(got, want)
