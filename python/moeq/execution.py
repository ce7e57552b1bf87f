"""Runs functions of a module on arrays."""

import ctypes
import tempfile

import numpy as np

from moeq.errors import Error
from moeq.library import CArray, library
from moeq.module import Module, TensorType, compile

# The NumPy type that carries each element type of MLIR: NumPy lacks the narrow floats.
CARRIERS = {
    "f64": np.float64,
    "f32": np.float32,
    "f16": np.float16,
    "bf16": np.uint16,
    "f8E4M3FN": np.uint8,
    "f8E5M2": np.uint8,
    "f8E8M0FNU": np.uint8,
    "i64": np.int64,
    "index": np.int64,
    "i32": np.int32,
    "i16": np.int16,
    "i8": np.int8,
    "i1": np.bool_,
}
# Element types that come as another type of the same size, and their names elsewhere.
ALIASES = {
    "bf16": ("uint16", "int16", "bfloat16"),
    "f8E4M3FN": ("uint8", "int8", "float8_e4m3fn"),
    "f8E5M2": ("uint8", "int8", "float8_e5m2"),
    "f8E8M0FNU": ("uint8", "int8", "float8_e8m0fnu"),
    "i8": ("int8", "uint8"),
}


def as_array(value) -> np.ndarray:
    """A NumPy view of anything with the buffer protocol, __array_interface__ or
    __dlpack__."""
    if isinstance(value, np.ndarray):
        return value
    if hasattr(value, "__array_interface__") or not hasattr(value, "__dlpack__"):
        return np.asarray(value)
    try:
        return np.from_dlpack(value)
    except (BufferError, RuntimeError, TypeError):
        # A type that NumPy lacks: torch views it as bytes.
        if not hasattr(value, "view") or not hasattr(value, "element_size"):
            raise
        import torch

        carrier = {1: torch.uint8, 2: torch.int16}[value.element_size()]
        return np.from_dlpack(value.contiguous().view(carrier))


def convert(value, expected: TensorType) -> np.ndarray:
    """`value` as a dense array of the carrier of `expected`, checked."""
    carrier = CARRIERS.get(expected.element)
    if carrier is None:
        raise Error(f"{expected.name}: arrays of {expected.element} are not supported")
    try:
        array = as_array(value)
    except (TypeError, ValueError, BufferError, RuntimeError) as error:
        raise Error(f"{expected.name}: expects an array, got {type(value).__name__}") from error
    names = (np.dtype(carrier).name, *ALIASES.get(expected.element, ()))
    if array.dtype.name not in names:
        raise Error(
            f"{expected.name}: expects {' or '.join(dict.fromkeys(names))} for "
            f"{expected.element}, got {array.dtype.name}"
        )
    fits = len(array.shape) == len(expected.shape) and all(
        want in (-1, got) for want, got in zip(expected.shape, array.shape, strict=True)
    )
    if not fits:
        want = "x".join("?" if n < 0 else str(n) for n in expected.shape)
        got = "x".join(map(str, array.shape))
        raise Error(f"{expected.name}: expects shape {want}, got {got}")
    return np.ascontiguousarray(array).view(carrier).reshape(array.shape)


def in_order(inputs, expected: list[TensorType]) -> list:
    """The inputs in the order of the arguments, from a list or a dict."""
    names = [t.name for t in expected]
    if not isinstance(inputs, dict):
        if len(inputs) != len(expected):
            raise Error(f"expects {len(expected)} inputs ({', '.join(names)}), got {len(inputs)}")
        return list(inputs)
    missing = [n for n in names if n not in inputs]
    unknown = [n for n in inputs if n not in names]
    if missing or unknown:
        raise Error(
            f"expects the inputs {', '.join(names)}; missing: {', '.join(missing) or 'none'}, "
            f"unknown: {', '.join(unknown) or 'none'}"
        )
    return [inputs[n] for n in names]


def run(
    module: Module, entry: str, inputs, device: str = "cpu", level: str = "ops"
) -> list[np.ndarray]:
    """Runs a function on arrays, in the order of its arguments or by their names. A
    scaled argument is NAME, NAME.scale and, with zero points, NAME.zero. bf16 comes
    and goes as uint16, 8-bit floats and packed 4-bit values as uint8 or int8. `level`
    is that to which the CPU brings the program first: layer (as it is), ops, tiles."""
    arguments, _ = module.signature(entry)
    values = in_order(inputs, arguments)
    if device == "cuda":
        return run_on_cuda(module, entry, values)
    if device != "cpu":
        raise Error(f"expects a device of cpu or cuda, got {device}")
    arrays = [convert(v, t) for v, t in zip(values, arguments, strict=True)]
    c_arrays = (CArray * len(arrays))()
    shapes = [(ctypes.c_int64 * a.ndim)(*a.shape) for a in arrays]
    for c, array, shape, expected in zip(c_arrays, arrays, shapes, arguments, strict=True):
        c.element, c.data = expected.element.encode(), array.ctypes.data
        c.shape, c.rank = shape, array.ndim
    handle = module.context.call(
        f"run {entry}",
        "moeqModuleRun",
        module.handle,
        entry.encode(),
        level.encode(),
        c_arrays,
        len(arrays),
    )
    try:
        count = ctypes.c_size_t()
        results = library().moeqArraysGet(handle, ctypes.byref(count))
        return [copy_out(results[i]) for i in range(count.value)]
    finally:
        library().moeqArraysDestroy(handle)


def copy_out(array: CArray) -> np.ndarray:
    carrier = np.dtype(CARRIERS[array.element.decode()])
    shape = tuple(array.shape[: array.rank])
    size = int(np.prod(shape, dtype=np.int64)) * carrier.itemsize
    return np.frombuffer(ctypes.string_at(array.data, size), carrier).reshape(shape).copy()


def run_on_cuda(module: Module, entry: str, values: list) -> list[np.ndarray]:
    """Compiles, launches and waits; the arrays are copied to the device and back."""
    import torch

    from moeq.driver import load

    with tempfile.TemporaryDirectory(prefix="moeq-") as directory:
        compile(module, out_dir=directory)
        kernels = load(directory)
    arguments, _ = module.signature(entry)
    tensors = {
        t.name: torch.from_numpy(convert(v, t)).cuda()
        for v, t in zip(values, arguments, strict=True)
    }
    results = {}
    for output in kernels.outputs(entry, tensors):
        carrier = np.empty(output.shape, CARRIERS[output.element])
        results[output.name] = torch.from_numpy(carrier).cuda()
    kernels.launch(entry, tensors | results, torch.cuda.current_stream().cuda_stream)
    torch.cuda.synchronize()
    return [tensor.cpu().numpy() for tensor in results.values()]
