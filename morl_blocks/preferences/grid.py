"""Evenly spread preferences: for evaluation, and as a sampler."""

from functools import cache

import torch
from torch import Generator, Tensor

from morl_blocks import _checks
from morl_blocks.preferences._base import PreferenceSampler


def even_preferences(count: int, num_objectives: int) -> Tensor:
    """Return preferences that cover the simplex evenly: those of :func:`morl_blocks.metrics.even_weights`, as a tensor.

    For two objectives they are equally spaced from (0, 1) to (1, 0). The corners are always among them.

    Args:
        count: Number of preferences, >= m.
        num_objectives: Number of objectives, m >= 2.

    Returns:
        Different preferences in ascending order, in PyTorch's default dtype, ``[count, m]``.

    Example:
        >>> even_preferences(3, 2)
        tensor([[0.0000, 1.0000],
                [0.5000, 0.5000],
                [1.0000, 0.0000]])
    """
    return _even(count, num_objectives).to(torch.get_default_dtype(), copy=True)  # the caller may write into it


@cache
def _even(count: int, num_objectives: int) -> Tensor:
    """Return the preferences in float64."""
    from morl_blocks.metrics import even_weights  # imported here, because it loads packages that only metrics need

    return torch.from_numpy(even_weights(num_objectives, count))


class Grid(PreferenceSampler):
    """Draw from n preferences that cover the simplex evenly: :func:`even_preferences`.

    Args:
        n: Number of different preferences, at least one per objective.

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
