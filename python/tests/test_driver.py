"""The launcher without a GPU: what it asks of the driver, from a manifest."""

import ctypes
import json
import subprocess
import sys

import pytest

import moeq
from moeq import cuda
from moeq.manifest import bind_sizes, evaluate, outputs
from moeq.tensors import is_dense

T = {"symbol": "T"}
MANIFEST = {
    "version": 1,
    "chip": "sm_90a",
    "ptx_version": 80,
    "entries": {
        "layer": {
            "symbols": ["T"],
            "arguments": [
                {
                    "name": "x",
                    "kind": "tensor",
                    "element": "bf16",
                    "shape": [T, 64],
                    "role": "input",
                },
                {
                    "name": "result0",
                    "kind": "tensor",
                    "element": "f8E4M3FN",
                    "shape": [{"op": "*", "args": [T, 2]}, 64],
                    "role": "output",
                },
            ],
            "workspaces": [{"name": "ws0", "bytes": {"op": "*", "args": [T, 128]}}],
            "kernels": [
                {
                    "name": "first",
                    "file": "first.ptx",
                    "cubin": None,
                    "grid": [{"op": "ceildiv", "args": [T, 4]}, 1, 1],
                    "block": [128, 1, 1],
                    "cluster": [1, 1, 1],
                    "shared_memory": 0,
                    "parameters": [
                        {"kind": "pointer", "buffer": "x", "byte_offset": 16},
                        {"kind": "scalar", "type": "i32", "value": T},
                    ],
                    "config": None,
                    "condition": None,
                },
                {
                    "name": "second",
                    "file": "second.ptx",
                    "cubin": None,
                    "grid": [{"num_sms": True}, 1, 1],
                    "block": [384, 1, 1],
                    "cluster": [2, 1, 1],
                    "shared_memory": 200000,
                    "parameters": [
                        {
                            "kind": "tensor_map",
                            "buffer": "ws0",
                            "byte_offset": 0,
                            "element": "f8E4M3FN",
                            "dims": [64, T],
                            "strides": [64],
                            "box": [64, 32],
                            "swizzle": "128B",
                            "l2_promotion": "256B",
                        },
                        {"kind": "pointer", "buffer": "result0", "byte_offset": 0},
                        {"kind": "scalar", "type": "i64", "value": 7},
                    ],
                    "config": None,
                    "condition": {"op": "lt", "args": [4, T]},
                },
            ],
        }
    },
}


class DeviceArray:
    """A tensor by __cuda_array_interface__, at a made-up address."""

    def __init__(self, pointer, shape, typestr, strides=None):
        self.shape = shape
        self.__cuda_array_interface__ = {
            "data": (pointer, False),
            "shape": shape,
            "typestr": typestr,
            "strides": strides,
            "version": 3,
        }


class FakeDriver:
    """Records calls and answers each with success."""

    def __init__(self):
        self.calls, self.launches, self.allocated, self.zeroed = [], [], [], []
        self.boxes = []

    def __getattr__(self, name):
        def function(*arguments):
            self.calls.append(name)
            return 0

        return function

    def cuDeviceGetAttribute(self, result, attribute, device):  # noqa: N802
        result._obj.value = 132
        return 0

    def cuMemAlloc_v2(self, result, size):  # noqa: N802
        self.allocated.append(size.value)
        result._obj.value = 0x10000000 * len(self.allocated)
        return 0

    def cuMemsetD8_v2(self, pointer, value, size):  # noqa: N802
        self.zeroed.append((pointer.value, value.value, size.value))
        return 0

    def cuTensorMapEncodeTiled(self, address, element, rank, pointer, dims, strides, *rest):  # noqa: N802
        self.tensor_map = (element, rank.value, pointer.value, list(dims), list(strides))
        self.boxes.append((address.value, list(rest[0])))
        return 0

    def cuLaunchKernelEx(self, config, function, parameters, extra):  # noqa: N802
        config = config._obj
        numbers = [*config.grid, *config.block, config.shared_memory]
        attributes = {a.id: list(a.value) for a in config.attributes[: config.num_attributes]}
        self.launches.append((numbers, config.stream, parameters, attributes))
        return 0


@pytest.fixture
def fake(monkeypatch):
    driver = FakeDriver()
    monkeypatch.setattr(cuda, "driver", lambda: driver)
    return driver


