import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from morl_blocks.schedulers import ConflictBraked, Fixed, LinearDecay, boost, braked
from tests.refusals import refused

unit = st.floats(0, 1)


@pytest.mark.parametrize(
    ("conflict", "expected"),
    [(0, 0), (1 / 3, 0), (0.4, 0), (0.5, 1 / 6), (0.6, 1 / 3), (2 / 3, 4 / 9), (0.7, 0.5), (0.8, 2 / 3), (1, 1)],
)
def test_boost(conflict: float, expected: float) -> None:
    assert float(boost(torch.tensor(conflict), 0.4)) == pytest.approx(expected, abs=1e-6)


def test_target() -> None:
    base, brake = torch.tensor(5.025), boost(torch.tensor(0.7), 0.4)
    assert float(braked(base, brake, 10.0)) == pytest.approx(7.5125)


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


def test_no_decay_stays_at_the_start() -> None:
    controller = ConflictBraked(base=Fixed(10.0))
    for i in range(50):
        assert float(controller.step(i / 50, i / 50)) == pytest.approx(10.0)


@given(st.lists(st.tuples(unit, unit), min_size=1, max_size=30))
def test_stays_inside_its_bounds(steps: list[tuple[float, float]]) -> None:
    controller = ConflictBraked(LinearDecay(8.0, 0.05), maximum=9.0, smoothing=0.7)
    for progress, conflict in steps:
        mu = float(controller.step(progress, conflict))
        assert 0.05 - 1e-7 <= mu <= 9.0


@given(unit, unit, unit)
def test_more_conflict_never_means_less_smoothness(progress: float, a: float, b: float) -> None:
    low, high = sorted((a, b))
    assert ConflictBraked().step(progress, low) <= ConflictBraked().step(progress, high)


def test_a_vector_of_runs_equals_each_run_alone() -> None:
    thresholds, smoothings = torch.tensor([0.2, 0.4, 0.8]), torch.tensor([0.05, 0.2, 0.5])
    conflicts = torch.rand(20, 3, generator=torch.Generator().manual_seed(0))
    together = ConflictBraked(threshold=thresholds, smoothing=smoothings)
    alone = [ConflictBraked(threshold=t, smoothing=s) for t, s in zip(thresholds, smoothings, strict=True)]
    for i, conflict in enumerate(conflicts):
        mu = together.step(i / 20, conflict)
        expected = torch.stack([c.step(i / 20, k) for c, k in zip(alone, conflict, strict=True)])
        torch.testing.assert_close(mu, expected)


def test_state_survives() -> None:
    controller = ConflictBraked(LinearDecay(10.0, 0.05, smoothing=0.5))
    for i in range(5):
        controller.step(i / 10, torch.tensor([0.2, 0.9]))
    fresh = ConflictBraked(LinearDecay(10.0, 0.05, smoothing=0.5))
    fresh.load_state_dict(controller.state_dict())
    assert fresh.mu.shape == (2,)
    torch.testing.assert_close(fresh.step(0.7, 0.8), controller.step(0.7, 0.8), rtol=0, atol=0)


def test_a_returned_mu_does_not_change_later() -> None:
    controller = ConflictBraked()
    mu = controller.step(0.5)
    before = mu.clone()
    controller.step(0.9)
    torch.testing.assert_close(mu, before)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"maximum": 5.0}, r"`maximum` must be >= the highest value of base \(10.0\), got 5.0"),
        ({"maximum": float("nan")}, "`maximum` must be > 0, got nan"),
        ({"threshold": 1.0}, r"`threshold` must lie in \[0, 1\), got 1"),
        ({"threshold": -0.1}, r"`threshold` must lie in \[0, 1\), got -0.1"),
        ({"smoothing": 0.0}, r"`smoothing` must lie in \(0, 1\], got 0"),
    ],
)
def test_rejects(arguments: dict[str, float], message: str) -> None:
    refused(message, ConflictBraked, **arguments)


@pytest.mark.parametrize(
    ("progress", "conflict", "message"),
    [
        (-0.1, 0.0, r"`progress` must lie in \[0, 1\], got -0.1"),
        (1.1, 0.0, r"`progress` must lie in \[0, 1\], got 1.1"),
        (0.5, 1.5, r"`conflict` must lie in \[0, 1\], got 1.5"),
        (0.5, float("nan"), r"`conflict` must lie in \[0, 1\], got nan"),
    ],
)
def test_rejects_steps_and_keeps_its_state(progress: float, conflict: float, message: str) -> None:
    controller = ConflictBraked()
    refused(message, controller.step, progress, conflict)
    assert controller.mu == 10.0
