"""Tchebycheff scalarization: the worst weighted gap to the utopia point."""

import torch
from torch import Tensor

from morl_blocks.scalarizers.base import UtopiaScalarizer, weighted_gaps


def tchebycheff(values: Tensor, weights: Tensor, utopia: Tensor | float) -> Tensor:
    r"""Score the objective that is worst off (maximise).

    .. math:: U(\bar r; w) = -\max_i w_i (\zeta - \bar r_i)

    Every Pareto-optimal point maximises it for some preference, also in concave parts of a front; only the worst
    objective gets a gradient.

    Args:
        values: Normalised returns, ``[*B, m]``.
        weights: Preference on the simplex, ``[m]`` or ``[*B, m]``.
        utopia: Ideal value, broadcastable to ``[*B, m]``.

    Returns:
        Utility, ``[*B]``.

    Example:
        >>> tchebycheff(torch.tensor([[1.0, 0.0], [0.4, 0.4]]), torch.tensor([0.5, 0.5]), 1.05)
        tensor([-0.5250, -0.3250])
    """
    return -worst(weighted_gaps(values, weights, utopia)).values


def worst(gaps: Tensor) -> torch.return_types.max:
    """Return the largest gap and its index (the first one in a tie, so that value, gradient and attention agree)."""
    return gaps.max(-1)


class Tchebycheff(UtopiaScalarizer):
    """The hard worst case: gradient :math:`w_j` and attention 1 on the worst objective j, 0 elsewhere.

    Args:
        utopia: Ideal value, broadcastable to ``[*B, m]``; by default 1.05 for ``"max"`` and -0.05 for ``"min"``.
        sense: ``"max"`` (default): values are returns; ``"min"``: values are losses and the utility is a loss.

    Example:
        >>> scalarizer = Tchebycheff()
        >>> r, w = torch.tensor([0.2, 0.5, 0.8]), torch.tensor([0.5, 0.3, 0.2])
        >>> scalarizer(r, w), scalarizer.gradient(r, w), scalarizer.attention(r, w)
        (tensor(-0.4250), tensor([0.5000, 0.0000, 0.0000]), tensor([1., 0., 0.]))
    """

    def score(self, values: Tensor, weights: Tensor) -> Tensor:
        """Return the worst weighted gap, signed by the sense, ``[*B]``."""
        return self._signed(worst(self._gaps(values, weights)).values)

    def differentiate(self, values: Tensor, weights: Tensor) -> Tensor:
        """Return the weight of the worst objective at its index, ``[*B, m]``."""
        return weights * self.attend(values, weights)

    def attend(self, values: Tensor, weights: Tensor) -> Tensor:
        """Return one at the worst objective, ``[*B, m]``."""
        index = worst(self._gaps(values, weights)).indices
        return torch.nn.functional.one_hot(index, values.shape[-1]).to(values.dtype)
