"""The order `packing = fragments` of weights, as `moeq.prepack` makes it: NumPy's twin
(docs/Spec.md, "Packed weights")."""

from dataclasses import replace

import numpy as np

from moeq.errors import Error
from moeq.weights import PACKED, Weight, is_torch

CHUNK = 64
# The digits of the row and of the column of a value, the slowest first, and their order
# in memory by the bits of a value: the last one is the next value's.
ROWS, COLUMNS = ("slab", "warp", "half", "row"), ("chunk", "k32", "k16", "k8", "k2", "k1")
ORDERS = {
    8: ("slab", "chunk", "k32", "warp", "row", "k2", "k16", "half", "k1", "k8"),
    4: ("slab", "chunk", "warp", "row", "k2", "k32", "k16", "k1", "k8", "half"),
}
SCALE_ROWS, SCALE_COLUMNS = ("slab", "row"), ("group",)
SCALE_ORDER = ("slab", "group", "row")


def pack_fragments(weight: Weight) -> Weight:
    """The weight [.., N, K] with its elements in the order `packing = fragments`, which
    kernels of few rows read fastest. N and K are multiples of 64."""
    if "packing" in weight.type:
        raise Error(f"expects a weight that is not packed, got {weight.type}")
    return move(weight, weight.type[:-1] + ", packing = fragments>", packs=True)


def unpack_fragments(weight: Weight) -> Weight:
    """The inverse of `pack_fragments`."""
    suffix = ", packing = fragments>"
    if not weight.type.endswith(suffix):
        raise Error(f"expects a packed weight, got {weight.type}")
    return move(weight, weight.type.removesuffix(suffix) + ">", packs=False)


def move(weight: Weight, type_text: str, packs: bool) -> Weight:
    bits = 4 if value_of(weight.type) in PACKED else 8
    rows, columns = weight.values.shape[-2], weight.values.shape[-1] * 8 // bits
    if rows % CHUNK or columns % CHUNK:
        raise Error(f"expects N and K that are multiples of {CHUNK}, got {rows} and {columns}")
    parts = {"values": move_values(weight.values, bits, packs)}
    for name in ("scales", "zeros"):
        part = getattr(weight, name)
        if part is not None and part.shape[-1] > 1:
            sizes = {"slab": part.shape[-2] // CHUNK, "row": CHUNK, "group": part.shape[-1]}
            digits = SCALE_ROWS + SCALE_COLUMNS
            part = reorder(part, digits, SCALE_ORDER, sizes, packs)
        parts[name] = part
    return replace(weight, type=type_text, **parts)


def value_of(type_text: str) -> str:
    return type_text.split("<")[1].split(",")[0]


def move_values(values, bits: int, packs: bool):
    """Bytes of 8-bit values, or of two 4-bit ones, the first in the low half."""
    shape = values.shape
    if bits == 4:
        nibbles = (values & 15, values >> 4 & 15)
        values = stack(nibbles, values).reshape(*shape[:-1], 2 * shape[-1])
    sizes = dict.fromkeys(ORDERS[bits], 2) | {"warp": 4, "row": 8, "k2": 4}
    sizes |= {"slab": values.shape[-2] // CHUNK, "chunk": values.shape[-1] // CHUNK}
    values = reorder(values, ROWS + COLUMNS, ORDERS[bits], sizes, packs)
    if bits == 4:
        pairs = values.reshape(*shape, 2)
        values = pairs[..., 0] | pairs[..., 1] << 4
    return values


def reorder(array, digits, order, sizes, packs: bool):
    """Elements whose last two dimensions have `digits`, in `order` instead, or back."""
    source, target = (digits, order) if packs else (order, digits)
    shape, lead = array.shape, len(array.shape) - 2
    split = array.reshape(*shape[:lead], *(sizes[name] for name in source))
    axes = (*range(lead), *(lead + source.index(name) for name in target))
    moved = split.permute(axes) if is_torch(array) else split.transpose(axes)
    return moved.reshape(shape)


def stack(arrays, like):
    """Arrays side by side, as NumPy's or torch's."""
    if is_torch(like):
        import torch

        return torch.stack(arrays, -1)
    return np.stack(arrays, -1)
