"""Preferences at even distances: for evaluation, and as a sampler."""

from functools import cache
from itertools import combinations
from math import comb

import torch
from torch import Generator, Tensor

from morl_blocks import _checks
from morl_blocks.preferences._base import PreferenceSampler


def even_preferences(count: int, num_objectives: int) -> Tensor:
    """Return preferences that cover the simplex evenly; always the same ones.

    For two objectives they are equally spaced from (0, 1) to (1, 0). For more they are points of the coarsest simplex
    lattice that has enough: first the corners, then always the point that is farthest from those before.

    Args:
        count: Number of preferences, >= 2.
        num_objectives: Numbers in a preference, m >= 2.

    Returns:
        Different preferences in ascending order of their numbers, in PyTorch's default dtype, ``[count, m]``.

    Example:
        >>> even_preferences(3, 2)
        tensor([[0.0000, 1.0000],
                [0.5000, 0.5000],
                [1.0000, 0.0000]])
    """
    _checks.at_least("count", count, 2)
    _checks.at_least("num_objectives", num_objectives, 2)
    return _even(count, num_objectives).to(torch.get_default_dtype())


@cache
def _even(count: int, m: int) -> Tensor:
    """Return the preferences in float64."""
    divisions = 1
    while comb(divisions + m - 1, m - 1) < count:
        divisions += 1
    lattice = _lattice(divisions, m)
    if len(lattice) > count:
        lattice = lattice[_spread(lattice, count)]
    return lattice


def _lattice(divisions: int, m: int) -> Tensor:
    """Return all points of the simplex whose numbers are multiples of 1 / divisions, sorted."""
    bars = combinations(range(divisions + m - 1), m - 1)
    ends = torch.tensor([(-1, *places, divisions + m - 1) for places in bars])
    return (ends.diff(dim=-1) - 1).double() / divisions


def _spread(points: Tensor, count: int) -> Tensor:
    """Choose points: the corners, then always the one farthest from those chosen; numbers in ascending order."""
    corners = (points == 1).any(-1).nonzero().flatten()[:count]
    chosen = corners.tolist()
    distance = torch.cdist(points, points[corners]).amin(-1)
    while len(chosen) < count:
        chosen.append(int(distance.argmax()))
        distance = torch.minimum(distance, (points - points[chosen[-1]]).norm(dim=-1))
    return torch.tensor(sorted(chosen))


class Grid(PreferenceSampler):
    """Draw from n preferences that cover the simplex evenly: :func:`even_preferences`.

    Args:
        n: Number of different preferences, >= 2.

    Example:
        >>> Grid(3)(100, 2).unique(dim=0)
        tensor([[0.0000, 1.0000],
                [0.5000, 0.5000],
                [1.0000, 0.0000]])
    """

    def __init__(self, n: int = 11) -> None:
        super().__init__()
        _checks.at_least("n", n, 2)
        self.n = int(n)

    def draw(self, count: int, num_objectives: int, generator: Generator) -> Tensor:
        """Return preferences, ``[count, m]``, each of the n with the same probability."""
        return even_preferences(self.n, num_objectives)[torch.randint(self.n, (count,), generator=generator)]

    def extra_repr(self) -> str:
        """Show the number of preferences in ``repr``."""
        return f"n={self.n}"
