"""The tiles that kernels find on the device, against those of moeq_gpu.tiles and of plans."""

import numpy as np
import pytest

import moeq
from reference.plan import plan, tiles_of
from simt import Machine

ROUTINGS = {
    "ragged": [3, 0, 40, 17, 1],
    "one-group": [33],
    "all-to-one": [0, 37, 0],
    "no-rows": [0, 0],
    "a-lane-each": [5] * 32,
    "several-a-lane": [i * 7 % 23 for i in range(75)],
}
COLUMNS = [1, 50]
WARP = 32  # lanes, each of which has one group or several


def offsets_of(counts) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)


def visited(order: str, counts, columns: int, table: np.ndarray, rows=16) -> list[list[int]]:
    """(group, first row, end, column) of each tile that a lowered schedule finds, by its
    number. `table` is a vector of offsets, or a plan."""
    schedule = (
        f"!moeq_gpu.schedule<{rows}x32, {order}, groups_per_lane = {-(-len(counts) // WARP)}>"
    )
    of = "offsets" if table.ndim == 1 else "plan"
    memref = f"memref<{'x'.join(map(str, table.shape))}xi32>"
    text = f"""
!s = {schedule}
module attributes {{gpu.container_module}} {{
  gpu.module @kernels {{
    llvm.func @visit(%table: !llvm.ptr<1>, %out: !llvm.ptr<1>, %groups: i32, %columns: i32)
        attributes {{gpu.kernel, nvvm.kernel, nvvm.maxntid = array<i32: 256, 1, 1>}} {{
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %s = moeq_gpu.schedule {of}(%table) groups(%groups) columns(%columns) : !s
      %size = moeq_gpu.schedule.size %s : !s
      llvm.store %size, %out {{alignment = 4}} : i32, !llvm.ptr<1>
      scf.for %i = %zero to %size step %one : i32 {{
        %group, %row, %end, %column = moeq_gpu.schedule.tile %s[%i] : !s
        %number = arith.addi %i, %one : i32
        %at = llvm.getelementptr %out[%number] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, vector<4xi32>
        %tile = vector.from_elements %group, %row, %end, %column : vector<4xi32>
        llvm.store %tile, %at {{alignment = 16}} : vector<4xi32>, !llvm.ptr<1>
      }}
      moeq_gpu.roles producer(40) {{
      }} consumers(1, 232) {{
      ^bb0(%consumer: i32):
      }}
      llvm.return
    }}
  }}
  func.func @f(%table: {memref}, %out: memref<?x4xi32>) {{
    %one = arith.constant 1 : index
    %threads = arith.constant 256 : index
    %groups = arith.constant {len(counts)} : i32
    %columns = arith.constant {columns} : i32
    gpu.launch_func @kernels::@visit blocks in (%one, %one, %one) threads in (%threads, %one, %one)
        args(%table : {memref}, %out : memref<?x4xi32>,
             %groups : i32, %columns : i32)
    return
  }}
}}
"""
    module = moeq.parse(text).run_pipeline("gpu.module(convert-moeq-gpu-to-nvgpu)")
    out = np.full((2048, 4), -1, np.int32)
    Machine(module.print(generic=True)).run("f", [table, out])
    size = out[0, 0]
    assert (out[size + 1 :] == -1).all()
    return out[1 : size + 1].tolist()


