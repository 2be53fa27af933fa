import itertools

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats  # type: ignore[import-untyped]

from morl_blocks.metrics import bootstrap_ci, interquartile_mean, seed_draws, standard_error
from morl_blocks.metrics.arrays import Array
from tests.refusals import refused

TWO = [[0.1, 0.2], [0.3, 0.4]]


@given(st.integers(1, 23).flatmap(lambda n: arrays(np.float64, (3, n), elements=st.floats(-9, 9))))
def test_interquartile_mean_agrees_with_scipy(values: Array) -> None:
    np.testing.assert_allclose(interquartile_mean(values), stats.trim_mean(values, 0.25, axis=-1), atol=1e-12)


@given(arrays(np.float64, (4, 5), elements=st.floats(-1, 1)), st.sampled_from(["mean", "iqm"]))
def test_an_interval_holds_its_estimate_and_repeats(values: Array, statistic: str) -> None:
    first = bootstrap_ci(values, statistic, resamples=50)  # type: ignore[arg-type]
    assert first.low <= first.estimate <= first.high
    assert first == bootstrap_ci(values, statistic, resamples=50)  # type: ignore[arg-type]


def test_the_mean_is_a_t_interval_of_the_seeds_means() -> None:
    values = np.random.default_rng(1).normal(size=(8, 5))
    seeds = values.mean(0)
    expected = stats.t.interval(0.95, 4, loc=seeds.mean(), scale=stats.sem(seeds))
    interval = bootstrap_ci(torch.from_numpy(values))
    assert (interval.low, interval.high) == pytest.approx(expected)
    assert standard_error(values) == pytest.approx(stats.sem(seeds))


def test_the_iqm_agrees_with_all_redraws_of_whole_seeds() -> None:
    values = np.random.default_rng(4).random((3, 4))
    every = [interquartile_mean(values[:, list(chosen)].ravel()) for chosen in itertools.product(range(4), repeat=3)]
    estimate = float(interquartile_mean(values.ravel()))
    ends = estimate + (np.quantile(every, [0.025, 0.975]) - estimate) * stats.t.ppf(0.975, 3) / stats.norm.ppf(0.975)
    interval = bootstrap_ci(values, "iqm", resamples=100_000)
    assert interval.estimate == pytest.approx(estimate)
    assert (interval.low, interval.high) == pytest.approx(ends.tolist(), abs=0.005)


def test_absent_runs_are_not_read_and_preferences_weigh_equally() -> None:
    values = np.array([[0.0, 0.2, np.nan, np.nan], [1.0, 1.0, 1.0, 1.4]])
    there = np.isfinite(values)
    assert bootstrap_ci(values, present=there).estimate == pytest.approx((0.1 + 1.1) / 2)
    full = np.array([0.0, 0.2]), np.array([1.0, 1.0, 1.0, 1.4])
    units = [(row - row.mean()) / np.sqrt(len(row) * (len(row) - 1)) for row in full]
    joint = [sum(0.5 * row[s] for row in units if s < len(row)) ** 2 for s in range(4)]  # seeds 0 and 1 move both
    assert standard_error(values, there) == pytest.approx(np.sqrt(sum(joint)))
    flat = np.concatenate(full)
    assert bootstrap_ci(values, "iqm", present=there).estimate == pytest.approx(float(interquartile_mean(flat)))


def test_bad_input_raises() -> None:
    refused("`values` must hold at least 2 seeds per preference, got 1", bootstrap_ci, [[0.1], [0.3]])
    refused("`values` must hold at least 2 seeds", bootstrap_ci, TWO, present=[[True, True], [True, False]])
    refused("`present` must have at least one run", bootstrap_ci, TWO, present=[[True, True], [False, False]])
    refused(r"`present` must have shape \[1, 2\], got shape \[2\]", bootstrap_ci, [[0.1, 0.2]], present=[True, True])
    refused("`present` must hold truth values, got an array", bootstrap_ci, [[0.1, 0.2]], present=[[1.0, 0.5]])
    refused(r"`values` must have shape \[preferences, seeds\]", bootstrap_ci, np.zeros((2, 2, 2)))
    refused("`statistic` must be one of 'mean', 'iqm', got 'median'", bootstrap_ci, [[0.1, 0.2]], "median")
    refused(r"`level` must lie in \(0, 1\), got 1", bootstrap_ci, [[0.1, 0.2]], level=1.0)
    refused("`resamples` must be a whole number >= 1", bootstrap_ci, [[0.1, 0.2]], "iqm", resamples=0)
    draws = seed_draws(5, 1000, np.random.default_rng(0))
    assert draws.shape == (1000, 4)  # one fewer than the seeds
    assert set(draws.flat) == set(range(5))
    refused("`seeds` must be a whole number >= 2, got 1", seed_draws, 1, 10, np.random.default_rng(0))
    refused("`values` must hold at least one value", interquartile_mean, [])


def test_the_side_of_a_long_tail_is_longer_for_one_preference_alone() -> None:
    scores = [0.0, 0.0, 0.0, 0.0, 1.0]  # skewness sqrt(5), error 0.2, t 2.776
    estimate, low, high = bootstrap_ci([scores])
    assert estimate - low == pytest.approx(0.2 * 2.7764, rel=1e-4)
    assert high - estimate == pytest.approx(0.2 * 2.7764 * (1 + 1.5), rel=1e-4)
    mirrored = bootstrap_ci([[-score for score in scores]])
    assert (mirrored.low, mirrored.high) == pytest.approx((-high, -low))
    _, low, high = bootstrap_ci([scores, scores])
    assert high - estimate == pytest.approx(estimate - low)
