import math
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from morl_blocks.scalarizers import SmoothTchebycheff, Tchebycheff, smooth_tchebycheff
from morl_blocks.scalarizers.smooth_tchebycheff import smooth_maximum
from tests.morl_blocks.strategies import preferences, vectors
from tests.refusals import refused

R = torch.tensor([0.2, 0.5, 0.8], dtype=torch.float64)
W = torch.tensor([0.5, 0.3, 0.2], dtype=torch.float64)
CLOSED_FORM: list[tuple[float, float, list[float], list[float], float]] = [
    # mu, U, delta, gradient = w * delta, entropy of delta
    (10.0, -11.20068924, [0.34042211, 0.33168521, 0.32789268], [0.17021106, 0.09950556, 0.06557854], 1.09848872),
    (1.0, -1.32448668, [0.40677841, 0.31364714, 0.27957444], [0.20338921, 0.09409414, 0.05591489], 1.08587535),
    (0.1, -0.43433003, [0.91091993, 0.06765728, 0.02142278], [0.45545997, 0.02029718, 0.00428456], 0.34954465),
    (0.05, -0.42530257, [0.99396697, 0.00548328, 0.00054975], [0.49698348, 0.00164498, 0.00010995], 0.03868748),
]
mus = st.floats(math.log(1e-4), math.log(1e4)).map(math.exp)


def double(values: Any) -> Tensor:
    return torch.tensor(values, dtype=torch.float64)


def exact(mu: float, **options: Any) -> SmoothTchebycheff:
    """A float64 block whose mu and utopia are exact, not rounded through float32."""
    block = SmoothTchebycheff(mu, **options).double()
    block.mu, block.utopia = double(mu), double(options.get("utopia", 1.05 if block.sense == "max" else -0.05))
    return block


@pytest.mark.parametrize(("mu", "utility", "delta", "gradient", "entropy"), CLOSED_FORM)
def test_closed_form(mu: float, utility: float, delta: list[float], gradient: list[float], entropy: float) -> None:
    block = exact(mu)
    torch.testing.assert_close(block(R, W), double(utility), atol=1e-8, rtol=0)
    torch.testing.assert_close(block.attention(R, W), double(delta), atol=1e-8, rtol=0)
    torch.testing.assert_close(block.gradient(R, W), double(gradient), atol=1e-8, rtol=0)
    smoothness = double(mu).requires_grad_()
    (slope,) = torch.autograd.grad(smooth_tchebycheff(R, W, smoothness, 1.05), smoothness)
    torch.testing.assert_close(slope, double(-entropy), atol=1e-8, rtol=0)


@given(vectors(4, -1, 2), preferences(4), mus)
def test_lies_below_tchebycheff_by_at_most_mu_log_m(values: Tensor, weights: Tensor, mu: float) -> None:
    smooth, hard = exact(mu)(values, weights), Tchebycheff(utopia=double(1.05)).double()(values, weights)
    slack = 1e-6
    assert smooth <= hard + slack
    assert hard <= smooth + mu * math.log(4) + slack


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("mu", [1e-4, 1e-3, 1e3, 1e4])
@pytest.mark.parametrize("sense", ["max", "min"])
def test_stable_with_huge_gaps(dtype: torch.dtype, mu: float, sense: str) -> None:
    values = torch.tensor([[1e6, -1e6, 0.0], [-1e6, -1e6, -1e6], [0.5, 0.5, 0.5]], dtype=dtype, requires_grad=True)
    weights = torch.tensor([0.2, 0.3, 0.5], dtype=dtype)
    block = SmoothTchebycheff(mu, sense=sense)  # type: ignore[arg-type]
    utility, attention = block(values, weights), block.attention(values, weights)
    (slope,) = torch.autograd.grad(utility.sum(), values)
    for tensor in (utility, slope, attention, block.gradient(values, weights)):
        assert tensor.dtype == dtype
        assert torch.isfinite(tensor).all()
    torch.testing.assert_close(attention.sum(-1), torch.ones(3, dtype=dtype))


@given(vectors(3, 0, 1.2), preferences(3), mus)
def test_gradient_attention_is_the_normalised_gradient(values: Tensor, weights: Tensor, mu: float) -> None:
    block = exact(mu, attention="gradient")
    attention, gradient = block.attention(values, weights), block.gradient(values, weights)
    torch.testing.assert_close(attention.sum(), double(1.0))
    total = gradient.sum()
    if total > 1e-200:
        torch.testing.assert_close(attention, gradient / total, atol=1e-9, rtol=1e-6)


def test_zero_weight_keeps_attention_unless_masked() -> None:
    weights, masked = double([0.5, 0.5, 0.0]), exact(1.0, mask_zero_weight=True)
    assert exact(1.0).attention(R, weights)[2] > 0.2
    assert masked.attention(R, weights)[2] == 0
    torch.testing.assert_close(masked(R, weights), exact(1.0)(R[:2], weights[:2]))
    refused("`mask` must be bool", smooth_maximum, R, 1.0, torch.ones(3))


@given(vectors(3, 0, 1), preferences(3), mus)
def test_minimising_losses_mirrors_maximising_returns(returns: Tensor, weights: Tensor, mu: float) -> None:
    torch.testing.assert_close(exact(mu, sense="min")(1 - returns, weights), -exact(mu)(returns, weights))
