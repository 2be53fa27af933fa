"""Opponents that patrol a horizontal lane, bounce at its ends and turn at random."""

from dataclasses import dataclass

import torch
from torch import Tensor

from morl_envs import _checks
from morl_envs.counter_rng import uniform
from morl_envs.protocol import State

HISTORY = 4
# Draws at a reset count from 0, draws in step t from here on, so the two never overlap.
STEP_COUNTERS = 1 << 32


@dataclass(frozen=True)
class Patrol:
    """How the opponents move.

    Attributes:
        lanes: Height of each opponent's lane.
        speeds: Every opponent draws its speed from these, in m/s, once per episode.
        limit: They bounce at x = -limit and x = limit.
        flip_probability: Chance per step to turn.
        time_step: Seconds per step.
    """

    lanes: tuple[float, ...]
    speeds: tuple[float, ...]
    limit: float
    flip_probability: float
    time_step: float

    def __post_init__(self) -> None:
        """Raise for options that do not describe a valid patrol."""
        _checks.numbers("lanes", self.lanes)
        _checks.numbers("opponent_speeds", self.speeds)
        for speed in self.speeds:
            _checks.non_negative("opponent_speeds", speed)
        _checks.positive("x_limit", self.limit)
        _checks.positive("time_step", self.time_step)
        _checks.between("flip_probability", self.flip_probability, 0, 1)


def draw_opponents(key: Tensor, patrol: Patrol) -> State:
    """Place M opponents uniformly on their lanes, in a random direction.

    Returns:
        ``opponents`` (the last 4 positions, newest first) ``[n, 4, M, 2]`` and ``velocity [n, M]``.
    """
    count = len(patrol.lanes)
    place, way, pace = uniform(key, 0, 3 * count).view(-1, 3, count).unbind(1)
    speeds = torch.tensor(patrol.speeds, dtype=torch.float32, device=key.device)
    speed = speeds[(pace * len(patrol.speeds)).long()]
    x = (2 * place - 1) * patrol.limit
    y = torch.tensor(patrol.lanes, dtype=torch.float32, device=key.device).expand_as(x)
    now = torch.stack([x, y], -1)
    return {
        "opponents": now.unsqueeze(1).expand(-1, HISTORY, -1, -1).clone(),
        "velocity": torch.where(way < 0.5, -speed, speed),
    }


def move_opponents(state: State, patrol: Patrol) -> State:
    """Turn at random, move, and bounce: beyond the limit an opponent is set back on it and turned inwards."""
    past, velocity = state["opponents"], state["velocity"]
    count = velocity.shape[-1]
    chance = uniform(state["key"], STEP_COUNTERS + state["step"] * count, count)
    velocity = torch.where(chance < patrol.flip_probability, -velocity, velocity)
    x = past[:, 0, :, 0] + patrol.time_step * velocity
    inwards = -velocity.abs() * x.sign()
    velocity = torch.where(x.abs() >= patrol.limit, inwards, velocity)
    now = torch.stack([x.clamp(-patrol.limit, patrol.limit), past[:, 0, :, 1]], -1)
    return {"opponents": torch.cat([now.unsqueeze(1), past[:, :-1]], 1), "velocity": velocity}
