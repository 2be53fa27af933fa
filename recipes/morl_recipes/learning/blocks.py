"""The live scalarizer, scheduler and combiner of a batch: one block for all runs, or one per run.

Blocks of this package take one number per run and serve all runs in one call. A block that cannot (a user's own, a live
module, TorchJD) is made once per run and called in a loop over the runs, which is slower and otherwise the same.
"""

from collections.abc import Callable, Sequence
from typing import Any, cast

import torch
from torch import Generator, Tensor, nn

from morl_blocks.scalarizers import Linear, Tchebycheff
from morl_recipes.learning.update import Weights
from morl_recipes.recipe import Recipe
from morl_recipes.spec import Spec, is_stackable, stack
from morl_recipes.specs import CombinerSpec


class PerRunScheduler(nn.Module):
    """R schedulers behind the interface of one."""

    def __init__(self, schedulers: Sequence[nn.Module]) -> None:
        super().__init__()
        self.schedulers = nn.ModuleList(schedulers)

    @property
    def mu(self) -> Tensor:
        """Smoothness of every run, ``[R]``."""
        return torch.stack([torch.as_tensor(s.mu).reshape(()) for s in self.schedulers])

    def step(self, progress: Tensor | float, conflict: Tensor) -> Tensor:
        """Step every scheduler with its run's conflict, ``[R]``."""
        for scheduler, own in zip(self.schedulers, conflict, strict=True):
            cast("Any", scheduler).step(progress, own)
        return self.mu


class PerRunScalarizer(nn.Module):
    """R scalarizers behind the interface of one, for values ``[R, N, m]`` and weights ``[R, 1, m]``."""

    def __init__(self, scalarizers: Sequence[nn.Module]) -> None:
        super().__init__()
        self.scalarizers = nn.ModuleList(scalarizers)

    def forward(self, values: Tensor, weights: Tensor) -> Tensor:
        """Return utilities, ``[R, N]``."""
        return torch.stack([s(v, w) for s, v, w in zip(self.scalarizers, values, weights, strict=True)])

    def attention(self, values: Tensor, weights: Tensor) -> Tensor:
        """Return attentions, ``[R, N, m]``."""
        rows = zip(self.scalarizers, values, weights, strict=True)
        return torch.stack([cast("Any", s).attention(v, w).expand_as(v) for s, v, w in rows])


class PerRunCombiner(nn.Module):
    """R combiners, each asked with its run's Gramian and generator; has the signature of the vectorised form.

    A Gramian that is not finite gets weights that are not: its run fails, the others go on.
    """

    def __init__(self, combiners: Sequence[nn.Module], generators: Sequence[Generator]) -> None:
        super().__init__()
        self.combiners = nn.ModuleList(combiners)
        self.generators = list(generators)

    def forward(self, gramian: Tensor, attention: Tensor, order: Tensor) -> Tensor:
        """Return weights, ``[R, m]``; ``order`` is not used, each combiner draws from its own generator."""
        sane = gramian.isfinite().flatten(1).all(-1)
        safe = torch.where(sane[:, None, None], gramian, 0.0)
        safe_attention = torch.where(sane[:, None], attention, 1 / attention.shape[-1])
        rows = zip(self.combiners, safe, safe_attention, self.generators, strict=True)
        weights = torch.stack([cast("Any", c).weights(g, a, generator) for c, g, a, generator in rows])
        return torch.where(sane[:, None], weights, torch.nan)

    def part(self, runs: slice) -> "PerRunCombiner":
        """Return the combiners of some of the runs."""
        return PerRunCombiner(list(self.combiners)[runs], self.generators[runs])


def live_scheduler(specs: Sequence[Spec | None]) -> nn.Module | None:
    """Return the scheduler of R runs; ``None`` when the recipe has none."""
    if specs[0] is None:
        return None
    known = [spec for spec in specs if spec is not None]
    return cast("nn.Module", stack(known)) if is_stackable(known[0]) else PerRunScheduler([s.build() for s in known])


def live_scalarizer(recipes: Sequence[Recipe]) -> tuple[nn.Module, nn.Module | None]:
    """Return the scalarizer and the scheduler of R runs."""
    specs = [recipe.scalarizer for recipe in recipes]
    if is_stackable(specs[0]):
        scheduler = live_scheduler([recipe.mu for recipe in recipes])
        return stack(specs, scheduler), scheduler
    schedulers = [recipe.mu.build() for recipe in recipes if recipe.mu is not None]
    mus = schedulers or [None] * len(recipes)
    own = [spec.build(mu) for spec, mu in zip(specs, mus, strict=True)]
    if hasattr(own[0], "scheduler"):  # a live scalarizer may bring its own; that is the one it looks at
        schedulers = [scalarizer.scheduler for scalarizer in own]
    return PerRunScalarizer(own), PerRunScheduler(schedulers) if schedulers else None


def smoothness(scalarizer: nn.Module, scheduler: nn.Module | None) -> Tensor:
    """Return the mu that a scalarizer looks at, ``[R]`` or a scalar; NaN for one that has none."""
    if isinstance(scalarizer, PerRunScalarizer):
        blocks = scalarizer.scalarizers
        schedulers = scheduler.schedulers if isinstance(scheduler, PerRunScheduler) else [None] * len(blocks)
        return torch.stack([smoothness(*pair).reshape(()) for pair in zip(blocks, schedulers, strict=True)])
    blind = isinstance(scalarizer, Linear | Tchebycheff)
    owner = scalarizer if hasattr(scalarizer, "mu") else scheduler
    return torch.tensor(torch.nan) if blind or owner is None else torch.as_tensor(cast("Any", owner).mu)


def live_combiner(recipes: Sequence[Recipe], generators: Sequence[Generator]) -> Weights | PerRunCombiner:
    """Return the weights function of R runs: vectorised when the spec has one."""
    spec = recipes[0].combiner
    pure: Callable[..., Tensor] | None = spec.weigh() if isinstance(spec, CombinerSpec) else None
    return pure or PerRunCombiner([recipe.combiner.build() for recipe in recipes], generators)
