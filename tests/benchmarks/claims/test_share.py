import numpy as np
import pytest
from scipy import stats  # type: ignore[import-untyped]

from benchmarks.claims.share import lead_share

RNG = np.random.default_rng(5)


def _pairs(number: int) -> tuple[np.ndarray, np.ndarray]:
    """Scores of two rows that share the luck of a seed, ``[number, 1, 5]``; the first is a quarter ahead."""
    shared = 0.02 * RNG.normal(size=(number, 1, 5))
    first, second = (mean + noise * RNG.normal(size=(number, 1, 5)) for mean, noise in ((0.25, 0.02), (0.2, 0.03)))
    return first + shared, second + shared


def test_the_ends_are_shares_that_a_t_test_just_rejects() -> None:
    for first, second in zip(*_pairs(20), strict=True):
        share = lead_share(first, second)
        for end in (share.low, share.high):
            test = stats.ttest_1samp((first - (1 + end) * second)[0], 0.0)
            assert test.pvalue == pytest.approx(0.05, abs=1e-6)
        assert share.low < share.estimate < share.high


def test_scores_that_are_never_negative_bound_it() -> None:
    second = np.array([[0.2, 0.3, 0.25]])
    assert lead_share(0 * second + [0.0, 0.001, 0.0], second).low == -1
    assert lead_share(np.array([[-0.2, -0.1, -0.3]]), second).low < -1


def test_without_a_score_to_divide_by_there_is_none() -> None:
    nothing, some = np.zeros((1, 3)), np.array([[0.1, 0.2, 0.15]])
    assert np.isnan(lead_share(some, nothing)).all()
    assert np.isnan(lead_share(some, np.full((1, 3), np.nan))).all()
    unsure = lead_share(some, np.array([[0.0, 0.0, 0.3]]))
    assert unsure.estimate == pytest.approx(0.5)
    assert np.isnan([unsure.low, unsure.high]).all()


def test_missing_runs_are_left_out_of_both_rows() -> None:
    first, second = RNG.uniform(0.1, 0.2, (2, 4)), RNG.uniform(0.1, 0.2, (2, 4))
    whole = lead_share(first[:1], second[:1])
    first[1], second[1, 2] = np.nan, np.nan
    assert lead_share(first, second) == pytest.approx(whole)
