import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from morl_blocks import metrics
from morl_blocks.metrics.arrays import Array
from tests.refusals import refused

pytestmark = pytest.mark.needs("scipy")

scores = arrays(np.float64, (3, 2, 4), elements=st.integers(0, 8).map(lambda n: n / 8))


@settings(max_examples=30, deadline=None)
@given(scores)
def test_estimates_are_the_plain_metrics_and_lie_inside(hv: Array) -> None:
    found = {
        "wins": (metrics.win_rate_ci(hv, resamples=40), metrics.win_rate(hv.mean(-1))),
        "areas": (metrics.profile_auc_ci(hv, resamples=40), metrics.profile_auc(hv.reshape(3, -1))),
        "cells": (
            metrics.objective_dominance_ci(np.stack([hv, 1 - hv], axis=-1), resamples=40),
            metrics.objective_dominance_rate(np.stack([hv.mean(-1), 1 - hv.mean(-1)], axis=-1)),
        ),
    }
    for intervals, plain in found.values():
        np.testing.assert_allclose([interval.estimate for interval in intervals], plain, atol=1e-12)
        for estimate, low, high in intervals:
            assert 0 <= low <= estimate <= high <= 1


def test_every_seed_won_is_not_certainty_and_equal_methods_tie() -> None:
    first = np.array([0.30, 0.31, 0.30, 0.32, 0.31])
    close, far = (np.stack([first, other])[:, None] for other in (first - 0.01, first - 0.2))
    assert metrics.win_rate_ci(far)[0].low > 0.99
    noisy = close + 0.02 * np.array([[[1, -1, 1, -1, 1]], [[-1, 1, -1, 1, -1]]])
    assert metrics.win_rate_ci(noisy)[0].low < 0.5
    ahead = np.array([[[0.30, 0.36, 0.31, 0.38, 0.33]], [[0.29, 0.30, 0.30, 0.31, 0.32]]])
    assert metrics.profile_auc_ci(ahead)[0].estimate == 1
    assert metrics.profile_auc_ci(ahead)[0].low < 1
    one = np.random.default_rng(0).random((1, 4, 5))
    assert metrics.win_rate_ci(np.concatenate([one, one])) == [(0.0, 0.0, 0.0)] * 2


def test_absent_runs_are_not_read() -> None:
    hv = np.random.default_rng(1).random((2, 3, 4))
    there = np.ones((3, 4), dtype=bool)
    there[1, 2] = False
    spoiled = np.where(there, hv, np.nan)
    means = np.stack([hv[:, p, there[p]].mean(-1) for p in range(3)], axis=-1)
    assert [i.estimate for i in metrics.win_rate_ci(spoiled, present=there)] == metrics.win_rate(means).tolist()
    areas = [interval.estimate for interval in metrics.profile_auc_ci(spoiled, present=there)]
    np.testing.assert_allclose(areas, metrics.profile_auc(hv[:, there]))
    returns = np.where(there[..., None], np.stack([hv, hv**2], axis=-1), np.nan)
    assert len(metrics.objective_dominance_ci(returns, present=there)) == 2


def test_bad_input_raises() -> None:
    refused(r"`hv` must have shape \[methods, preferences, seeds\]", metrics.win_rate_ci, [[0.1, 0.2]])
    refused(r"`objectives` must have shape \[methods", metrics.objective_dominance_ci, np.zeros((2, 2, 2)))
    refused("`hv` must be >= 0, got -1", metrics.profile_auc_ci, [[[-1.0, 1.0]]])
    refused("must hold at least 2 seeds per preference, got 1", metrics.win_rate_ci, [[[0.1]], [[0.2]]])
    refused("`resamples` must be a whole number >= 1", metrics.win_rate_ci, [[[0.1, 0.2]]], resamples=0)
