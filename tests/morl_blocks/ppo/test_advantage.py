import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from morl_blocks.ppo import scalarised_advantage, vector_advantage
from morl_blocks.scalarizers import Linear, SmoothTchebycheff
from tests.refusals import refused


@given(st.integers(0, 500), st.floats(1e-2, 1e4), st.floats(-1e3, 1e3))
def test_scale_and_shift_of_an_objective_do_not_matter(seed: int, scale: float, shift: float) -> None:
    advantage = torch.randn(40, 2, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    changed = advantage * torch.tensor([scale, 1.0]) + torch.tensor([shift, 0.0])
    standard = vector_advantage(advantage)
    torch.testing.assert_close(vector_advantage(changed), standard, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(standard.mean(0), torch.zeros(2).double(), atol=1e-9, rtol=0)
    torch.testing.assert_close(standard.std(0, correction=0), torch.ones(2).double(), atol=1e-6, rtol=0)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
@pytest.mark.parametrize("size", [1e-4, 1e-2, 1.0, 3e4])
def test_half_precision_and_constants_stay_finite(dtype: torch.dtype, size: float) -> None:
    constant = torch.full((64, 2), size, dtype=dtype)
    assert (vector_advantage(constant) == 0).all()
    varied = (torch.randn(64, 2, generator=torch.Generator().manual_seed(0)).clamp(-2, 2) / 2 * size).to(dtype)
    standard = vector_advantage(varied)
    assert standard.dtype == dtype
    torch.testing.assert_close(standard.double().std(0, correction=0), torch.ones(2).double(), atol=0.02, rtol=0)


def test_no_scale_overflows_or_vanishes() -> None:
    advantage = torch.randn(64, 2, generator=torch.Generator().manual_seed(0))
    for scale in (1e-30, 1e-20, 1e20, 1e30):
        scaled = vector_advantage(advantage * scale)
        assert scaled.isfinite().all()
        if scale > 1:
            torch.testing.assert_close(scaled, vector_advantage(advantage))
    # the mean of 2048 times 100.1 is not 100.1 in float32
    assert (vector_advantage(torch.full((2048, 2), 100.1)) == 0).all()


def test_scalarised_works_for_any_scalarizer_and_under_vmap() -> None:
    returns, values, weights = torch.rand(4, 30, 3), torch.rand(4, 30, 3), torch.tensor([0.5, 0.3, 0.2])
    smooth, linear = SmoothTchebycheff(mu=0.1), Linear()
    whole = scalarised_advantage(lambda x: smooth(x, weights), returns, values)
    raw = smooth(returns, weights) - smooth(values, weights)
    expected = (raw - raw.mean(-1, keepdim=True)) / raw.std(-1, correction=0, keepdim=True)
    torch.testing.assert_close(whole, expected, atol=1e-4, rtol=1e-4)
    scalarised = scalarised_advantage(lambda x: linear(x, weights), returns, values)
    expected = vector_advantage(((returns - values) @ weights).unsqueeze(-1)).squeeze(-1)
    torch.testing.assert_close(scalarised, expected, atol=1e-5, rtol=1e-5)
    weighed = scalarised_advantage(lambda x, w: (x * w).sum(-1), returns, values, weights)
    torch.testing.assert_close(weighed, expected, atol=1e-5, rtol=1e-5)
    lifted = torch.func.vmap(lambda r, v: scalarised_advantage(lambda x: (x * weights).sum(-1), r, v))(returns, values)
    torch.testing.assert_close(lifted, scalarised)


def test_a_scalarizer_to_maximise_needs_weights_and_a_utility_one_number_per_step() -> None:
    returns, values, weights = torch.rand(4, 2), torch.rand(4, 2), torch.tensor([0.5, 0.5])
    refused("`weights` must be given with Linear", scalarised_advantage, Linear(), returns, values)
    refused(r"`scalarizer` must return utilities of shape \[4\]", scalarised_advantage, lambda x: x, returns, values)
    smooth = SmoothTchebycheff(sense="min")
    refused("`scalarizer` must be one to maximise", scalarised_advantage, smooth, returns, values, weights)
