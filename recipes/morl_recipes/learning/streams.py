"""Seeds and generators of one run: every stream of random numbers is derived from the run's own seed."""

from collections.abc import Sequence

import torch
from torch import Generator, Tensor

from morl_recipes.common.seeds import derive


class Streams:
    """One generator per run for a named purpose. They are on the CPU, so numbers do not depend on the device."""

    def __init__(self, seeds: Sequence[int], stream: str) -> None:
        self.generators = [Generator().manual_seed(derive(seed, stream)) for seed in seeds]

    def noise(self, kind: str, *shape: int) -> Tensor:
        """Return the noise that an actor needs, ``[R, *shape]``: ``"uniform"`` in [0, 1), or standard ``"normal"``."""
        draw = torch.rand if kind == "uniform" else torch.randn
        return torch.stack([draw(*shape, generator=g) for g in self.generators])

    def permutations(self, count: int, size: int) -> Tensor:
        """Return ``count`` permutations of ``0 .. size - 1`` per run, ``[R, count, size]``."""
        rows = [[torch.randperm(size, generator=g) for _ in range(count)] for g in self.generators]
        return torch.stack([torch.stack(row) for row in rows])

    def get_state(self) -> Tensor:
        """Return the state of all generators, ``[R, S]`` bytes."""
        return torch.stack([generator.get_state() for generator in self.generators])

    def set_state(self, state: Tensor) -> None:
        """Continue from a state of :meth:`get_state`."""
        for generator, row in zip(self.generators, state, strict=True):
            generator.set_state(row.clone())
