import itertools

import numpy as np
import pytest
import torch
from hypothesis import given, settings
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


@pytest.mark.parametrize(
    ("points", "volume"),
    [
        ([[0.5, 0.5, 0.5]], 0.125),
        ([[0.8, 0.2], [0.5, 0.5], [0.2, 0.8]], 0.37),
        ([[1, 0.2, 0.2], [0.2, 1, 0.2], [0.2, 0.2, 1]], 0.104),
    ],
)
def test_closed_form(points: list[list[float]], volume: float) -> None:
    assert hypervolume(points, np.zeros(len(points[0]))) == pytest.approx(volume, abs=1e-12)


@given(point_sets)
def test_agrees_with_inclusion_exclusion(points: Array) -> None:
    reference = np.full(points.shape[1], -0.1)
    assert hypervolume(points, reference) == pytest.approx(inclusion_exclusion(points, reference), abs=1e-9)


@settings(max_examples=25)
@given(point_sets)
def test_agrees_with_monte_carlo(points: Array) -> None:
    samples = np.random.default_rng(0).uniform(0.0, 1.0, size=(20_000, points.shape[1]))
    share = (samples[:, None, :] <= points[None]).all(-1).any(-1).mean()
    spread = np.sqrt(max(share * (1 - share), 1e-4) / len(samples))
    assert abs(hypervolume(points, np.zeros(points.shape[1])) - share) < 5 * spread


@given(point_sets)
def test_order_and_copies_do_not_matter_and_points_never_hurt(points: Array) -> None:
    reference = np.zeros(points.shape[1])
    whole = hypervolume(points, reference)
    assert hypervolume(np.concatenate([points[::-1], points]), reference) == pytest.approx(whole, abs=1e-12)
    assert hypervolume(points[:-1], reference) <= whole + 1e-12


def test_scales_with_the_units_and_shifts_with_the_reference() -> None:
    points, scale = np.array([[0.8, 0.2], [0.5, 0.5]]), np.array([2.0, 5.0])
    whole = hypervolume(points, [0.0, 0.0])
    assert hypervolume(points * scale + 7, np.array([7.0, 7.0])) == pytest.approx(10 * whole)


def test_points_below_the_reference_and_empty_sets_are_worth_nothing() -> None:
    assert hypervolume([[1.0, -0.1]], [0.0, 0.0]) == 0
    assert hypervolume(np.zeros((0, 3)), [0.0, 0.0, 0.0]) == 0


def test_takes_tensors() -> None:
    assert hypervolume(torch.tensor([[0.5, 0.5]]), torch.zeros(2)) == pytest.approx(0.25)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_nan_and_inf_raise_instead_of_vanishing(bad: float) -> None:
    refused("`points` must be finite", hypervolume, [[0.5, bad], [0.2, 0.2]], [0.0, 0.0])
    refused("`reference` must be finite", hypervolume, [[0.5, 0.5]], [0.0, bad])


def test_bad_shapes_raise() -> None:
    refused("`points` must have at least 2 dimensions", hypervolume, [0.5, 0.5], [0.0, 0.0])
    refused(r"`points` must have shape \[n, m\] with m >= 2", hypervolume, [[0.5]], [0.0])
    refused(r"`reference` must have shape \[2\], got shape \[3\]", hypervolume, [[0.5, 0.5]], [0.0, 0.0, 0.0])


@given(arrays(np.float64, (5, 3), elements=st.floats(-1.0, 2.0)))
def test_run_hypervolume_is_the_hypervolume_of_the_clipped_point(returns: Array) -> None:
    low, high = np.array([-0.5, 0.0, 0.2]), np.array([1.0, 1.5, 1.2])
    unit = np.clip((returns - low) / (high - low), 0, 1)
    expected = [hypervolume(point[None], np.zeros(3)) for point in unit]
    np.testing.assert_allclose(run_hypervolume(returns, low, high), expected, atol=1e-12)


def test_run_hypervolume_keeps_leading_dimensions() -> None:
    assert run_hypervolume(torch.ones(4, 5, 2), [0.0, 0.0], [2.0, 4.0]).shape == (4, 5)
    assert run_hypervolume([1.0, 1.0], [0.0, 0.0], [2.0, 4.0]) == 0.125


def test_run_hypervolume_refuses_unknown_or_empty_bounds() -> None:
    refused("`low` must be finite, got nan", run_hypervolume, [1.0, 1.0], [np.nan, 0.0], [1.0, 1.0])
    refused("`high` must exceed `low` in every objective", run_hypervolume, [1.0, 1.0], [0.0, 1.0], [1.0, 1.0])
    refused("`high` must have 2 objectives", run_hypervolume, [1.0, 1.0], [0.0, 0.0], [1.0])
    refused("`high` must have at least 1 dim", run_hypervolume, [1.0, 1.0], [0.0, 0.0], 1.0)
    refused("`returns` must be finite, got nan", run_hypervolume, [1.0, np.nan], [0.0, 0.0], [1.0, 1.0])
    refused("`returns` must hold at least one value", run_hypervolume, np.zeros((0, 2)), [0.0, 0.0], [1.0, 1.0])
