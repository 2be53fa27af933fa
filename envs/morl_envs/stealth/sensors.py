"""What the robot senses: targets in view, the vision grid, and the lidar."""

import math
from itertools import pairwise

import torch
from torch import Tensor

from morl_envs import geometry

BEARINGS, RANGES = 3, 2


def line_of_sight(position: Tensor, targets: Tensor, circles: Tensor, boxes: Tensor) -> Tensor:
    """Tell whether no obstacle stands between the robot and a target's centre, bool ``[N, T]``.

    Args:
        position: ``[N, 2]``.
        targets: ``[N, T, 2]``.
        circles: ``[N, C, 3]``.
        boxes: ``[N, K, 4]``.
    """
    start, end = position[:, None, None], targets[:, :, None]
    round_hit = geometry.segment_hits_circle(start, end, circles[:, None]).any(-1)
    box_hit = geometry.segment_hits_box(start, end, boxes[:, None]).any(-1)
    return ~(round_hit | box_hit)


def in_sectors(position: Tensor, facing: Tensor, targets: Tensor, field_of_view: float) -> Tensor:
    """Tell in which third of the field of view a target lies, right to left, bool ``[N, T, 3]``.

    A bearing is compared with a sector's edge by the sign of a cross product, which is exact for targets in front and
    edges within a quarter turn, i.e. for a field of view up to pi.

    Args:
        position: ``[N, 2]``.
        facing: Cosine and sine of the heading, ``[N, 2]``.
        targets: ``[N, T, 2]``.
        field_of_view: Opening angle in (0, pi].
    """
    qx, qy = (targets - position[:, None]).unbind(-1)
    cos, sin = facing[:, :1], facing[:, 1:]
    ahead, left = cos * qx + sin * qy, cos * qy - sin * qx
    angles = [field_of_view * (k / BEARINGS - 0.5) for k in range(BEARINGS + 1)]
    past = [math.cos(angle) * left - math.sin(angle) * ahead >= 0 for angle in angles]
    sectors = [lower & ~upper for lower, upper in pairwise(past)]
    return torch.stack(sectors, -1) & (ahead >= 0).unsqueeze(-1)


def vision_grid(sectors: Tensor, seen: Tensor, distance: Tensor, vision_range: float) -> Tensor:
    """Return the share of all targets in each cell: near row right to left, then far row, ``[N, 6]``.

    Args:
        sectors: From :func:`in_sectors`, bool ``[N, T, 3]``.
        seen: Unscanned targets in line of sight, bool ``[N, T]``.
        distance: From the robot to the targets, ``[N, T]``.
        vision_range: Range of the camera.
    """
    near = seen & (distance <= vision_range / RANGES)
    far = seen & (distance > vision_range / RANGES) & (distance <= vision_range)
    cells = torch.cat([sectors & near.unsqueeze(-1), sectors & far.unsqueeze(-1)], -1)
    return cells.sum(1) / distance.shape[1]


def ray_directions(facing: Tensor, fan: Tensor) -> Tensor:
    """Turn a fan of unit vectors ``[L, 2]`` by the heading, ``[N, L, 2]``."""
    cos, sin = facing[:, :1], facing[:, 1:]
    return torch.stack([cos * fan[:, 0] - sin * fan[:, 1], sin * fan[:, 0] + cos * fan[:, 1]], -1)


def lidar(position: Tensor, rays: Tensor, discs: Tensor, active: Tensor, boxes: Tensor, arena: Tensor) -> Tensor:
    """Return the distance along every ray to the nearest disc, box or wall, ``[N, L]``.

    Args:
        position: ``[N, 2]``.
        rays: Unit vectors, ``[N, L, 2]``.
        discs: Round obstacles and targets, ``[N, D, 3]``.
        active: Which discs exist, bool ``[N, D]``.
        boxes: ``[N, K, 4]``.
        arena: Half-sizes of the arena, ``[2]``.
    """
    distance = geometry.ray_walls(position[:, None], rays, arena)
    origin, direction = position[:, None, None], rays[:, None]
    if discs.shape[1]:
        hits = geometry.ray_circle(origin, direction, discs[:, :, None], active[:, :, None])
        distance = torch.minimum(distance, hits.amin(1))
    if boxes.shape[1]:
        distance = torch.minimum(distance, geometry.ray_box(origin, direction, boxes[:, :, None]).amin(1))
    return distance
