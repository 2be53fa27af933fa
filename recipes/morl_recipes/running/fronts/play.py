"""Play many policies under many preferences at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from morl_envs.protocol import TensorEnv
from morl_recipes.environments.source import EnvSource
from morl_recipes.learning.streams import derive
from morl_recipes.running.saved_policy import SavedPolicy

LOOK_EVERY = 32
STREAM = "front"


def play_policies(
    policies: Sequence[SavedPolicy],
    seeds: Sequence[int],
    preferences: Tensor,
    source: EnvSource,
    *,
    episodes: int,
    gamma: float = 1.0,
) -> Tensor:
    r"""Return the return :math:`\sum_t \gamma^t r_t` of every episode, ``[R, K, episodes, m]``.

    Policies take their most likely actions. Episode e of a policy begins alike under all of its preferences, from a
    random stream of its run's own that no training and no validation reads.

    Args:
        policies: R policies of one architecture.
        seeds: Seed of each policy's run.
        preferences: K preferences for each policy, ``[R, K, m]``.
        source: Where environments come from.
        episodes: Episodes per policy and preference.
        gamma: Discount of the returns.
    """
    runs, count, m = preferences.shape
    starts = [[derive(seed, STREAM, index) for index in range(episodes)] for seed in seeds]
    weights = preferences.repeat_interleave(episodes, dim=1)  # [R, K * episodes, m]
    with source.opened(runs * count * episodes, [one for own in starts for _ in range(count) for one in own]) as env:
        returns = play_episodes(_Stack(policies), weights, env, gamma)
    return returns.reshape(runs, count, episodes, m)


class _Stack:
    """Policies of one architecture as one function of ``[R, N, n]`` and ``[R, N, m]``."""

    def __init__(self, policies: Sequence[SavedPolicy]) -> None:
        self.template = policies[0]
        self.state = torch.func.stack_module_state(list(policies))

    def __call__(self, observation: Tensor, preferences: Tensor) -> Tensor:
        def one(state: tuple[dict[str, Tensor], dict[str, Tensor]], x: Tensor, w: Tensor) -> Tensor:
            action: Tensor = torch.func.functional_call(self.template, state, (x, w))
            return action

        actions: Tensor = torch.func.vmap(one)(self.state, observation, preferences)
        return actions


@torch.no_grad()
def play_episodes(
    policies: Callable[[Tensor, Tensor], Tensor], weights: Tensor, env: TensorEnv, gamma: float
) -> Tensor:
    """Play one episode in every environment and return its return, ``[R, N, m]``.

    Args:
        policies: From observations ``[R, N, n]`` and preferences ``[R, N, m]`` to actions, ``[R, N, ...]``.
        weights: The preferences, ``[R, N, m]``.
        env: R · N environments.
        gamma: Discount of the returns.
    """
    observation, shape = env.reset_tensors(), weights.shape[:2]
    total = torch.zeros_like(weights)
    playing = torch.ones(*shape, 1, dtype=torch.bool)
    for step in range(env.horizon):
        action = policies(observation.to(weights).reshape(*shape, -1), weights)
        _, reward, terminated, truncated = env.step_tensors(action.flatten(0, 1).to(observation.device))
        done = terminated | truncated
        total += torch.where(playing, gamma**step * reward.to(total).reshape(total.shape), 0.0)
        playing &= ~done.cpu().reshape(playing.shape)
        if step % LOOK_EVERY == LOOK_EVERY - 1 and not bool(playing.any()):
            break
        observation = env.reset_tensors(done)
    return total
