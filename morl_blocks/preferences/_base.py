"""The base class of preference samplers."""

from abc import ABC, abstractmethod
from typing import ClassVar

import torch
from torch import Generator, Tensor, nn

from morl_blocks import _checks


class PreferenceSampler(nn.Module, ABC):
    """Draw preferences on the simplex, one per episode.

    To write a sampler, implement :meth:`draw`. Calling the module draws and checks: preferences off the simplex or of
    another shape raise an error that names the sampler.

    Attributes:
        redraws: Whether preferences change from episode to episode; only :class:`Given` has ``False``.

    Example:
        >>> class Corners(PreferenceSampler):
        ...     '''Care for one objective at a time.'''
        ...     def draw(self, count, num_objectives, generator):
        ...         return torch.eye(num_objectives)[torch.randint(num_objectives, (count,), generator=generator)]
        >>> Corners()(4, 3, torch.Generator().manual_seed(0)).sum(-1)
        tensor([1., 1., 1., 1.])
    """

    redraws: ClassVar[bool] = True

    @abstractmethod
    def draw(self, count: int, num_objectives: int, generator: Generator) -> Tensor:
        """Return preferences, ``[count, m]``, each >= 0 with the sum 1.

        Args:
            count: Number of preferences.
            num_objectives: Number of objectives, m.
            generator: The only source of randomness.
        """

    def forward(self, count: int, num_objectives: int, generator: Generator | None = None) -> Tensor:
        """Draw and check.

        Args:
            count: Number of preferences, >= 1.
            num_objectives: Number of objectives, m >= 1.
            generator: Source of randomness; by default PyTorch's global one.

        Returns:
            Preferences in PyTorch's default dtype, ``[count, m]``.
        """
        _checks.at_least("count", count, 1)
        _checks.at_least("num_objectives", num_objectives, 1)
        name = f"{type(self).__name__}.draw"
        drawn = self.draw(count, num_objectives, torch.default_generator if generator is None else generator)
        drawn = _checks.floats(name, drawn).to(torch.get_default_dtype())
        if drawn.shape != (count, num_objectives):
            _checks.fail(name, f"return shape {[count, num_objectives]}", f"shape {list(drawn.shape)}")
        _checks.simplex(name, drawn)
        return drawn
