"""The cases of class verify: what the compiler refuses."""

import re

import pytest

import cases
import moeq


def weight_only(weight: str, scales: str) -> str:
    """A grouped matmul on an int8 weight of shape E x N x K with scales of E x N."""
    experts, n, k = weight.split("x")
    components = f"memref<{weight}xi8>, memref<{scales}x1xf32>"
    return f"""
      !w = !moeq.scaled<i8, block = [*], scale = f32>
      func.func @f(%a: memref<?x{k}xbf16>, %v: memref<{weight}xi8>, %s: memref<{scales}x1xf32>,
                   %o: memref<{int(experts) + 1}xi32>, %c: memref<?x{n}xbf16>) {{
        moeq.grouped_matmul lhs(%a : memref<?x{k}xbf16>) rhs(%v, %s : {components} as !w)
            offsets(%o : memref<{int(experts) + 1}xi32>) outs(%c : memref<?x{n}xbf16>)
        return
      }}"""


def test_scale_count():
    case = cases.all_cases()["verify-scale-count"]
    weight, scales = re.search(
        r"weight ([\dx]+), per-channel scales ([\dx]+)", case["inputs"]["ir_in_words"]
    ).groups()
    assert (weight, scales) == ("2x8x16", "2x4")
    with pytest.raises(moeq.Error, match=r"of shape \[2, 8, 1\], got 'memref<2x4x1xf32>'"):
        moeq.parse(weight_only(weight, scales))
    moeq.parse(weight_only(weight, "2x8"))
