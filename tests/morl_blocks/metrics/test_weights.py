from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from morl_blocks.metrics import even_weights
from morl_blocks.metrics.arrays import Array
from tests.refusals import refused


@given(st.integers(2, 6), st.integers(0, 40))
def test_weights_are_distinct_sorted_on_the_simplex_and_hold_the_corners(m: int, more: int) -> None:
    weights = even_weights(m, m + more)
    assert weights.shape == (m + more, m)
    assert (weights >= 0).all()
    np.testing.assert_allclose(weights.sum(1), 1, atol=1e-12)
    rows = [tuple(row) for row in weights]
    assert rows == sorted(set(rows))
    assert {tuple(corner) for corner in np.eye(m)} <= set(rows)


@pytest.mark.parametrize(("m", "steps"), [(3, 10), (3, 20), (4, 5), (6, 3)])
def test_a_lattice_size_gives_the_lattice(m: int, steps: int) -> None:
    """The published protocols' grids: every weight is a multiple of 1/steps, and all of them are there."""
    weights = even_weights(m, comb(steps + m - 1, m - 1)) * steps
    np.testing.assert_allclose(weights, weights.round(), atol=1e-9)
    assert len(np.unique(weights.round(), axis=0)) == comb(steps + m - 1, m - 1)
    np.testing.assert_allclose(even_weights(2, 7 * steps)[:, 0], np.linspace(0, 1, 7 * steps), atol=1e-12)


def covering(weights: Array) -> float:
    """How far the loneliest of many random preferences is from its nearest weight."""
    sample = np.random.default_rng(0).dirichlet(np.ones(weights.shape[1]), 4000)
    return float(np.linalg.norm(sample[:, None] - weights, axis=-1).min(1).max())


@pytest.mark.parametrize(("m", "count"), [(3, 40), (3, 100), (4, 50), (6, 100)])
def test_other_counts_cover_the_simplex_too(m: int, count: int) -> None:
    """At least as well as the largest lattice that is no larger would, up to a third."""
    steps = max(h for h in range(1, 40) if comb(h + m - 1, m - 1) <= count)
    lattice = even_weights(m, comb(steps + m - 1, m - 1))
    assert covering(even_weights(m, count)) < 1.35 * covering(lattice)
    gaps = np.linalg.norm(even_weights(m, count)[:, None] - even_weights(m, count), axis=-1) + 9 * np.eye(count)
    assert gaps.min() > 0.5 * gaps.min(1).max()


def test_bad_input_is_named() -> None:
    refused("`num_objectives` must be a whole number >= 2, got 1", even_weights, 1, 5)
    refused("`count` must be a whole number >= 1, got 2.5", even_weights, 2, 2.5)
    refused("`count` must be >= num_objectives = 3, .* got 2", even_weights, 3, 2)
