"""The base class of test problems: bounds, checks and the two calls."""

from abc import ABC, abstractmethod

import torch
from torch import Tensor

from morl_blocks import _checks


class Problem(ABC):
    """A function of n bounded variables to m objectives, all minimised, whose Pareto front is known.

    To write a problem, implement :meth:`evaluate` and :meth:`front`.

    Args:
        dimension: Number of variables n.
        num_objectives: Number of objectives m.
        low: Smallest value of each variable.
        high: Largest value of each variable.

    Attributes:
        dimension: Number of variables, n.
        num_objectives: Number of objectives, m.

    Example:
        >>> class Parabolas(Problem):
        ...     '''The distances to -1 and to 1.'''
        ...     def __init__(self):
        ...         super().__init__(dimension=1, num_objectives=2, low=-2.0, high=2.0)
        ...     def evaluate(self, x):
        ...         return torch.cat([(x + 1) ** 2, (x - 1) ** 2], -1)
        ...     def front(self, count):
        ...         return self.evaluate(torch.linspace(-1, 1, count, dtype=torch.float64).unsqueeze(-1))
        >>> Parabolas()(torch.tensor([[0.0], [0.5]]))
        tensor([[1.0000, 1.0000],
                [2.2500, 0.2500]])
        >>> Parabolas().reference_front(3)
        tensor([[0., 4.],
                [1., 1.],
                [4., 0.]])
    """

    def __init__(self, *, dimension: int, num_objectives: int, low: float, high: float) -> None:
        self.dimension, self.num_objectives = dimension, num_objectives
        self._low, self._high = low, high

    @property
    def bounds(self) -> tuple[Tensor, Tensor]:
        """The smallest and the largest value of each variable, both ``[n]``."""
        return torch.full((self.dimension,), self._low), torch.full((self.dimension,), self._high)

    def __call__(self, x: Tensor) -> Tensor:
        """Return the objectives, to be minimised.

        Args:
            x: Variables within the bounds, ``[*B, n]``.

        Returns:
            Objectives, ``[*B, m]``.
        """
        x = _checks.floats("x", x)
        _checks.features("x", x, self.dimension)
        _checks.between("x", x, self._low, self._high)
        return self.evaluate(x)

    def reference_front(self, count: int) -> Tensor:
        """Return points spread over the Pareto front, ``[count, m]``."""
        _checks.at_least("count", count, 2)
        return self.front(count).to(torch.get_default_dtype())

    @abstractmethod
    def evaluate(self, x: Tensor) -> Tensor:
        """Return the objectives of checked variables: ``[*B, n]`` to ``[*B, m]``."""

    @abstractmethod
    def front(self, count: int) -> Tensor:
        """Return ``count`` points of the Pareto front in double precision, ``[count, m]``."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}(dimension={self.dimension})"
