"""4-bit weights of checkpoints, which lie eight to an int32, to the layout of moeq:
values [.., N, K] two a byte along K, scales and zero points [.., N, K / group]."""

import numpy as np

from moeq.errors import Error
from moeq.execution import as_array
from moeq.weights import Scheme, Weight, as_weight, is_torch

NIBBLES = 8  # of a word
# Which of eight neighbouring columns each nibble of a word holds, the lowest first.
AWQ_ORDER = (0, 2, 4, 6, 1, 3, 5, 7)


def unpack_awq(qweight, qzeros, scales) -> Weight:
    """The weights of an AutoAWQ checkpoint: qweight [.., K, N / 8] and qzeros
    [.., K / group, N / 8] of int32, eight columns a word in the order of AWQ_ORDER,
    scales [.., K / group, N] of f16 or f32. A number is (code - zero) * scale."""
    words, zero_words, factors = on_host(qweight=qweight, qzeros=qzeros, scales=scales)
    depth, columns = words.shape[-2], words.shape[-1] * NIBBLES
    group = group_of(words.shape[:-2], depth, columns, zero_words, factors)
    codes = unpack(words, -1, AWQ_ORDER)
    zeros = unpack(zero_words, -1, AWQ_ORDER)
    return transposed(codes, factors, zeros, group, like=qweight)


def unpack_gptq(qweight, qzeros, scales, g_idx=None, zero_offset: int = 1) -> Weight:
    """The weights of a GPTQ checkpoint: qweight [.., K / 8, N] of int32, eight rows a
    word, qzeros [.., K / group, N / 8], eight columns a word, both lowest nibble
    first, scales [.., K / group, N] of f16 or f32. A number is
    (code - (zero + zero_offset)) * scale; checkpoints of the format gptq_v2 have a
    `zero_offset` of 0. `g_idx` [K], the group of each row, must be that of neighbouring
    rows: a checkpoint of reordered rows (desc_act) has no scaled type."""
    words, zero_words, factors = on_host(qweight=qweight, qzeros=qzeros, scales=scales)
    depth, columns = words.shape[-2] * NIBBLES, words.shape[-1]
    group = group_of(words.shape[:-2], depth, columns, zero_words, factors)
    in_order = range(NIBBLES)
    codes = unpack(words, -2, in_order)
    zeros = unpack(zero_words, -1, in_order) + np.uint8(zero_offset)
    if g_idx is not None:
        (groups,) = on_host(g_idx=g_idx)
        moved = np.argwhere(groups != np.arange(depth) // group)
        if len(moved):
            row = int(moved[0][-1])
            raise Error(
                f"g_idx: expects row {row} in group {row // group}, got {groups[tuple(moved[0])]}"
                ": rows in the order of their activations have no scaled type"
            )
    return transposed(codes, factors, zeros, group, like=qweight)


def on_host(**arrays) -> list[np.ndarray]:
    """The arrays in NumPy, checked: words are int32, scales f16 or f32."""
    found = []
    for name, value in arrays.items():
        value = value.detach().cpu() if is_torch(value) else value
        array = as_array(value)
        expected = ("float16", "float32") if name == "scales" else ("int32",)
        if array.dtype.name not in expected:
            raise Error(f"{name}: expects {' or '.join(expected)}, got {array.dtype.name}")
        if array.ndim < 2 and name != "g_idx":
            raise Error(f"{name}: expects two dimensions or more, got shape {list(array.shape)}")
        found.append(array)
    return found


def group_of(lead, depth: int, columns: int, zero_words, scales) -> int:
    """The elements of K that share a scale; an Error where the shapes do not fit the
    codes [*lead, depth, columns]."""
    groups = scales.shape[-2]
    for name, array, last in (
        ("scales", scales, columns),
        ("qzeros", zero_words, columns // NIBBLES),
    ):
        want = [*lead, groups, last]
        if list(array.shape) != want:
            raise Error(f"{name}: expects shape {want} beside qweight, got {list(array.shape)}")
    if columns % NIBBLES:
        raise Error(f"qweight: expects columns in words of {NIBBLES}, got N = {columns}")
    if groups == 0 or depth % groups:
        raise Error(f"scales: expects groups that divide K = {depth}, got {groups} groups")
    return depth // groups


def unpack(words: np.ndarray, axis: int, order) -> np.ndarray:
    """The nibbles of int32 words, those of a word side by side along `axis` in `order`."""
    bits = np.ascontiguousarray(words).view(np.uint32)
    nibbles = [None] * NIBBLES
    for nibble, place in enumerate(order):
        nibbles[place] = (bits >> (4 * nibble) & 15).astype(np.uint8)
    shape = list(words.shape)
    shape[axis] *= NIBBLES
    after = {-1: words.ndim, -2: words.ndim - 1}[axis]
    return np.stack(nibbles, after).reshape(shape)


def transposed(codes, scales, zeros, group: int, like) -> Weight:
    """The components of codes [.., K, N], and scales and zeros [.., K / group, N]."""
    codes, scales, zeros = (
        np.ascontiguousarray(np.swapaxes(a, -1, -2)) for a in (codes, scales, zeros)
    )
    packed = codes[..., 0::2] | codes[..., 1::2] << 4
    scale = {"float16": "f16", "float32": "f32"}[scales.dtype.name]
    scheme = Scheme("ui4", group, scale, zero="i8")
    return as_weight(scheme, [packed, scales, zeros.view(np.int8)], like)
