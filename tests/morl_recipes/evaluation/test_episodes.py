"""Fresh episodes: a function of policy, preference and seed, whoever else plays."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from morl_envs.protocol import State
from morl_envs.toy import toy
from morl_recipes import EnvSource
from morl_recipes.common.scores import HYPERVOLUME, summarise
from morl_recipes.common.seeds import derive
from morl_recipes.evaluation.episodes import StackedPolicy, episode_returns, front_returns, held_out_returns
from morl_recipes.learning.networks import build_actor
from tests.morl_recipes.worlds import tiny
from tests.refusals import refused


class Dice:
    """Three steps that earn (u, 1 - u^2) with u uniform from the seed, times one plus a tenth of the action."""

    objectives: tuple[str, ...] = ("a", "b")
    observation_dim, action_dim, horizon = 2, 1, 3
    num_actions: int | None = None
    action_low: Tensor | None = torch.tensor([-1.0])
    action_high: Tensor | None = torch.tensor([1.0])

    def __init__(self, num_envs: int, seeds: Sequence[int]) -> None:
        self.num_envs = num_envs
        numbers = [np.random.default_rng(seed).random(3) for seed in seeds]
        self.luck, self.step = torch.tensor(np.array(numbers), dtype=torch.float32), 0

    def reset_tensors(self, mask: Tensor | None = None) -> Tensor:
        self.step = 0 if mask is None else self.step
        return torch.zeros(self.num_envs, 2)

    def step_tensors(self, action: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        luck = self.luck[:, self.step % 3]
        self.step += 1
        reward = torch.stack([luck, 1 - luck**2], dim=-1) * (1 + 0.1 * action)
        end = torch.full((self.num_envs, 1), self.step >= 3)
        return torch.zeros(self.num_envs, 2), reward, torch.zeros_like(end), end

    def get_state(self) -> State:
        """Nothing carries over."""
        return {}

    def set_state(self, state: State) -> None:
        return None


DICE = EnvSource("dice", Dice)
BOUNDS = ([0.0, 0.0], [3.0, 3.0])


Seeded = tuple[dict[str, Tensor], int]


def _policies(count: int, source: EnvSource) -> list[Seeded]:
    env, policies = source.make(1, [0]), []
    for seed in range(count):
        torch.manual_seed(seed)
        policies.append(({n: p.detach() for n, p in build_actor(tiny(), env).named_parameters()}, seed))
    return policies


def _play(policies: Sequence[Seeded], source: EnvSource, episodes: int, **how: int) -> Tensor:
    tensors, seeds = zip(*policies, strict=True)
    return held_out_returns(tiny(), tensors, seeds, [(0.5, 0.5)] * len(seeds), source, episodes, **how)


def test_a_policy_plays_the_same_whoever_else_does_and_however_the_work_is_cut() -> None:
    policies = _policies(5, toy())
    together = _play(policies, toy(), 4)
    assert together.shape == (5, 4, 2)
    assert torch.equal(together, _play(policies, toy(), 4, at_once=8))
    for others in ([0], [1], [2], [3], [4], [3, 0]):
        assert torch.equal(together[others], _play([policies[index] for index in others], toy(), 4))


def test_other_seeds_play_other_episodes_and_more_episodes_begin_with_the_same() -> None:
    ((tensors, _),) = _policies(1, DICE)
    few, more, elsewhere = (_play([(tensors, seed)], DICE, count)[0] for seed, count in ((0, 3), (0, 6), (7, 3)))
    assert torch.equal(few, more[:3])
    assert not torch.equal(few, elsewhere)


def test_the_stream_is_nobody_elses() -> None:
    names = ("test", "evaluation", "environment", "actor", "critic", "learning")
    seeds = [derive(seed, name, index) for seed in range(20) for name in names for index in range(100)]
    assert len(set(seeds)) == len(seeds)
    opened: list[Sequence[int]] = []

    def make(count: int, given: Sequence[int]) -> Dice:
        opened.append(list(given))
        return Dice(count, given)

    _play(_policies(2, DICE), EnvSource("dice", make), 3)
    first = opened[0]
    assert first[:6] == [derive(seed, "test", index) for seed in range(2) for index in range(3)]
    assert set(first[6:]) == {derive(0, "test", index) for index in range(3)}  # the first one, repeated


def test_95_percent_of_the_intervals_hold_the_long_run_mean() -> None:
    ((tensors, seed),) = _policies(1, DICE)
    long_run = summarise(_play([(tensors, seed)], DICE, 20_000)[0].double().numpy(), np.ones(2) / 2, BOUNDS)
    plays = _play([(tensors, 100 + k) for k in range(200)], DICE, 100)
    held: dict[str, list[bool]] = {"a": [], "b": [], "hv": [], "eu": []}
    for play in plays.double().numpy():
        found = summarise(play, np.ones(2) / 2, BOUNDS)
        pairs = dict(zip("ab", zip(found["returns"], found["returns_se"], strict=True), strict=True))
        pairs |= {name: (found[name], found[f"{name}_se"]) for name in ("hv", "eu")}
        truth = dict(zip("ab", long_run["returns"], strict=True)) | {n: long_run[n] for n in ("hv", "eu")}
        for name, (mean, error) in pairs.items():
            held[name].append(abs(mean - truth[name]) <= 1.96 * error)
    for name, inside in held.items():
        assert 0.90 <= np.mean(inside) <= 0.99, name


def test_the_error_of_the_hypervolume_is_that_of_the_delta_method() -> None:
    returns = np.random.default_rng(0).normal([1.5, 2.0], 0.3, size=(400, 2))
    centred = (returns - returns.mean(0)) @ (returns.mean(0)[::-1] / 9)  # slope of the product of both means
    found = summarise(returns, np.ones(2) / 2, BOUNDS)["hv_se"]
    assert found == pytest.approx(centred.std(ddof=1) / 20, rel=0.01)
    assert np.isnan(summarise(returns[:1], np.ones(2) / 2, BOUNDS)["hv_se"])
    assert np.isnan(summarise(returns, np.ones(2) / 2, None)[HYPERVOLUME.name])


def test_observations_that_are_not_finite_spoil_their_episode() -> None:
    class Broken(Dice):
        def step_tensors(self, action: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
            observation, *rest = super().step_tensors(action)
            observation[0, 0] = torch.nan
            return observation, *rest  # type: ignore[return-value]

    returns = _play(_policies(1, DICE), EnvSource("broken", Broken), 3)
    assert returns[0].isnan().all(-1).tolist() == [True, False, False]


def test_scaled_observations_are_part_of_a_policy() -> None:
    (plain,) = _policies(1, toy())
    statistics = {"observation_mean": torch.full((4,), 3.0), "observation_variance": torch.full((4,), 4.0)}
    scaled = ({**plain[0], **statistics}, 0)
    assert not torch.equal(_play([plain], toy(), 2), _play([scaled], toy(), 2))


class Fixed:
    """An actor whose most likely action is 0.75 of the way, or nothing, and whose samples are the noise."""

    def output(self, flat: Tensor, joined: Tensor) -> Tensor:
        return torch.where(joined[..., :1] > 0, torch.nan, 0.75)

    def ask(self, flat: Tensor, what: str, output: Tensor, *noise: Tensor) -> Tensor:
        return output if what == "mode" else noise[0]


FIXED: Any = Fixed()


def test_stacked_policies_act_within_the_bounds_and_use_up_their_noise() -> None:
    env, preferences = Dice(2, [0, 1]), torch.full((2, 1, 2), 0.5)
    env.action_low, env.action_high = torch.tensor([-2.0]), torch.tensor([2.0])
    observation = torch.tensor([[0.0, 0.0], [1.0, 0.0]])
    likely = StackedPolicy(FIXED, torch.zeros(2, 0), preferences, env)
    assert likely(observation).tolist() == [[1.0], [0.0]]
    noise = torch.tensor([[0.0, 0.5, 1.0], [1.0, 0.5, 0.0]]).reshape(2, 3, 1, 1)
    drawn = StackedPolicy(FIXED, torch.zeros(2, 0), preferences, env, noise=noise)
    actions = [drawn(observation).flatten().tolist() for _ in range(3)]
    assert actions == [[-2.0, 2.0], [0.0, 0.0], [2.0, -2.0]]


def test_bad_input_raises() -> None:
    env = Dice(1, [0])
    env.horizon, env.action_high = 0, None
    refused("`env` must have a horizon of at least one step", episode_returns, env, torch.nn.Identity())
    rule = "`env` must have discrete actions or action bounds, got Dice"
    refused(rule, StackedPolicy, FIXED, torch.zeros(1, 0), torch.zeros(1, 1, 2), env)
    refused("`episodes` must be a whole number >= 1, got 0", _play, _policies(1, DICE), DICE, 0)
    refused("`policy` must have parameters of the shapes", _play, _policies(1, DICE), toy(), 1)


class Steady(torch.nn.Module):
    """The same action everywhere."""

    def __init__(self, action: float) -> None:
        super().__init__()
        self.action = torch.nn.Parameter(torch.tensor([action]))

    def forward(self, observation: Tensor, _: Tensor) -> Tensor:
        return self.action.expand(len(observation), 1)


def test_returns_of_a_policy_on_a_front_do_not_depend_on_other_policies() -> None:
    policies: Any = [Steady(0.5), Steady(-0.5)]
    both = front_returns(policies, [3, 4], torch.full((2, 2, 2), 0.5), DICE, episodes=2)
    alone = front_returns(policies[:1], [3], torch.full((1, 2, 2), 0.5), DICE, episodes=2)
    assert both.shape == (2, 2, 2, 2)
    torch.testing.assert_close(alone[0], both[0], rtol=0, atol=0)
