"""moeq.run: what it takes for an array, and what it refuses."""

import array

import ml_dtypes
import numpy as np
import pytest

import moeq

ADD = """
func.func @add(%a: tensor<?x4xf32> {moeq.name = "a"}, %b: tensor<?x4xf32> {moeq.name = "b"})
    -> tensor<?x4xf32> {
  %0 = linalg.add ins(%a, %b : tensor<?x4xf32>, tensor<?x4xf32>)
      outs(%a : tensor<?x4xf32>) -> tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}
"""
A, B = np.arange(8, dtype=np.float32).reshape(2, 4), np.full((2, 4), 10, np.float32)


@pytest.fixture(scope="module")
def add():
    return moeq.parse(ADD)


class Interface:
    """An array by __array_interface__ alone."""

    def __init__(self, value):
        self.value = value
        self.__array_interface__ = value.__array_interface__


class DLPack:
    """An array by __dlpack__ alone."""

    def __init__(self, value):
        self.value = value

    def __dlpack__(self, **options):
        return self.value.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.value.__dlpack_device__()


@pytest.mark.parametrize(
    "convert",
    [
        np.asarray,
        Interface,
        DLPack,
        memoryview,
        lambda v: np.repeat(v, 2, axis=1)[:, ::2],
        np.asfortranarray,
    ],
)
def test_arrays(add, convert):
    a = A.copy()
    (result,) = moeq.run(add, "add", [convert(a), convert(B)])
    assert (result == A + B).all() and result.dtype == np.float32
    assert (a == A).all()


def test_by_name(add):
    (result,) = moeq.run(add, "add", {"b": B, "a": A})
    assert (result == A + B).all()


def test_buffer_of_another_shape(add):
    with pytest.raises(moeq.Error, match=r"a: expects shape \?x4, got 8"):
        moeq.run(add, "add", [array.array("f", range(8)), B])


def test_no_rows(add):
    (result,) = moeq.run(add, "add", [A[:0], B[:0]])
    assert result.shape == (0, 4)


@pytest.mark.parametrize("dtype", [ml_dtypes.bfloat16, np.uint16, np.int16])
def test_bf16(dtype):
    text = ADD.replace("f32", "bf16")
    a, b = A.astype(ml_dtypes.bfloat16), B.astype(ml_dtypes.bfloat16)
    (result,) = moeq.run(moeq.parse(text), "add", [a.view(dtype), b.view(dtype)])
    assert result.dtype == np.uint16
    assert (result.view(ml_dtypes.bfloat16) == a + b).all()


def test_scalars():
    text = "func.func @f(%a: i32, %b: f64) -> (f64, i32) {\n  return %b, %a : f64, i32\n}"
    b, a = moeq.run(moeq.parse(text), "f", [np.int32(3), np.float64(0.5)])
    assert a.shape == b.shape == () and (a, b) == (3, 0.5)


def test_results_survive(add):
    first = moeq.run(add, "add", [A, B])[0]
    moeq.run(add, "add", [B, B])
    assert (first == A + B).all()


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ([A], r"expects 2 inputs \(a, b\), got 1"),
        ({"a": A}, "missing: b, unknown: none"),
        ({"a": A, "b": B, "c": B}, "missing: none, unknown: c"),
        ([A.astype(np.float64), B], "a: expects float32 for f32, got float64"),
        ([A[0], B], r"a: expects shape \?x4, got 4"),
        ([A[:, :3], B], r"a: expects shape \?x4, got 2x3"),
        ([object(), B], "a: expects float32 for f32, got object"),
    ],
)
def test_refused_inputs(add, inputs, message):
    with pytest.raises(moeq.Error, match=message):
        moeq.run(add, "add", inputs)


def test_refused_options(add):
    with pytest.raises(moeq.Error, match="expects a device of cpu or cuda, got tpu"):
        moeq.run(add, "add", [A, B], device="tpu")
    with pytest.raises(moeq.Error, match="expects a level of layer, ops or tiles, got 'x'"):
        moeq.run(add, "add", [A, B], level="x")
    with pytest.raises(moeq.Error, match="expects a function 'sub' with a body"):
        moeq.run(add, "sub", [A, B])
