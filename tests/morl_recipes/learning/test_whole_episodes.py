"""Advantages of whole episodes: what was collected counts, and is the same sum at every step."""

from dataclasses import replace

import torch

from morl_blocks.ppo import vector_advantage
from morl_blocks.scalarizers import SmoothTchebycheff
from morl_envs.toy import toy
from morl_recipes import ROWS, Recipe
from morl_recipes.learning.batch import Batch
from morl_recipes.learning.rollout import Rollout
from morl_recipes.learning.targets import Accrual, Targets, gae, targets_of
from morl_recipes.recipe import specs
from tests.morl_recipes.worlds import runs_of, tiny, trained

LINEAR = ROWS["baselines"]["Linear"]


def test_it_equals_a_loop_over_two_rollouts() -> None:
    torch.manual_seed(0)
    reward, done, gamma = torch.randn(2, 3, 40, 2), torch.rand(2, 3, 40, 1) < 0.2, torch.tensor([0.9, 1.0])
    accrual = Accrual(2, 3, 2)
    parts = [accrual.over(reward[:, :, own], done[:, :, own], gamma) for own in (slice(0, 15), slice(15, 40))]
    before, discount = (torch.cat(column, dim=2) for column in zip(*parts, strict=True))
    for run in range(2):
        for env in range(3):
            total, step = torch.zeros(2), 0
            for time in range(40):
                torch.testing.assert_close(before[run, env, time], total)
                torch.testing.assert_close(discount[run, env, time, 0], gamma[run] ** step)
                total, step = total + gamma[run] ** step * reward[run, env, time], step + 1
                if done[run, env, time]:
                    total, step = torch.zeros(2), 0


def _targets(recipe: Recipe, **numbers: float) -> tuple[Batch, Rollout, Targets]:
    batch = trained(runs_of(tiny(recipe, **numbers), 1, (0.3, 0.7)), 0, toy(horizon=10), num_envs=2)
    rollout = batch.collector.collect(batch.actor.params, batch.draw().noise, None)
    return batch, rollout, targets_of(batch, rollout, gae(batch, rollout))


def test_without_discount_a_linear_utility_does_not_see_what_was_collected() -> None:
    """It is in the return and in its forecast alike; only the bounds are wider."""
    batch, _, targets = _targets(replace(LINEAR, advantage=specs.OfEpisode()), gamma=1.0)
    span = (batch.normalizer.high - batch.normalizer.low).unsqueeze(1)
    gain = ((targets.returns - targets.value) / span * torch.tensor([0.3, 0.7])).sum(-1, keepdim=True)
    torch.testing.assert_close(targets.advantage, vector_advantage(gain), rtol=1e-3, atol=1e-4)


def test_the_utility_is_that_of_the_whole_episode() -> None:
    recipe = replace(LINEAR, scalarizer=specs.SmoothTchebycheff(0.05), advantage=specs.OfEpisode())
    batch, rollout, targets = _targets(recipe, gamma=0.9)
    collected, discount = Accrual(1, 2, 2).over(rollout.reward, rollout.done, torch.tensor([0.9]))
    whole, forecast = (
        batch.normalizer.normalize(collected.flatten(1, 2) + discount.flatten(1, 2) * tensor)
        for tensor in (targets.returns, targets.value)
    )
    utility, weights = SmoothTchebycheff(0.05), torch.tensor([0.3, 0.7])
    gain = (utility(whole, weights) - utility(forecast, weights)).unsqueeze(-1)
    torch.testing.assert_close(targets.advantage, vector_advantage(gain), rtol=1e-3, atol=1e-4)
    torch.testing.assert_close(targets.attention[0], utility.attention(whole[0], weights))
    assert float(batch.normalizer.low.min()) <= float(targets.returns.min())  # both kinds of return are in the bounds
    assert torch.equal(targets.target, targets.returns)  # the critic still learns what is to come
