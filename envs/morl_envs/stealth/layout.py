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
        options: Options of the environment.

    Returns:
        ``circles [n, C, 3]``, ``boxes [n, K, 4]``, ``targets [n, T, 2]``, ``position [n, 2]``, ``heading [n]``.

    Raises:
        ValueError: If some arena has no valid layout after ``layout_attempts`` attempts.
    """
    result, placed = _attempt(key, options, 0)
    for attempt in range(1, options.layout_attempts):
        rows = (~placed).nonzero().squeeze(-1)
        if not len(rows):
            break
        again, good = _attempt(key[rows], options, attempt)
        result = {name: tensor.index_copy(0, rows, again[name]) for name, tensor in result.items()}
        placed = placed.index_copy(0, rows, good)
    if not bool(placed.all()):
        raise ValueError(
            f"The arena is too full: {options.num_circles} circles, {options.num_boxes} boxes and "
            f"{options.num_targets} targets do not fit in {options.layout_attempts} layouts of {CANDIDATES} "
            "candidates each. Use fewer or smaller obstacles, fewer targets or a larger arena."
        )
    return {name: tensor.contiguous() for name, tensor in result.items()}


def _attempt(key: Tensor, options: StealthOptions, attempt: int) -> tuple[State, Tensor]:
    """Draw every arena once; also return whether everything fitted, bool ``[n]``."""
    circles, boxes, free = options.num_circles, options.num_boxes, 1 + options.num_targets
    count, start = circles + boxes + free, circles + boxes
    per_layout = 1 + 2 * count * (1 + CANDIDATES)
    numbers = uniform(key, attempt * per_layout, per_layout).T
    half, radius = _shapes(numbers[1 : 1 + 2 * count].reshape(2, count, -1), options)
    gap = torch.full((count, 1), options.clearance, dtype=torch.float32, device=key.device)
    gap[:start] = options.passage
    arena = torch.tensor([options.half_width, options.half_height], dtype=torch.float32, device=key.device)
    limit = arena[:, None, None] - half - radius - gap
    places = numbers[1 + 2 * count :].reshape(2, count, CANDIDATES, -1)
    centre, placed = _place((2 * places - 1) * limit.unsqueeze(2), half, radius, gap)
    state = {
        "circles": torch.cat([centre[:, :circles], radius[None, :circles]]),
        "boxes": torch.cat([centre[:, circles:start], half[:, circles:start]]),
        "position": centre[:, start],
        "targets": centre[:, start + 1 :],
        "heading": (2 * numbers[0] - 1) * torch.pi,
    }
    return {name: tensor.permute(*reversed(range(tensor.dim()))) for name, tensor in state.items()}, placed


def _shapes(sizes: Tensor, options: StealthOptions) -> tuple[Tensor, Tensor]:
    """Turn uniform numbers ``[2, S, n]`` into rounded boxes: half-sizes ``[2, S, n]`` and radii ``[S, n]``."""
    circles, start = options.num_circles, options.num_circles + options.num_boxes
    half = torch.zeros_like(sizes)
    radius = torch.full_like(sizes[0], options.robot_radius)
    low, high = options.circle_radius
    radius[:circles] = low + (high - low) * sizes[0, :circles]
    low, high = options.box_half_size
    half[:, circles:start] = low + (high - low) * sizes[:, circles:start]
    radius[circles:start] = 0
    return half, radius


def _place(candidates: Tensor, half: Tensor, radius: Tensor, gap: Tensor) -> tuple[Tensor, Tensor]:
    """Place each shape on its first candidate ``[2, S, K, n]`` that keeps the gap to all earlier shapes."""
    centre = candidates[:, :, 0].clone()
    placed = torch.ones(candidates.shape[-1], dtype=torch.bool, device=candidates.device)
    for shape in range(1, candidates.shape[1]):
        before = centre[:, None, :shape], half[:, None, :shape], radius[None, :shape]
        trial = candidates[:, shape, :, None], half[:, shape, None, None], radius[shape, None, None]
        # Two obstacles need the passage between them; a free disc (robot, target) only needs clearance from everything.
        needed = torch.minimum(gap[:shape], gap[shape])
        fits = (geometry.rounded_gap(trial, before) >= needed).all(1)
        choice = fits.to(torch.uint8).argmax(0)
        centre[:, shape] = candidates[:, shape].gather(1, choice.expand(2, 1, -1)).squeeze(1)
        placed &= fits.any(0)
    return centre, placed
