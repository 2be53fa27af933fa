from dataclasses import replace

import torch

from morl_blocks.combiners import WeightedPCGrad
from morl_recipes import PASTA, ROWS, Recipe
from morl_recipes.learning.blocks import Combine, Scalarizers
from morl_recipes.learning.streams import Streams
from morl_recipes.recipe import specs
from tests.refusals import refused


def test_every_run_has_its_own_scalarizer_and_smoothness() -> None:
    recipes = [PASTA, ROWS["rho"]["rho=0.5"], ROWS["baselines"]["STCH (0.1)"], ROWS["baselines"]["Linear"]]
    scalarizers = Scalarizers(recipes)
    scalarizers.step(0.5, torch.tensor([0.0, 1.0, 0.0, 0.0]))
    values, weights = torch.rand(4, 5, 2), torch.full((4, 5, 2), 0.5)
    attention = scalarizers.attention(values, weights)
    for run, recipe in enumerate(recipes):
        alone = recipe.build_scalarizer()
        if hasattr(alone, "step"):
            alone.step(0.5, float(run == 1))
        assert torch.equal(attention[run], alone.attention(values[run], weights[run]))
    torch.testing.assert_close(scalarizers.mu, torch.tensor([9.75125, 10.0, 0.1, torch.nan]), equal_nan=True)


def test_a_smooth_scalarizer_needs_a_scheduler() -> None:
    refused("`mu` must be a scheduler for AdaptiveSmoothTchebycheff", replace, PASTA, mu=None)


def _looped(recipe: Recipe = PASTA) -> Combine:
    combine = Combine([replace(recipe, combiner=specs.WeightedPCGrad())] * 2, 2)
    combine.batched, combine.blocks = False, torch.nn.ModuleList([WeightedPCGrad(), WeightedPCGrad()])
    return combine


def test_a_loop_over_runs_gives_what_one_call_gives() -> None:
    jacobian = torch.randn(2, 3, 8)
    gramian, attention = jacobian @ jacobian.mT, torch.rand(2, 3).softmax(-1)
    together = Combine([replace(PASTA, combiner=specs.WeightedPCGrad())] * 2, 2)
    noise = together.draw(1, 3, Streams([1, 2], "learning").generators)
    assert noise is not None
    for expected, own in zip(
        together(gramian, attention, noise[0]), _looped()(gramian, attention, noise[0]), strict=True
    ):
        torch.testing.assert_close(own, expected)


def test_the_noise_of_a_run_comes_from_its_own_generator() -> None:
    combine = Combine([PASTA] * 2, 2)
    first, second = (combine.draw(4, 3, Streams(seeds, "learning").generators) for seeds in ([1, 2], [1, 9]))
    assert first is not None
    assert second is not None
    assert torch.equal(first[:, 0], second[:, 0])
    assert not torch.equal(first[:, 1], second[:, 1])


def test_a_gramian_that_is_not_finite_fails_alone() -> None:
    gramian = torch.stack([torch.eye(2), torch.full((2, 2), torch.nan)])
    combine = _looped()
    noise = combine.draw(1, 2, Streams([1, 2], "learning").generators)
    assert noise is not None
    _, weights = combine(gramian, torch.full((2, 2), 0.5), noise[0])
    assert weights[0].tolist() == [1.0, 1.0]
    assert weights[1].isnan().all()