@pytest.fixture
def kernels(tmp_path):
    (tmp_path / "manifest.json").write_text(json.dumps(MANIFEST))
    for name in ("first.ptx", "second.ptx"):
        (tmp_path / name).write_text("// ptx")
    return moeq.load(tmp_path)


def tensors(tokens, at=0x1000):
    return {
        "x": DeviceArray(at, (tokens, 64), "<u2"),
        "result0": DeviceArray(0x2000, (2 * tokens, 64), "|u1"),
    }


def read(parameters, index, ctype):
    return ctype.from_address(parameters[index]).value


def test_launch(fake, kernels):
    kernels.launch("layer", tensors(9), stream=5)
    first, second = fake.launches
    assert first[0] == [3, 1, 1, 128, 1, 1, 0] and first[1] == 5 and first[3] == {}
    assert read(first[2], 0, ctypes.c_uint64) == 0x1010
    assert read(first[2], 1, ctypes.c_int32) == 9
    assert second[0] == [132, 1, 1, 384, 1, 1, 200000] and second[1] == 5
    assert second[3].keys() == {4} and second[3][4][:3] == [2, 1, 1]
    assert fake.tensor_map == (0, 2, 0x10000000 + 256, [64, 9], [64])
    assert second[2][0] % 64 == 0
    assert read(second[2], 1, ctypes.c_uint64) == 0x2000
    assert read(second[2], 2, ctypes.c_int64) == 7
    assert "cuFuncSetAttribute" in fake.calls


def test_tensor_maps_of_several_boxes(fake, kernels):
    """An array of descriptors, 128 bytes each, that differ in their box."""
    parameter = kernels.entry("layer")["kernels"][1]["parameters"][0]
    del parameter["box"]
    parameter["boxes"] = [[64, 8], [64, 16], [64, 24]]
    kernels.launch("layer", tensors(9))
    _, second = fake.launches
    start = second[2][0]
    assert start % 64 == 0
    assert fake.boxes == [(start, [64, 8]), (start + 128, [64, 16]), (start + 256, [64, 24])]
    assert fake.tensor_map == (0, 2, 0x10000000 + 256, [64, 9], [64])


def test_programmatic_launches(fake, kernels):
    """CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION, beside others."""
    for kernel in kernels.entry("layer")["kernels"]:
        kernel["programmatic"] = True
    kernels.launch("layer", tensors(9))
    first, second = [launch[3] for launch in fake.launches]
    assert first.keys() == {6} and first[6][0] == 1
    assert second.keys() == {4, 6} and second[4][:3] == [2, 1, 1] and second[6][0] == 1


def test_conditions_and_empty_grids(fake, kernels):
    kernels.launch("layer", tensors(4))
    assert [numbers[0] for numbers, *_ in fake.launches] == [1]
    fake.launches.clear()
    kernels.launch("layer", tensors(0))
    assert fake.launches == []


def test_launches_are_bound_once(fake, kernels):
    assert kernels.prepare("layer", tensors(9)) is kernels.prepare("layer", tensors(9))
    loads = fake.calls.count("cuModuleLoadDataEx")
    assert kernels.prepare("layer", tensors(9)) is not kernels.prepare("layer", tensors(9, 0x3000))
    assert fake.calls.count("cuModuleLoadDataEx") == loads == 2


def test_workspaces_grow(fake, kernels):
    for tokens in (8, 4, 100):
        kernels.launch("layer", tensors(tokens))
    assert fake.allocated == [256 + 1024, 256 + 100 * 128]


def test_zeroed_workspaces(fake, kernels):
    entry = kernels.entry("layer")
    entry["workspaces"].append({"name": "ws1", "bytes": 4, "zeroed": True})
    parameter = {"kind": "pointer", "buffer": "ws1", "byte_offset": 0}
    entry["kernels"][0]["parameters"].append(parameter)
    for tokens in (8, 100):
        kernels.launch("layer", tensors(tokens))
    # It is zeroed once, and stays where it is when the other workspace moves.
    assert fake.allocated == [256 + 1024, 512, 256 + 100 * 128]
    assert fake.zeroed == [(0x20000000, 0, 512)]
    counters = [
        ctypes.c_uint64.from_address(parameters[-1]).value
        for numbers, _, parameters, *_ in fake.launches
        if len(parameters) == 3 and numbers[3] == 128
    ]
    assert counters == [0x20000000 + 256] * 2


