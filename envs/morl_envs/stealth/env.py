"""The stealth visual search environment, batched in torch."""

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from morl_envs import geometry
from morl_envs.base import BatchedEnv
from morl_envs.protocol import State
from morl_envs.stealth import rewards, sensors
from morl_envs.stealth.layout import draw_layout
from morl_envs.stealth.options import StealthOptions


class StealthVisualSearch(BatchedEnv):
    r"""Find hidden targets, keep to the borders, cover ground: three objectives that pull apart.

    A differential-drive robot with action :math:`(v, \omega)`, :math:`v \in [0, 1]`, :math:`\omega \in [-1, 1]`:

    .. math:: p \leftarrow p + \Delta t\, v\, (\cos\theta, \sin\theta), \qquad
              \theta \leftarrow \theta + \Delta t\, \omega.

    A move whose swept path touches an obstacle or leaves the arena is undone (the heading still turns) and counts as
    a collision. The sweep is exact for any step length. After the move, targets in the field of view, within the scan
    range and in line of sight are scanned; they vanish from both sensors, and the vision grid that is rewarded is the
    one observed. Episodes have a fixed length: they are truncated, never terminated.

    Observation: x, y, cos and sin of the heading, 6 vision cells, 20 lidar readings in [0, 1].

    Args:
        batch_size: ``[N]``.
        seed: One number (environment ``k`` gets ``seed + k``) or N numbers.
        device: Where the tensors live.
        **options: Fields of :class:`~morl_envs.stealth.options.StealthOptions`.

    Example:
        >>> env = StealthVisualSearch(batch_size=[4], seed=0)
        >>> env.rollout(3)["next", "reward"].shape
        torch.Size([4, 3, 3])
    """

    objectives = ("score", "stealth", "exploration")

    def __init__(
        self,
        batch_size: Sequence[int] | int = (1,),
        seed: int | Sequence[int] | Tensor = 0,
        device: torch.device | str | None = None,
        **options: Any,
    ) -> None:
        self.options = StealthOptions(**options)
        super().__init__(
            batch_size=batch_size,
            seed=seed,
            device=device,
            horizon=self.options.horizon,
            action_low=(0.0, -1.0),
            action_high=(1.0, 1.0),
            observation_dim=self.options.observation_dim,
        )
        angles = [2 * math.pi * ray / self.options.lidar_rays for ray in range(self.options.lidar_rays)]
        self._fan = torch.tensor([[math.cos(a), math.sin(a)] for a in angles], device=self.device)
        self._arena = torch.tensor([self.options.half_width, self.options.half_height], device=self.device)

    def draw(self, key: Tensor) -> State:
        """Return new arenas with every target unscanned."""
        layout = draw_layout(key, self.options)
        scanned = torch.zeros(layout["targets"].shape[:2], dtype=torch.bool, device=self.device)
        state = {**layout, "scanned": scanned, "collided": scanned.new_zeros(len(key))}
        return {**state, **self._sense(state)}

    def advance(self, state: State, action: Tensor) -> tuple[State, Tensor, Tensor]:
        """Move, scan, sense and reward."""
        options = self.options
        moved, collided = self._move(state, action[:, 0])
        heading = state["heading"] + options.time_step * options.max_turn_rate * action[:, 1]
        changed = {"position": moved, "heading": heading, "collided": collided}
        sensed = self._sense({**state, **changed}, scan_range=options.scan_range)
        found = (sensed["scanned"] & ~state["scanned"]).sum(-1)
        reward = torch.stack(
            [
                rewards.search_score(found, sensed["vision"], options.num_targets),
                rewards.stealth(moved, collided, options.safe_limit, options.max_risk),
                rewards.exploration(state["position"], moved),
            ],
            -1,
        )
        return {**changed, **sensed}, reward, torch.zeros_like(collided)

    def observe(self, state: State) -> Tensor:
        """Return pose, vision grid and lidar, ``[N, 30]``."""
        facing = _facing(state["heading"])
        return torch.cat([state["position"], facing, state["vision"], self.scan_lidar(state, facing)], -1)

    def describe(self, state: State) -> dict[str, Tensor]:
        """Tell whether the last move was undone, and how many targets are scanned."""
        return {"collision": state["collided"], "scanned": state["scanned"].sum(-1)}

    def scan_lidar(self, state: State, facing: Tensor) -> Tensor:
        """Return lidar readings as a share of the range, ``[N, L]``."""
        targets = torch.nn.functional.pad(state["targets"], (0, 1), value=self.options.target_radius)
        discs = torch.cat([state["circles"], targets], 1)
        there = torch.ones_like(state["circles"][..., 0], dtype=torch.bool)
        active = torch.cat([there, ~state["scanned"]], 1)
        rays = sensors.ray_directions(facing, self._fan)
        distance = sensors.lidar(state["position"], rays, discs, active, state["boxes"], self._arena)
        return (distance / self.options.lidar_range).clamp(max=1)

    def move_constants(self, device: torch.device) -> None:
        """Move the fan of rays and the arena."""
        self._fan, self._arena = self._fan.to(device), self._arena.to(device)

    def _move(self, state: State, speed: Tensor) -> tuple[Tensor, Tensor]:
        """Return the new position, and whether the move had to be undone."""
        options, start = self.options, state["position"]
        step = options.time_step * options.max_speed * speed
        end = start + step.unsqueeze(-1) * _facing(state["heading"])
        circles, boxes = geometry.inflate(state["circles"], state["boxes"], options.robot_radius)
        hit = geometry.segment_hits_circle(start[:, None], end[:, None], circles).any(-1)
        hit |= geometry.segment_hits_box(start[:, None], end[:, None], boxes).any(-1)
        hit |= (end.abs() > self._arena - options.robot_radius).any(-1)
        return torch.where(hit.unsqueeze(-1), start, end), hit

    def _sense(self, state: State, scan_range: float = -1.0) -> State:
        """Scan what is in reach, then return the vision grid of what is left."""
        position, targets = state["position"], state["targets"]
        sectors = sensors.in_sectors(position, _facing(state["heading"]), targets, self.options.field_of_view)
        x, y = (targets - position[:, None]).unbind(-1)
        distance = (x * x + y * y).sqrt()
        seen = sensors.line_of_sight(position, targets, state["circles"], state["boxes"])
        scanned = state["scanned"] | (seen & sectors.any(-1) & (distance <= scan_range))
        vision = sensors.vision_grid(sectors, seen & ~scanned, distance, self.options.vision_range)
        return {"scanned": scanned, "vision": vision}


def _facing(heading: Tensor) -> Tensor:
    """Return cosine and sine of the heading, ``[N, 2]``."""
    return torch.stack([heading.cos(), heading.sin()], -1)
