"""One matmul an expert on a GPU: what its launches are given."""

import json
import subprocess
from pathlib import Path

import pytest

import moeq

OPT = Path(__file__).parents[2] / "build" / "bin" / "moeq-opt"
EXPERTS, COLUMNS, DEPTH = 3, 256, 384
FORM = "moeq-decompose{form=linear device-offsets=true},moeq-to-kernels,moeq-print-manifest"
INT8 = "!moeq.scaled<i8, block = [*], scale = f32>"
FP8 = "!moeq.scaled<f8E4M3FN, block = [*], scale = f32>"
INT4 = "!moeq.scaled<ui4, block = [128], scale = bf16, zero = i8>"
# The element of rows, that of weights, and the bytes of a weight's values and scales.
SCHEMES = {
    "int8wo": ("bf16", INT8, 1, 4 / DEPTH),
    "int8dq": (INT8, INT8, 1, 4 / DEPTH),
    "int4wo": ("bf16", INT4, 0.5, 2 / 128),
    "fp8wo": ("bf16", FP8, 1, 4 / DEPTH),
    "fp8dq": (FP8, FP8, 1, 4 / DEPTH),
}


def program(rows, weight):
    lhs, rhs = f"tensor<?x{DEPTH}x{rows}>", f"tensor<{EXPERTS}x{COLUMNS}x{DEPTH}x{weight}>"
    offsets, out = f"tensor<{EXPERTS + 1}xi32>", f"tensor<?x{COLUMNS}xbf16>"
    return f"""
    func.func @f(%a: {lhs} {{moeq.name = "a"}}, %w: {rhs} {{moeq.name = "w"}},
        %o: {offsets} {{moeq.name = "offsets"}}) -> {out} {{
      %c0 = arith.constant 0 : index
      %rows = tensor.dim %a, %c0 : {lhs}
      %init = tensor.empty(%rows) : {out}
      %c = moeq.grouped_matmul lhs(%a : {lhs}) rhs(%w : {rhs}) offsets(%o : {offsets})
          outs(%init : {out}) -> {out}
      return %c : {out}
    }}"""


@pytest.mark.parametrize("scheme", SCHEMES)
def test_launches_of_experts(scheme):
    """A launch an expert, all of one kernel and of one grid, that of all rows; each has
    its own part of the weight, its scales and the offsets."""
    rows, weight, value_bytes, scale_bytes = SCHEMES[scheme]
    result = subprocess.run(
        [OPT, f"--pass-pipeline=builtin.module({FORM})"],
        input=program(rows, weight), capture_output=True, text=True, check=True,
    )  # fmt: skip
    kernels = json.JSONDecoder().raw_decode(result.stdout)[0]["entries"]["f"]["kernels"]
    assert len(kernels) == EXPERTS
    assert len({kernel["name"] for kernel in kernels}) == 1
    for expert, kernel in enumerate(kernels):
        assert kernel["grid"] == kernels[0]["grid"] and kernel["condition"] is None
        places = {p["buffer"]: p["byte_offset"] for p in kernel["parameters"] if "buffer" in p}
        assert places["offsets"] == 4 * expert
        assert places["w"] == expert * COLUMNS * DEPTH * value_bytes
        assert places["w.scale"] == expert * COLUMNS * DEPTH * scale_bytes
        assert places["a"] == places["result0"] == 0


def test_compiles():
    """One PTX file serves all experts."""
    module = moeq.parse(program(*SCHEMES["int8dq"][:2]))
    module.run_pipeline("moeq-decompose{form=linear device-offsets=true}")
    artifact = moeq.compile(module)
    assert len(artifact.ptx) == 1
    assert len(artifact.manifest["entries"]["f"]["kernels"]) == EXPERTS
