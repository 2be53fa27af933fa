"""Collect the steps of one iteration from ``R * E`` environments, without synchronising with the device in any step."""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from morl_blocks.ppo import unit_box_to_action
from morl_blocks.ppo.scan import discounted_scan
from morl_envs.protocol import TensorEnv, check_step
from morl_recipes.common import checks
from morl_recipes.learning.lift import StackedActor
from morl_recipes.learning.observations import ObservationScale

COUNT = 32


class InitialStates:
    """Keep the last ``count`` initial observations of each run's episodes, ``[R, count, n]``."""

    def __init__(self, first: Tensor, count: int = COUNT) -> None:
        self.observation = first[:, torch.arange(count, device=first.device) % first.shape[1]].clone()

    def keep(self, observation: Tensor, begun: Tensor) -> None:
        """Add the observations of a rollout ``[R, E, T, n]`` at which an episode begins, ``[R, E, T, 1]``."""
        count = self.observation.shape[1]
        # Oldest first: time is the outermost dimension.
        rows = zip(observation.transpose(1, 2), begun.squeeze(-1).transpose(1, 2), self.observation, strict=True)
        self.observation = torch.stack([torch.cat([old, new[start]])[-count:] for new, start, old in rows])


@dataclass(frozen=True)
class Rollout:
    """T steps of every environment, all ``[R, E, T, ...]``; ``output`` is the actor's output, one tensor or more."""

    inputs: Tensor
    next_inputs: Tensor
    next_observation: Tensor
    action: Tensor
    output: Any
    reward: Tensor
    terminated: Tensor
    done: Tensor


class Collector:
    """Step ``R * E`` environments with the actors of all runs; environment ``r * E + e`` belongs to run ``r``."""

    def __init__(self, env: TensorEnv, actor: StackedActor, preferences: Tensor, *, keep_initial: bool = False) -> None:
        self.env, self.actor, self.preferences = env, actor, preferences
        self.runs = len(preferences)
        first = env.reset_tensors()
        self.env_device, self.observation = first.device, self.shaped(first)
        self.initial = InitialStates(self.observation) if keep_initial else None

    def collect(
        self, flat: Tensor, noise: Tensor, scale: ObservationScale | None, preferences: Tensor | None = None
    ) -> Rollout:
        """Collect T steps per environment.

        The preference of an episode stays the same from the first step to the last; the value of the observation after
        its last step uses it too. ``preferences`` has those of the episodes that may begin after each step, ``[R, T, E,
        m]``.
        """
        steps: list[tuple[Any, ...]] = []
        starts: list[Tensor] = []
        observation = self.observation
        coming = [None] * noise.shape[1] if preferences is None else preferences.unbind(1)
        for step_noise, following_preferences in zip(noise.unbind(1), coming, strict=True):
            inputs = self.inputs(observation, self.preferences, scale)
            output = self.actor.output(flat, inputs)
            action = self.actor.ask(flat, "sample", output, step_noise)
            size = () if self.env.num_actions is not None else (self.env.action_dim,)
            checks.returned(self.actor.module, "sample", action, (*inputs.shape[:-1], *size))
            result = self.env.step_tensors(self.to_env(action).flatten(0, 1))
            check_step(self.env, result)
            following, reward, terminated, truncated = (self.shaped(tensor) for tensor in result)
            done = terminated | truncated
            steps.append((inputs, following, action, output, reward, terminated, done))
            observation = self.shaped(self.env.reset_tensors(done.flatten(0, 1).to(self.env_device)))
            if self.initial is not None:
                starts.append(observation)
            if following_preferences is not None:
                self.preferences = torch.where(done, following_preferences, self.preferences)
        self.observation = observation
        inputs, following, *rest = (_stacked(column) for column in zip(*steps, strict=True))
        if self.initial is not None:
            self.initial.keep(torch.stack(starts, dim=2), rest[-1])
        in_force = inputs[..., -self.preferences.shape[-1] :]
        return Rollout(inputs, self.inputs(following, in_force, scale), following, *rest)

    def inputs(self, observation: Tensor, preferences: Tensor, scale: ObservationScale | None) -> Tensor:
        """Return the input of the networks: scaled observation and preference, ``[R, ..., n + m]``."""
        if scale is not None:
            observation = scale.apply(observation)
        return torch.cat([observation, preferences], dim=-1)

    def to_env(self, action: Tensor) -> Tensor:
        """Return the environments' actions; always finite, so that a failure of one run cannot stop the others."""
        low, high = self.env.action_low, self.env.action_high
        if low is None or high is None:
            return action.to(self.env_device)
        return unit_box_to_action(action.nan_to_num(0.5).to(low), low, high)

    def shaped(self, tensor: Tensor) -> Tensor:
        """Return results of the environments, ``[R * E, k]``, as ``[R, E, k]`` in the networks' device and dtype."""
        dtype = torch.bool if tensor.dtype is torch.bool else self.preferences.dtype
        return tensor.to(self.preferences.device, dtype).reshape(self.runs, -1, tensor.shape[-1])


def _stacked(column: tuple[Any, ...]) -> Any:
    """Stack the steps of a column along time; an actor's output may be several tensors."""
    if isinstance(column[0], Tensor):
        return torch.stack(column, dim=2)
    return tuple(torch.stack(parts, dim=2) for parts in zip(*column, strict=True))


def episode_returns(reward: Tensor, done: Tensor, carry: Tensor) -> tuple[Tensor, Tensor]:
    """Average the returns of the episodes that ended in a rollout, ``[R, m]``, NaN where none did.

    ``carry`` is the return of the episodes that were running before, ``[R, E, m]``; the new one is returned too.
    """
    first = reward[:, :, :1] + carry.unsqueeze(2)
    summands = torch.cat([first, reward[:, :, 1:]], dim=2)
    alive = torch.cat([torch.zeros_like(done[:, :, :1]), ~done[:, :, :-1]], dim=2).to(reward.dtype)
    totals = discounted_scan(summands.flip(2), alive.flip(2)).flip(2)
    ended = torch.where(done, totals, 0.0).sum((1, 2)) / done.sum((1, 2))
    return ended, torch.where(done[:, :, -1], 0.0, totals[:, :, -1])