def defined(counts, columns: int) -> list[list[int]]:
    """The same of moeq_gpu.tiles, on the CPU."""
    offsets = f"memref<{len(counts) + 1}xi32>"
    text = f"""
func.func @f(%offsets: {offsets}, %out: memref<?x4xi32>, %size: memref<1xi32>) {{
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %2 = arith.constant 2 : index
  %3 = arith.constant 3 : index
  %one = arith.constant 1 : i32
  %columns = arith.constant {columns} : index
  moeq_gpu.tiles offsets(%offsets : {offsets}) columns(%columns) tile [16, 32] raster 2 {{
  ^bb0(%group: index, %row: index, %end: index, %column: index):
    %i = memref.load %size[%0] : memref<1xi32>
    %at = arith.index_cast %i : i32 to index
    %a = arith.index_cast %group : index to i32
    %b = arith.index_cast %row : index to i32
    %c = arith.index_cast %end : index to i32
    %d = arith.index_cast %column : index to i32
    memref.store %a, %out[%at, %0] : memref<?x4xi32>
    memref.store %b, %out[%at, %1] : memref<?x4xi32>
    memref.store %c, %out[%at, %2] : memref<?x4xi32>
    memref.store %d, %out[%at, %3] : memref<?x4xi32>
    %next = arith.addi %i, %one : i32
    memref.store %next, %size[%0] : memref<1xi32>
  }}
  return
}}
"""
    out, size = np.full((2048, 4), -1, np.int32), np.zeros(1, np.int32)
    names = ("arg0", "arg1", "arg2")
    moeq.run(moeq.parse(text), "f", dict(zip(names, (offsets_of(counts), out, size), strict=True)))
    return out[: size[0]].tolist()


@pytest.mark.parametrize("columns", COLUMNS)
@pytest.mark.parametrize("routing", ROUTINGS)
@pytest.mark.parametrize("raster", [1, 8])
def test_raster_schedule_has_the_tiles_of_the_definition(routing, columns, raster):
    counts = ROUTINGS[routing]
    got = visited(f"raster = {raster}", counts, columns, offsets_of(counts))
    assert sorted(got) == sorted(defined(counts, columns))


@pytest.mark.parametrize("columns", COLUMNS)
@pytest.mark.parametrize("routing", ROUTINGS)
def test_even_schedule_has_each_element_once(routing, columns):
    """The rows of a group in as few tiles as the definition has, and of even widths."""
    counts = ROUTINGS[routing]
    got = visited("step = 8", counts, columns, offsets_of(counts))
    assert len(got) == len(defined(counts, columns))
    seen = np.zeros((sum(counts), -(-columns // 32)), int)
    for group, row, end, column in got:
        first, last = offsets_of(counts)[group : group + 2]
        assert first <= row < end <= last and end - row <= 16
        seen[row:end, column // 32] += 1
    assert (seen == 1).all()


def from_both_ends(tiles: list, whole: int) -> list:
    """The first `whole` ones by twos from both ends in turns; an odd one out is the last."""
    front = [tiles[i : i + 2] for i in range(0, whole - 1, 2)]
    taken = []
    while front:
        taken += front.pop(0)
        taken += front.pop() if front else []
    return taken + tiles[len(taken) :]


def ordered(tiles: list, counts, table) -> list:
    """In the order of a schedule, which has a warp find the groups."""
    return from_both_ends(tiles, table[0, 1]) if len(counts) > WARP else tiles


@pytest.mark.parametrize("ctas", [1, 7])
@pytest.mark.parametrize("columns", COLUMNS)
@pytest.mark.parametrize("routing", ROUTINGS)
def test_planned_schedule_has_the_tiles_of_the_plan(routing, columns, ctas):
    counts = ROUTINGS[routing]
    table = plan(offsets_of(counts), columns, 32, 16, ctas)
    got = visited("planned step = 8", counts, columns, table)
    expected = [
        [group, row, end, column]
        for row, end, group, column, _ in tiles_of(table, columns, tile_columns=32)
    ]
    assert got == ordered(expected, counts, table)


@pytest.mark.parametrize("step", [8, 16])
@pytest.mark.parametrize("counts", [[150, 300, 160], [500], [1, 129, 0, 257], [31] * 40])
@pytest.mark.parametrize("ctas", [10, 132])
def test_planned_schedule_splits_tiles(counts, ctas, step):
    """Pieces of tiles, the last ones of which may have no rows."""
    columns, rows = 120, 160
    table = plan(offsets_of(counts), columns, 32, rows, ctas, step)
    got = visited(f"planned step = {step}", counts, columns, table, rows)
    expected = [
        [group, row, end, column]
        for row, end, group, column, _ in tiles_of(table, columns, 32, step)
    ]
    expected = ordered(expected, counts, table)
    assert len(got) == len(expected)
    for one, other in zip(got, expected, strict=True):
        # Without rows it does not matter where.
        assert one == other or (one[1] >= one[2] and other[1] == other[2])
