import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from morl_blocks.metrics import bootstrap_ci, interquartile_mean, seed_draws
from morl_blocks.metrics._arrays import Array


@given(st.integers(1, 23).flatmap(lambda n: arrays(np.float64, (3, n), elements=st.floats(-9, 9))))
def test_interquartile_mean_agrees_with_scipy(values: Array) -> None:
    stats = pytest.importorskip("scipy.stats")
    np.testing.assert_allclose(interquartile_mean(values), stats.trim_mean(values, 0.25, axis=-1), atol=1e-12)


@given(arrays(np.float64, (4, 5), elements=st.floats(-1, 1)), st.sampled_from(["mean", "iqm"]))
def test_interval_is_ordered_and_repeats(values: Array, statistic: str) -> None:
    first = bootstrap_ci(values, statistic, resamples=50)  # type: ignore[arg-type]
    assert first.low <= first.high
    if statistic == "mean":
        assert first.low - 1e-12 <= first.estimate <= first.high + 1e-12
    assert first == bootstrap_ci(values, statistic, resamples=50)  # type: ignore[arg-type]


def test_another_seed_gives_another_interval_but_the_same_estimate() -> None:
    values = np.random.default_rng(0).random((3, 5))
    first, second = bootstrap_ci(values, seed=0), bootstrap_ci(values, seed=1)
    assert first.estimate == second.estimate == pytest.approx(values.mean())
    assert first != second


def test_differences_between_preferences_do_not_widen_the_interval() -> None:
    values = np.random.default_rng(0).random((8, 5))
    shifted = values + 100 * np.arange(8)[:, None]
    narrow, wide = bootstrap_ci(values), bootstrap_ci(shifted)
    assert wide.high - wide.low == pytest.approx(narrow.high - narrow.low)


def test_width_matches_the_textbook_standard_error() -> None:
    values = np.random.default_rng(1).normal(size=(8, 5))
    error = np.sqrt((values.var(axis=1, ddof=1) / 5).mean() / 8)
    interval = bootstrap_ci(values, resamples=20_000)
    stats = pytest.importorskip("scipy.stats")
    assert interval.high - interval.low == pytest.approx(2 * stats.t.ppf(0.975, 32) * error, rel=0.03)


@pytest.mark.parametrize("shape", [(8, 5), (2, 3), (1, 3), (1, 5)])
def test_covers_the_truth_as_often_as_it_says(shape: tuple[int, int]) -> None:
    generator = np.random.default_rng(2)
    inside = 0
    for trial in range(300):
        interval = bootstrap_ci(generator.normal(size=shape), resamples=400, seed=trial)
        inside += interval.low <= 0 <= interval.high
    assert 0.89 <= inside / 300 <= 0.99


def test_unequal_seeds_weigh_preferences_equally() -> None:
    ragged = [torch.tensor([0.0, 0.2]), torch.tensor([1.0, 1.0, 1.0, 1.4])]
    assert bootstrap_ci(ragged).estimate == pytest.approx((0.1 + 1.1) / 2)


def test_draws_are_one_fewer_than_the_seeds() -> None:
    draws = seed_draws(5, 1000, np.random.default_rng(0))
    assert draws.shape == (1000, 4)
    assert set(draws.flat) == set(range(5))


def test_bad_input_raises() -> None:
    with pytest.raises(ValueError, match="`values` must hold at least 2 seeds per preference, got 1"):
        bootstrap_ci([[0.1, 0.2], [0.3]])
    with pytest.raises(ValueError, match="`values` must hold at least one preference"):
        bootstrap_ci([])
    with pytest.raises(ValueError, match="`values` must hold at least one value"):
        bootstrap_ci([[0.1], []])
    with pytest.raises(ValueError, match="`values` must be finite, got nan"):
        bootstrap_ci([[0.1, np.nan]])
    with pytest.raises(ValueError, match=r"`values` must have shape \[preferences, seeds\]"):
        bootstrap_ci(np.zeros((2, 2, 2)))
    with pytest.raises(ValueError, match="`statistic` must be one of 'mean', 'iqm', got 'median'"):
        bootstrap_ci([[0.1, 0.2]], "median")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"`level` must lie in \(0, 1\), got 1"):
        bootstrap_ci([[0.1, 0.2]], level=1.0)
    with pytest.raises(ValueError, match="`resamples` must be a whole number >= 1"):
        bootstrap_ci([[0.1, 0.2]], resamples=0)
    with pytest.raises(ValueError, match="`seeds` must be a whole number >= 2, got 1"):
        seed_draws(1, 10, np.random.default_rng(0))
    with pytest.raises(ValueError, match="`values` must hold at least one value"):
        interquartile_mean([])
