import pytest
import torch

from morl_blocks.schedulers import Fixed
from tests.refusals import refused


def test_stays() -> None:
    schedule = Fixed(0.5)
    for progress in (0.0, 0.5, 1.0):
        assert schedule.step(progress, 1.0) == 0.5


def test_one_per_run() -> None:
    mu = torch.tensor([0.01, 10.0])
    torch.testing.assert_close(Fixed(mu).step(0.3), mu)


@pytest.mark.parametrize("mu", [0.0, -1.0, float("nan")])
def test_rejects(mu: float) -> None:
    refused("`mu` must be > 0, got", Fixed, mu)
