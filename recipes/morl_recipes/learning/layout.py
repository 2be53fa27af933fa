"""Where each parameter of a network lies in a flat vector: one row of ``[R, P]`` per run."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod

import torch
from torch import Tensor, nn


@dataclass(frozen=True)
class Layout:
    """Names and shapes of a network's parameters, in the order in which a flat vector holds them.

    Example:
        >>> layout = Layout.of(nn.Linear(2, 3))
        >>> layout.size, layout.names
        (9, ('weight', 'bias'))
        >>> layout.views(torch.arange(18.0).reshape(2, 9))["bias"]  # two runs
        tensor([[ 6.,  7.,  8.],
                [15., 16., 17.]])
    """

    names: tuple[str, ...]
    shapes: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, module: nn.Module) -> "Layout":
        """Read the layout off a module."""
        named = list(module.named_parameters())
        return cls(tuple(name for name, _ in named), tuple(tuple(param.shape) for _, param in named))

    @property
    def size(self) -> int:
        """Numbers per run, P."""
        return sum(prod(shape) for shape in self.shapes)

    def views(self, flat: Tensor) -> dict[str, Tensor]:
        """Return each parameter as a view ``[R, *shape]`` of the flat ``[R, P]``."""
        pieces = flat.split([prod(shape) for shape in self.shapes], dim=-1)
        return {n: p.view(-1, *s) for n, p, s in zip(self.names, pieces, self.shapes, strict=True)}

    def join(self, gradients: dict[str, Tensor]) -> Tensor:
        """Return one flat ``[R, P]`` from pieces ``[R, *shape]``."""
        return torch.cat([gradients[name].flatten(1) for name in self.names], dim=-1)


def initial(make: Callable[[], nn.Module], seeds: Sequence[int]) -> tuple[nn.Module, Tensor]:
    """Make one network per seed and stack their parameters.

    PyTorch's initialisers draw from the global generator; each network is made with a copy of it, seeded by the run.

    Returns:
        The last network, as a template, and the parameters, ``[R, P]``.
    """
    rows = []
    with torch.random.fork_rng(devices=[]):
        for seed in seeds:
            torch.manual_seed(seed)
            module = make()
            rows.append(torch.cat([param.detach().flatten() for param in module.parameters()]))
    return module, torch.stack(rows)
