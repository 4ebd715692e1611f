"""The table and the chart of a sweep: what varies, medians with ranges, and no figure of void runs."""

import pytest

from pairs.measure.repetition import Point, RunFigures
from pairs.report.sweep import latency_and_cost, scaling_limit, scaling_table, sweep_sentences, sweep_table
from pairs.report.tables import NONE

FAST = Point(
    "shards=1",
    {"shards": "1"},
    "keyed",
    (
        RunFigures("shards-1-1", True, (), 0.1, (0.09, 0.11), 30.0, 2.0),
        RunFigures("shards-1-2", True, (), 0.12, (0.11, 0.13), 25.0, 2.5),
        RunFigures("shards-1-3", False, ("validation FAILED",), 0.01, None, 300.0, 1.0),
    ),
)
SLOW = Point(
    "shards=2",
    {"shards": "2"},
    "keyed",
    (
        RunFigures("shards-2-1", True, (), 0.2, (0.19, 0.21), 15.0, 3.0),
        RunFigures("shards-2-2", True, (), 0.22, (0.21, 0.23), 13.6, None),
    ),
)


def test_the_table() -> None:
    """A column for each setting that varies, then the class, valid runs, medians with ranges, and the front."""
    table = sweep_table([FAST, SLOW])
    assert (table.heading[0], table.heading[-1]) == ("shards", "on the front")
    assert table.rows[0] == (
        "1",
        "keyed",
        "2 of 3",
        "110.0 (100.0 to 120.0)",
        "27.50 (25.00 to 30.00)",
        "2.25 (2.00 to 2.50)",
        "yes",
    )
    assert table.rows[1][-1] == "no"


def scaled(axis: str, *p99_s: float, others: float | None = 0.4) -> list[Point]:
    """Return points with 1, 2, 4 and so on of something, two runs each, on two cores."""
    return [
        Point(
            f"{axis}={2**place}",
            {axis: str(2**place)},
            "keyed",
            tuple(RunFigures(f"{place}-{n}", True, (), p99, None, 3 / p99, 1.0, 2, others) for n in (1, 2)),
        )
        for place, p99 in enumerate(p99_s)
    ]


@pytest.mark.parametrize("axis", ["cores", "shards", "partitions"])
def test_scaling(axis: str) -> None:
    """A row for each count, the fewest first: speed-up of the median score, and what is left of it for each core."""
    table = scaling_table(scaled(axis, 0.3, 0.2, 0.15)[::-1])
    assert table.heading == (axis, "p99, ms (range)", "p_score (range)", "speed-up", "efficiency")
    assert table.rows == [
        ("1", "300.0 (300.0 to 300.0)", "10.00 (10.00 to 10.00)", "1.00", "100%"),
        ("2", "200.0 (200.0 to 200.0)", "15.00 (15.00 to 15.00)", "1.50", "75%"),
        ("4", "150.0 (150.0 to 150.0)", "20.00 (20.00 to 20.00)", "2.00", "50%"),
    ]


def test_what_limits_scaling() -> None:
    """What drivers and sink take of the machine; nothing is claimed where that is not recorded."""
    told = scaling_limit(scaled("cores", 0.3, 0.2))
    assert "shares the 2 cores of the machine with drivers, sink and any broker of the run. These used 0.40" in told
    assert told.endswith("so that the engine had 1.60 at most.")
    assert scaling_limit(scaled("cores", 0.3, 0.2, others=None)).startswith("What limits it is not recorded")


def test_scaling_from_void_runs_is_not_known() -> None:
    """Without a score at the fewest cores there is no speed-up."""
    void = Point("cores=1", {"cores": "1"}, "keyed", (RunFigures("1-1", False),))
    first, second = scaling_table([void, *scaled("cores", 0.3, 0.2)[1:]]).rows
    assert (first[1:], second[3:]) == ((NONE,) * 4, (NONE, NONE))


def test_no_scaling_where_more_than_one_thing_varies() -> None:
    """Nor of what cannot be counted, nor of a single point."""
    mixed = [Point(plan, {"cores": cores, "plan": plan}, "keyed", FAST.runs) for cores in "12" for plan in "ab"]
    others = [Point(plan, {"plan": plan}, "keyed", FAST.runs) for plan in "ab"]
    for points in (mixed, others, [FAST], [Point("x", {}, "keyed", FAST.runs)]):
        assert (scaling_table(points).rows, scaling_limit(points)) == ([], "")


def test_a_single_point_is_named_by_its_engine() -> None:
    """Nothing varies, so that there is no setting to show and nothing to compare."""
    point = Point("bare, plan vectorized", {}, "block", FAST.runs)
    assert sweep_table([point]).rows[0][:2] == ("bare, plan vectorized", "block")
    assert sweep_sentences([point]) == []


def test_the_sentences() -> None:
    """What differs, and how easily two runs each look so by chance."""
    differ, chance = sweep_sentences([SLOW, FAST])
    assert differ.startswith("shards=1 and shards=2 differ: p99 110.0 ms (100.0 to 120.0)")
    assert "0.33 of cases" in chance


def test_the_chart() -> None:
    """Every run with both figures is a dot, void or not; medians are of valid runs; the front is of medians."""
    data = latency_and_cost([FAST, SLOW])
    fast, slow = data["points"]
    assert [(dot["name"], dot["valid"]) for dot in fast["runs"]] == [
        ("shards-1-1", True),
        ("shards-1-2", True),
        ("shards-1-3", False),
    ]
    assert [dot["name"] for dot in slow["runs"]] == ["shards-2-1"]
    assert data["front"] == [fast["median"]] == [{"p99": 110.0, "cost": 2.25}]
    void = Point("x", {}, "keyed", FAST.runs[2:])
    assert "absent" in latency_and_cost([void])
