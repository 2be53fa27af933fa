"""Gradients of any size: the combiners are free of scale."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from morl_blocks.combiners import Combiner, PCGrad, Sum, WeightedPCGrad, WeightedSum
from morl_blocks.combiners.gramian import gramian_of
from tests.refusals import refused

BLOCKS = [Sum(), WeightedSum(), PCGrad(seed=0), WeightedPCGrad(seed=0)]


def generator() -> torch.Generator:
    return torch.Generator().manual_seed(5)


@pytest.mark.parametrize("block", BLOCKS, ids=lambda b: type(b).__name__)
@given(st.integers(0, 1000), st.floats(-30, 30))
def test_scaling_all_gradients_scales_the_update(block: Combiner, seed: int, exponent: float) -> None:
    exact = torch.randn(3, 5, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    scaled = (exact * 10**exponent).float()
    eta = torch.tensor([0.5, 0.3, 0.2])
    expected = block(scaled.double(), eta, generator())
    update = block(scaled, eta, generator())
    assert update.isfinite().all()
    torch.testing.assert_close(update.double() / 10**exponent, expected / 10**exponent, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_sees_small_conflicts(dtype: torch.dtype) -> None:
    jacobian = (torch.tensor([[1.0, 0.0], [-1.0, 1.0]]) * 1e-4).to(dtype)
    update = PCGrad()(jacobian)
    assert update.dtype == dtype
    torch.testing.assert_close(update.double(), torch.tensor([0.5e-4, 1.5e-4]).double(), rtol=0.02, atol=0)
    assert PCGrad().merge(jacobian).conflict == 1


def test_extreme_sizes_change_the_precision_or_are_named() -> None:
    ordinary = torch.randn(4, 3, 5)
    assert gramian_of(ordinary).dtype == torch.float32
    torch.testing.assert_close(torch.vmap(gramian_of)(ordinary), gramian_of(ordinary))
    assert gramian_of(torch.randn(3, 5) * 1e-20).dtype == torch.float64
    jacobian = torch.tensor([[1.0, 0.0], [-1.0, 0.5]]) * 1e-20
    torch.testing.assert_close(PCGrad()(jacobian) * 1e20, PCGrad()(jacobian * 1e20))
    assert PCGrad().weights(jacobian @ jacobian.T).isfinite().all()  # subnormal
    refused("`jacobian` must be small enough for a finite result in torch.float32", Sum(), torch.full((3, 2), 3e38))