def test_outputs(kernels):
    (output,) = kernels.outputs("layer", {"x": DeviceArray(0, (3, 64), "<u2")})
    assert (output.name, output.element, output.shape) == ("result0", "f8E4M3FN", (6, 64))


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("other", {}, "expects an entry of layer, got other"),
        (
            "layer",
            {"x": DeviceArray(0, (9, 63), "<u2")},
            r"x: expects shape \(9, 64\), got \(9, 63\)",
        ),
        ("layer", {"x": DeviceArray(0, (9,), "<u2")}, "x: expects rank 2, got 1"),
        (
            "layer",
            {"x": DeviceArray(0, (9, 64), "<f4")},
            "x: expects 2 bytes an element for bf16, got 4",
        ),
        (
            "layer",
            {"x": DeviceArray(0, (9, 64), "<u2", (2, 18))},
            "x: expects a dense row-major tensor",
        ),
        ("layer", {"x": [1, 2]}, "x: expects a device tensor, got list"),
        (
            "layer",
            {"result0": DeviceArray(0, (9, 64), "|u1")},
            r"result0: expects shape \(18, 64\)",
        ),
    ],
)
def test_errors(fake, kernels, name, change, message):
    with pytest.raises(moeq.Error, match=message):
        kernels.launch(name, tensors(9) | change)


def test_missing_tensor(fake, kernels):
    with pytest.raises(moeq.Error, match="missing: result0"):
        kernels.launch("layer", {"x": DeviceArray(0, (9, 64), "<u2")})
    with pytest.raises(moeq.Error, match=r"expects 2 tensors \(x, result0\), got 1"):
        kernels.launch("layer", [DeviceArray(0, (9, 64), "<u2")])


def test_bad_manifest(tmp_path):
    with pytest.raises(moeq.Error, match="could not read the manifest"):
        moeq.load(tmp_path)
    (tmp_path / "manifest.json").write_text('{"version": 2}')
    with pytest.raises(moeq.Error, match="expects a manifest of version 1, got 2"):
        moeq.load(tmp_path)


@pytest.mark.parametrize(
    ("operation", "arguments", "value"),
    [
        ("+", [2, 3], 5), ("-", [2, 3], -1), ("*", [2, 3], 6), ("ceildiv", [7, 2], 4),
        ("floordiv", [7, 2], 3), ("min", [2, 3], 2), ("max", [2, 3], 3), ("lt", [2, 3], 1),
        ("lt", [3, 3], 0), ("select", [1, 5, 6], 5), ("select", [0, 5, 6], 6),
    ],
)  # fmt: skip
def test_evaluate(operation, arguments, value):
    assert evaluate({"op": operation, "args": arguments}, {}) == value


def test_evaluate_symbols():
    tree = {"op": "+", "args": [T, {"op": "*", "args": [{"num_sms": True}, 2]}]}
    assert evaluate(tree, {"T": 5, "num_sms": 132}) == 269
    with pytest.raises(moeq.Error, match="unknown expression"):
        evaluate({"op": "xor", "args": [1, 2]}, {})


def test_sizes():
    entry = MANIFEST["entries"]["layer"]
    assert bind_sizes(entry, {"x": (5, 64)}) == {"T": 5}
    assert outputs(entry, {"T": 0})[0].shape == (0, 64)


@pytest.mark.parametrize(
    ("shape", "strides", "dense"),
    [
        ((2, 3), (3, 1), True),
        ((2, 3), (1, 2), False),
        ((2, 1), (1, 7), True),
        ((0, 3), (9, 9), True),
        ((), (), True),
    ],
)
def test_is_dense(shape, strides, dense):
    assert is_dense(shape, strides) is dense


def test_drivers_absence(monkeypatch):
    cuda.driver.cache_clear()
    monkeypatch.setattr(
        ctypes, "CDLL", lambda name: (_ for _ in ()).throw(OSError(f"{name}: not found"))
    )
    with pytest.raises(moeq.Error, match="found no CUDA driver"):
        cuda.driver()


def test_launching_needs_no_numpy():
    script = "import sys; sys.modules['numpy'] = None; import moeq; print(moeq.load.__name__)"
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert result.stdout == "load\n", result.stderr
