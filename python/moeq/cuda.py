"""The CUDA driver by ctypes: what launching compiled kernels needs of it."""

import ctypes
import functools
from ctypes import (
    POINTER,
    byref,
    c_char_p,
    c_int,
    c_size_t,
    c_ubyte,
    c_uint,
    c_uint32,
    c_uint64,
    c_void_p,
)

from moeq.errors import Error

ATTRIBUTE_SM_COUNT = 16
FUNCTION_MAX_DYNAMIC_SHARED_MEMORY = 8
LAUNCH_CLUSTER_DIMENSION, LAUNCH_PROGRAMMATIC_SERIALIZATION = 4, 6
JIT_ERROR_LOG_BUFFER, JIT_ERROR_LOG_SIZE = 5, 6
NO_BINARY_FOR_GPU = 209

TENSOR_MAP_BYTES = 128
TENSOR_MAP_ELEMENTS = {
    "i8": 0, "f8E4M3FN": 0, "f8E5M2": 0, "f8E8M0FNU": 0, "i16": 1, "i32": 3, "i64": 5,
    "f16": 6, "f32": 7, "f64": 8, "bf16": 9,
}  # fmt: skip
SWIZZLES = {"none": 0, "32B": 1, "64B": 2, "128B": 3}
L2_PROMOTIONS = {"none": 0, "64B": 1, "128B": 2, "256B": 3}


class LaunchAttribute(ctypes.Structure):
    _fields_ = (("id", c_int), ("pad", c_int), ("value", c_uint * 16))


class LaunchConfig(ctypes.Structure):
    _fields_ = (
        ("grid", c_uint * 3),
        ("block", c_uint * 3),
        ("shared_memory", c_uint),
        ("stream", c_void_p),
        ("attributes", POINTER(LaunchAttribute)),
        ("num_attributes", c_uint),
    )


@functools.cache
def driver() -> ctypes.CDLL:
    """libcuda, initialized."""
    try:
        library = ctypes.CDLL("libcuda.so.1")
    except OSError as error:
        raise Error(f"found no CUDA driver: {error}") from error
    check(library, library.cuInit(0), "cuInit")
    return library


def check(library, status: int, what: str) -> None:
    if status:
        text = c_char_p()
        library.cuGetErrorString(status, byref(text))
        reason = text.value.decode() if text.value else f"error {status}"
        raise Error(f"{what}: {reason}")


def call(name: str, *arguments) -> None:
    """Calls a function of the driver; an Error says what failed."""
    check(driver(), getattr(driver(), name)(*arguments), name)


def use_context() -> int:
    """The device of the current context; makes device 0's primary one current where
    there is none."""
    context, device = c_void_p(), c_int()
    call("cuCtxGetCurrent", byref(context))
    if not context:
        call("cuDeviceGet", byref(device), 0)
        call("cuDevicePrimaryCtxRetain", byref(context), device)
        call("cuCtxSetCurrent", context)
    call("cuCtxGetDevice", byref(device))
    return device.value


def sm_count(device: int) -> int:
    count = c_int()
    call("cuDeviceGetAttribute", byref(count), ATTRIBUTE_SM_COUNT, device)
    return count.value


def load_module(cubin: bytes | None, ptx: bytes, name: str) -> c_void_p:
    """Loads the cubin where there is one for this device, else compiles the PTX."""
    module = c_void_p()
    if cubin is not None:
        status = driver().cuModuleLoadData(byref(module), cubin)
        if status != NO_BINARY_FOR_GPU:
            check(driver(), status, f"loading {name}.cubin")
            return module
    log = ctypes.create_string_buffer(8192)
    options = (c_int * 2)(JIT_ERROR_LOG_BUFFER, JIT_ERROR_LOG_SIZE)
    values = (c_void_p * 2)(ctypes.addressof(log), len(log))
    status = driver().cuModuleLoadDataEx(byref(module), ptx + b"\0", 2, options, values)
    check(driver(), status, f"loading {name}.ptx: {log.value.decode().strip()}")
    return module


def get_function(module: c_void_p, name: str) -> c_void_p:
    function = c_void_p()
    call("cuModuleGetFunction", byref(function), module, name.encode())
    return function


def allow_shared_memory(function: c_void_p, size: int) -> None:
    call("cuFuncSetAttribute", function, FUNCTION_MAX_DYNAMIC_SHARED_MEMORY, size)


def allocate(size: int) -> int:
    pointer = c_uint64()
    call("cuMemAlloc_v2", byref(pointer), c_size_t(size))
    return pointer.value


def allocate_zeroed(size: int) -> int:
    """Zero before any stream can use it."""
    pointer = allocate(size)
    call("cuMemsetD8_v2", c_uint64(pointer), c_ubyte(0), c_size_t(size))
    call("cuStreamSynchronize", None)
    return pointer


class TensorMaps:
    """128-byte descriptors of a tensor in device memory, one for each box; `dims`
    innermost first, `strides` in bytes without the innermost."""

    def __init__(self, pointer, element, dims, strides, boxes, swizzle, l2_promotion):
        self.memory = ctypes.create_string_buffer(TENSOR_MAP_BYTES * len(boxes) + 63)
        self.address = (ctypes.addressof(self.memory) + 63) & ~63
        rank = len(dims)
        # An empty tensor has no map, and nothing is read through it.
        dims = [max(extent, 1) for extent in dims]
        for i, box in enumerate(boxes):
            call(
                "cuTensorMapEncodeTiled",
                c_void_p(self.address + TENSOR_MAP_BYTES * i),
                TENSOR_MAP_ELEMENTS[element],
                c_uint32(rank),
                c_void_p(pointer),
                (c_uint64 * rank)(*dims),
                (c_uint64 * max(rank - 1, 1))(*strides),
                (c_uint32 * rank)(*box),
                (c_uint32 * rank)(*[1] * rank),
                0,
                SWIZZLES[swizzle],
                L2_PROMOTIONS[l2_promotion],
                0,
            )


def launch(function, grid, block, cluster, shared_memory, stream, parameters, programmatic) -> None:
    """Enqueues a kernel. `parameters` is an array of pointers to its arguments. A
    `programmatic` one may start before the kernel before it has ended."""
    attributes = []
    if tuple(cluster) != (1, 1, 1):
        attributes.append((LAUNCH_CLUSTER_DIMENSION, 0, (c_uint * 16)(*cluster)))
    if programmatic:
        attributes.append((LAUNCH_PROGRAMMATIC_SERIALIZATION, 0, (c_uint * 16)(1)))
    config = LaunchConfig(
        (c_uint * 3)(*grid),
        (c_uint * 3)(*block),
        shared_memory,
        stream,
        (LaunchAttribute * len(attributes))(*attributes),
        len(attributes),
    )
    call("cuLaunchKernelEx", byref(config), function, parameters, None)
