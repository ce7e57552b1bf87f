"""Quantization of the rows of groups, rowwise and columnwise, and the layouts of scales:
equal bytes, padding included."""

import functools
from dataclasses import replace

import numpy as np

from reference import formats
from reference.quantize import Recipe, quantize
from reference.scaled import Format, Scaled

PADDED_ROWS = 128  # to which the rows of each group are padded


def round_up(value: int, step: int) -> int:
    return -(-value // step) * step


def padded_rows(rows: int, groups: int) -> int:
    """The most padded rows that `rows` rows of `groups` groups need."""
    return (rows // PADDED_ROWS + groups) * PADDED_ROWS


def padded_offsets(offsets) -> np.ndarray:
    counts = np.diff(np.asarray(offsets, np.int64))
    return np.concatenate([[0], np.cumsum(-(-counts // PADDED_ROWS) * PADDED_ROWS)])


def lay_out(scales: np.ndarray, layout: str, itemsize: int | None = None) -> np.ndarray:
    """Scales of `itemsize` bytes, or their zero points, [rows, columns] as a layout stores
    them, zero bytes between them."""
    rows, columns = scales.shape
    if layout == "row_major":
        return scales
    if layout == "mn_major":
        out = np.zeros((columns, round_up(rows, 16 // (itemsize or scales.itemsize))), scales.dtype)
        out[:, :rows] = scales.T
        return out
    out = np.zeros((round_up(rows, 128), round_up(columns, 4)), scales.dtype)
    out[:rows, :columns] = scales
    if layout == "padded":
        return out
    # A tile of 128 x 4 is [32, 4, 4] of row mod 32, row div 32 and column.
    tiles = out.reshape(out.shape[0] // 128, 4, 32, out.shape[1] // 4, 4)
    return tiles.transpose(0, 3, 2, 1, 4).reshape(out.shape)


def source(x, rows) -> np.ndarray:
    """The gathered rows, zeros where an index is negative."""
    if rows is None:
        return np.asarray(x).astype(np.float32)
    gathered = np.asarray(x, np.float32)[np.maximum(rows, 0)] if len(x) else np.zeros((0, 0))
    return np.where((np.asarray(rows) >= 0)[:, None], gathered, np.float32(0))


def plain(format: Format) -> Format:
    """The format without layout and groups."""
    return replace(format, layout="row_major", groups=0)


def groups_of(rows: int, offsets):
    """(begin, end, first padded row) of each group; all rows are one without offsets."""
    if offsets is None:
        return [(0, rows, 0)]
    return list(zip(offsets[:-1], offsets[1:], padded_offsets(offsets), strict=False))


def rowwise(x, format: Format, recipe: Recipe, init: Scaled, offsets=None, rows=None) -> Scaled:
    """The rowwise result; rows in no group, or without a source, keep `init`. Scales of
    layouts and groups are zero bytes where they belong to no row."""
    x = source(x, rows)
    q = quantize(x, plain(format), recipe)
    values = init.values.copy()
    laid_out = format.layout != "row_major" or format.groups != 0
    count = padded_rows(len(x), format.groups) if format.groups else len(x)
    scales = np.zeros((count, q.scales.shape[1]), q.scales.dtype)
    zeros = None if q.zeros is None else np.zeros((count, q.zeros.shape[1]), q.zeros.dtype)
    if not laid_out:
        scales[:] = init.scales
        if zeros is not None:
            zeros[:] = init.zeros
    for begin, end, padded in groups_of(len(x), offsets):
        for row in range(begin, end):
            if rows is not None and rows[row] < 0:
                continue
            at = padded + row - begin if format.groups else row
            values[row], scales[at] = q.values[row], q.scales[row]
            if zeros is not None:
                zeros[at] = q.zeros[row]
    zeros = None if zeros is None else lay_out(zeros, format.layout, scales.itemsize)
    return Scaled(format, values, lay_out(scales, format.layout), zeros)


def column_sums(x, offsets) -> np.ndarray:
    """The sums over the rows of each group, f32: of 4 rows, of two such sums, of four of
    these, of all of these."""
    sums = np.zeros((len(offsets) - 1, x.shape[1]), np.float32)
    for total, begin, end in zip(sums, offsets[:-1], offsets[1:], strict=True):
        blocks = np.zeros((round_up(max(end - begin, 0), 32), x.shape[1]), np.float32)
        blocks[: end - begin] = x[begin:end]
        parts = blocks.reshape(-1, 4, 2, 4, x.shape[1])
        for axis in (3, 2, 1, 0):
            parts = functools.reduce(np.add, np.moveaxis(parts, axis, 0), np.float32(0))
        total[:] = parts
    return sums


def columnwise(x, format: Format, recipe: Recipe, init: Scaled, offsets=None, rows=None) -> Scaled:
    """The columnwise result: of each group the rowwise one of its transpose."""
    x = source(x, rows)
    transposed = len(format.block) == 1 or format.block[-1] != 1
    row_format = plain(format)
    if not transposed:
        row_format = replace(row_format, block=(format.block[0],))
    block = row_format.blocks(x.T.shape)[-1]
    count = len(x) if offsets is None else padded_rows(len(x), len(offsets) - 1)
    padding = offsets is not None
    values = np.zeros((x.shape[1], count), formats.STORAGE[format.value])
    whole = row_format.block[-1] == -1
    scale_rows = row_format.scale_shape((x.shape[1], count))
    scales = np.zeros(scale_rows, formats.STORAGE[format.scale])
    zeros = np.zeros(scale_rows, formats.STORAGE[format.zero]) if format.zero else None
    if not transposed:
        values = init.values.copy()
    for begin, end, padded in groups_of(len(x), offsets):
        q = quantize(x[begin:end].T, row_format, recipe)
        first = 0 if whole else padded // block
        where = slice(first, first + q.scales.shape[1])
        scales[:, where] = q.scales
        if zeros is not None:
            zeros[:, where] = q.zeros
        if transposed:
            first = padded if padding else begin
            values[:, first : first + end - begin] = q.values
        else:
            values[begin:end] = q.values.T
    if not transposed:
        scales, zeros = scales.T, None if zeros is None else zeros.T
    zeros = None if zeros is None else lay_out(zeros, format.layout, scales.itemsize)
    return Scaled(format, values, lay_out(np.ascontiguousarray(scales), format.layout), zeros)
