import pytest
import torch

from morl_blocks.schedulers import LinearDecay, linear_decay
from tests.refusals import refused


@pytest.mark.parametrize(
    ("progress", "base"),
    [(0, 10.0), (0.1, 9.005), (0.25, 7.5125), (0.5, 5.025), (0.75, 2.5375), (0.9, 1.045), (0.99, 0.1495), (1, 0.05)],
)
def test_base_schedule(progress: float, base: float) -> None:
    assert float(LinearDecay(10.0, 0.05).step(progress)) == pytest.approx(base, abs=1e-5)


def test_pure_function_stays_at_the_end() -> None:
    assert float(linear_decay(2.0, 10.0, 0.05)) == pytest.approx(0.05)


@pytest.mark.parametrize(("n", "final"), [(100, 1.92930724), (488, 0.437)])
def test_exponential_average_lags(n: int, final: float) -> None:
    schedule = LinearDecay(10.0, 0.05, smoothing=0.05)
    for i in range(1, n + 1):
        mu = schedule.step(i / n)
    assert float(mu) == pytest.approx(final, abs=6e-4)
    assert float(mu) == pytest.approx(0.05 + 9.95 / n * 19 * (1 - 0.95**n), abs=1e-4)


def test_a_training_of_488_iterations_ends_at_0_458() -> None:
    """Progress counts the steps before an iteration, so the factor is 20."""
    schedule = LinearDecay(10.0, 0.05, smoothing=0.05)
    for i in range(488):
        mu = schedule.step(i / 488)
    assert float(mu) == pytest.approx(0.458, abs=5e-4)
    assert float(mu) == pytest.approx(0.05 + 9.95 / 488 * 20 * (1 - 0.95**488), abs=1e-4)


def test_per_run_bounds() -> None:
    schedule = LinearDecay(torch.tensor([10.0, 1.0]), 0.5)
    torch.testing.assert_close(schedule.step(0.5), torch.tensor([5.25, 0.75]))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"start": 0.0}, "`start` must be > 0, got 0"),
        ({"end": -1.0}, "`end` must be > 0, got -1"),
        ({"start": 1.0, "end": 2.0}, r"`end` must be <= start \(1.0\), got 2.0"),
        ({"smoothing": 0.0}, r"`smoothing` must lie in \(0, 1\], got 0"),
        ({"smoothing": 1.5}, r"`smoothing` must lie in \(0, 1\], got 1.5"),
        ({"smoothing": float("nan")}, r"`smoothing` must lie in \(0, 1\], got nan"),
    ],
)
def test_rejects(arguments: dict[str, float], message: str) -> None:
    refused(message, LinearDecay, **arguments)


def test_a_state_has_no_settings() -> None:
    assert not {"start", "end", "smoothing"} & LinearDecay().state_dict().keys()
