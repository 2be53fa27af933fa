import itertools

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from morl_blocks.metrics import hypervolume, run_hypervolume
from morl_blocks.metrics.arrays import Array
from tests.refusals import refused

pytestmark = pytest.mark.needs("moocore")


def inclusion_exclusion(points: Array, reference: Array) -> float:
    """The volume of a union of boxes, term by term over all subsets."""
    boxes = np.clip(points - reference, 0.0, None)
    total = 0.0
    for size in range(1, len(boxes) + 1):
        for subset in itertools.combinations(boxes, size):
            total -= (-1) ** size * float(np.prod(np.min(subset, axis=0)))
    return total


point_sets = st.integers(2, 4).flatmap(
    lambda m: st.integers(1, 7).flatmap(lambda n: arrays(np.float64, (n, m), elements=st.floats(-0.5, 1.0, width=32)))
)


def test_closed_forms() -> None:
    for points, volume in (([[0.8, 0.2], [0.5, 0.5], [0.2, 0.8]], 0.37), ([[1.0, -0.1]], 0.0)):
        assert hypervolume(points, [0.0, 0.0]) == pytest.approx(volume, abs=1e-12)
        assert hypervolume(torch.tensor(points), torch.zeros(2)) == pytest.approx(volume, abs=1e-6)
    assert hypervolume(np.zeros((0, 3)), [0.0, 0.0, 0.0]) == 0


@given(point_sets)
def test_agrees_with_inclusion_exclusion(points: Array) -> None:
    reference = np.full(points.shape[1], -0.1)
    assert hypervolume(points, reference) == pytest.approx(inclusion_exclusion(points, reference), abs=1e-9)


def test_bad_input_raises() -> None:
    refused("`reference` must be finite", hypervolume, [[0.5, 0.5]], [0.0, np.nan])
    refused("`points` must have at least 2 dimensions", hypervolume, [0.5, 0.5], [0.0, 0.0])
    refused(r"`points` must have shape \[n, m\] with m >= 2", hypervolume, [[0.5]], [0.0])
    refused(r"`reference` must have shape \[2\], got shape \[3\]", hypervolume, [[0.5, 0.5]], [0.0, 0.0, 0.0])


@given(arrays(np.float64, (5, 3), elements=st.floats(-1.0, 2.0)))
def test_run_hypervolume_is_the_hypervolume_of_the_clipped_point(returns: Array) -> None:
    low, high = np.array([-0.5, 0.0, 0.2]), np.array([1.0, 1.5, 1.2])
    unit = np.clip((returns - low) / (high - low), 0, 1)
    expected = [hypervolume(point[None], np.zeros(3)) for point in unit]
    np.testing.assert_allclose(run_hypervolume(returns, low, high), expected, atol=1e-12)


def test_run_hypervolume_keeps_leading_dimensions_and_refuses_unknown_or_empty_bounds() -> None:
    assert run_hypervolume(torch.ones(4, 5, 2), [0.0, 0.0], [2.0, 4.0]).shape == (4, 5)
    assert run_hypervolume([1.0, 1.0], [0.0, 0.0], [2.0, 4.0]) == 0.125
    refused("`high` must exceed `low` in every objective", run_hypervolume, [1.0, 1.0], [0.0, 1.0], [1.0, 1.0])
    refused("`high` must have 2 objectives", run_hypervolume, [1.0, 1.0], [0.0, 0.0], [1.0])
    refused("`high` must have at least 1 dim", run_hypervolume, [1.0, 1.0], [0.0, 0.0], 1.0)
    refused("`returns` must hold at least one value", run_hypervolume, np.zeros((0, 2)), [0.0, 0.0], [1.0, 1.0])
