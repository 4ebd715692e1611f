"""Packed numbers come out as they went in, and quantised ones nearly so."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from numpy.typing import NDArray

from pairs.report.packing import pack, quantise, typed_array, whole
from tests.report.pages import decoded, restored, unpack


@given(
    st.sampled_from([np.uint8, np.uint16, np.int32]).flatmap(lambda kind: arrays.arrays(kind, st.integers(0, 50))),
    st.booleans(),
)
def test_whole_numbers_survive(values: NDArray[np.int64], delta: bool) -> None:
    """Any whole numbers, as they are or as differences, which may overflow on the way."""
    assert (unpack(pack(values, delta)) == values).all()


@given(arrays.arrays(np.float64, st.integers(0, 50)))
def test_doubles_survive(values: NDArray[np.float64]) -> None:
    """Every bit of any double."""
    assert unpack(pack(values)).tobytes() == values.tobytes()


@pytest.mark.parametrize("kind", ["f8", "f4", "i4", "u1"])
def test_typed_arrays_are_those_of_plotly(kind: str) -> None:
    """The names of types are those that plotly.js knows, and the bytes are in the order of browsers."""
    array = typed_array(np.array([1, 2, 200], kind))
    assert array["dtype"] == kind
    assert decoded(array).tolist() == [1, 2, 200]


def test_other_kinds_are_refused() -> None:
    """The page's script knows four kinds of array."""
    with pytest.raises(TypeError, match="int64 cannot be packed"):
        pack(np.arange(3, dtype=np.int64))


def test_large_whole_numbers_become_doubles() -> None:
    """What does not fit 32 bits stays exact as a double."""
    assert whole(np.array([1, 2**31 - 1])).dtype == np.int32
    assert whole(np.array([1, 2**40])).tolist() == [1.0, float(2**40)]
    assert whole(np.empty(0, np.int64)).dtype == np.int32


series = st.lists(st.lists(st.floats(-1e9, 1e9), max_size=20), min_size=1, max_size=6)


@given(series)
def test_quantised_values_are_close(lists: list[list[float]]) -> None:
    """Within half a step of the series' own range, whatever the other series are."""
    values = np.array([value for numbers in lists for value in numbers])
    starts = np.concatenate([[0], np.cumsum([len(numbers) for numbers in lists])]).astype(np.int64)
    found = restored(*quantise(values, starts), starts)
    for place, numbers in enumerate(lists):
        span = max(numbers) - min(numbers) if numbers else 0.0
        error = np.abs(found[starts[place] : starts[place + 1]] - np.array(numbers))
        assert error.max(initial=0) <= span / 65_534 * 0.51 + 1e-6


def test_what_is_no_number_stays_none() -> None:
    """An engine may answer anything; such values leave a gap and do not spoil the range of the others."""
    values = np.array([1.0, np.nan, 2.0, np.inf, np.nan])
    starts = np.array([0, 4, 5])
    steps, low, high = quantise(values, starts)
    assert (low[0], high[0]) == (1.0, 2.0)
    assert np.isnan(restored(steps, low, high, starts)).tolist() == [False, True, False, True, True]
