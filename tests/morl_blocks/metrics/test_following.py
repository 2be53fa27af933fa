from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from morl_blocks.metrics import preference_correlation, preference_regret
from morl_blocks.scalarizers import Linear, SmoothTchebycheff, Tchebycheff
from tests.refusals import refused

WEIGHTS = np.array([[0.8, 0.1, 0.1], [0.1, 0.7, 0.2], [0.2, 0.2, 0.6], [0.4, 0.4, 0.2]])


def draw(*shape: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).random(shape)


def test_regret_equals_a_loop_over_preferences_and_policies() -> None:
    achieved, scalarizer = draw(5, 4, 3), SmoothTchebycheff(0.1)
    expected = np.empty((5, 4))
    for run, p in np.ndindex(5, 4):
        scores = [float(scalarizer(torch.from_numpy(point), torch.from_numpy(WEIGHTS[p]))) for point in achieved[run]]
        expected[run, p] = max(scores) - scores[p]
    np.testing.assert_allclose(preference_regret(achieved, WEIGHTS, scalarizer), expected, atol=1e-12)


def test_regret_against_a_known_front_and_of_costs() -> None:
    achieved, front = [[0.5, 0.25], [0.25, 0.5]], [[1.0, 0.0], [0.0, 1.0]]
    found = preference_regret(achieved, [[1.0, 0.0], [0.25, 0.75]], Linear(), known=front)
    np.testing.assert_allclose(found, [0.5, 0.75 - 0.4375])
    assert preference_regret([[2.0, 2.0]], [[0.5, 0.5]], Linear(), known=front)[0] == -1.5
    returns = preference_regret(1 - draw(4, 3), WEIGHTS, Tchebycheff(utopia=1.05))
    costs = preference_regret(draw(4, 3), WEIGHTS, Tchebycheff(utopia=-0.05, sense="min"))
    np.testing.assert_allclose(costs, returns, atol=1e-7)


@given(st.integers(0, 50))
def test_correlation_equals_scipys(seed: int) -> None:
    stats = pytest.importorskip("scipy.stats")
    achieved = draw(6, 4, 3, seed=seed).round(1)  # with ties
    found = preference_correlation(achieved, WEIGHTS)
    for run, i in np.ndindex(6, 3):
        if len(set(achieved[run, :, i])) > 1:
            oracle = stats.spearmanr(WEIGHTS[:, i], achieved[run, :, i]).statistic
            assert found[run, i] == pytest.approx(oracle, abs=1e-12)


def test_correlation_does_not_see_the_scale_and_equal_policies_follow_nothing() -> None:
    achieved = draw(4, 3)
    expected = preference_correlation(achieved, WEIGHTS)
    np.testing.assert_allclose(preference_correlation(np.exp(9 * achieved) - 4, WEIGHTS), expected)
    np.testing.assert_allclose(preference_correlation(WEIGHTS, WEIGHTS), 1)
    np.testing.assert_allclose(preference_correlation(-WEIGHTS, WEIGHTS), -1)
    np.testing.assert_array_equal(preference_correlation(np.ones((4, 3)), WEIGHTS), 0)
    assert np.isnan(preference_correlation([[1.0, 2.0], [3.0, 4.0]], [[0.5, 0.5], [0.5, 0.5]])).all()
    refused("`weights` must hold at least 2 preferences, got 1", preference_correlation, [[0.5, 0.5]], [[0.5, 0.5]])


def test_bad_input_raises() -> None:
    even = [[0.5, 0.5]]
    refused(r"`achieved` must have shape \[\*", preference_regret, [[0.5, 0.5], [0.1, 0.1]], even, Linear())
    refused("`weights` must sum to 1", preference_regret, even, [[0.5, 0.4]], Linear())
    refused(r"`weights` must have shape \[P", preference_regret, [[1.0]], [[1.0]], Linear())
    refused("`known` must have 2 objectives", preference_regret, even, even, Linear(), known=[[1.0, 2.0, 3.0]])
    refused("`known` must have shape", preference_regret, even, even, Linear(), known=np.zeros((0, 2)))
    refused("`scalarizer` must be a Scalarizer", preference_regret, even, even, "linear")
