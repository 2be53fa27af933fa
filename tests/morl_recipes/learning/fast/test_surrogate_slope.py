"""The derivative that is written out, against autograd through the public loss."""

import pytest
import torch

from morl_blocks.ppo import clipped_objectives
from morl_blocks.ppo.surrogate import largest_log_ratio
from morl_recipes.learning.fast.update import surrogate_slope


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("advantage", [2.0, 0.0, -2.0])
def test_equals_the_public_loss_up_to_ratios_that_overflow(dtype: torch.dtype, advantage: float) -> None:
    largest = largest_log_ratio(dtype)
    around = [largest + offset for offset in (-1.0, 0.0, 1.0)]
    far = [2 * largest, 1e30, -2 * largest]
    log_prob = torch.tensor([[-0.5, -0.1, 0.0, 0.1, 0.5, *around, *far]], dtype=dtype, requires_grad=True)
    old, clip = torch.zeros_like(log_prob), torch.tensor([0.2], dtype=dtype)
    advantages = torch.full((*log_prob.shape, 1), advantage, dtype=dtype)
    (expected,) = torch.autograd.grad(clipped_objectives(log_prob, old, advantages, clip).sum(), log_prob)
    slope = surrogate_slope(log_prob.detach(), old, advantages, clip).squeeze(-1)
    torch.testing.assert_close(slope, expected, rtol=1e-5, atol=0)
    assert bool(expected.isfinite().all())
    if advantage < 0:
        assert slope[0, 5] != 0, "just below the largest ratio it still moves"
