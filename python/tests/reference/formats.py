"""Element types: codes to numbers and back."""

import ml_dtypes
import numpy as np

BF16 = ml_dtypes.bfloat16

# The name of an element type in MLIR, and the NumPy type whose bits it has.
STORAGE = {
    "f64": np.float64,
    "f32": np.float32,
    "f16": np.float16,
    "bf16": BF16,
    "f8E4M3FN": np.uint8,
    "f8E5M2": np.uint8,
    "f8E8M0FNU": np.uint8,
    "f4E2M1FN": np.uint8,
    "i64": np.int64,
    "i32": np.int32,
    "i8": np.int8,
    "i4": np.int8,
    "ui4": np.int8,
}
FLOAT8 = {"f8E4M3FN": ml_dtypes.float8_e4m3fn, "f8E5M2": ml_dtypes.float8_e5m2}
MAX = {"f8E4M3FN": 448.0, "f8E5M2": 57344.0, "f4E2M1FN": 6.0, "i8": 127.0, "i4": 7.0, "ui4": 15.0}
E2M1 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6], np.float32)


def is_packed(element: str) -> bool:
    """Whether two values share a byte."""
    return element in ("i4", "ui4", "f4E2M1FN")


def is_integer(element: str) -> bool:
    return element in ("i8", "i4", "ui4")


def decode(codes, element: str) -> np.ndarray:
    """The numbers of codes, exactly, in f32."""
    codes = np.asarray(codes)
    if element in FLOAT8:
        return codes.astype(np.uint8).view(FLOAT8[element]).astype(np.float32)
    if element == "f8E8M0FNU":
        exponent = codes.astype(np.int32) - 127
        return np.where(codes == 255, np.nan, np.ldexp(1.0, exponent)).astype(np.float32)
    if element == "f4E2M1FN":
        magnitude = E2M1[codes & 7]
        return np.where(codes & 8, -magnitude, magnitude).astype(np.float32)
    return codes.astype(np.float32)


def encode(numbers, element: str) -> np.ndarray:
    """The nearest codes of f32 numbers, ties to even: out of range and infinite
    ones saturate, each NaN gives 0x7f, zero keeps its sign."""
    numbers = np.asarray(numbers, np.float32)
    limit = np.float32(MAX[element])
    clamped = np.clip(numbers, -limit, limit)
    if element in FLOAT8:
        codes = np.nan_to_num(clamped, nan=0.0).astype(FLOAT8[element]).view(np.uint8)
        return np.where(np.isnan(numbers), np.uint8(0x7F), codes)
    if element == "f4E2M1FN":
        magnitude = np.abs(np.nan_to_num(clamped, nan=6.0)).astype(np.float64)
        middles = (E2M1[1:].astype(np.float64) + E2M1[:-1]) / 2
        below = np.searchsorted(middles, magnitude, side="left")
        tie = np.isin(magnitude, middles)
        code = np.where(tie & (below % 2 == 1), below + 1, below)
        return (code + 8 * np.signbit(numbers)).astype(np.uint8)
    raise ValueError(f"no encoding of {element}")


def round_to(numbers, element: str) -> np.ndarray:
    """f32 or f64 numbers rounded once to f32, bf16 or f16 (nearest even)."""
    numbers = np.asarray(numbers)
    with np.errstate(over="ignore"):
        if element != "bf16" or numbers.dtype != np.float64:
            return numbers.astype(STORAGE[element])
        # ml_dtypes goes through f32: round to odd there, so that the second
        # rounding is as good as one.
        single = numbers.astype(np.float32)
        bits = single.view(np.uint32)
        inexact = (single.astype(np.float64) != numbers) & np.isfinite(numbers)
        toward_zero = np.where(np.abs(single.astype(np.float64)) > np.abs(numbers), bits - 1, bits)
        odd = np.where(inexact, toward_zero | 1, bits).astype(np.uint32)
        return odd.view(np.float32).astype(BF16)


def pack4(values) -> np.ndarray:
    """4-bit values packed two a byte along the last dimension, low nibble first."""
    nibbles = np.asarray(values).astype(np.uint8) & 15
    if nibbles.shape[-1] % 2:
        nibbles = np.concatenate([nibbles, np.zeros_like(nibbles[..., :1])], -1)
    return nibbles[..., 0::2] | nibbles[..., 1::2] << 4


def unpack4(packed, length: int, element: str) -> np.ndarray:
    """The 4-bit values of bytes, `length` of them along the last dimension."""
    packed = np.asarray(packed).view(np.uint8)
    nibbles = np.stack([packed & 15, packed >> 4], -1)
    nibbles = nibbles.reshape(*packed.shape[:-1], 2 * packed.shape[-1])[..., :length]
    if element == "i4":
        return ((nibbles.astype(np.int8) ^ 8) - 8).astype(np.int8)
    return nibbles.astype(STORAGE[element])
