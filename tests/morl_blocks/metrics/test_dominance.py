import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from morl_blocks.metrics import nondominated
from morl_blocks.metrics.arrays import Array
from tests.refusals import refused

pytestmark = pytest.mark.needs("moocore")


@given(st.integers(1, 5).flatmap(lambda m: arrays(np.float64, (8, m), elements=st.integers(0, 3).map(float))))
def test_agrees_with_the_definition(points: Array) -> None:
    def beaten(p: Array) -> bool:
        return any((q >= p).all() and (q > p).any() for q in points)

    assert nondominated(points).tolist() == [not beaten(p) for p in points]


def test_copies_are_all_marked_empty_sets_are_empty_and_bad_points_refused() -> None:
    assert nondominated([[1.0, 1.0], [1.0, 1.0], [0.0, 1.0]]).tolist() == [True, True, False]
    assert nondominated(np.zeros((0, 2))).shape == (0,)
    refused("`points` must be finite, got nan", nondominated, [[np.nan, 1.0], [0.0, 0.0]])
    refused(r"`points` must have shape \[n, m\]", nondominated, np.zeros((2, 2, 2)))
