"""ZDT1, ZDT2 and ZDT3: a convex, a concave and a disconnected front."""

import math
from abc import abstractmethod

import torch
from torch import Tensor

from morl_blocks import _checks
from morl_blocks.problems._base import Problem

# Intervals of the first objective that ZDT3's front covers.
PARTS = (
    (0.0, 0.0830015349),
    (0.1822287280, 0.2577623634),
    (0.4093136748, 0.4538821041),
    (0.6183967944, 0.6525117038),
    (0.8233317983, 0.8518328654),
)


class ZDT(Problem):
    r"""The base class: :math:`f_1 = x_1`, :math:`f_2 = g\, h(f_1, g)`, :math:`x \in [0, 1]^n` (minimise).

    .. math:: g(x) = 1 + \frac{9}{n - 1} \sum_{k=2}^n x_k

    The front has :math:`g = 1`. After Zitzler, Deb and Thiele (2000).

    Args:
        dimension: Number of variables n >= 2.
    """

    def __init__(self, dimension: int = 30) -> None:
        _checks.at_least("dimension", dimension, 2)
        super().__init__(dimension=dimension, num_objectives=2, low=0.0, high=1.0)

    def evaluate(self, x: Tensor) -> Tensor:
        """Return both losses, ``[*B, 2]``."""
        first, g = x[..., 0], 1 + 9 * x[..., 1:].mean(-1)
        return torch.stack([first, g * self.shape(first, g)], -1)

    def front(self, count: int) -> Tensor:
        """Spread points evenly over the first objective."""
        first = torch.linspace(0, 1, count, dtype=torch.float64)
        return torch.stack([first, self.shape(first, torch.ones_like(first))], -1)

    @abstractmethod
    def shape(self, first: Tensor, g: Tensor) -> Tensor:
        """Return h, the front's shape, ``[*B]``."""


class ZDT1(ZDT):
    r"""A convex front: :math:`h = 1 - \sqrt{f_1 / g}` (minimise).

    Args:
        dimension: Number of variables n >= 2.

    Example:
        >>> ZDT1()(torch.tensor([0.25] + [0.0] * 29))
        tensor([0.2500, 0.5000])
    """

    def shape(self, first: Tensor, g: Tensor) -> Tensor:
        """Return h, ``[*B]``."""
        return 1 - (first / g).sqrt()


class ZDT2(ZDT):
    r"""A concave front: :math:`h = 1 - (f_1 / g)^2` (minimise).

    Args:
        dimension: Number of variables n >= 2.

    Example:
        >>> ZDT2()(torch.tensor([0.5] + [0.0] * 29))
        tensor([0.5000, 0.7500])
    """

    def shape(self, first: Tensor, g: Tensor) -> Tensor:
        """Return h, ``[*B]``."""
        return 1 - (first / g).square()


class ZDT3(ZDT):
    r"""A front in five pieces: :math:`h = 1 - \sqrt{f_1 / g} - (f_1 / g) \sin(10 \pi f_1)` (minimise).

    Args:
        dimension: Number of variables n >= 2.

    Example:
        >>> ZDT3()(torch.tensor([0.25] + [0.0] * 29))
        tensor([0.2500, 0.2500])
    """

    def shape(self, first: Tensor, g: Tensor) -> Tensor:
        """Return h, ``[*B]``."""
        return 1 - (first / g).sqrt() - first / g * (10 * math.pi * first).sin()

    def front(self, count: int) -> Tensor:
        """Spread points evenly over the five pieces, by their length along the first objective."""
        low, high = torch.tensor(PARTS, dtype=torch.float64).unbind(-1)
        ends = (high - low).cumsum(0)
        along = torch.linspace(0, 1, count, dtype=torch.float64) * ends[-1]
        piece = torch.searchsorted(ends, along).clamp_max(len(PARTS) - 1)
        first = high[piece] - (ends[piece] - along)
        return torch.stack([first, self.shape(first, torch.ones_like(first))], -1)
