import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from morl_blocks.metrics import objective_dominance_rate, win_rate
from morl_blocks.metrics.arrays import Array
from tests.refusals import refused

coarse = st.integers(0, 3).map(float)


@given(arrays(np.float64, (4, 6), elements=coarse))
def test_win_rate_agrees_with_the_definition(hv: Array) -> None:
    expected = [np.mean([all(hv[k, p] > hv[j, p] for j in range(4) if j != k) for p in range(6)]) for k in range(4)]
    np.testing.assert_allclose(win_rate(hv), expected)
    assert win_rate(hv).sum() <= 1 + 1e-12


@settings(max_examples=20)
@given(arrays(np.float64, (2, 3, 4, 2), elements=coarse))
def test_dominance_is_the_win_rate_over_cells_and_leading_dimensions_are_kept(objectives: Array) -> None:
    np.testing.assert_allclose(objective_dominance_rate(objectives), win_rate(objectives.reshape(2, 3, -1)))
    np.testing.assert_allclose(win_rate(objectives[..., 0]), [win_rate(one) for one in objectives[..., 0]])


def test_a_tie_counts_for_nobody_and_one_method_wins_everything() -> None:
    assert win_rate([[0.5, 0.5], [0.5, 0.4]]).tolist() == [0.5, 0.0]
    assert win_rate([[0.1, 0.2]]).tolist() == [1.0]


def test_bad_input_raises() -> None:
    refused("`hv` must have at least 2 dimensions", win_rate, [0.1, 0.2])
    refused("`hv` must hold at least one value", win_rate, np.zeros((2, 0)))
    refused("`objectives` must have at least 3 dimensions", objective_dominance_rate, [[0.1], [0.2]])
