"""Scaled tensors: values with the scales, and zero points, of their blocks."""

import re
from dataclasses import dataclass

import numpy as np

from reference import formats

WHOLE = -1  # a block of the whole extent, `*` in MLIR


@dataclass(frozen=True)
class Format:
    """A `!moeq.scaled` type."""

    value: str
    block: tuple[int, ...]
    scale: str = "f32"
    zero: str | None = None

    def __str__(self):
        block = ", ".join("*" if b == WHOLE else str(b) for b in self.block)
        zero = f", zero = {self.zero}" if self.zero else ""
        return f"!moeq.scaled<{self.value}, block = [{block}], scale = {self.scale}{zero}>"

    @staticmethod
    def parse(text: str) -> "Format":
        """The format that MLIR prints as `text`."""
        value, block, scale, zero = re.fullmatch(
            r"!moeq\.scaled<(\w+), block = \[([^]]*)\], scale = (\w+)(?:, zero = (\w+))?>", text
        ).groups()
        extents = tuple(WHOLE if b.strip() == "*" else int(b) for b in block.split(","))
        return Format(value, extents, scale, zero)

    def blocks(self, shape) -> tuple[int, ...]:
        """The block's extent along each dimension of `shape`."""
        block = (1,) * (len(shape) - len(self.block)) + self.block
        return tuple(max(n, 1) if b == WHOLE else b for b, n in zip(block, shape, strict=True))

    def scale_shape(self, shape) -> tuple[int, ...]:
        block = (1,) * (len(shape) - len(self.block)) + self.block
        return tuple(1 if b == WHOLE else -(-n // b) for b, n in zip(block, shape, strict=True))

    def expand(self, scales, shape) -> np.ndarray:
        """One entry an element of `shape` from one entry a block."""
        scales = np.asarray(scales)
        for axis, (b, n) in enumerate(zip(self.blocks(shape), shape, strict=True)):
            scales = np.repeat(scales, b, axis).take(range(n), axis)
        return scales


@dataclass
class Scaled:
    """A scaled tensor. `values` are codes, not packed; `scales` and `zeros` have the
    stored type (E8M0 as uint8)."""

    format: Format
    values: np.ndarray
    scales: np.ndarray
    zeros: np.ndarray | None = None

    @property
    def shape(self):
        return self.values.shape

    def __getitem__(self, index):
        """One entry, or a range of entries, along the first dimension; scales that span
        it are kept whole."""
        if len(self.format.block) == self.values.ndim and self.format.block[0] == WHOLE:
            return Scaled(self.format, self.values[index], self.scales, self.zeros)
        zeros = None if self.zeros is None else self.zeros[index]
        return Scaled(self.format, self.values[index], self.scales[index], zeros)

    def codes(self) -> np.ndarray:
        """value - zero, in f32."""
        numbers = formats.decode(self.values, self.format.value)
        if self.zeros is None:
            return numbers
        zeros = self.zeros.astype(np.float32)
        return numbers - self.format.expand(zeros, self.shape)

    def scale_numbers(self) -> np.ndarray:
        return formats.decode(self.scales, self.format.scale)

    def numbers(self) -> np.ndarray:
        """(value - zero) * scale, in f64."""
        scales = self.format.expand(self.scale_numbers(), self.shape)
        with np.errstate(invalid="ignore"):
            return self.codes().astype(np.float64) * scales

    def components(self) -> list[np.ndarray]:
        """The arrays that moeq.run takes and gives."""
        packed = formats.is_packed(self.format.value)
        values = formats.pack4(self.values) if packed else self.values
        return [values, self.scales] + ([] if self.zeros is None else [self.zeros])

    @staticmethod
    def of_components(format: Format, shape, arrays) -> "Scaled":
        values = np.asarray(arrays[0])
        if formats.is_packed(format.value):
            values = formats.unpack4(values, shape[-1], format.value)
        return Scaled(format, values, *arrays[1:])
