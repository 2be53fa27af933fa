"""The live blocks of R runs.

Scalarizers (with their schedulers) are made once per run, from the run's own numbers, and called once per iteration for
each: a run in a batch sees the same block as the run alone. The combiner is asked for every minibatch, so one block
serves all runs at once; the runs of a batch have equal combiners. One that cannot is made once per run and looped over.
"""

from collections.abc import Sequence
from math import prod
from typing import Any, cast

import torch
from torch import Generator, Tensor, nn

from morl_blocks.combiners import Combiner
from morl_recipes.common import checks
from morl_recipes.learning.weighing import Weighing
from morl_recipes.recipe.recipe import Recipe


class Scalarizers(nn.Module):
    """One scalarizer per run."""

    def __init__(self, recipes: Sequence[Recipe]) -> None:
        super().__init__()
        self.blocks = nn.ModuleList(recipe.build_scalarizer() for recipe in recipes)

    @property
    def mu(self) -> Tensor:
        """Smoothness of each run, ``[R]``; NaN for scalarizers that have none."""
        return torch.stack([torch.as_tensor(getattr(block, "mu", torch.nan)).reshape(()) for block in self.blocks])

    def step(
        self, progress: float, conflict: Tensor, values: Tensor | None = None, weights: Tensor | None = None
    ) -> None:
        """Let the schedulers choose the smoothness of the next iteration.

        Args:
            progress: Share of the training done.
            conflict: Conflict of the last iteration, ``[R]``.
            values: Normalised returns of this iteration, ``[R, N, m]``; for schedulers that look at their gaps.
            weights: Their preferences, ``[R, N, m]``.
        """
        for run, block in enumerate(self.blocks):
            if not hasattr(block, "step"):
                continue
            looks = getattr(getattr(block, "scheduler", None), "needs_gaps", False)
            seen = (values[run], weights[run]) if looks and values is not None and weights is not None else ()
            cast("Any", block).step(progress, conflict[run], *seen)

    def attention(self, values: Tensor, weights: Tensor) -> Tensor:
        """Return attentions ``[R, N, m]`` for values and weights ``[R, N, m]``."""
        rows = zip(self.blocks, values, weights, strict=True)
        return torch.stack([cast("Any", s).attention(v, w).expand_as(v) for s, v, w in rows])


class Samplers(nn.Module):
    """One preference sampler per run."""

    def __init__(self, recipes: Sequence[Recipe]) -> None:
        super().__init__()
        self.blocks = nn.ModuleList(recipe.preferences.build() for recipe in recipes)

    def draw(self, shape: tuple[int, ...], objectives: int, generators: Sequence[Generator]) -> Tensor:
        """Draw checked preferences from each run's own generator, ``[R, *shape, m]``."""
        pairs = zip(self.blocks, generators, strict=True)
        return torch.stack([block(prod(shape), objectives, own).reshape(*shape, objectives) for block, own in pairs])


class Combine:
    """The combiner of R runs, as one function of their Gramians.

    A run whose Gramian is not finite gets weights that are not: it fails, the others go on.
    """

    def __init__(self, recipes: Sequence[Recipe], objectives: int) -> None:
        first: Combiner = recipes[0].combiner.build()
        self.batched, self.weigh = first.batched, Weighing.of(first, objectives, conditioned=recipes[0].conditioned)
        self.blocks = nn.ModuleList([first, *(r.combiner.build() for r in ([] if self.batched else recipes[1:]))])

    def draw(self, count: int, objectives: int, generators: Sequence[Generator]) -> Tensor | None:
        """Draw the noise of ``count`` minibatches from each run's own generator, ``[count, R, ...]``."""
        shape = (count, objectives * self.weigh.groups)
        drawn = [cast("Any", self.blocks[0]).draw(shape, generator) for generator in generators]
        return None if drawn[0] is None else torch.stack(drawn, dim=1)

    def part(self, runs: slice) -> "Combine":
        """Return the combiners of some of the runs."""
        part = object.__new__(Combine)
        part.batched, part.weigh = self.batched, self.weigh
        part.blocks = self.blocks if self.batched else self.blocks[runs]
        return part

    def __call__(self, gramian: Tensor | None, attention: Tensor, noise: Tensor | None) -> tuple[Tensor, Tensor]:
        """Return conflict ratios ``[R]`` and weights ``[R, q]``.

        Args:
            gramian: Inner products of the runs' gradients, ``[R, q, q]``; ``None`` for a single gradient.
            attention: Attention of the minibatch, ``[R, B, m]``.
            noise: The combiner's noise, ``[R, ...]``.
        """
        mean = attention.mean(1)
        if gramian is None or gramian.shape[-1] == 1:  # a scalarised advantage: nothing to combine or to conflict with
            return torch.zeros_like(mean[:, 0]), torch.ones_like(mean[:, :1])
        if self.batched:
            block = cast("Combiner", self.blocks[0])
            weights = block.combine(gramian, mean, noise)
            checks.returned(block, "combine", weights, gramian.shape[:-1])
            return block.conflict(gramian, noise), weights
        return self._loop(gramian, mean, noise)

    def _loop(self, gramian: Tensor, attention: Tensor, noise: Tensor | None) -> tuple[Tensor, Tensor]:
        sane = gramian.isfinite().flatten(1).all(-1)
        safe = torch.where(sane[:, None, None], gramian, 0.0)
        even = torch.where(sane[:, None], attention, 1 / attention.shape[-1])
        noises = [None] * len(safe) if noise is None else list(noise)
        rows = list(zip(cast("Any", self.blocks), safe, even, noises, strict=True))
        conflict = torch.stack([block.conflict(own, e) for block, own, _, e in rows])
        weights = torch.stack([block.combine(own, weight, e) for block, own, weight, e in rows])
        return conflict, torch.where(sane[:, None], weights, torch.nan)
