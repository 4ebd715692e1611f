"""Tests of the functions that give the same bits everywhere."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtri

from pairs.generator.portable import exp, normal_quantile

EXP_BITS = [4587335893755816158, 4606325270462669465, 4608461555559023164, 4613303445305796980, 4668570201824368748]
QUANTILE_BITS = [-1060450162, -1061354794, -1073823820, 0, 1057301294, 1087033486]


@given(st.floats(-699, 699))
def test_exponentials_have_eight_digits(value: float) -> None:
    """The relative error stays below what could move a price by a thousandth of a cent."""
    assert exp(np.array([value]))[0] == pytest.approx(np.exp(value), rel=1e-8)


def test_exponentials_at_the_edges() -> None:
    """Exact at 0, and almost zero far below."""
    assert exp(np.zeros((2, 3))).tolist() == [[1.0] * 3] * 2
    assert (exp(np.array([-1e9, -701.0])) < 1e-300).all()


def test_quantiles_have_six_digits_everywhere() -> None:
    """Middle, tails, both ends and the seams between them agree with the textbook function."""
    seams = [0, 1, 2**31 - 1, 2**31, 2**32 - 1, int(0.075 * 2**32), int(0.925 * 2**32)]
    spread = np.random.default_rng(3).integers(0, 2**32, 200_000)
    around = np.concatenate([np.arange(seam - 3, seam + 4) for seam in seams])
    drawn = np.unique(np.concatenate([spread, around[(around >= 0) & (around < 2**32)]])).astype(np.uint32)
    expected = ndtri((drawn + 0.5) / 2**32)
    assert np.allclose(normal_quantile(drawn), expected, rtol=1e-6, atol=1e-9)
    assert (np.diff(normal_quantile(drawn)) >= -2e-6).all()


def test_the_bits_are_pinned() -> None:
    """Results are the same on every machine, to the last bit."""
    values = exp(np.array([-3.0, -0.1, 0.25, 1.0, 9.5]))
    drawn = np.array([0, 7, 10**8, 2**31, 3 * 10**9, 4_294_967_295], np.uint32)
    assert values.view(np.int64).tolist() == EXP_BITS
    assert normal_quantile(drawn).view(np.int32).tolist() == QUANTILE_BITS
