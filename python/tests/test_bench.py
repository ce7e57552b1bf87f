"""The bench scripts, as far as they go without a GPU."""

import sys
from pathlib import Path

import pytest

import moeq

sys.path.insert(0, str(Path(__file__).parents[2] / "bench"))
import run as bench_run
import suites


@pytest.mark.parametrize(
    ("name", "text"),
    {n: t for suite in suites.SUITES for n, t in suites.programs(suite).items()}.items(),
    ids=lambda value: value if len(value) < 80 else "",
)
def test_programs_are_valid(name, text):
    moeq.parse(text, f"{name}.mlir").verify()


def test_goals_and_peers_belong_to_rows():
    rows = [row for rows in suites.ROWS.values() for row in rows]
    goals = {
        (p.scheme, f"{p.experts} {row.tokens}") for row in rows for p in [row.problem] if row.goal
    }
    assert goals == {(s, key) for s, keys in suites.figures()["goals"].items() for key in keys}
    shapes = {f"{p.experts} {p.k} {p.n} {row.tokens}" for row in rows for p in [row.problem]}
    assert set(suites.figures()["peers"]) <= shapes


def test_goal_of_a_row_follows_its_shape():
    def goal(scheme, n, tokens):
        return suites.Row(suites.Problem(scheme, 8, 2, n, 4096), tokens, "zipf").goal

    assert goal("fp8", 14336, 512) == 0.92
    assert goal("fp8", 7168, 512) == 0.90
    assert goal("int8", 7168, 512) == 0.92
    assert goal("fp8", 7168, 96) is None


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


def test_regret_is_of_what_was_timed_again():
    def rows(config, *us, **more):
        return [
            {"row": "a", "shape": "a", "config": config, "us": x, "ok": True} | more for x in us
        ]

    first = rows("", 90) + rows("<best>", 200) + rows("<other>", 80)
    again = [row | {"round": 0} for row in rows("", 110, 120, 130) + rows("<best>", 100, 100, 99)]
    wrong = rows("<other>", 50, round=0, ok=False)
    line, total = bench_run.regret(first + again + wrong).splitlines()
    assert line.split() == ["a", "120.0", "us,", "best", "100.0", "us", "<best>"]
    assert total == "regret: 20.0% geometric mean, 20.0% worst"


def test_rows_spread_over_experts():
    problem = suites.Problem("fp8", 8, 2, 7168, 4096)
    assert problem.spread(1) == (2, 1)
    assert problem.spread(1024) == (8, 256)
