"""The programs that the suites compile: MLIR by name."""

from pathlib import Path

ROOT = Path(__file__).parents[1]
OUT = ROOT / "build" / "bench"

SCHEMES = {
    "fp8": "!moeq.scaled<f8E4M3FN, block = [*], scale = f32>",
    "bf16": "bf16",
}


def grouped_matmul(scheme: str, experts: int, n: int, k: int) -> str:
    """Rows [S, K] times [E, N, K]: scales a token and a channel for FP8."""
    element = SCHEMES[scheme]
    a, b, c = (
        f"tensor<?x{k}x{element}>",
        f"tensor<{experts}x{n}x{k}x{element}>",
        f"tensor<?x{n}xbf16>",
    )
    offsets = f"tensor<{experts + 1}xi32>"
    return f"""
func.func @grouped_matmul(%a: {a} {{moeq.name = "a"}}, %b: {b} {{moeq.name = "b"}},
                          %offsets: {offsets} {{moeq.name = "offsets"}}) -> {c} {{
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %a, %c0 : {a}
  %init = tensor.empty(%rows) : {c}
  %c = moeq.grouped_matmul lhs(%a : {a}) rhs(%b : {b}) offsets(%offsets : {offsets})
      outs(%init : {c}) accumulate(<fast>) -> {c}
  return %c : {c}
}}
"""


def example(name: str) -> str:
    return (ROOT / "examples" / f"{name}.mlir").read_text()


def name_of(scheme: str, experts: int, n: int, k: int) -> str:
    return f"grouped-matmul-{scheme}-e{experts}-n{n}-k{k}"


MIXTRAL = ((14336, 4096), (4096, 14336))  # (N, K)

SUITES = {
    "smoke": {"mixtral-8x7b-fp8": example("mixtral-8x7b-fp8")}
    | {
        name_of(scheme, 8, n, k): grouped_matmul(scheme, 8, n, k)
        for scheme in SCHEMES
        for n, k in MIXTRAL
    },
}
