"""The row SER-STCH, trained whole, mixes the ends of a concave front as asked; Linear goes to an end."""

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

import torch
from torch import Tensor

from benchmarks import _faithful_worlds as worlds
from morl_envs.source import Make
from morl_envs.toy import ToyBatch
from morl_recipes import ROWS, EnvSource, Recipe, Run
from tests.morl_recipes.worlds import trained

MEANS = worlds.concave_arms().mean.float()
ASKED = ((0.35, 0.65), (0.65, 0.35))
ITERATIONS = 40


class Arms(ToyBatch):
    """One step, sure arms on a concave front, nothing to see."""

    num_actions = len(MEANS)

    def __init__(self, num_envs: int, seeds: Sequence[int]) -> None:
        super().__init__(num_envs, seeds, horizon=1)
        self.action_low = self.action_high = None

    def reset_tensors(self, mask: Tensor | None = None) -> Tensor:
        return torch.zeros_like(super().reset_tensors(mask))

    def step_tensors(self, action: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        observation, *_ = super().step_tensors(torch.zeros(self.num_envs, 2))
        ended = torch.ones(self.num_envs, 1, dtype=torch.bool)
        return torch.zeros_like(observation), MEANS[action], ended, torch.zeros_like(ended)


def regrets(recipe: Recipe) -> tuple[Tensor, Tensor]:
    """Train one policy per preference; return exact expected returns and what they lack, relative to the best."""
    quick = replace(recipe.ppo, steps_per_iteration=512, minibatch_size=128, epochs=4, entropy_coefficient=0.0)
    quick = replace(quick, learning_rate=1e-3, learning_rate_decay=1.0)
    runs = [Run(replace(recipe, ppo=quick), preference, 0) for preference in ASKED]
    source = EnvSource("arms", cast("Make", Arms))
    batch = trained(runs, ITERATIONS, source, total_steps=512 * ITERATIONS, num_envs=8)
    inputs = torch.cat([torch.zeros(len(ASKED), 1, batch.env.observation_dim), batch.preferences.unsqueeze(1)], dim=-1)
    with torch.no_grad():
        policy = batch.learner.actor.output(batch.actor.params, inputs).softmax(-1).squeeze(1)
    achieved, weights = policy.double() @ MEANS.double(), torch.tensor(ASKED, dtype=worlds.DOUBLE)
    ends, ask = torch.eye(2, dtype=worlds.DOUBLE), worlds.utility()
    top = ask(worlds.best_between(ends[1], ends[0], weights), weights)
    return achieved, (top - ask(achieved, weights)) / top.abs()


def test_ser_stch_mixes_and_linear_does_not() -> None:
    achieved, regret = regrets(ROWS["ours"]["SER-STCH"])
    assert float(regret.mean()) < 0.05
    assert ((achieved > 0.1) & (achieved < 0.9)).all()
    achieved, regret = regrets(ROWS["baselines"]["Linear"])
    assert (achieved.amax(-1) > 0.95).all()
    assert float(regret.mean()) > 0.15
