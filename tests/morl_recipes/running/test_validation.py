from collections.abc import Sequence

import pytest
import torch
from torch import Tensor

from morl_envs.protocol import State
from morl_envs.toy import ToyBatch, toy
from morl_recipes import EnvSource, Run
from morl_recipes.learning.batch import Batch
from morl_recipes.recipe.settings import Settings
from morl_recipes.running.validation import BestPolicies, Evaluator
from tests.morl_recipes.worlds import tiny


def _batch(source: EnvSource | None = None, runs: int = 2) -> Batch:
    return Batch(
        [Run(tiny(), (0.5, 0.5), seed) for seed in range(runs)], source or toy(), Settings(total_steps=64, num_envs=4)
    )


class Counting(ToyBatch):
    """Every step earns the number of the episode; the episodes of environment k last ``lengths[k]`` steps."""

    def __init__(self, lengths: Sequence[int], seeds: Sequence[int]) -> None:
        super().__init__(len(lengths), seeds)
        self.lengths, self._episode = torch.tensor(lengths).unsqueeze(-1), torch.zeros(len(lengths), 1)

    def reset_tensors(self, mask: Tensor | None = None) -> Tensor:
        self._episode = self._episode + (1 if mask is None else mask)
        return super().reset_tensors(mask)

    def step_tensors(self, action: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        observation, _, _, truncated = super().step_tensors(action)
        terminated = self._step >= self.lengths
        return observation, self._episode.expand(-1, 2), terminated, truncated & ~terminated

    def get_state(self) -> State:
        return super().get_state() | {"episode": self._episode.clone()}

    def set_state(self, state: State) -> None:
        super().set_state(state)
        self._episode = state["episode"].clone()


@pytest.mark.parametrize("neighbour", [1, 5, 16])
def test_run_plays_the_same_episodes_however_long_its_neighbours_play(neighbour: int) -> None:
    def make(num_envs: int, seeds: Sequence[int]) -> Counting:
        per_run = num_envs // 2
        return Counting([2] * per_run + [neighbour] * per_run, seeds)

    evaluate = Evaluator(_batch(EnvSource("counting", make)), episodes=3)
    assert [evaluate()[0].tolist() for _ in range(3)] == [[2.0, 2.0], [4.0, 4.0], [6.0, 6.0]]


def test_validation_plays_one_whole_undiscounted_episode_per_environment() -> None:
    source = EnvSource(
        "counting", lambda count, seeds: Counting([1, 2, 3, 4, 5] * 2 if count == 10 else [2] * count, seeds)
    )
    assert Evaluator(_batch(source), episodes=5)().tolist() == [[3.0, 3.0], [3.0, 3.0]]  # mean of 1 .. 5 steps


def test_deterministic_and_stochastic_policies_differ_and_repeat() -> None:
    mode, sample = (Evaluator(_batch(), 4, deterministic=flag) for flag in (True, False))
    first = sample()
    assert not torch.equal(mode(), first)
    assert torch.equal(first, Evaluator(_batch(), 4, deterministic=False)())
    assert not torch.equal(first, sample())  # the next episodes, the next noise


def test_evaluation_does_not_touch_training() -> None:
    plain, watched = _batch(), _batch()
    evaluate = Evaluator(watched, 3, deterministic=False)
    for _ in range(2):
        plain.iterate()
        evaluate()
        watched.iterate()
    assert torch.equal(plain.actor.params, watched.actor.params)


def test_best_validation_is_kept_with_its_policy() -> None:
    batch = _batch()
    scores = BestPolicies(batch)
    first = scores(torch.tensor([[8.0, 4.0], [16.0, 32.0]]))
    assert first["hv"].tolist() == [0.125, 1.0]
    assert first["eu"].tolist() == [6.0, 24.0]
    batch.iteration = 1
    scores.keep_best(first, batch)
    policy = batch.actor.params.clone()
    batch.actor.params.add_(1.0)
    batch.iteration = 2
    scores.keep_best(scores(torch.tensor([[8.0, 8.0], [8.0, 8.0]])), batch)
    assert scores.best_iteration.tolist() == [2, 1]
    assert torch.equal(scores.best_policies[0][1], policy[1])
    assert torch.equal(scores.best_policies[0][0], policy[0] + 1)
    unusable = scores(torch.tensor([[torch.nan, 1.0], [16.0, 16.0]]))
    assert unusable["hv"].isnan().tolist() == [True, False]


@pytest.mark.parametrize("bounds", [True, False])
def test_expected_utility_decides_between_equal_or_missing_hypervolumes(bounds: bool) -> None:
    batch = _batch(None if bounds else EnvSource("unbounded", ToyBatch))
    scores = BestPolicies(batch)
    for batch.iteration, returns in enumerate(([-1.0, 4.0], [-1.0, 8.0], [-1.0, 2.0]), start=1):
        scores.keep_best(scores(torch.tensor([returns, [1.0, 1.0]])), batch)
    assert scores.best_iteration.tolist() == [2, 1]
    assert scores.best[:, 1].tolist() == [3.5, 1.0]
