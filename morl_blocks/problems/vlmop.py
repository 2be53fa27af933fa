"""VLMOP2, also known as Fonseca and Fleming's problem: a smooth concave front."""

import math

import torch
from torch import Tensor

from morl_blocks import _checks
from morl_blocks.problems._base import Problem


class VLMOP2(Problem):
    r"""Two Gaussian wells: a concave front, of which a weighted sum finds only the ends (minimise).

    .. math:: f_{1,2}(x) = 1 - \exp\Big(-\sum_k (x_k \mp 1/\sqrt n)^2\Big), \qquad x \in [-2, 2]^n

    On the front all variables are equal, between :math:`-1/\sqrt n` and :math:`1/\sqrt n`. After Van Veldhuizen and
    Lamont (1999) and Fonseca and Fleming (1995).

    Args:
        dimension: Number of variables n >= 1.

    Example:
        >>> problem = VLMOP2()
        >>> problem(torch.zeros(2))
        tensor([0.6321, 0.6321])
        >>> problem.reference_front(3)
        tensor([[0.0000, 0.9817],
                [0.6321, 0.6321],
                [0.9817, 0.0000]])
    """

    def __init__(self, dimension: int = 2) -> None:
        _checks.at_least("dimension", dimension, 1)
        super().__init__(dimension=dimension, num_objectives=2, low=-2.0, high=2.0)

    def evaluate(self, x: Tensor) -> Tensor:
        """Return both losses, ``[*B, 2]``."""
        shift = 1 / math.sqrt(self.dimension)
        return torch.stack([-torch.expm1(-(x - s).square().sum(-1)) for s in (shift, -shift)], -1)

    def front(self, count: int) -> Tensor:
        """Return the losses on the line between the two optima."""
        t = torch.linspace(1, -1, count, dtype=torch.float64) / math.sqrt(self.dimension)
        return self.evaluate(t.unsqueeze(-1).expand(count, self.dimension))
