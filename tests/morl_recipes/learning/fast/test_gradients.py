"""Every way to the inner products of the objectives' gradients."""

import pytest
import torch

from morl_blocks.ppo import clipped_objectives
from morl_blocks.ppo.surrogate import largest_log_ratio
from morl_recipes.learning.fast.update import layer_gradients, layer_kernel, objective_gramian, surrogate_slope
from morl_recipes.learning.minibatch import Hyper, Minibatch, Samples, prepare

RUNS, M = 2, 3


def _first(batches: Minibatch) -> Minibatch:
    return Minibatch(*(column[0] for column in batches))


@pytest.mark.parametrize("size", [2, 12, 64])  # by the kernel, by both, by the gradients
def test_every_way_to_the_gramian_agrees(size: int) -> None:
    features, errors = [torch.randn(RUNS, size, k) for k in (16, 16)], [torch.randn(RUNS, size, k) for k in (16, 2)]
    slope, per_sample = torch.randn(RUNS, size, 2), torch.randn(RUNS, size, M)
    kernel = sum((layer_kernel(f, e) for f, e in zip(features, errors, strict=True)), torch.bmm(slope, slope.mT))
    pieces = [torch.bmm(per_sample.mT, slope)]
    for inputs, error in zip(features, errors, strict=True):
        pieces.extend(layer_gradients(inputs, error, per_sample))
        single = torch.einsum("rbm,rbo,rbi->rmoi", per_sample, error, inputs)
        torch.testing.assert_close(pieces[-2], single.flatten(2), rtol=1e-4, atol=1e-3)
    jacobian = torch.cat(pieces, -1)
    expected = jacobian @ jacobian.mT
    scale = float(expected.abs().max())
    torch.testing.assert_close(per_sample.mT @ kernel @ per_sample, expected, rtol=1e-4, atol=1e-5 * scale)
    chosen = objective_gramian(features, errors, {"log_std": slope}, per_sample)
    torch.testing.assert_close(chosen, expected, rtol=1e-4, atol=1e-5 * scale)


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
    slope = surrogate_slope(log_prob.detach(), _first(prepare(samples, hyper, lambda own: own, standardise=False)))
    slope = slope.squeeze(-1)
    torch.testing.assert_close(slope, expected, rtol=1e-5, atol=0)
    assert bool(expected.isfinite().all())
    if advantage < 0:
        assert slope[0, 5] != 0, "just below the largest ratio it still moves"
