import numpy as np
import pytest
from hypothesis import given, settings

from morl_blocks.metrics import eum, even_weights, expected_utility, maximum_utility_loss, non_dominated
from morl_blocks.metrics.arrays import Array
from tests.morl_blocks.metrics.fronts import pairs
from tests.refusals import refused


def best(points: Array, weights: Array) -> list[float]:
    """The plain loop: utility of the best point, weight by weight."""
    return [max(float(expected_utility(point, weight)) for point in points) for weight in weights]


@given(pairs)
def test_plain_loops_agree(sets: tuple[Array, Array]) -> None:
    points, known = sets
    weights = even_weights(points.shape[1], 7)
    ours, theirs = np.array(best(points, weights)), np.array(best(known, weights))
    assert eum(points, weights) == pytest.approx(ours.mean())
    assert maximum_utility_loss(points, known, weights) == pytest.approx((theirs - ours).max())


@pytest.mark.needs("moocore")
@settings(max_examples=15)  # each asks for four grids of a hundred weights
@given(pairs)
def test_for_minimisation_it_is_the_mean_of_the_lowest_cost(sets: tuple[Array, Array]) -> None:
    points, known = sets
    assert eum(-points, sense="min") == pytest.approx(-eum(points))
    assert maximum_utility_loss(-points, -known, sense="min") == pytest.approx(maximum_utility_loss(points, known))
    assert maximum_utility_loss(points, points) == 0
    assert eum(non_dominated(points)) == pytest.approx(eum(points))


def test_closed_forms() -> None:
    assert eum([[1.0, 0.0], [0.0, 1.0]], even_weights(2, 3)) == pytest.approx((1 + 0.5 + 1) / 3)
    assert eum([[1.0, 0.0], [0.0, 1.0]], even_weights(2, 3), sense="min") == pytest.approx(0.5 / 3)
    assert maximum_utility_loss([[1.0, 0.0]], [[0.0, 2.0]]) == pytest.approx(2.0)
    assert maximum_utility_loss([[3.0, 3.0]], [[1.0, 2.0]]) == pytest.approx(-1.0)
    points = np.array([[1.0, 4.0], [3.0, 2.0]])  # the default grid: a hundred weights, or one per objective
    assert eum(points) == eum(points, even_weights(2, 100)) != eum(points, even_weights(2, 50))
    assert eum(np.ones((1, 120))) == pytest.approx(1.0)


def test_bad_input_is_named() -> None:
    refused("`weights` must sum to 1", eum, [[1.0, 1.0]], [[0.5, 0.6]])
    refused("`weights` must have 2 objectives", eum, [[1.0, 1.0]], [[0.5, 0.25, 0.25]])
    refused(r"`weights` must have shape \[k, m\] with k >= 1", eum, [[1.0, 1.0]], np.zeros((0, 2)))
    refused("`known` must have 2 objectives", maximum_utility_loss, [[1.0, 1.0]], [[1.0, 1.0, 1.0]])
