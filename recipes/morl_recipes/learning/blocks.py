"""The live blocks of R runs.

Scalarizers (with their schedulers) are created once per run, from the run's own numbers, and called once per iteration
for each run, so a run in a batch uses the same block as a single run. The combiner is called for every minibatch. One
combiner serves all runs at once, because the runs of a batch have equal combiners. A combiner that cannot be batched is
created once per run and called in a loop.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any, cast

import torch
from torch import Generator, Tensor, nn

from morl_blocks.combiners import Combiner
from morl_blocks.combiners.grouped import nearest
from morl_blocks.preferences import even_preferences
from morl_recipes.common import checks
from morl_recipes.learning.minibatch import Samples
from morl_recipes.recipe.recipe import Recipe


@dataclass(frozen=True)
class Weighing:
    """How a minibatch's advantages are weighted before the losses: per sample, and in K groups with one centre each."""

    per_sample: bool = False
    groups: int = 1
    centres: Tensor | None = field(default=None, compare=False)

    @classmethod
    def of(cls, combiner: Combiner, objectives: int, *, conditioned: bool) -> Weighing:
        """Return the weighting that a combiner needs, with redrawn preferences (``conditioned``) or fixed ones."""
        groups = combiner.groups
        centres = None if groups == 1 else even_preferences(groups, objectives)
        return cls(groups > 1 or (conditioned and combiner.needs_attention), groups, centres)

    def __call__(self, batch: Samples) -> Samples:
        """Return the samples for the actor: advantages ``[*B, K * q]``, and uniform attention if they are weighted.

        A scalarised advantage needs no weights, because its utility already used the sample's own preference.
        """
        if not self.per_sample or batch.advantage.shape[-1] == 1:
            return batch
        m = batch.attention.shape[-1]
        weighed = batch.advantage * (m * batch.attention)
        if self.centres is not None:
            # Every group has its own columns, which are zero for samples that are nearest to another centre.
            group = nearest(batch.inputs[..., -m:], self.centres.to(weighed))
            weighed = (group.unsqueeze(-1) * weighed.unsqueeze(-2)).flatten(-2)
        return batch._replace(advantage=weighed, attention=torch.full_like(weighed, 1 / weighed.shape[-1]))


class Scalarizers(nn.Module):
    """One scalarizer per run."""

    def __init__(self, recipes: Sequence[Recipe]) -> None:
        super().__init__()
        self.blocks = nn.ModuleList(recipe.build_scalarizer() for recipe in recipes)

    @property
    def mu(self) -> Tensor:
        """Smoothness of each run, ``[R]``; NaN for scalarizers without one."""
        return torch.stack([torch.as_tensor(getattr(block, "mu", torch.nan)).reshape(()) for block in self.blocks])

    def step(
        self, progress: float, conflict: Tensor, values: Tensor | None = None, weights: Tensor | None = None
    ) -> None:
        """Step the schedulers; some use the gaps of normalised returns ``[R, N, m]``."""
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
    """The combiners of R runs, as one function of their Gramians.

    A run whose Gramian is not finite gets weights that are not finite: it fails, and the others continue.
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

    def part(self, runs: slice) -> Combine:
        """Return the combiners of some of the runs."""
        part = object.__new__(Combine)
        part.batched, part.weigh = self.batched, self.weigh
        part.blocks = self.blocks if self.batched else self.blocks[runs]
        return part

    def __call__(self, gramian: Tensor | None, mean: Tensor, noise: Tensor | None) -> tuple[Tensor, Tensor]:
        """Return conflict ratios ``[R]`` and weights ``[R, q]`` for Gramians ``[R, q, q]``, ``None`` for one.

        ``mean`` is the mean attention, ``[R, q]``.
        """
        if gramian is None or gramian.shape[-1] == 1:  # a scalarised advantage has a single gradient
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
