"""Flags with several values make a grid; every combination once, and nothing that is ambiguous."""

from math import prod

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairs.config.grid import grid
from pairs.config.run_settings import load_run
from pairs.core.errors import BadInputError

VALUES = st.lists(st.text("ab,=x", min_size=1), min_size=1, max_size=3, unique=True)


def written(values: list[str]) -> str:
    """Write values as a flag has them."""
    return ",".join(value.replace(",", "\\,") for value in values)


@given(st.dictionaries(st.text("klm", min_size=1), VALUES, max_size=3), VALUES)
def test_every_combination_once(settings: dict[str, list[str]], plans: list[str]) -> None:
    """Each with one value for each flag, also of values with commas and equals signs in them."""
    flags = {"plan": written(plans), "settings": [f"{name}={written(values)}" for name, values in settings.items()]}
    points = grid(flags | {"scale_factor": "3"})
    resolved = [load_run("local", point.flags) for point in points]
    assert len(points) == len(plans) * prod(map(len, settings.values()))
    assert len({(run.plan, tuple(run.settings.items())) for run in resolved}) == len(points)
    assert all(run.plan in plans for run in resolved)
    assert all(run.settings[name] in values for run in resolved for name, values in settings.items())
    assert all(point.flags["scale_factor"] == "3" for point in points)


@given(st.dictionaries(st.text("klm", min_size=1), VALUES, max_size=3))
def test_only_what_varies_is_told(settings: dict[str, list[str]]) -> None:
    """A setting with one value is the same at all points, so that it does not belong to what is special about one."""
    points = grid({"settings": [f"{name}={written(values)}" for name, values in settings.items()]})
    several = {name for name, values in settings.items() if len(values) > 1}
    assert all(set(point.varied) == several for point in points)
    assert len({tuple(point.varied.items()) for point in points}) == len(points)


def test_the_first_flag_varies_most_slowly() -> None:
    """So that a table of points reads from left to right."""
    points = grid({"target": "pyspark,bare", "drivers": "1,2"})
    assert [tuple(point.varied.values()) for point in points] == [
        ("pyspark", "1"),
        ("pyspark", "2"),
        ("bare", "1"),
        ("bare", "2"),
    ]


def test_without_flags_there_is_one_point() -> None:
    """The configuration as it is."""
    assert [(point.flags, point.varied) for point in grid({})] == [({}, {})]


def test_several_faults() -> None:
    """Each occurrence of the flag has values of its own, and a name of its own."""
    points = grid({"faults": ["kill@1m,kill@2m", "kill@3m,kill@4m"]})
    assert points[1].flags == {"faults": ["kill@1m", "kill@4m"]}
    assert points[1].varied == {"fault": "kill@1m", "fault 2": "kill@4m"}


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ({"drivers": "1,"}, "--drivers: '1,' has an empty value"),
        ({"plan": "a,a"}, "--plan: 'a,a' has a value twice"),
        ({"settings": ["shards=1", "shards=2"]}, "--set: shards is given twice; separate its values with commas"),
    ],
)
def test_ambiguous_flags(flags: dict[str, str | list[str]], message: str) -> None:
    """Refused with the flag and the remedy."""
    with pytest.raises(BadInputError) as refused:
        grid(flags)
    assert str(refused.value).startswith(message)
