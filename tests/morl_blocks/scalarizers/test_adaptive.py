import pytest
import torch

from morl_blocks.scalarizers import AdaptiveSmoothTchebycheff, SmoothTchebycheff, maintain
from morl_blocks.schedulers import ConflictBraked, Fixed
from tests.refusals import refused

R, W = torch.tensor([0.2, 0.5, 0.8]), torch.tensor([0.5, 0.3, 0.2])


@pytest.mark.parametrize(
    ("mu", "eta"),
    [
        (10.0, [0.3393588, 0.33193243, 0.32870878]),
        (1.0, [0.39576165, 0.31660007, 0.28763828]),
        (0.1, [0.82428194, 0.10750869, 0.06820937]),
        (0.05, [0.89487192, 0.05466079, 0.05046729]),
    ],
)
def test_effective_attention_closed_form(mu: float, eta: list[float]) -> None:
    block = AdaptiveSmoothTchebycheff(Fixed(mu), maintenance=0.15)
    torch.testing.assert_close(block.attention(R, W), torch.tensor(eta), atol=1e-6, rtol=0)


def test_gradient_is_that_of_fixed_stch_and_mu_is_saved() -> None:
    block, fresh = AdaptiveSmoothTchebycheff(ConflictBraked()), AdaptiveSmoothTchebycheff(ConflictBraked())
    fixed = SmoothTchebycheff(block.step(0.7, 0.9))
    torch.testing.assert_close(block.gradient(R, W), fixed.gradient(R, W))
    fresh.load_state_dict(block.state_dict())
    torch.testing.assert_close(fresh.mu, block.mu)
    torch.testing.assert_close(fresh.step(0.6, 0.5), block.step(0.6, 0.5))


def test_one_mu_and_one_maintenance_rate_per_run() -> None:
    rho = torch.tensor([0.0, 0.5])
    block = AdaptiveSmoothTchebycheff(ConflictBraked(smoothing=1.0), maintenance=rho)
    mu = block.step(progress=1.0, conflict=torch.tensor([0.0, 0.5]))
    values = torch.rand(2, 6, 3)
    eta = block.attention(values, W)
    for run in range(2):
        torch.testing.assert_close(block(values, W)[run], SmoothTchebycheff(mu[run])(values[run], W))
        delta = SmoothTchebycheff(mu[run]).attention(values[run], W)
        torch.testing.assert_close(eta[run], maintain(delta, rho[run]))
    for rate in (-0.1, 1.1, float("nan")):
        refused(r"`maintenance` must lie in \[0, 1\], got", AdaptiveSmoothTchebycheff, Fixed(1.0), maintenance=rate)
    refused(r"`mu` must match the leading dimensions of values \[5, 3\], got shape \[2\]", block, torch.rand(5, 3), W)
