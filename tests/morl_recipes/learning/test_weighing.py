"""In a conditioned run the weights belong to the sample."""

from dataclasses import replace
from typing import Any, Literal

import pytest
import torch
from torch import Tensor

from morl_blocks.combiners import GroupedPCGrad
from morl_blocks.preferences import PreferenceSampler
from morl_envs.toy import toy
from morl_recipes import PPO, ROWS, Recipe
from morl_recipes.learning.batch import Batch
from morl_recipes.learning.blocks import Weighing
from morl_recipes.learning.minibatch import Samples
from morl_recipes.recipe import specs
from morl_recipes.recipe.spec import AnySpec, Live
from tests.morl_recipes.worlds import runs_of, tiny, trained
from tests.refusals import refused

LINEAR = ROWS["ours"]["Linear, vector advantages"]
PREFERENCE = (0.3, 0.7)


class Same(PreferenceSampler):
    """Draw the same preference every time."""

    def draw(self, count: int, num_objectives: int, generator: torch.Generator) -> Tensor:
        return torch.tensor([PREFERENCE]).expand(count, -1)


def _batch(advantage: Tensor, attention: Tensor, preferences: Tensor) -> Samples:
    nothing = torch.zeros(*advantage.shape[:-1], 1)
    return Samples(preferences, nothing, nothing[..., 0], advantage, attention, attention)


def _train(recipe: Recipe, form: Literal["generic", "fast"] = "fast", iterations: int = 3) -> Batch:
    return trained(runs_of(tiny(recipe, max_gradient_norm=1e3), 2, PREFERENCE), iterations, update=form)


def test_a_sample_is_weighed_by_m_times_its_own_attention() -> None:
    advantage, attention = torch.tensor([[[2.0, 4.0], [1.0, -1.0]]]), torch.tensor([[[0.25, 0.75], [1.0, 0.0]]])
    weighed = Weighing(per_sample=True)(_batch(advantage, attention, attention))
    torch.testing.assert_close(weighed.advantage, torch.tensor([[[1.0, 6.0], [2.0, 0.0]]]))
    torch.testing.assert_close(weighed.attention, torch.full((1, 2, 2), 0.5))


def test_a_scalarised_advantage_and_an_ordinary_run_are_left_alone() -> None:
    scalar = _batch(torch.ones(1, 4, 1), torch.full((1, 4, 2), 0.5), torch.full((1, 4, 2), 0.5))
    assert Weighing(per_sample=True)(scalar) is scalar
    assert Weighing()(scalar) is scalar


def test_groups_get_columns_of_their_own() -> None:
    advantage = torch.arange(1.0, 7.0).reshape(1, 3, 2)
    preferences = torch.tensor([[[0.0, 1.0], [1.0, 0.0], [0.1, 0.9]]])
    weighed = Weighing.of(GroupedPCGrad(2), 2, conditioned=True)(
        _batch(advantage, torch.full((1, 3, 2), 0.5), preferences)
    )
    assert weighed.advantage[0].tolist() == [[1, 2, 0, 0], [0, 0, 3, 4], [5, 6, 0, 0]]


@pytest.mark.parametrize(
    ("combiner", "conditioned", "expected"),
    [
        (specs.WeightedSum(), False, Weighing()),
        (specs.WeightedSum(), True, Weighing(per_sample=True)),
        (specs.PCGrad(), True, Weighing()),  # sums without weights, whatever the preference
        (specs.GroupedPCGrad(groups=3), False, Weighing(per_sample=True, groups=3)),
    ],
)
def test_who_weighs_samples(combiner: AnySpec, conditioned: bool, expected: Weighing) -> None:
    assert Weighing.of(combiner.build(), 2, conditioned=conditioned) == expected


@pytest.mark.parametrize("form", ["generic", "fast"])
@pytest.mark.parametrize(
    ("combiner", "changes", "iterations"),
    [
        *((combiner, {"preferences": Live(Same())}, 3) for combiner in (specs.WeightedSum(), specs.WeightedPCGrad())),
        (specs.WeightedSum(rescale=False), {"preferences": Live(Same())}, 3),
        # With two objectives there is one order, so the draws of another shape do not matter in the first iteration.
        (specs.WeightedPCGrad(), {"combiner": specs.GroupedPCGrad(groups=4)}, 1),
    ],
)
def test_one_preference_for_all_samples_trains_as_an_ordinary_run(
    combiner: AnySpec, changes: dict[str, Any], iterations: int, form: Literal["generic", "fast"]
) -> None:
    """Linear attention is the preference: weights on samples and weights on objectives are then the same."""
    ordinary = replace(LINEAR, combiner=combiner)
    first, second = (_train(recipe, form, iterations) for recipe in (ordinary, replace(ordinary, **changes)))
    torch.testing.assert_close(first.actor.params, second.actor.params, rtol=1e-4, atol=1e-6)
    torch.testing.assert_close(first.critic.params, second.critic.params, rtol=1e-4, atol=1e-6)
    if "combiner" in changes:
        torch.testing.assert_close(first.conflict, second.conflict)


@pytest.mark.parametrize("world", [2, 3])
def test_a_conditioned_policy_follows_its_preference(world: int) -> None:
    """The linear optimum of the toy world is the preference itself, as an action."""
    numbers = PPO(learning_rate=3e-3, steps_per_iteration=512, epochs=6, minibatch_size=64)
    recipe = replace(LINEAR, preferences=specs.Uniform(), ppo=numbers)
    source = toy(objectives=world, action_dim=world)
    batch = trained(runs_of(recipe, 1, (1 / world,) * world), 25, source, total_steps=25 * 512, num_envs=8)
    corners = torch.eye(world)
    inputs = torch.cat([torch.zeros(world, 4), corners], -1).unsqueeze(0)
    actor = batch.learner.actor
    action = 2 * actor.ask(batch.actor.params, "mode", actor.output(batch.actor.params, inputs))[0] - 1
    own = action.diagonal()
    assert bool((own > 0.5).all())
    assert float((action - corners).abs().max()) < 0.5


def test_a_penalty_trains_by_the_generic_update_and_is_added_once() -> None:
    drawn = replace(LINEAR, preferences=specs.Uniform())
    without, zero, some = (
        _train(replace(drawn, penalty=penalty), "generic", iterations=1)
        for penalty in (None, specs.Indifference(coefficient=0.0), specs.Indifference(coefficient=1e4, scale=10.0))
    )
    torch.testing.assert_close(without.actor.params, zero.actor.params)
    assert not torch.allclose(without.actor.params, some.actor.params, atol=1e-4)
    torch.testing.assert_close(without.conflict, zero.conflict)
    penalised = replace(drawn, penalty=specs.Indifference())
    refused("'fast', which does not know Indifference", _train, penalised, "fast")
