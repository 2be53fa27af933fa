import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from morl_blocks import metrics
from morl_blocks.metrics import cardinality, front_hypervolume, non_dominated, nondominated, sparsity
from morl_blocks.metrics.arrays import Array
from tests.morl_blocks.metrics.fronts import fronts, pairs
from tests.refusals import refused

pytestmark = pytest.mark.needs("moocore")

point_sets = st.integers(2, 4).flatmap(fronts)


@given(point_sets)
def test_a_front_holds_each_point_that_is_marked_once_and_in_order(points: Array) -> None:
    marked = {tuple(point) for point in points[nondominated(points)]}
    assert [tuple(point) for point in non_dominated(points)] == sorted(marked)
    assert cardinality(points) == len(marked)


@given(point_sets)
def test_both_senses_agree(points: Array) -> None:
    reference = np.full(points.shape[1], -2.5)
    np.testing.assert_array_equal(non_dominated(-points, sense="min")[::-1], -non_dominated(points))
    assert front_hypervolume(-points, -reference, sense="min") == front_hypervolume(points, reference)
    assert cardinality(-points, sense="min") == cardinality(points)
    assert sparsity(-points, sense="min") == pytest.approx(sparsity(points))


def test_closed_forms() -> None:
    assert front_hypervolume([[3.0, 1.0], [1.0, 3.0]], [0.0, 0.0]) == 5
    assert front_hypervolume([[1.0, 1.0], [3.0, 0.5]], [4.0, 2.0], sense="min") == pytest.approx(3 + 0.5)
    assert sparsity([[0.0, 3.0], [1.0, 1.0], [3.0, 0.0], [0.0, 0.0]]) == 5
    assert sparsity(torch.tensor([[4.0, 4.0]])) == 0
    assert non_dominated(np.zeros((0, 3))).shape == (0, 3)
    assert cardinality(np.zeros((0, 3))) == 0


@given(pairs)
def test_pymoo_and_morl_baselines_agree(sets: tuple[Array, Array]) -> None:
    theirs = pytest.importorskip("morl_baselines.common.performance_indicators")
    pymoo = {name: pytest.importorskip(f"pymoo.indicators.{name}") for name in ("hv", "igd", "igd_plus")}
    (points, known), reference = sets, np.full(sets[0].shape[1], -2.5)
    volume, weights = front_hypervolume(points, reference), metrics.even_weights(points.shape[1], 15)
    assert volume == pytest.approx(pymoo["hv"].HV(ref_point=-reference)(-points))
    assert volume == pytest.approx(theirs.hypervolume(reference, list(points)))
    assert sparsity(points) == pytest.approx(theirs.sparsity(list(non_dominated(points))))
    assert metrics.igd(points, known) == pytest.approx(pymoo["igd"].IGD(known)(points))
    assert metrics.igd(points, known) == pytest.approx(theirs.igd(list(known), list(points)))
    assert metrics.igd_plus(points, known) == pytest.approx(pymoo["igd_plus"].IGDPlus(-known)(-points))
    assert metrics.eum(points, weights) == pytest.approx(theirs.expected_utility(list(points), list(weights)))
    loss = theirs.maximum_utility_loss(list(points), list(known), weights)
    assert metrics.maximum_utility_loss(points, known, weights) == pytest.approx(loss)


def test_a_reference_that_no_point_exceeds_raises_unless_allowed() -> None:
    points, none = [[1.0, 2.0], [2.0, 1.0]], np.zeros((0, 2))
    refused(r"`reference` must lie below at least one point .*, got \[1.5", front_hypervolume, points, [1.5, 1.5])
    refused("`reference` must lie above at least one point", front_hypervolume, points, [1.5, 1.5], sense="min")
    refused("`reference` must lie below", front_hypervolume, [[1.0, 1.0]], [1.0, 0.0])
    refused("`reference` must lie below", front_hypervolume, none, [0.0, 0.0])
    assert front_hypervolume(points, [1.5, 1.5], allow_empty=True) == 0
    assert front_hypervolume(none, [0.0, 0.0], allow_empty=True) == 0


def test_bad_input_is_named() -> None:
    refused("`points` must be finite, got nan", front_hypervolume, [[1.0, np.nan], [1.0, 1.0]], [0.0, 0.0])
    refused(r"`reference` must have shape \[2\]", front_hypervolume, [[1.0, 1.0]], [0.0])
    refused("`sense` must be one of 'max', 'min', got 'maximise'", cardinality, [[1.0, 1.0]], sense="maximise")
    refused(r"`points` must have shape \[n, m\] with m >= 2, got shape \[2, 1\]", non_dominated, [[1.0], [2.0]])
    refused("`points` must hold at least one point", sparsity, np.zeros((0, 2)))
