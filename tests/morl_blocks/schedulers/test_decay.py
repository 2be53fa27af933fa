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
    per_run = LinearDecay(torch.tensor([10.0, 1.0]), 0.5).step(progress)
    torch.testing.assert_close(per_run, torch.tensor([10 - 9.5 * progress, 1 - 0.5 * progress]))


@pytest.mark.parametrize(("n", "first", "final"), [(100, 1, 1.92930724), (488, 1, 0.437), (488, 0, 0.458)])
def test_exponential_average_lags(n: int, first: int, final: float) -> None:
    """By 19 steps; a training counts progress before an iteration, from 0, so there by 20."""
    schedule = LinearDecay(10.0, 0.05, smoothing=0.05)
    for i in range(n):
        mu = schedule.step((i + first) / n)
    assert float(mu) == pytest.approx(final, abs=6e-4)
    assert float(mu) == pytest.approx(0.05 + 9.95 / n * (20 - first) * (1 - 0.95**n), abs=1e-4)


def test_bad_settings_are_refused_and_a_state_has_none() -> None:
    refused("`start` must be > 0, got 0", LinearDecay, start=0.0)
    refused("`end` must be > 0, got -1", LinearDecay, end=-1.0)
    refused(r"`end` must be <= start \(1.0\), got 2.0", LinearDecay, start=1.0, end=2.0)
    refused(r"`smoothing` must lie in \(0, 1\], got 0", LinearDecay, smoothing=0.0)
    assert float(linear_decay(2.0, 10.0, 0.05)) == pytest.approx(0.05)  # stays at the end
    assert not {"start", "end", "smoothing"} & LinearDecay().state_dict().keys()
