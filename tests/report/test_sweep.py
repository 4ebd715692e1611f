"""The table and the chart of a sweep: what varies, medians with ranges, and no figure of void runs."""

from pairs.measure.repetition import Point, RunFigures
from pairs.report.sweep import latency_and_cost, sweep_sentences, sweep_table

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
