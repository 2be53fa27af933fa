"""Preferences from a Dirichlet distribution, and the uniform one among them."""

import torch
from torch import Generator, Tensor

from morl_blocks import _checks
from morl_blocks.preferences._base import PreferenceSampler


def dirichlet_preferences(alpha: float, count: int, num_objectives: int, generator: Generator) -> Tensor:
    r"""Draw from the symmetric Dirichlet distribution.

    .. math:: w_i = \frac{\gamma_i}{\sum_j \gamma_j}, \qquad \gamma_i \sim \text{Gamma}(\alpha)

    Every objective has the mean 1/m. With :math:`\alpha = 1` all points of the simplex are equally likely; below 1 the
    corners are favoured, above 1 the centre.

    Args:
        alpha: Concentration, > 0.
        count: Number of preferences.
        num_objectives: Number of objectives, m.
        generator: Source of randomness.

    Returns:
        Preferences in float64, ``[count, m]``.

    Example:
        >>> dirichlet_preferences(1.0, 1000, 2, torch.Generator().manual_seed(0)).mean(0).round(decimals=1)
        tensor([0.5000, 0.5000], dtype=torch.float64)
    """
    alpha = _checks.single("alpha", alpha)
    _checks.positive("alpha", alpha)
    shape = torch.full((count, num_objectives), alpha, dtype=torch.float64)
    limits = torch.finfo(torch.float64)
    numbers = torch._standard_gamma(shape, generator=generator).clamp_min(limits.tiny)
    drawn = numbers / numbers.sum(-1, keepdim=True)
    vanished = numbers.amax(-1) < limits.tiny / limits.eps  # only for a small alpha
    if bool(vanished.any()):
        drawn[vanished] = _below(limits.tiny, numbers[vanished], alpha, generator)
    return drawn


def _below(tiny: float, numbers: Tensor, alpha: float, generator: Generator) -> Tensor:
    r"""Return preferences ``[k, m]`` for Gamma numbers that are cut off at ``tiny``.

    Near 0 the distribution function of Gamma is a power, :math:`x^\alpha / \Gamma(\alpha + 1)`. So a number below
    ``tiny`` is :math:`\text{tiny} \cdot u^{1/\alpha}` with a uniform u, and only its logarithm can be represented.
    """
    uniform = 1 - torch.rand(numbers.shape, generator=generator, dtype=numbers.dtype)  # in (0, 1]
    powers = alpha * numbers.log() + torch.where(numbers <= tiny, uniform.log(), 0.0)
    return ((powers - powers.amax(-1, keepdim=True)) / alpha).softmax(-1)


class Dirichlet(PreferenceSampler):
    """Draw from the symmetric Dirichlet distribution: :func:`dirichlet_preferences`.

    Args:
        alpha: Concentration, > 0; below 1 it favours the corners, above 1 the centre.

    Example:
        >>> Dirichlet(0.3)(5, 3).shape
        torch.Size([5, 3])
    """

    def __init__(self, alpha: float = 1.0) -> None:
        super().__init__()
        self.alpha = _checks.single("alpha", alpha)
        _checks.positive("alpha", self.alpha)

    def draw(self, count: int, num_objectives: int, generator: Generator) -> Tensor:
        """Return preferences, ``[count, m]``."""
        return dirichlet_preferences(self.alpha, count, num_objectives, generator)

    def extra_repr(self) -> str:
        """Show the concentration in ``repr``."""
        return f"alpha={self.alpha:g}"


class Uniform(PreferenceSampler):
    """Draw every point of the simplex with the same probability.

    Example:
        >>> Uniform()(5, 3).shape
        torch.Size([5, 3])
    """

    def draw(self, count: int, num_objectives: int, generator: Generator) -> Tensor:
        """Return preferences, ``[count, m]``."""
        return dirichlet_preferences(1.0, count, num_objectives, generator)
