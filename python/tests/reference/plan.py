"""moeq.plan: the table, and the tiles that a kernel makes of it."""

import itertools

import numpy as np


def round_up(value: int, step: int) -> int:
    return -(-value // step) * step


def piece_width(width: int, pieces: int, step: int) -> int:
    return round_up(-(-width // pieces), step)


def plan(offsets, columns, tile_columns, max_width, ctas, step=8, overhead=24) -> np.ndarray:
    """[E + 1, 4] i32, as docs/Spec.md says. Equal bits."""
    groups = []
    for expert, (begin, end) in enumerate(itertools.pairwise(offsets)):
        rows = max(int(end) - int(begin), 0)
        # The fewest tiles, all of one width.
        width = round_up(-(-rows // -(-rows // max_width)), step) if rows else 0
        groups.append((begin, end, expert, width))
    groups.sort(key=lambda group: -group[3])  # stable: lower experts first
    tiles = [
        width
        for begin, end, _, width in groups
        for _ in range(begin, end, max(width, 1))
        for _ in range(0, columns, tile_columns)
    ]
    first, pieces = len(tiles), 1
    left = len(tiles) % ctas
    if left:
        width = tiles[-left]

        def time(count: int) -> int:
            return -(-left * count // ctas) * (overhead + piece_width(width, count, step))

        counts = [c for c in (1, 2, 3, 4) if c == 1 or piece_width(width, c, step) >= 32]
        pieces = min(counts, key=time)  # of equals the first
        first = len(tiles) - left if pieces > 1 else first
    used = sum(group[3] > 0 for group in groups)
    total = first + (len(tiles) - first) * pieces
    return np.array([(total, first, pieces, used), *groups], np.int32)


def tiles_of(table, columns: int, tile_columns: int, step=8) -> list[tuple]:
    """(first row, end of rows, expert, column, width) of each tile, in order."""
    whole = []
    for begin, end, expert, width in table[1 : 1 + table[0, 3]].tolist():
        rows = range(begin, end, width)
        for column in range(0, columns, tile_columns):
            whole += [(row, min(row + width, end), expert, column, width) for row in rows]
    _, first, pieces, _ = table[0].tolist()
    tiles = whole[:first]
    for row, end, expert, column, width in whole[first:]:
        narrow = piece_width(width, pieces, step)
        for piece in range(pieces):
            start = row + piece * narrow
            tiles.append((start, max(start, min(start + narrow, end)), expert, column, narrow))
    return tiles
