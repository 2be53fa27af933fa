"""The conflict ratio of the objectives' gradients."""

import torch
from torch import Tensor

from morl_blocks import _checks


def conflict_ratio(gramian: Tensor) -> Tensor:
    r"""Return the share of objective pairs whose gradients point against each other.

    .. math:: \kappa = \frac{\#\{i<j : g_i^\top g_j < 0\}}{m (m-1) / 2}

    Args:
        gramian: Inner products of the original gradients, ``[*R, m, m]`` with m >= 2.

    Returns:
        Conflict ratio in [0, 1], ``[*R]``.

    Example:
        >>> jacobian = torch.tensor([[1.0, 0.0, 0.0], [-1.0, 1.0, 0.0], [0.0, -1.0, 1.0]])
        >>> conflict_ratio(jacobian @ jacobian.T)
        tensor(0.6667)
    """
    gramian = _checks.square("gramian", gramian)
    _checks.gramian(gramian)
    _checks.objectives("gramian", gramian)
    return pair_conflict(gramian)


def pair_conflict(gramian: Tensor) -> Tensor:
    """Compute :func:`conflict_ratio` without reading values, for hot loops; 0 for a single objective, NaN for NaN."""
    gramian = _checks.square("gramian", gramian)
    m = gramian.shape[-1]
    # Each pair appears in both triangles; the diagonal is never negative.
    negative = (gramian < 0).to(gramian.dtype)
    return torch.where(gramian.isnan(), gramian, negative).sum((-2, -1)) / max(m * (m - 1), 1)
