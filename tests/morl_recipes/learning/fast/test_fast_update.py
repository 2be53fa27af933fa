"""What the comparison with the plain update does not reach: ratios that overflow, and parameters kept as views."""

import pytest
import torch

from morl_blocks.critics import BranchedCritic
from morl_blocks.ppo import clipped_objectives
from morl_blocks.ppo.surrogate import largest_log_ratio
from morl_recipes.learning.fast.networks import fast_critic
from morl_recipes.learning.fast.update import surrogate_slope
from morl_recipes.learning.lift import Layout
from morl_recipes.learning.minibatch import Hyper, Minibatch, Samples, prepare


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
    hyper, column = Hyper(clip, clip, clip, clip), torch.ones_like(advantages)
    samples = Samples(column, column, old, advantages, column, column).take(torch.arange(11).reshape(1, 1, -1))
    prepared = prepare(samples, hyper, lambda own: own, standardise=False)
    slope = surrogate_slope(log_prob.detach(), Minibatch(*(column[0] for column in prepared))).squeeze(-1)
    torch.testing.assert_close(slope, expected, rtol=1e-5, atol=0)
    assert bool(expected.isfinite().all())
    if advantage < 0:
        assert slope[0, 5] != 0, "just below the largest ratio it still moves"


def test_parameters_are_read_again_after_a_change_in_place_and_for_another_tensor() -> None:
    module = BranchedCritic(4, 2, hidden=8)
    critic, flat = fast_critic(module), torch.randn(3, Layout.of(module).size)
    inputs, first = torch.randn(3, 5, 6), flat.clone()
    before = critic.values(flat, inputs)
    flat.mul_(0.5)
    assert torch.equal(critic.values(flat, inputs), critic.values(flat.clone(), inputs))
    assert torch.equal(critic.values(first, inputs), before)
