"""Draw an arena: obstacles, the robot's start and targets, by bounded rejection sampling over a whole batch.

Two obstacles, or an obstacle and a wall, keep a gap wider than the robot. So the obstacles grown by the robot's radius
neither touch each other nor the wall, the free space of the robot's centre is connected, and since the robot can turn
on the spot it reaches every free point. Targets are placed on free points: every target can be reached.
"""

import torch
from torch import Tensor

from morl_envs import geometry
from morl_envs.counter_rng import uniform
from morl_envs.protocol import State
from morl_envs.stealth.options import StealthOptions

CANDIDATES = 16


def draw_layout(key: Tensor, options: StealthOptions) -> State:
    """Return arenas for the given episode keys.

    Args:
        key: ``[n]`` int64.
        options: Numbers of the world.

    Returns:
        ``circles [n, C, 3]``, ``boxes [n, K, 4]``, ``targets [n, T, 2]``, ``position [n, 2]``, ``heading [n]``.

    Raises:
        ValueError: When some arena stays impossible after ``layout_attempts`` attempts.
    """
    result, placed = _attempt(key, options, 0)
    for attempt in range(1, options.layout_attempts):
        rows = (~placed).nonzero().squeeze(-1)
        if not len(rows):
            return result
        again, good = _attempt(key[rows], options, attempt)
        result = {name: tensor.index_copy(0, rows, again[name]) for name, tensor in result.items()}
        placed = placed.index_copy(0, rows, good)
    if not bool(placed.all()):
        raise ValueError(
            f"The arena is too full: {options.num_circles} circles, {options.num_boxes} boxes and "
            f"{options.num_targets} targets found no place in {options.layout_attempts} layouts of {CANDIDATES} "
            "candidates each. Use fewer or smaller obstacles, fewer targets or a larger arena."
        )
    return result


def _attempt(key: Tensor, options: StealthOptions, attempt: int) -> tuple[State, Tensor]:
    """Draw every arena once; also return whether everything found its place, bool ``[n]``."""
    circles, boxes, free = options.num_circles, options.num_boxes, 1 + options.num_targets
    count = circles + boxes + free
    per_layout = 1 + count * (2 + 2 * CANDIDATES)
    numbers = uniform(key, attempt * per_layout, per_layout)
    heading, sizes, places = numbers[:, 0], numbers[:, 1 : 1 + 2 * count], numbers[:, 1 + 2 * count :]
    half, radius = _shapes(sizes.reshape(-1, count, 2), options)
    gap = torch.full((count,), options.clearance, device=key.device)
    gap[: circles + boxes] = options.passage
    arena = torch.tensor([options.half_width, options.half_height], device=key.device)
    limit = arena - half - radius.unsqueeze(-1) - gap.unsqueeze(-1)
    candidates = (2 * places.reshape(-1, count, CANDIDATES, 2) - 1) * limit.unsqueeze(-2)
    centre, placed = _place(candidates, half, radius, gap)
    start = circles + boxes
    state = {
        "circles": torch.cat([centre[:, :circles], radius[:, :circles, None]], -1),
        "boxes": torch.cat([centre[:, circles:start], half[:, circles:start]], -1),
        "position": centre[:, start],
        "targets": centre[:, start + 1 :],
        "heading": (2 * heading - 1) * torch.pi,
    }
    return state, placed


def _shapes(sizes: Tensor, options: StealthOptions) -> tuple[Tensor, Tensor]:
    """Turn uniform numbers ``[n, S, 2]`` into rounded boxes: half-sizes ``[n, S, 2]`` and radii ``[n, S]``."""
    circles, start = options.num_circles, options.num_circles + options.num_boxes
    half = torch.zeros_like(sizes)
    radius = torch.full_like(sizes[..., 0], options.robot_radius)
    low, high = options.circle_radius
    radius[:, :circles] = low + (high - low) * sizes[:, :circles, 0]
    low, high = options.box_half_size
    half[:, circles:start] = low + (high - low) * sizes[:, circles:start]
    radius[:, circles:start] = 0
    return half, radius


def _place(candidates: Tensor, half: Tensor, radius: Tensor, gap: Tensor) -> tuple[Tensor, Tensor]:
    """Put shape after shape on its first candidate ``[n, S, K, 2]`` that keeps the gap to all shapes before it."""
    centre = candidates[:, :, 0].clone()
    placed = torch.ones(len(candidates), dtype=torch.bool, device=candidates.device)
    for shape in range(1, candidates.shape[1]):
        before = centre[:, None, :shape], half[:, None, :shape], radius[:, None, :shape]
        trial = candidates[:, shape, :, None]
        size = half[:, shape, None, None], radius[:, shape, None, None]
        # A free disc (robot, target) may come close to anything; only two obstacles need the passage between them.
        needed = torch.minimum(gap[:shape], gap[shape])
        fits = (geometry.rounded_gap(trial, *size, before) >= needed).all(-1)
        choice = fits.to(torch.uint8).argmax(-1)
        centre[:, shape] = candidates[:, shape].gather(1, choice[:, None, None].expand(-1, 1, 2)).squeeze(1)
        placed &= fits.any(-1)
    return centre, placed
