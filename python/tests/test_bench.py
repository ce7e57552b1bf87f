"""The bench scripts, as far as they go without a GPU."""

import sys
from pathlib import Path

import pytest

import moeq

sys.path.insert(0, str(Path(__file__).parents[2] / "bench"))
import run as bench_run
import suites


@pytest.mark.parametrize(
    ("suite", "name"), [(s, name) for s, programs in suites.SUITES.items() for name in programs]
)
def test_programs_are_valid(suite, name):
    moeq.parse(suites.SUITES[suite][name], f"{name}.mlir").verify()


def test_table():
    rows = [
        {"row": "ceilings", "CB": 4.2e12},
        {"row": "matmul", "us": 650.25, "ok": True},
        {"row": "lost", "error": "out of time"},
    ]
    header, ceilings, matmul, lost = bench_run.table(rows).splitlines()
    assert header.split() == ["row", "CB", "us", "ok"]
    assert ceilings.split() == ["ceilings", "4.2T"]
    assert matmul.split() == ["matmul", "650.2", "True"]
    assert lost.split(maxsplit=2) == ["lost", "ERROR", "out of time"]
