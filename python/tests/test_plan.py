"""moeq.plan: the table against an independent model, and what it is good for."""

import heapq

import numpy as np
import pytest

import programs
from reference.compare import assert_same
from reference.plan import plan, round_up, tiles_of

# columns, tile_columns, max_width, ctas, width_step
SHAPES = [
    (7168, 256, 160, 132, 8),
    (14336, 128, 256, 132, 16),
    (200, 128, 8, 4, 8),
    (64, 64, 64, 264, 16),
]


def routings():
    """The name and the rows of each expert."""
    rng = np.random.default_rng(3)
    yield "none", []
    yield "empty", [0] * 5
    yield "everything to one", [0, 5000, 0]
    for experts in (1, 8, 60, 256, 512):
        for mean in (0.5, 12, 300):
            yield f"{experts} uniform {mean}", rng.poisson(mean, experts).tolist()
        zipf = np.floor(4096 / np.arange(1, experts + 1))
        yield f"{experts} zipf", rng.permutation(zipf).astype(int).tolist()
    edges = [0, 1, 7, 8, 9, 63, 64, 65, 127, 128, 129, 159, 160, 161, 255, 256, 257, 1000]
    yield "edges", edges


@pytest.mark.parametrize(("name", "counts"), list(routings()))
@pytest.mark.parametrize("shape", SHAPES)
def test_table(shape, name, counts):
    offsets = np.cumsum([0, *counts]).astype(np.int32)
    assert_same(programs.plan(offsets, *shape), plan(offsets, *shape))


@pytest.mark.parametrize("overhead", [0, 24, 200])
def test_overhead(overhead):
    offsets = np.array([0, 150, 300, 460], np.int32)
    want = plan(offsets, 7168, 256, 160, 132, 8, overhead)
    assert_same(programs.plan(offsets, 7168, 256, 160, 132, 8, overhead), want)
    assert want[0, 2] == {0: 3, 24: 3, 200: 1}[overhead]


@pytest.mark.parametrize(("name", "counts"), list(routings()))
@pytest.mark.parametrize("shape", SHAPES)
def test_tiles_cover_each_element_once(shape, name, counts):
    columns, tile_columns, max_width, _, step = shape
    # Rows before and after all groups belong to none.
    offsets = np.cumsum([3, *counts]).astype(np.int32)
    table = plan(offsets, *shape)
    tiles = tiles_of(table, columns, tile_columns, step)
    assert len(tiles) == table[0, 0]
    owner = np.searchsorted(offsets, np.arange(offsets[-1] + 5), side="right") - 1
    seen = np.zeros((len(owner), -(-columns // tile_columns)), int)
    for begin, end, expert, column, width in tiles:
        assert end - begin <= width <= max_width and width % step == 0
        assert (owner[begin:end] == expert).all()
        seen[begin:end, column // tile_columns] += 1
    inside = (owner >= 0) & (owner < len(counts))
    np.testing.assert_array_equal(seen, np.repeat(inside[:, None], seen.shape[1], axis=1))


@pytest.mark.parametrize(("name", "counts"), list(routings()))
@pytest.mark.parametrize("shape", [s for s in SHAPES if s[3] % 2 == 0])
def test_pairs_are_balanced(shape, name, counts):
    """A cluster takes tiles 2i and 2i + 1: pieces as wide as each other, of one tile or of
    tiles of two experts."""
    columns, tile_columns, _, _, step = shape
    table = plan(np.cumsum([0, *counts]).astype(np.int32), *shape)
    tiles = tiles_of(table, columns, tile_columns, step)
    _, first, pieces, _ = table[0]
    assert pieces == 1 or first % 2 == 0
    for (*_, expert, _, width), (*_, next_expert, _, next_width) in zip(
        tiles[::2], tiles[1::2], strict=False
    ):
        assert width == next_width or expert != next_expert


# ------------------------------------------------------------------------------
# The rule is near the best where CTAs take the tiles in order, each when free


def route(rng, tokens, experts, top_k, kind) -> np.ndarray:
    logits = rng.standard_normal((tokens, experts))
    if kind == "zipf":
        logits = rng.gumbel(size=logits.shape) - np.log(np.arange(1, experts + 1))
    ids = np.argpartition(-logits, top_k - 1, axis=1)[:, :top_k]
    return np.bincount(ids.ravel(), minlength=experts)


def makespan(costs, ctas: int) -> float:
    free = [0.0] * ctas
    for cost in costs:
        heapq.heapreplace(free, free[0] + cost)
    return max(free)


def simulate(counts, columns, tile_columns, max_width, ctas=132, overhead=24):
    """The makespan with and without the split, and a bound below each schedule, in
    units of a column of a tile: overhead + width a tile."""
    offsets = np.cumsum([0, *counts])
    table = plan(offsets, columns, tile_columns, max_width, ctas, 8, overhead)
    whole = table.copy()
    whole[0, 1:3] = np.iinfo(np.int32).max, 1

    def costs(t):
        for begin, end, _, _, width in tiles_of(t, columns, tile_columns):
            yield overhead + width if begin < end else 0

    planned, unsplit = (makespan(costs(t), ctas) for t in (table, whole))
    least = sum(overhead * -(-rows // max_width) + round_up(rows, 8) for rows in counts.tolist())
    return planned, unsplit, least * -(-columns // tile_columns) / ctas


@pytest.mark.parametrize("kind", ["uniform", "zipf"])
@pytest.mark.parametrize("tokens", [1024, 2048, 8192])
@pytest.mark.parametrize(("experts", "top_k"), [(8, 2), (256, 8)])
def test_makespan(experts, top_k, tokens, kind):
    rng = np.random.default_rng(tokens)
    ratios, gains = [], []
    for columns in (4096, 7168, 14336):
        counts = route(rng, tokens, experts, top_k, kind)
        planned, unsplit, bound = simulate(counts, columns, 256, 160)
        ratios.append(planned / bound)
        gains.append(unsplit / planned)
    assert np.prod(ratios) ** (1 / 3) < 1.12 and max(ratios) < 1.2
    assert min(gains) > 0.97
