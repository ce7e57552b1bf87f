"""The cases lower-nothing-left and lower-each-pass-alone."""

import re
import subprocess
from pathlib import Path

import numpy as np
import pytest

import moeq
import programs
from programs import PER_ROW, poison, poison_scaled
from reference.quantize import PRESETS
from reference.scaled import Format

ROOT = Path(__file__).parents[2]
OPT = ROOT / "build" / "bin" / "moeq-opt"
FP8 = Format("f8E4M3FN", PER_ROW)
MX = Format("f8E5M2", (32,), "f8E8M0FNU")
INT4 = Format("ui4", (32,), "bf16", "i8")

# One call of each op kind, by the functions that build its program.
KINDS = {
    "quantize": lambda p: p.quantize(np.ones((2, 64), np.float32), FP8, PRESETS["vllm_token"]),
    "quantize-mx": lambda p: p.quantize(np.ones((2, 64), np.float32), MX, PRESETS["te_mx"]),
    "quantize-int4": lambda p: p.quantize(np.ones((2, 64), np.float32), INT4, PRESETS["awq"]),
    "dequantize": lambda p: p.dequantize(poison_scaled((2, 64), MX)),
    "route": lambda p: p.route(np.ones((2, 8), np.float32), 2),
    "plan": lambda p: p.plan([0, 3, 5], 64, 32, 16, 4),
    "group": lambda p: p.group(np.zeros((2, 2), np.int32), 2),
    "gather": lambda p: p.gather(
        np.ones((2, 4), np.float16), np.array([1, 0], np.int32), np.ones((2, 4), np.float16)
    ),
    "combine": lambda p: p.combine(np.ones((2, 4), np.float16), np.array([[0], [1]], np.int32)),
    "activate": lambda p: p.activate(np.ones((2, 4), np.float32), "geglu"),
    "act_quant": lambda p: p.act_quant(
        np.ones((2, 128), np.float32), "swiglu", FP8, PRESETS["vllm_token"]
    ),
    "matmul": lambda p: p.matmul(poison_scaled((2, 64), FP8), poison_scaled((3, 64), FP8)),
    "matmul-int4": lambda p: p.matmul(np.ones((2, 64), np.float16), poison_scaled((3, 64), INT4)),
    "grouped_matmul": lambda p: p.grouped_matmul(
        poison_scaled((2, 64), FP8),
        poison_scaled((1, 3, 64), FP8),
        np.array([0, 2], np.int32),
        poison((2, 3), "f32"),
    ),
}


class TextFound(Exception):  # noqa: N818
    """Carries the text of a program out of the function that would run it."""


def text_of(kind: str, monkeypatch) -> str:
    def found(self, body, results, pipeline="", before=""):
        raise TextFound(self.text(body, results, before))

    monkeypatch.setattr(programs.Program, "run", found)
    with pytest.raises(TextFound) as text:
        KINDS[kind](programs)
    return str(text.value)


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_left(kind, monkeypatch):
    """Through the whole pipeline only the LLVM dialect is left."""
    module = moeq.parse(text_of(kind, monkeypatch)).run_pipeline("moeq-to-cpu")
    text = module.print(generic=True)
    dialects = set(re.findall(r'^ *(?:%\S+ = )?"(\w+)\.', text, re.M))
    assert dialects == {"builtin", "llvm"}
    assert not re.search(r"\bf8E|\bf4E|arith|memref<", text)


SCALED = "tensor<4x64x!moeq.scaled<f8E4M3FN, block = [32], scale = f32>>"
LAYER = """
func.func @f(%x: tensor<?x32xbf16>, %l: tensor<?x4xf32>, %a: tensor<4x64x32xbf16>,
             %b: tensor<4x32x32xbf16>, %i: tensor<?x32xbf16>) -> tensor<?x32xbf16> {
  %0 = moeq.experts hidden(%x : tensor<?x32xbf16>) logits(%l : tensor<?x4xf32>)
      w13(%a : tensor<4x64x32xbf16>) w2(%b : tensor<4x32x32xbf16>)
      outs(%i : tensor<?x32xbf16>) top_k(2) function(swiglu) -> tensor<?x32xbf16>
  return %0 : tensor<?x32xbf16>
}"""
MATMUL = """
func.func @f(%a: tensor<?x64xbf16>, %b: tensor<32x64xbf16>, %c: tensor<?x32xf32>)
    -> tensor<?x32xf32> {
  %0 = moeq.matmul lhs(%a : tensor<?x64xbf16>) rhs(%b : tensor<32x64xbf16>)
      outs(%c : tensor<?x32xf32>) -> tensor<?x32xf32>
  return %0 : tensor<?x32xf32>
}"""


def first_part(file: str) -> str:
    """The module before the first split of a lit test."""
    return (ROOT / "test" / file).read_text().split("// -----")[0]


