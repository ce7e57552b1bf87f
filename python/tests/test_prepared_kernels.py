"""The kernels of what is made for other kernels, and of the gated matmul, executed
without a GPU."""

import numpy as np
import pytest

from reference.activation import prepack, split
from reference.plan import plan
from reference.scaled import WHOLE, Format, Scaled
from test_kernels import memref, operand_text, random_operand, run


@pytest.fixture
def rng():
    return np.random.default_rng(11)


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("counts", [(), (0, 0), (0, 700, 0), tuple(range(60))])
def test_plan(counts, dynamic):
    size = "?" if dynamic else len(counts) + 1
    text = f"""
    func.func @f(%o: memref<{size}xi32>, %t: memref<{size}x4xi32>) {{
      %n = arith.constant 1000 : index
      moeq.plan offsets(%o : memref<{size}xi32>) columns(%n) outs(%t : memref<{size}x4xi32>)
          tile_columns(128) max_width(160) ctas(32)
      return
    }}"""
    offsets = np.cumsum([2, *counts]).astype(np.int32)
    expected = plan(offsets, 1000, 128, 160, 32)
    table = np.full_like(expected, 77)
    run(text, offsets, table)
    np.testing.assert_array_equal(table, expected)


@pytest.mark.parametrize("blocks", [(WHOLE,), (WHOLE, WHOLE)])
def test_prepack(rng, blocks):
    format_ = Format("f8E4M3FN", blocks)
    a, types = random_operand(rng, format_, (2, 256, 8))
    out = Scaled(format_, np.zeros_like(a.values), np.zeros_like(a.scales))
    (a_arguments, a_text), (p_arguments, p_text) = (operand_text(n, format_, types) for n in "ap")
    text = f"""
    func.func @f({a_arguments}, {p_arguments}) {{
      moeq.prepack input{a_text} outs{p_text} from(gate_first) to(interleaved_64)
      return
    }}"""
    run(text, *a.components(), *out.components())
    np.testing.assert_array_equal(out.values, prepack(a.values, "gate_first", "interleaved_64"))
    moved = blocks == (WHOLE,)
    scales = prepack(a.scales, "gate_first", "interleaved_64") if moved else a.scales
    np.testing.assert_array_equal(out.scales, scales)


@pytest.mark.parametrize("grouped", [False, True])
def test_gated_matmul(rng, grouped):
    """Two sums an element, and two elements of a column operand."""
    rows, features, depth, experts = 9, 64, 33, 2
    lead = (experts,) if grouped else ()
    name = "grouped_matmul" if grouped else "matmul"
    offsets_text = "offsets(%o : memref<3xi32>)" if grouped else ""
    b_type, bias_type = memref((*lead, 128, depth), "f32"), memref((*lead, 128), "f32")
    text = f"""
    func.func @f(%a: memref<?x{depth}xf32>, %b: {b_type}, %o: memref<3xi32>, %bias: {bias_type},
                 %c: memref<?x64xf32>) {{
      moeq.{name} lhs(%a : memref<?x{depth}xf32>) rhs(%b : {b_type}) {offsets_text}
          outs(%c : memref<?x64xf32>) epilogue gated(%bias : {bias_type}) maps [column] {{
        ^bb0(%gate: f32, %up: f32, %row: index, %column: index, %bg: f32, %bu: f32):
          %0 = arith.addf %gate, %bg : f32
          %1 = arith.addf %up, %bu : f32
          %2 = arith.mulf %0, %1 : f32
          moeq.yield %2 : f32
      }}
      return
    }}"""
    a = rng.standard_normal((rows, depth)).astype(np.float32)
    b = rng.standard_normal((*lead, 2 * features, depth)).astype(np.float32)
    bias = rng.standard_normal((*lead, 2 * features)).astype(np.float32)
    offsets = np.array([0, 4, rows], np.int32)
    c = np.full((rows, features), np.nan, np.float32)
    run(text, a, b, offsets, bias, c)
    expert = np.repeat([0, 1], [4, rows - 4])
    weights, biases = (b[expert], bias[expert]) if grouped else (b[None], bias)
    sums = np.einsum(
        "rk,rnk->rn", a.astype(np.float64), np.broadcast_to(weights, (rows, 128, depth))
    )
    gate, up = split(sums + biases, "interleaved_64")
    np.testing.assert_allclose(c, gate * up, rtol=1e-4, atol=1e-4)
