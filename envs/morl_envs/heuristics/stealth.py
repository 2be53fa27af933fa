"""Three policies for the stealth environment that use only the observation."""

import math

import torch
from torch import Tensor

from morl_envs import _checks

_RAYS = 20
# Bearings of the vision cells: near row right to left, then far row (a third of 1.715 rad apart).
_CELLS = [-1.715 / 3, 0.0, 1.715 / 3] * 2


def _wrap(angle: Tensor) -> Tensor:
    """Wrap angles to [-pi, pi)."""
    return torch.remainder(angle + math.pi, 2 * math.pi) - math.pi


def _avoid(lidar: Tensor, wanted: Tensor) -> Tensor:
    """Turn a target bearing ``[N]`` away from obstacles that the lidar sees, backwards and to their left, ``[N]``."""
    rays = torch.arange(_RAYS, dtype=lidar.dtype, device=lidar.device) * (2 * math.pi / _RAYS)
    push = (1.4 - lidar / 0.22).clamp(min=0) * (1.3 + rays.cos()).clamp(min=0)
    # Pushing only backwards would stop in front of an obstacle; the turn to one side leads around it.
    x = wanted.cos() - (push * (rays.cos() + 0.6 * rays.sin())).sum(-1)
    y = wanted.sin() - (push * (rays.sin() - 0.6 * rays.cos())).sum(-1)
    return torch.atan2(y, x)


def _drive(lidar: Tensor, turn: Tensor, slowing: float, slowest: float) -> Tensor:
    """Turn to a bearing; slow down in sharp turns and in front of obstacles."""
    room = 0.35 * torch.minimum(lidar[:, 0], torch.minimum(lidar[:, 1], lidar[:, -1]))
    speed = (2.0 - slowing * turn.abs()).clamp(slowest, 1) * ((room - 0.055) / 0.08).clamp(0, 1)
    return torch.stack([speed, (turn / 0.05).clamp(-1, 1)], -1)


def wall_follower(observation: Tensor) -> Tensor:
    """Go to the nearest wall and circle the arena along it: stealth first.

    The obstacles leave a corridor along the wall, so the robot keeps to 0.93, where it always fits.
    """
    _checks.observation(observation, 30)
    x, y, cos, sin = observation[:, :4].unbind(-1)
    lidar, beside_x = observation[:, 10:], x.abs() >= y.abs()
    # Counter-clockwise: along the bottom to the right, up the right wall, back along the top, down the left wall.
    along = torch.where(beside_x, torch.where(x > 0, math.pi / 2, -math.pi / 2), torch.where(y > 0, math.pi, 0.0))
    next_wall = torch.where(x > 0, torch.where(y > 0, math.pi, math.pi / 2), torch.where(y > 0, -math.pi / 2, 0.0))
    to_wall = 0.93 - torch.maximum(x.abs(), y.abs())
    near_wall, at_corner = to_wall < 0.1, torch.minimum(x.abs(), y.abs()) > 0.86
    # Turn outwards when away from the wall, inwards when too close; a corner is the end of the wall.
    lean = (to_wall * 4).clamp(-0.3, math.pi / 2)
    way = torch.where(near_wall & at_corner, next_wall.to(x.dtype), along.to(x.dtype) - lean)
    turn = _wrap(way - torch.atan2(sin, cos))
    # The corridor is free, so only the path to it needs obstacle avoidance.
    turn = torch.where(near_wall, turn, _avoid(lidar, turn))
    facing = (turn.cos() - 0.9).clamp(min=0) / 0.1
    return torch.stack([facing * ((0.35 * lidar[:, 0] - 0.055) / 0.05).clamp(0, 1), (turn / 0.05).clamp(-1, 1)], -1)


def greedy_searcher(observation: Tensor) -> Tensor:
    """Drive to the nearest target in view, or explore if none is in view."""
    _checks.observation(observation, 30)
    vision, lidar = observation[:, 4:10], observation[:, 10:]
    cells = torch.tensor(_CELLS, dtype=observation.dtype, device=observation.device)
    rank = torch.tensor([3.0, 3.1, 3.0, 1.0, 1.1, 1.0], dtype=observation.dtype, device=observation.device)
    seen = vision > 0
    wanted = torch.where(seen.any(-1), cells[(seen * rank).argmax(-1)], _roam(observation, 0.55))
    return _drive(lidar, _avoid(lidar, wanted), slowing=2.7, slowest=0.0)


def sweeping_explorer(observation: Tensor) -> Tensor:
    """Sweep the arena in a wide circle at the highest possible speed."""
    _checks.observation(observation, 30)
    lidar = observation[:, 10:]
    return _drive(lidar, _avoid(lidar, _roam(observation, 0.85)), slowing=1.1, slowest=0.2)


def _roam(observation: Tensor, circle: float) -> Tensor:
    """Return the bearing that leads counter-clockwise around the arena's centre on a circle of the given radius."""
    x, y, cos, sin = observation[:, :4].unbind(-1)
    radius = (x * x + y * y).sqrt()
    # Tangent to the circle, turned inwards outside of it and outwards inside of it.
    lean = ((radius - circle) * 2.5).clamp(-1.2, 1.2)
    way = torch.atan2(y, x) + math.pi / 2 + lean
    return _wrap(way - torch.atan2(sin, cos))
