"""Functions that both quadrotor environments share: speed-limited flight and distances in the plane."""

from torch import Tensor


def norm(vector: Tensor) -> Tensor:
    """Return the length of plane vectors ``[*B, 2]`` -> ``[*B]``."""
    x, y = vector.unbind(-1)
    return (x * x + y * y).sqrt()


def fly(position: Tensor, action: Tensor, step_length: float) -> Tensor:
    """Move drones by their velocity commands; a command longer than 1 is scaled down to the top speed.

    Args:
        position: ``[*B, 2]``.
        action: Commands in [-1, 1] per axis, ``[*B, 2]``.
        step_length: Distance per step at top speed.

    Example:
        >>> import torch
        >>> fly(torch.zeros(2), torch.tensor([0.0, 1.0]), 0.005)
        tensor([0.0000, 0.0050])
    """
    shorten = norm(action).clamp(min=1).unsqueeze(-1)
    return position + step_length * (action / shorten)


def wall_distance(position: Tensor, limits: Tensor) -> Tensor:
    """Return the distance to the nearest wall, negative outside, ``[*B, 2]`` -> ``[*B]``."""
    return (limits - position.abs()).amin(-1)
