"""Scaled tensors: values with the scales, and zero points, of their blocks."""

import re
from dataclasses import dataclass, replace

import numpy as np

import moeq
from reference import formats

WHOLE = -1  # a block of the whole extent, `*` in MLIR


@dataclass(frozen=True)
class Format:
    """A `!moeq.scaled` type."""

    value: str
    block: tuple[int, ...]
    scale: str = "f32"
    zero: str | None = None
    layout: str = "row_major"
    groups: int = 0
    packing: str | None = None

    def __str__(self):
        block = ", ".join("*" if b == WHOLE else str(b) for b in self.block)
        zero = f", zero = {self.zero}" if self.zero else ""
        tile = "<128x4>" if self.layout == "padded" else ""
        layout = f", layout = {self.layout}{tile}" if self.layout != "row_major" else ""
        groups = f", groups = {self.groups}" if self.groups else ""
        packing = f", packing = {self.packing}" if self.packing else ""
        return (
            f"!moeq.scaled<{self.value}, block = [{block}], scale = {self.scale}{zero}"
            f"{layout}{groups}{packing}>"
        )

    @staticmethod
    def parse(text: str) -> "Format":
        """The format that MLIR prints as `text`."""
        value, block, scale, zero, layout, groups, packing = re.fullmatch(
            r"!moeq\.scaled<(\w+), block = \[([^]]*)\], scale = (\w+)(?:, zero = (\w+))?"
            r"(?:, layout = (\w+)(?:<128x4>)?)?(?:, groups = (\d+))?(?:, packing = (\w+))?>",
            text,
        ).groups()
        extents = tuple(WHOLE if b.strip() == "*" else int(b) for b in block.split(","))
        return Format(value, extents, scale, zero, layout or "row_major", int(groups or 0), packing)

    def blocks(self, shape) -> tuple[int, ...]:
        """The block's extent along each dimension of `shape`."""
        block = (1,) * (len(shape) - len(self.block)) + self.block
        return tuple(max(n, 1) if b == WHOLE else b for b, n in zip(block, shape, strict=True))

    def scale_shape(self, shape) -> tuple[int, ...]:
        """The shape of the scales as they are laid out."""
        block = (1,) * (len(shape) - len(self.block)) + self.block
        if self.groups:
            shape = ((shape[0] // 128 + self.groups) * 128, shape[1])
        scales = [1 if b == WHOLE else -(-n // b) for b, n in zip(block, shape, strict=True)]
        if self.layout == "mn_major":
            unit = {"f32": 4, "bf16": 8, "f16": 8}.get(self.scale, 16)
            scales[-2:] = scales[-1], -(-scales[-2] // unit) * unit
        elif self.layout != "row_major":
            scales[-2:] = -(-scales[-2] // 128) * 128, -(-scales[-1] // 4) * 4
        return tuple(scales)

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
        arrays = [values, self.scales] + ([] if self.zeros is None else [self.zeros])
        return arrays if self.format.packing is None else in_order(self.format, arrays, True)

    @staticmethod
    def of_components(format: Format, shape, arrays) -> "Scaled":
        if format.packing is not None:
            arrays = in_order(format, arrays, False)
        values = np.asarray(arrays[0])
        if formats.is_packed(format.value):
            values = formats.unpack4(values, shape[-1], format.value)
        return Scaled(format, values, *arrays[1:])


def in_order(format: Format, arrays, packs: bool) -> list[np.ndarray]:
    """The components of a packed weight from row-major ones, or back."""
    plain = moeq.Weight(str(replace(format, packing=None)), *arrays)
    moved = (
        moeq.pack_fragments(plain)
        if packs
        else moeq.unpack_fragments(replace(plain, type=str(format)))
    )
    return [moved.values, moved.scales] + ([] if moved.zeros is None else [moved.zeros])
