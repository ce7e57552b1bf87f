"""Masked and gathered rows of the general kernel of a grouped matmul."""

import numpy as np
import pytest

from reference import compare, formats
from reference.matmul import grouped_matmul, matmul
from reference.scaled import WHOLE, Format, Scaled
from test_kernels import memref, operand_text, random_operand, run


@pytest.fixture
def rng():
    return np.random.default_rng(11)


@pytest.mark.parametrize("counts", [(3, 0, 4, 1), (0, 0, 0, 0), (4, 4, 4, 4)])
def test_masked_matmul(rng, counts):
    """The first rows of each expert; `row` operands are [E, M]."""
    left, right = Format("f8E4M3FN", (32,)), Format("f8E4M3FN", (WHOLE,))
    most, columns, depth, experts = 4, 19, 50, len(counts)
    a, a_types = random_operand(rng, left, (experts, most, depth))
    b, b_types = random_operand(rng, right, (experts, columns, depth))
    a_arguments, a_text = operand_text("a", left, a_types)
    b_arguments, b_text = operand_text("b", right, b_types)
    a_arguments, a_text, b_arguments, b_text = (
        text.replace("memref<?x", f"memref<{experts}x")
        for text in (a_arguments, a_text, b_arguments, b_text)
    )
    out, counts_type = memref((experts, None, columns), "bf16"), f"memref<{experts}xi32>"
    weights_type = memref((experts, None), "f32")
    text = f"""
    func.func @f({a_arguments}, {b_arguments}, %n: {counts_type}, %w: {weights_type}, %c: {out}) {{
      moeq.grouped_matmul lhs{a_text} rhs{b_text} counts(%n : {counts_type}) outs(%c : {out})
          epilogue(%w : {weights_type}) maps [row] {{
        ^bb0(%acc: f32, %row: index, %column: index, %s: f32):
          %t = arith.mulf %acc, %s : f32
          %r = arith.truncf %t : f32 to bf16
          moeq.yield %r : bf16
      }}
      return
    }}"""
    # Rows past the count are not read.
    for values, count in zip(a.values, counts, strict=True):
        values[count:] = 0x7F
    weights = rng.choice([0.5, 2.0], (experts, most)).astype(np.float32)
    c = np.full((experts, most, columns), 7, formats.STORAGE["bf16"])
    init = c.copy()
    run(text, *a.components(), *b.components(), np.array(counts, np.int32), weights, c)
    for expert, count in enumerate(counts):
        rows = Scaled(left, a.values[expert, :count], a.scales[expert, :count])
        expected = matmul(rows, b[expert])
        expected.value *= weights[expert, :count, None]
        expected.error *= weights[expert, :count, None]
        compare.assert_within(c[expert, :count], expected, "bf16")
        np.testing.assert_array_equal(c[expert, count:], init[expert, count:])


@pytest.mark.parametrize("counts", [(3, 0, 4), (0, 0, 0), (0, 9, 0)])
def test_gathered_matmul(rng, counts):
    """The rows that an index names, those that none names zeros."""
    scheme = Format("f8E4M3FN", (WHOLE,))
    tokens, columns, depth, experts = 6, 19, 50, len(counts)
    a, a_types = random_operand(rng, scheme, (tokens, depth))
    b, b_types = random_operand(rng, scheme, (experts, columns, depth))
    a_arguments, a_text = operand_text("a", scheme, a_types)
    b_arguments, b_text = operand_text("b", scheme, b_types)
    b_arguments = b_arguments.replace("memref<?x", f"memref<{experts}x")
    b_text = b_text.replace("memref<?x", f"memref<{experts}x")
    out, offsets_type = memref((None, columns), "bf16"), f"memref<{experts + 1}xi32>"
    text = f"""
    func.func @f({a_arguments}, {b_arguments}, %o: {offsets_type}, %r: memref<?xi32>, %c: {out}) {{
      moeq.grouped_matmul lhs{a_text} rhs{b_text} offsets(%o : {offsets_type})
          rows(%r : memref<?xi32>) outs(%c : {out})
      return
    }}"""
    offsets = np.cumsum([0, *counts]).astype(np.int32)
    rows = rng.integers(-1, tokens, offsets[-1] + 1).astype(np.int32)
    c = np.full((len(rows), columns), 7, formats.STORAGE["bf16"])
    init = c.copy()
    run(text, *a.components(), *b.components(), offsets, rows, c)
    gathered = Scaled(scheme, a.values[rows], a.scales[rows])
    gathered.values[rows < 0] = 0
    compare.assert_within(c, grouped_matmul(gathered, b, offsets, init), "bf16")
    assert not c[:-1][rows[:-1] < 0].any()
