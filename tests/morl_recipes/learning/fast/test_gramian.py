"""Every way to the inner products of the objectives' gradients."""

import pytest
import torch

from morl_recipes.learning.fast.update import layer_gradients, layer_kernel, objective_gramian

RUNS, M = 2, 3


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
