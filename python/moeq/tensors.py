"""Where a device tensor lies: torch's, and anything with __cuda_array_interface__ or
__dlpack__."""

import ctypes
from dataclasses import dataclass

from moeq.errors import Error

DLPACK_CUDA = (2, 13)  # device memory, managed memory


@dataclass(frozen=True)
class DeviceTensor:
    """A dense row-major tensor; `itemsize` is None where it is not known."""

    pointer: int
    shape: tuple[int, ...]
    itemsize: int | None


class DLTensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


def is_dense(shape, strides) -> bool:
    """Whether strides, in elements, are those of a row-major tensor."""
    expected = 1
    for extent, stride in zip(reversed(shape), reversed(strides), strict=True):
        if extent != 1 and stride != expected:
            return 0 in shape
        expected *= extent
    return True


def from_dlpack(value) -> tuple[DeviceTensor, tuple | None]:
    capsule = value.__dlpack__()
    get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
    get_pointer.restype, get_pointer.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    tensor = DLTensor.from_address(get_pointer(capsule, b"dltensor"))
    if tensor.device_type not in DLPACK_CUDA:
        raise Error(f"expects a tensor on a CUDA device, got DLPack device {tensor.device_type}")
    shape = tuple(tensor.shape[: tensor.ndim])
    strides = tuple(tensor.strides[: tensor.ndim]) if tensor.strides else None
    itemsize = tensor.bits * tensor.lanes // 8
    pointer = (tensor.data or 0) + tensor.byte_offset
    return DeviceTensor(pointer, shape, itemsize), strides


def device_tensor(value, name: str) -> DeviceTensor:
    """Where `value` lies; an Error where it is not on a device or not dense."""
    if hasattr(value, "data_ptr"):
        if not value.is_cuda:
            raise Error(f"{name}: expects a tensor on a CUDA device, got one on {value.device}")
        tensor = DeviceTensor(value.data_ptr(), tuple(value.shape), value.element_size())
        strides = value.stride()
    elif hasattr(value, "__cuda_array_interface__"):
        interface = value.__cuda_array_interface__
        itemsize = int(interface["typestr"][2:])
        tensor = DeviceTensor(interface["data"][0], tuple(interface["shape"]), itemsize)
        strides = interface.get("strides")
        strides = strides and tuple(stride // itemsize for stride in strides)
    elif hasattr(value, "__dlpack__"):
        tensor, strides = from_dlpack(value)
    else:
        raise Error(f"{name}: expects a device tensor, got {type(value).__name__}")
    if strides is not None and not is_dense(tensor.shape, strides):
        raise Error(f"{name}: expects a dense row-major tensor, got strides {tuple(strides)}")
    return tensor
