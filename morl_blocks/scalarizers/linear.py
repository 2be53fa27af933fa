"""Linear scalarization: the weighted sum."""

from torch import Tensor

from morl_blocks import _checks
from morl_blocks.scalarizers.base import Scalarizer


def linear(values: Tensor, weights: Tensor) -> Tensor:
    r"""Sum the weighted objectives (maximise returns, or minimise losses: the formula is the same).

    .. math:: U(\bar r; w) = \sum_i w_i \bar r_i

    Its maximisers lie on the convex hull of the front: points in a concave part of it are out of reach.

    Args:
        values: Objective values, ``[*B, m]``.
        weights: Preference on the simplex, ``[m]`` or ``[*B, m]``.

    Returns:
        Utility, ``[*B]``.

    Example:
        >>> import torch
        >>> linear(torch.tensor([[1.0, 0.0], [0.4, 0.4]]), torch.tensor([0.5, 0.5]))
        tensor([0.5000, 0.4000])
    """
    values, weights = _checks.pair(values, weights)
    return (weights * values).sum(-1)


class Linear(Scalarizer):
    """The weighted sum of the objectives; gradient and attention are the preference itself.

    Args:
        sense: ``"max"`` (default) or ``"min"``; the formula is the same.

    Example:
        >>> import torch
        >>> scalarizer = Linear()
        >>> scalarizer(torch.tensor([0.2, 0.5, 0.8]), torch.tensor([0.5, 0.3, 0.2]))
        tensor(0.4100)
        >>> scalarizer.attention(torch.tensor([0.2, 0.5, 0.8]), torch.tensor([0.5, 0.3, 0.2]))
        tensor([0.5000, 0.3000, 0.2000])
    """

    def score(self, values: Tensor, weights: Tensor) -> Tensor:
        """Return the weighted sum, ``[*B]``."""
        return linear(values, weights)

    def subtract(self, values: Tensor, others: Tensor, weights: Tensor) -> Tensor:
        """Return the weighted sum of the differences, ``[*B]``."""
        return linear(values - others, weights)

    def differentiate(self, values: Tensor, weights: Tensor) -> Tensor:
        """Return the preference, ``[*B, m]``."""
        return weights.expand_as(values)

    def attend(self, values: Tensor, weights: Tensor) -> Tensor:
        """Return the preference, ``[*B, m]``."""
        return weights.expand_as(values)
