"""The robot's sensors: targets in view, the vision grid, and the lidar. Coordinates first, batch last."""

import math
from itertools import pairwise

import torch
from torch import Tensor

from morl_envs import geometry

BEARINGS, RANGES = 3, 2


def line_of_sight(position: Tensor, targets: Tensor, circles: Tensor, boxes: Tensor) -> Tensor:
    """Return whether the line of sight between the robot and a target's centre is free, bool ``[T, N]``.

    Args:
        position: ``[2, N]``.
        targets: ``[2, T, N]``.
        circles: ``[3, C, N]``.
        boxes: ``[4, K, N]``.
    """
    start, end = position[:, None, None], targets[:, None]
    hidden = geometry.segment_hits_circle(start, end, circles[:, :, None]).any(0)
    return ~(hidden | geometry.segment_hits_box(start, end, boxes[:, :, None]).any(0))


def in_sectors(offset: Tensor, facing: Tensor, field_of_view: float) -> Tensor:
    """Return which third of the field of view a target lies in, right to left, bool ``[3, T, N]``.

    A bearing is compared with a sector's edge by the sign of a cross product, which is exact for targets in front and
    edges within a quarter turn, i.e. for a field of view up to pi.

    Args:
        offset: Targets as seen from the robot, ``[2, T, N]``.
        facing: Cosine and sine of the heading, ``[2, N]``.
        field_of_view: Opening angle in (0, pi].
    """
    cos, sin = facing
    ahead, left = cos * offset[0] + sin * offset[1], cos * offset[1] - sin * offset[0]
    angles = [field_of_view * (k / BEARINGS - 0.5) for k in range(BEARINGS + 1)]
    past = [math.cos(angle) * left >= math.sin(angle) * ahead for angle in angles]
    sectors: Tensor = torch.stack([lower & ~upper for lower, upper in pairwise(past)])
    return torch.logical_and(sectors, ahead >= 0)


def vision_grid(sectors: Tensor, seen: Tensor, distance: Tensor, vision_range: float) -> Tensor:
    """Return the share of all targets in each cell: near row right to left, then far row, ``[6, N]``.

    Args:
        sectors: From :func:`in_sectors`, bool ``[3, T, N]``.
        seen: Unscanned targets in line of sight, bool ``[T, N]``.
        distance: From the robot to the targets, ``[T, N]``.
        vision_range: Range of the camera.
    """
    near = distance <= vision_range / RANGES
    rows = torch.stack([seen & near, seen & ~near & (distance <= vision_range)])
    cells = sectors & rows[:, None]
    return cells.sum(2, dtype=distance.dtype).flatten(0, 1) / distance.shape[0]


def ray_directions(facing: Tensor, fan: Tensor) -> Tensor:
    """Rotate unit vectors ``[2, L, 1]`` by the heading ``[2, N]``: ``[2, L, N]``."""
    cos, sin = facing
    return torch.stack([cos * fan[0] - sin * fan[1], sin * fan[0] + cos * fan[1]])


def lidar(
    position: Tensor, rays: Tensor, discs: Tensor, absent: Tensor, boxes: Tensor, arena: tuple[float, float]
) -> Tensor:
    """Return the distance along every ray to the nearest disc, box or wall, ``[L, N]``.

    Args:
        position: ``[2, N]``.
        rays: Unit vectors, ``[2, L, N]``.
        discs: Round obstacles and targets, ``[3, D, N]``.
        absent: Discs to ignore, bool ``[D, N]``.
        boxes: ``[4, K, N]``.
        arena: Half-sizes of the arena.
    """
    distance = geometry.ray_walls(position[:, None], rays, arena)
    origin, direction = position[:, None, None], rays[:, None]
    if discs.shape[1]:
        hits = geometry.ray_circle(origin, direction, discs[:, :, None], absent[:, None])
        distance = torch.minimum(distance, hits.amin(0))
    if boxes.shape[1]:
        distance = torch.minimum(distance, geometry.ray_box(origin, direction, boxes[:, :, None]).amin(0))
    return distance
