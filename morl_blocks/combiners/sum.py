"""Plain and weighted sum of the gradients: no projection."""

import torch
from torch import Tensor

from morl_blocks import _checks
from morl_blocks.combiners._base import Combiner


class Sum(Combiner):
    """Add the gradients up, :math:`c = 1`.

    Example:
        >>> Sum()(torch.tensor([[1.0, 0.0], [-1.0, 1.0]]))
        tensor([0., 1.])
    """

    def combine(self, gramian: Tensor, attention: Tensor, noise: Tensor | None) -> Tensor:
        """Give every objective the weight 1."""
        return torch.ones_like(gramian[..., 0])


class WeightedSum(Combiner):
    r"""Weight the gradients by the attention, :math:`c_i = m\,\eta_i`.

    With the preference as attention this is the fair linear baseline: the factor m keeps the step size of the plain
    sum at uniform attention.

    Args:
        rescale: Keep the factor m.

    Example:
        >>> WeightedSum()(torch.tensor([[1.0, 0.0], [0.0, 1.0]]), attention=torch.tensor([0.75, 0.25]))
        tensor([1.5000, 0.5000])
    """

    needs_attention = True

    def __init__(self, *, rescale: bool = True) -> None:
        super().__init__()
        _checks.boolean("rescale", rescale)
        self.rescale = rescale

    def combine(self, gramian: Tensor, attention: Tensor, noise: Tensor | None) -> Tensor:
        """Return the attention, times m if rescaled."""
        return rescaled(attention, rescale=self.rescale)


def rescaled(attention: Tensor, *, rescale: bool) -> Tensor:
    """Return the attention times m, so that uniform attention gives weight 1 to every objective."""
    return attention * attention.shape[-1] if rescale else attention
