"""DTLZ2: the part of a sphere where no coordinate is negative, for any number of objectives."""

import math

import torch
from torch import Tensor

from morl_blocks import _checks
from morl_blocks.problems._base import Problem


class DTLZ2(Problem):
    r"""A concave front, the unit sphere where :math:`f \ge 0` (minimise).

    .. math::

        f_i = (1 + g) \prod_{k \le m - i} \cos\frac{\pi x_k}{2} \cdot
        \begin{cases} 1 & i = 1 \\ \sin\frac{\pi x_{m - i + 1}}{2} & i > 1 \end{cases}
        \qquad g = \sum_{k \ge m} (x_k - 0.5)^2, \quad x \in [0, 1]^n

    On the front :math:`g = 0`. After Deb, Thiele, Laumanns and Zitzler (2002).

    Args:
        num_objectives: Number of objectives m >= 2.
        dimension: Number of variables n >= m; by default m + 9.

    Example:
        >>> problem = DTLZ2(num_objectives=3)
        >>> problem(torch.full((12,), 0.5))
        tensor([0.5000, 0.5000, 0.7071])
        >>> problem.reference_front(5).norm(dim=-1)
        tensor([1.0000, 1.0000, 1.0000, 1.0000, 1.0000])
    """

    def __init__(self, num_objectives: int = 3, dimension: int | None = None) -> None:
        _checks.at_least("num_objectives", num_objectives, 2)
        dimension = num_objectives + 9 if dimension is None else dimension
        _checks.at_least("dimension", dimension, num_objectives)
        super().__init__(dimension=dimension, num_objectives=num_objectives, low=0.0, high=1.0)

    def evaluate(self, x: Tensor) -> Tensor:
        """Return the losses, ``[*B, m]``."""
        angles = x[..., : self.num_objectives - 1] * (math.pi / 2)
        g = (x[..., self.num_objectives - 1 :] - 0.5).square().sum(-1, keepdim=True)
        one = torch.ones_like(g)
        cosines = torch.cat([one, angles.cos()], -1).cumprod(-1).flip(-1)
        sines = torch.cat([one, angles.sin().flip(-1)], -1)
        return (1 + g) * cosines * sines

    def reference_front(self, count: int) -> Tensor:
        """Return the m corners and points spread evenly over the rest of the sphere, ``[count, m]``, count >= m."""
        _checks.at_least("count", count, self.num_objectives)
        return super().reference_front(count)

    def front(self, count: int) -> Tensor:
        """Take even angles for two objectives; for more, the corners and a low-discrepancy sequence on the sphere."""
        m = self.num_objectives
        corners = torch.eye(m, dtype=torch.float64)
        if m == 2:
            angle = torch.linspace(0, math.pi / 2, count, dtype=torch.float64)
            return torch.stack([angle.cos(), angle.sin()], -1).clamp_min(0)
        even = torch.quasirandom.SobolEngine(m).fast_forward(1).draw(count - m, dtype=torch.float64)
        normal = even.erfinv()  # absolute normal numbers, whose directions are uniform
        return torch.cat([corners, normal / normal.norm(dim=-1, keepdim=True)])
