"""The fast update is an optimisation: on every recipe it trains what the generic one trains."""

from collections.abc import Sequence
from dataclasses import replace
from importlib import import_module
from typing import cast

import pytest
import torch
from torch import Tensor

from morl_blocks.combiners import PCGrad, Sum
from morl_envs.source import Make
from morl_envs.toy import ToyBatch, toy
from morl_recipes import PASTA, ROWS, EnvSource, Recipe, Run
from morl_recipes.learning import adam
from morl_recipes.recipe import specs
from tests.morl_recipes.worlds import runs_of, tiny, trained
from tests.refusals import refused

RECIPES = {recipe.to_json(): (f"{group}/{name}", recipe) for group in ROWS for name, recipe in ROWS[group].items()}
CONDITIONED = {
    "Exact PCGrad": replace(ROWS["ours"]["Exact PCGrad"], preferences=specs.Uniform()),
    "Grouped PCGrad": replace(PASTA, combiner=specs.GroupedPCGrad(groups=3), preferences=specs.Dirichlet(0.5)),
    "Grouped PCGrad, one preference": replace(PASTA, combiner=specs.GroupedPCGrad(groups=3)),
    "PASTA": replace(PASTA, preferences=specs.Grid(5)),
}
RECIPES |= {recipe.to_json(): (f"conditioned/{name}", recipe) for name, recipe in CONDITIONED.items()}
KINDS: dict[object, list[tuple[str, Recipe]]] = {}
for _name, _recipe in RECIPES.values():
    KINDS.setdefault(_recipe.structure(), []).append((_name, _recipe))


class Choices(ToyBatch):
    """The toy world with three discrete actions."""

    num_actions = 3

    def __init__(self, num_envs: int, seeds: Sequence[int]) -> None:
        super().__init__(num_envs, seeds)
        self.action_low = self.action_high = None

    def step_tensors(self, action: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        observation, _, terminated, truncated = super().step_tensors(torch.zeros(self.num_envs, 2))
        return observation, torch.nn.functional.one_hot(action, 3)[:, :2].float(), terminated, truncated


WORLDS = {"continuous": toy(), "discrete": EnvSource("choices", cast("Make", Choices))}


def train(recipes: Sequence[Recipe], form: str, source: EnvSource, iterations: int = 3) -> list[Tensor]:
    """Return parameters, moments, bounds and everything watched; no gradient is clipped, so that its size shows."""
    runs = [
        Run(tiny(recipe, max_gradient_norm=1e3), (0.3 + 0.01 * i, 0.7 - 0.01 * i), i)
        for i, recipe in enumerate(recipes)
    ]
    batch = trained(runs, iterations - 1, source, total_steps=64 * iterations, update=form)
    assert batch.how == form
    watched = batch.iterate().metrics
    assert bool(batch.alive.all())
    return [*batch.actor, *batch.critic, batch.normalizer.low, batch.normalizer.high, *watched.values()]


def largest_difference(recipes: Sequence[Recipe], world: str) -> float:
    """Return the largest difference between the two forms, relative to the length of each tensor."""
    shares = []
    for one, other in zip(*(train(recipes, form, WORLDS[world]) for form in ("generic", "fast")), strict=True):
        assert torch.equal(one.isfinite(), other.isfinite())
        shares.append(float((one - other).nan_to_num().norm() / (one.nan_to_num().norm() + 1e-9)))
    return max(shares[:8])


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("members", KINDS.values(), ids=[members[0][0] for members in KINDS.values()])
def test_every_recipe_in_a_batch_of_its_kind_and_one_alone(members: list[tuple[str, Recipe]], world: str) -> None:
    recipes = [recipe for _, recipe in members]
    assert largest_difference(recipes[:1], world) < 1e-5
    torch.set_default_dtype(torch.float64)  # so that no branch hangs on rounding
    try:
        assert largest_difference((recipes * 5)[: max(5, len(recipes))], world) < 1e-9
    finally:
        torch.set_default_dtype(torch.float32)


@pytest.mark.parametrize(
    ("place", "name", "factor"),
    [
        ("morl_recipes.learning.fast.update", "surrogate_slope", -1.0),  # the loss's sign, in the fast form
        ("morl_blocks.ppo.surrogate", "clipped_objectives", -1.0),  # ... and in the public block
        ("morl_blocks.critics.attention_weighted", "checked_loss", 2.0),  # the value loss's factor
    ],
)
def test_the_tie_notices_a_change_on_either_side(
    monkeypatch: pytest.MonkeyPatch, place: str, name: str, factor: float
) -> None:
    function = getattr(import_module(place), name)
    monkeypatch.setattr(f"{place}.{name}", lambda *args: factor * function(*args))
    assert largest_difference([PASTA], "continuous") > 1e-4


@pytest.mark.parametrize("form", ["generic", "fast"])
@pytest.mark.parametrize(
    ("place", "name", "value"), [(PCGrad, "combine", Sum.combine), (adam, "EPSILON", 1e-2)], ids=["PCGrad", "Adam"]
)
def test_both_forms_call_the_public_combiner_and_one_adam(
    monkeypatch: pytest.MonkeyPatch, place: object, name: str, value: object, form: str
) -> None:
    expected = train([PASTA], form, toy())
    monkeypatch.setattr(place, name, value)
    assert not torch.allclose(expected[0], train([PASTA], form, toy())[0], rtol=1e-4, atol=1e-6)


def test_unknown_blocks_train_by_the_generic_update_and_refuse_the_fast_one() -> None:
    recipe = Recipe(actor=specs.Actor(activation="ReLU"))
    assert trained(runs_of(tiny(recipe), 1), 0).how == "generic"
    assert trained(runs_of(tiny(), 1), 0, compile=True).how == "fast, compiled"  # it is compiled at the first step
    refused(
        "`update` must be 'auto' or 'generic' .* got 'fast', which does not know ReLU", train, [recipe], "fast", toy()
    )


def test_a_combiner_that_differentiates_trains_by_the_fast_update_without_inference_mode() -> None:
    class Differentiating(Sum):
        def combine(self, gramian: Tensor, attention: Tensor, noise: Tensor | None) -> Tensor:
            with torch.enable_grad():
                weights = torch.ones_like(attention).requires_grad_()
                (gradient,) = torch.autograd.grad((weights * gramian.diagonal(dim1=-2, dim2=-1)).sum(), weights)
            return torch.ones_like(gradient)

    own = replace(PASTA, combiner=specs.spec(Differentiating, name="Differentiating")())
    expected = train([replace(PASTA, combiner=specs.Sum())], "fast", toy())
    assert torch.equal(train([own], "fast", toy())[0], expected[0])