# A small input on which each pass creates ops.
ALONE = {
    "moeq-decompose": LAYER,
    "moeq-decompose=form=linear": LAYER,
    "moeq-fuse": """
func.func @f(%x: tensor<4x64xbf16>, %r: tensor<8xi32>,
             %q: tensor<8x64x!moeq.scaled<f8E4M3FN, block = [*], scale = f32>>)
    -> tensor<8x64x!moeq.scaled<f8E4M3FN, block = [*], scale = f32>> {
  %i = tensor.empty() : tensor<8x64xbf16>
  %0 = moeq.gather input(%x : tensor<4x64xbf16>) rows(%r : tensor<8xi32>)
      outs(%i : tensor<8x64xbf16>) -> tensor<8x64xbf16>
  %1 = moeq.quantize input(%0 : tensor<8x64xbf16>)
      outs(%q : tensor<8x64x!moeq.scaled<f8E4M3FN, block = [*], scale = f32>>)
      recipe(<vllm_token>) -> tensor<8x64x!moeq.scaled<f8E4M3FN, block = [*], scale = f32>>
  return %1 : tensor<8x64x!moeq.scaled<f8E4M3FN, block = [*], scale = f32>>
}""",
    "moeq-select-config": MATMUL,
    "moeq-smooth-quant": first_part("Dialect/Moeq/smooth-quant.mlir"),
    "moeq-plan": """
func.func @f(%a: tensor<?x64xbf16>, %w: tensor<4x?x64xbf16>, %o: tensor<?xi32>,
             %c: tensor<?x?xbf16>) -> tensor<?x?xbf16> {
  %0 = moeq.grouped_matmul lhs(%a : tensor<?x64xbf16>) rhs(%w : tensor<4x?x64xbf16>)
      offsets(%o : tensor<?xi32>) outs(%c : tensor<?x?xbf16>)
      config(<tile = [160, 256], swap_ab = true>) -> tensor<?x?xbf16>
  return %0 : tensor<?x?xbf16>
}""",
    "moeq-tile": MATMUL,
    "moeq-unpack-scaled": f"func.func @f(%a: {SCALED}) -> {SCALED} {{\n  return %a : {SCALED}\n}}",
    "moeq-to-linalg": """
func.func @f(%a: memref<?x64xbf16>, %b: memref<32x64xbf16>, %c: memref<?x32xf32>) {
  moeq.matmul lhs(%a : memref<?x64xbf16>) rhs(%b : memref<32x64xbf16>)
      outs(%c : memref<?x32xf32>)
  return
}""",
    "moeq-expand-small-floats": """
func.func @f(%a: f8E4M3FN) -> f32 {
  %0 = arith.extf %a : f8E4M3FN to f32
  return %0 : f32
}""",
    "moeq-outline-kernels": """
func.func @f(%a: memref<?x64xbf16>, %b: memref<?x64xbf16>, %r: memref<?xi32>) {
  moeq.gather input(%a : memref<?x64xbf16>) rows(%r : memref<?xi32>) outs(%b : memref<?x64xbf16>)
  return
}""",
    "moeq-split-kernels": """
gpu.module @m {
  llvm.func @a() attributes {nvvm.kernel, gpu.kernel} { llvm.return }
  llvm.func @b() attributes {nvvm.kernel, gpu.kernel} { llvm.return }
}""",
    "moeq-attach-target": "gpu.module @m { }",
    "moeq-gpu-tiles-to-scf": """
func.func @f(%m: index, %n: index) {
  moeq_gpu.tiles rows(%m) columns(%n) tile [64, 64] {
  ^bb0(%expert: index, %row: index, %row_end: index, %column: index):
  }
  return
}""",
    "convert-moeq-gpu-to-nvgpu": first_part("Conversion/MoeqGPUToNVGPU/roles-and-ring.mlir"),
    "moeq-small-floats-to-nvvm": """
gpu.module @m [#nvvm.target<chip = "sm_90a", features = "+ptx80">] {
  llvm.func @f(%x: f32) -> i8 {
    %0 = arith.truncf %x : f32 to f8E4M3FN
    %1 = arith.bitcast %0 : f8E4M3FN to i8
    llvm.return %1 : i8
  }
}""",
    "moeq-overlap-kernels": """
gpu.module @kernels {
  llvm.func @copy(%from: !llvm.ptr<1>, %to: !llvm.ptr<1>) attributes {gpu.kernel, nvvm.kernel} {
    %value = llvm.load %from : !llvm.ptr<1> -> f32
    llvm.store %value, %to : f32, !llvm.ptr<1>
    llvm.return
  }
}""",
}


@pytest.mark.parametrize("threading", [True, False])
@pytest.mark.parametrize("name", ALONE)
def test_each_pass_alone(name, threading):
    """Works, with threads and without: the pass declares every dialect that it creates."""
    flags = [] if threading else ["--mlir-disable-threading"]
    result = subprocess.run(
        [OPT, f"--{name}", *flags], input=ALONE[name], capture_output=True, text=True
    )
    assert result.returncode == 0, result.stderr
    again = subprocess.run([OPT], input=result.stdout, capture_output=True, text=True)
    assert again.returncode == 0, again.stderr
    before = subprocess.run([OPT], input=ALONE[name], capture_output=True, text=True)
    assert result.stdout != before.stdout


def test_every_pass_is_tried_alone():
    """Passes that only check or print, and pipelines, have nothing to create."""
    help_text = subprocess.run([OPT, "--help"], capture_output=True, text=True).stdout
    passes = set(re.findall(r"^ +--(moeq-[\w-]+|convert-moeq-[\w-]+)", help_text, re.M))
    others = {
        "moeq-check-lowered", "moeq-print-manifest", "moeq-serialize-kernels",
        "moeq-to-cpu", "moeq-to-kernels", "moeq-to-ptx",
    }  # fmt: skip
    untried = passes - others - {name.split("=")[0] for name in ALONE}
    assert not untried
