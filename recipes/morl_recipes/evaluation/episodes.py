"""Play one episode per environment of a batch: the only loop, for validation, tests, fronts and films."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import NamedTuple

import torch
from torch import Tensor

from morl_blocks.metrics import discounted_returns
from morl_blocks.metrics.arrays import Array
from morl_blocks.ppo import unit_box_to_action
from morl_envs.protocol import TensorEnv, check_playable
from morl_envs.source import EnvSource
from morl_recipes.common import checks
from morl_recipes.common.seeds import derive
from morl_recipes.evaluation.saved_policy import SavedPolicy
from morl_recipes.learning.lift import LiftedActor, StackedActor
from morl_recipes.learning.networks import build_actor
from morl_recipes.learning.observations import STATISTICS, scaled
from morl_recipes.recipe.recipe import Recipe

AT_ONCE = 1600
"""Maximal number of environments that are open at once; more of them do not fit into the processor's cache."""
LANES = 32
"""Number of elements that a vectorised loop of PyTorch processes at once, with the widest registers."""
TEST, FRONT = "test", "front"
"""Random streams of a run for the episodes of its tests and of its front."""

Policy = Callable[[Tensor], Tensor]
"""Maps observations ``[N, n]`` to actions of the environment."""


class Step(NamedTuple):
    """A step: its number, observation ``[N, n]``, rewards ``[N, m]``, masks of active and of finished environments."""

    number: int
    observation: Tensor
    reward: Tensor
    playing: Tensor
    done: Tensor


@torch.no_grad()
def play_steps(env: TensorEnv, policy: Policy, first: Tensor | None = None) -> Iterator[Step]:
    """Play until every environment has finished one episode; environments that finish earlier continue.

    ``first`` is the first observation, if the episodes have already started.
    """
    observation = env.reset_tensors() if first is None else first
    playing = torch.ones(env.num_envs, 1, dtype=torch.bool, device=observation.device)
    for number in range(env.horizon):
        following, reward, terminated, truncated = env.step_tensors(policy(observation))
        done = terminated | truncated
        yield Step(number, observation, reward, playing, done)
        playing = playing & ~done
        if not bool(playing.any()):
            return
        observation = env.reset_tensors(done) if bool(done.any()) else following


def episode_returns(env: TensorEnv, policy: Policy, gamma: float = 1.0, first: Tensor | None = None) -> Tensor:
    r"""Return the return :math:`\sum_t \gamma^t r_t` of one episode per environment, ``[N, m]``.

    It is NaN for an episode with an observation that is not finite.
    """
    total: Tensor | None = None
    for step in play_steps(env, policy, first):
        total = torch.zeros(step.reward.shape, device=step.reward.device) if total is None else total
        finite = step.observation.isfinite().all(-1, keepdim=True)
        earned = torch.where(finite, gamma**step.number * step.reward.to(total), torch.nan)
        total += torch.where(step.playing, earned, 0.0)
    if total is None:
        checks.fail("env", "have a horizon of at least one step", env.horizon)
    return total


def play_returns(policy: Policy, env: TensorEnv, gamma: float = 1.0) -> Array:
    r"""Play one episode in each environment of a batch and return its discounted returns (maximise).

    .. math:: J_n = \sum_t \gamma^t r_{t,n}

    The discount is that of the *evaluation*, which a protocol fixes; training may use another.

    Args:
        policy: Maps observations ``[N, n]`` to actions ``[N, action_dim]``, or ``[N]`` integers.
        env: N environments, such as those of :func:`morl_envs.make_batch`.
        gamma: Discount, in (0, 1].

    Returns:
        Returns of the N episodes, ``[N, m]``; their mean is the policy's point on a front.

    Example:
        >>> from morl_envs import make_batch
        >>> down = lambda observation: torch.ones(len(observation), dtype=torch.int64)
        >>> play_returns(down, make_batch("deep-sea-treasure-v0", 2), gamma=0.99).round(2)
        array([[ 0.7, -1. ],
               [ 0.7, -1. ]])
    """
    check_playable(env, policy)
    steps = [(step.reward.double().cpu().clone(), step.done.cpu().clone()) for step in play_steps(env, policy)]
    rewards, ends = (torch.stack(column) for column in zip(*steps, strict=True))
    return discounted_returns(rewards, ends, gamma)


class StackedPolicy:
    """R policies of one architecture in ``R * E`` environments, each with a preference, ``[R, E, m]``.

    Without ``noise`` ``[R, T, E, k]`` the most likely actions are used.
    """

    def __init__(
        self,
        actor: StackedActor,
        flat: Tensor,
        preferences: Tensor,
        env: TensorEnv,
        statistics: Sequence[Tensor] = (),
        noise: Tensor | None = None,
    ) -> None:
        self.actor, self.flat, self.preferences, self.statistics = actor, flat, preferences, statistics
        self.low, self.high, self.discrete = env.action_low, env.action_high, env.num_actions is not None
        self.noise = None if noise is None else iter(noise.unbind(1))
        if not self.discrete and (self.low is None or self.high is None):
            checks.fail("env", "have discrete actions or action bounds", type(env).__name__)

    def __call__(self, observation: Tensor) -> Tensor:
        """Return the actions in the format of the environments."""
        shaped = observation.to(self.preferences).reshape(*self.preferences.shape[:2], -1)
        if self.statistics:
            shaped = scaled(shaped, *self.statistics)
        output = self.actor.output(self.flat, torch.cat([shaped, self.preferences], dim=-1))
        if self.noise is None:
            action = self.actor.ask(self.flat, "mode", output)
        else:
            action = self.actor.ask(self.flat, "sample", output, next(self.noise))
        action = action.flatten(0, 1).to(observation.device)
        if self.low is None or self.high is None:
            return action
        return unit_box_to_action(action.nan_to_num(0.5).to(self.low), self.low, self.high)


