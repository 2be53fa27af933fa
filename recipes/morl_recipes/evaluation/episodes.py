"""Play trained policies on episodes that nobody has seen: one batch of environments for many policies."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import Tensor

from morl_blocks.ppo import unit_box_to_action
from morl_envs.protocol import TensorEnv
from morl_recipes.common import checks
from morl_recipes.environments.source import EnvSource
from morl_recipes.learning.lift import LiftedActor
from morl_recipes.learning.networks import build_actor
from morl_recipes.learning.observations import STATISTICS, scaled
from morl_recipes.learning.streams import derive
from morl_recipes.recipe.recipe import Recipe

AT_ONCE = 1600
"""Environments that are open at once; more of them do not fit into the processor's cache."""
LANES = 32
"""Numbers that a vector loop of PyTorch takes at once, with the widest registers."""
STREAM = "test"


@dataclass(frozen=True)
class Player:
    """A policy with the preference that it follows and the seed from which its fresh episodes come."""

    seed: int
    preference: tuple[float, ...]
    tensors: Mapping[str, Tensor]


def fresh_returns(
    recipe: Recipe, players: Sequence[Player], source: EnvSource, episodes: int, *, at_once: int = AT_ONCE
) -> Tensor:
    """Play the most likely actions of every policy on episodes of its own stream.

    Episode i of a player starts from the seed ``derive(player.seed, "test", i)``, whoever else plays: the returns are a
    function of policy, preference and seed, bit for bit. Training and validation draw from other streams.

    Args:
        recipe: The recipe whose actor all players have; they differ in parameters alone.
        players: The policies.
        source: Where environments come from.
        episodes: Episodes per policy, >= 1.
        at_once: Environments that are open at once; one player's are never split.

    Returns:
        Undiscounted returns, ``[players, episodes, m]``; NaN for an episode with an observation that is not finite.
    """
    checks.at_least("episodes", episodes, 1)
    unit = LANES // math.gcd(LANES, episodes)
    size = max(1, at_once // episodes // unit) * unit
    parts = [players[start : start + size] for start in range(0, len(players), size)]
    with one_thread():
        return torch.cat([_play(recipe, _filled(part, unit), source, episodes)[: len(part)] for part in parts])


def _filled(players: Sequence[Player], unit: int) -> list[Player]:
    """Repeat the first player until the number of episodes is a multiple of :data:`LANES`.

    PyTorch computes what is left over by a vector loop with other functions, which differ in the last bit: without the
    repetition the returns of a player would depend on how many others there are.
    """
    return [*players, *[players[0]] * (-len(players) % unit)]


@contextmanager
def one_thread() -> Iterator[None]:
    """Let one thread compute: several cut the work anywhere, with leftovers at every cut."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@torch.no_grad()
def _play(recipe: Recipe, players: Sequence[Player], source: EnvSource, episodes: int) -> Tensor:
    seeds = [derive(player.seed, STREAM, index) for player in players for index in range(episodes)]
    with source.opened(len(seeds), seeds) as env:
        return _Game(recipe, players, env, episodes).play()


class _Game:
    """The stacked policies of several players, and their environments."""

    def __init__(self, recipe: Recipe, players: Sequence[Player], env: TensorEnv, episodes: int) -> None:
        self.env, self.shape = env, (len(players), episodes)
        self.actor = LiftedActor(build_actor(recipe, env), len(env.objectives))
        names, shapes = self.actor.layout.names, self.actor.layout.shapes
        for player in players:
            own = tuple(tuple(player.tensors[n].shape) if n in player.tensors else () for n in names)
            if own != shapes:
                checks.fail("policy", f"have parameters of the shapes {shapes} on this environment", own)
        self.first = env.reset_tensors()
        device = self.first.device
        rows = [torch.cat([player.tensors[name].flatten() for name in names]) for player in players]
        self.flat = torch.stack(rows).to(device)
        weights = torch.tensor([player.preference for player in players], device=device)
        self.preferences = weights.unsqueeze(1).expand(-1, episodes, -1)
        self.statistics = [
            torch.stack([player.tensors[name] for player in players]).unsqueeze(1).to(device)
            for name in STATISTICS
            if name in players[0].tensors
        ]

    def play(self) -> Tensor:
        """Return the returns of one whole episode per environment, ``[players, episodes, m]``."""
        env, observation = self.env, self.first
        total = torch.zeros(*self.shape, len(env.objectives), device=observation.device)
        playing = torch.ones(*self.shape, 1, dtype=torch.bool, device=observation.device)
        for _ in range(env.horizon):
            inputs = self._inputs(observation)
            observation, reward, terminated, truncated = env.step_tensors(self._act(inputs))
            done = terminated | truncated
            seen = inputs.isfinite().all(-1, keepdim=True)
            earned = torch.where(seen, reward.reshape(total.shape), torch.nan)
            total += torch.where(playing, earned, 0.0)
            playing &= ~done.reshape(playing.shape)
            if bool(done.any()):
                if not bool(playing.any()):
                    break
                observation = env.reset_tensors(done)
        return total.cpu()

    def _inputs(self, observation: Tensor) -> Tensor:
        shaped = observation.reshape(*self.shape, -1)
        if self.statistics:
            shaped = scaled(shaped, *self.statistics)
        return torch.cat([shaped, self.preferences], dim=-1)

    def _act(self, inputs: Tensor) -> Tensor:
        action = self.actor.ask(self.flat, "mode", self.actor.output(self.flat, inputs)).flatten(0, 1)
        if self.env.num_actions is not None:
            return action
        low, high = self.env.action_low, self.env.action_high
        if low is None or high is None:
            checks.fail("env", "have discrete actions or action bounds", type(self.env).__name__)
        return unit_box_to_action(action.nan_to_num(0.5), low, high)
