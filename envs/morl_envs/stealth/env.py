"""The stealth visual search environment, batched in torch."""

import math
from typing import Any

import torch
from torch import Tensor

from morl_envs import geometry
from morl_envs.base import BatchedEnv, Bounds, Sizes
from morl_envs.protocol import State
from morl_envs.stealth import rewards, sensors
from morl_envs.stealth.layout import draw_layout
from morl_envs.stealth.options import StealthOptions


class StealthVisualSearch(BatchedEnv):
    r"""Find hidden targets, stay near the borders, cover distance: three conflicting objectives.

    A differential-drive robot with action :math:`(v, \omega)`, :math:`v \in [0, 1]`, :math:`\omega \in [-1, 1]`:

    .. math:: p \leftarrow p + \Delta t\, v\, (\cos\theta, \sin\theta), \qquad
              \theta \leftarrow \theta + \Delta t\, \omega.

    A move whose swept path touches an obstacle or leaves the arena is undone (the heading still turns) and counts as a
    collision. The sweep is exact for any step length. After the move, targets in the field of view, within the scan
    range and in line of sight are scanned. Scanned targets disappear from both sensors, and the reward uses the same
    vision grid as the observation. Episodes have a fixed length: they are truncated, never terminated.

    Observation: x, y, cos and sin of the heading, 6 vision cells, 20 lidar readings in [0, 1].

    It takes the arguments of :class:`~morl_envs.base.BatchedEnv`; its options are the fields of
    :class:`~morl_envs.stealth.options.StealthOptions`.

    Example:
        >>> env = StealthVisualSearch(batch_size=[4], seed=0)
        >>> env.rollout(3)["next", "reward"].shape
        torch.Size([4, 3, 3])
    """

    fresh_tensors = True
    objectives = ("score", "stealth", "exploration")

    def configure(self, **options: Any) -> Sizes:
        """Store :class:`~morl_envs.stealth.options.StealthOptions` and the directions of the lidar."""
        self.options = StealthOptions(**options)
        angles = [2 * math.pi * ray / self.options.lidar_rays for ray in range(self.options.lidar_rays)]
        fan = [[math.cos(angle) for angle in angles], [math.sin(angle) for angle in angles]]
        self._fan = torch.tensor(fan, dtype=torch.float32, device=self.device).unsqueeze(-1)
        return Sizes(self.options.horizon, (0.0, -1.0), (1.0, 1.0), self.options.observation_dim)

    def draw(self, key: Tensor) -> State:
        """Return new arenas with every target unscanned."""
        layout = draw_layout(key, self.options)
        scanned = torch.zeros(layout["targets"].shape[:2], dtype=torch.bool, device=self.device)
        state = {**layout, "scanned": scanned, "collided": scanned.new_zeros(len(key))}
        return {**state, **self._sense(state, scan_range=-1.0)}

    def advance(self, state: State, action: Tensor) -> tuple[State, Tensor, Tensor]:
        """Move, scan, sense and compute the reward."""
        o = self.options
        position, collided = self._move(state, action[:, 0])
        heading = state["heading"] + o.time_step * o.max_turn_rate * action[:, 1]
        changed = {"position": position, "heading": heading, "collided": collided}
        sensed = self._sense({**state, **changed}, scan_range=o.scan_range)
        found = (sensed["scanned"] & ~state["scanned"]).sum(-1)
        objectives = [
            rewards.search_score(found, sensed["vision"], o.num_targets),
            rewards.stealth(position, collided, o.safe_limit, o.max_risk),
            rewards.exploration(state["position"], position),
        ]
        return {**changed, **sensed}, torch.stack(objectives, -1), torch.zeros_like(collided)

    def observe(self, state: State) -> Tensor:
        """Return pose, vision grid and lidar, ``[N, 30]``."""
        facing = _facing(state["heading"])
        return torch.cat([state["position"], facing.T, state["vision"], self._lidar(state, facing)], -1)

    def describe(self, state: State) -> dict[str, Tensor]:
        """Return whether the last move was undone, and how many targets are scanned."""
        return {"collision": state["collided"], "scanned": state["scanned"].sum(-1)}

    def bounds(self) -> Bounds:
        """Return the ranges of observations and rewards."""
        o, senses = self.options, 6 + self.options.lidar_rays
        return Bounds(
            observation_low=[-o.half_width, -o.half_height, -1.0, -1.0] + [0.0] * senses,
            observation_high=[o.half_width, o.half_height, 1.0, 1.0] + [1.0] * senses,
            reward_low=[0.0, 0.0, 0.0],
            reward_high=[10.0 * o.num_targets, 1.0, 1.0],
        )

    def move_constants(self, device: torch.device) -> None:
        """Move the lidar's ray directions to another device."""
        self._fan = self._fan.to(device)

    def _move(self, state: State, speed: Tensor) -> tuple[Tensor, Tensor]:
        """Return the new position ``[N, 2]``, and whether the move was undone ``[N]``."""
        o, start = self.options, _batch_last(state["position"])
        end = start + o.time_step * o.max_speed * speed * _facing(state["heading"])
        circles, boxes = geometry.inflate(_batch_last(state["circles"]), _batch_last(state["boxes"]), o.robot_radius)
        hit = geometry.segment_hits_circle(start[:, None], end[:, None], circles).any(0)
        hit |= geometry.segment_hits_box(start[:, None], end[:, None], boxes).any(0)
        hit |= (end[0].abs() > o.half_width - o.robot_radius) | (end[1].abs() > o.half_height - o.robot_radius)
        return torch.where(hit, start, end).T.contiguous(), hit

    def _sense(self, state: State, scan_range: float) -> State:
        """Scan targets in reach, then return the vision grid of the remaining targets."""
        position, targets = _batch_last(state["position"]), _batch_last(state["targets"])
        offset = targets - position[:, None]
        sectors = sensors.in_sectors(offset, _facing(state["heading"]), self.options.field_of_view)
        distance = (offset[0] * offset[0] + offset[1] * offset[1]).sqrt()
        obstacles = _batch_last(state["circles"]), _batch_last(state["boxes"])
        seen = sensors.line_of_sight(position, targets, *obstacles)
        scanned = _batch_last(state["scanned"]) | (seen & sectors.any(0) & (distance <= scan_range))
        vision = sensors.vision_grid(sectors, seen & ~scanned, distance, self.options.vision_range)
        return {"scanned": scanned.T.contiguous(), "vision": vision.T.contiguous()}

    def _lidar(self, state: State, facing: Tensor) -> Tensor:
        """Return lidar readings as a share of the range, ``[N, L]``."""
        o, circles, targets = self.options, _batch_last(state["circles"]), _batch_last(state["targets"])
        discs = torch.cat([circles, torch.cat([targets, torch.full_like(targets[:1], o.target_radius)])], 1)
        there = torch.zeros_like(circles[0], dtype=torch.bool)
        distance = sensors.lidar(
            _batch_last(state["position"]),
            sensors.ray_directions(facing, self._fan),
            discs,
            torch.cat([there, _batch_last(state["scanned"])]),
            _batch_last(state["boxes"]),
            (o.half_width, o.half_height),
        )
        return (distance / o.lidar_range).clamp(max=1).T


def _batch_last(tensor: Tensor) -> Tensor:
    """Turn ``[N, items, numbers]`` into contiguous ``[numbers, items, N]``, the layout of the geometry functions."""
    return tensor.permute(*reversed(range(tensor.dim()))).contiguous()


def _facing(heading: Tensor) -> Tensor:
    """Return cosine and sine of the heading, ``[2, N]``."""
    return torch.stack([heading.cos(), heading.sin()])