def held_out_returns(
    recipe: Recipe,
    policies: Sequence[Mapping[str, Tensor]],
    seeds: Sequence[int],
    preferences: Sequence[Sequence[float]],
    source: EnvSource,
    episodes: int,
    *,
    at_once: int = AT_ONCE,
) -> Tensor:
    """Play the most likely actions of every policy on test episodes, which neither training nor validation has used.

    Episode i of a policy starts from the seed ``derive(seed, "test", i)``, whatever else is played: the returns depend
    only on policy, preference and seed, bit for bit. At most ``at_once`` environments are open at once.

    Returns:
        Undiscounted returns, ``[policies, episodes, m]``; NaN for an episode with an observation that is not finite.
    """
    checks.at_least("episodes", episodes, 1)
    unit = LANES // math.gcd(LANES, episodes)
    size = max(1, at_once // episodes // unit) * unit
    every = list(zip(policies, seeds, preferences, strict=True))
    parts = [every[start : start + size] for start in range(0, len(every), size)]
    with one_thread():
        return torch.cat([_play_part(recipe, part, source, episodes, unit) for part in parts])


def _play_part(
    recipe: Recipe,
    part: Sequence[tuple[Mapping[str, Tensor], int, Sequence[float]]],
    source: EnvSource,
    episodes: int,
    unit: int,
) -> Tensor:
    """Play the episodes of some policies at once.

    The first policy is repeated until the number of episodes is a multiple of :data:`LANES`. PyTorch computes the
    remainder of a vectorised loop with other functions, which differ in the last bit. Otherwise a policy's returns
    would depend on the number of other policies.
    """
    policies, own_seeds, weights = zip(*part, *[part[0]] * (-len(part) % unit), strict=True)
    seeds = [derive(seed, TEST, index) for seed in own_seeds for index in range(episodes)]
    with source.opened(len(seeds), seeds) as env:
        actor = LiftedActor(build_actor(recipe, env), len(env.objectives))
        names, shapes = actor.layout.names, actor.layout.shapes
        for policy in policies:
            own = tuple(tuple(policy[n].shape) if n in policy else () for n in names)
            if own != shapes:
                checks.fail("policy", f"have parameters of the shapes {shapes} on this environment", own)
        first = env.reset_tensors()
        flat = torch.stack([torch.cat([policy[name].flatten() for name in names]) for policy in policies])
        preferences = torch.tensor(weights, device=first.device).unsqueeze(1).expand(-1, episodes, -1)
        statistics = [
            torch.stack([policy[name] for policy in policies]).unsqueeze(1).to(first.device)
            for name in STATISTICS
            if name in policies[0]
        ]
        stacked = StackedPolicy(actor, flat.to(first.device), preferences, env, statistics)
        returns = episode_returns(env, stacked, first=first)
    return returns.reshape(len(policies), episodes, -1)[: len(part)].cpu()


def front_returns(
    policies: Sequence[SavedPolicy],
    seeds: Sequence[int],
    preferences: Tensor,
    source: EnvSource,
    *,
    episodes: int,
    gamma: float = 1.0,
) -> Tensor:
    """Return the discounted return of every episode of R policies for many preferences, ``[R, K, episodes, m]``.

    Policies use their most likely actions. Episode e of a policy starts in the same state for all of its preferences
    ``[R, K, m]``, from the seed of its run.
    """
    runs, count, m = preferences.shape
    starts = [[derive(seed, FRONT, index) for index in range(episodes)] for seed in seeds]
    weights = preferences.repeat_interleave(episodes, dim=1)  # [R, K * episodes, m]
    template, state = policies[0], torch.func.stack_module_state(list(policies))

    def one(own: tuple[dict[str, Tensor], dict[str, Tensor]], x: Tensor, w: Tensor) -> Tensor:
        action: Tensor = torch.func.functional_call(template, own, (x, w))
        return action

    def act(observation: Tensor) -> Tensor:
        shaped = observation.to(weights).reshape(*weights.shape[:2], -1)
        actions: Tensor = torch.func.vmap(one)(state, shaped, weights)
        return actions.flatten(0, 1).to(observation.device)

    with source.opened(runs * count * episodes, [one for own in starts for _ in range(count) for one in own]) as env:
        return episode_returns(env, act, gamma).cpu().reshape(runs, count, episodes, m)


@contextmanager
def one_thread() -> Iterator[None]:
    """Compute with one thread, because several threads split the work at arbitrary places, with a remainder at each."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
