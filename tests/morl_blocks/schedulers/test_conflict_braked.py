import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from morl_blocks.schedulers import ConflictBraked, LinearDecay, boost, braked
from tests.refusals import refused

unit = st.floats(0, 1)


@pytest.mark.parametrize(
    ("conflict", "expected"),
    [(0, 0), (1 / 3, 0), (0.4, 0), (0.5, 1 / 6), (0.6, 1 / 3), (2 / 3, 4 / 9), (0.7, 0.5), (0.8, 2 / 3), (1, 1)],
)
def test_boost_and_target(conflict: float, expected: float) -> None:
    brake = boost(torch.tensor(conflict), 0.4)
    assert float(brake) == pytest.approx(expected, abs=1e-6)
    assert float(braked(torch.tensor(5.025), brake, 10.0)) == pytest.approx(5.025 + expected * 4.975, abs=1e-5)


@pytest.mark.parametrize(
    ("conflict", "expected"),
    [
        (0.0, {1: 9.995025, 25: 8.87859501, 50: 6.77003552, 100: 1.92930724}),
        (2 / 3, {1: 9.99723611, 50: 8.20557529, 100: 5.5162818}),
    ],
)
def test_hundred_iterations(conflict: float, expected: dict[int, float]) -> None:
    controller = ConflictBraked()
    history = [float(controller.step(i / 100, conflict)) for i in range(1, 101)]
    for iteration, mu in expected.items():
        assert history[iteration - 1] == pytest.approx(mu, abs=2e-5)


@given(st.lists(st.tuples(unit, unit), min_size=1, max_size=30))
def test_stays_inside_its_bounds(steps: list[tuple[float, float]]) -> None:
    controller = ConflictBraked(LinearDecay(8.0, 0.05), maximum=9.0, smoothing=0.7)
    for progress, conflict in steps:
        mu = float(controller.step(progress, conflict))
        assert 0.05 - 1e-7 <= mu <= 9.0


def test_bad_input_is_refused_and_a_refused_step_keeps_the_state() -> None:
    refused(r"`maximum` must be >= the highest value of base \(10.0\), got 5.0", ConflictBraked, maximum=5.0)
    refused(r"`threshold` must lie in \[0, 1\), got 1", ConflictBraked, threshold=1.0)
    refused(r"`smoothing` must lie in \(0, 1\], got 0", ConflictBraked, smoothing=0.0)
    controller = ConflictBraked()
    refused(r"`progress` must lie in \[0, 1\], got 1.1", controller.step, 1.1, 0.0)
    refused(r"`conflict` must lie in \[0, 1\], got 1.5", controller.step, 0.5, 1.5)
    assert controller.mu == 10.0
