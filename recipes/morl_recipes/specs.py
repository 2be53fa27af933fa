"""One spec per block of :mod:`morl_blocks`, under the block's own name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, ClassVar, Literal

import torch
from torch import Tensor

from morl_blocks import combiners, critics, scalarizers, schedulers
from morl_blocks.combiners import pcgrad_projections
from morl_recipes.spec import Live, Spec, per_run

AttentionKind = Literal["softmax", "gradient"]
Weigh = Callable[[Tensor, Tensor, Tensor], Tensor]


class _Scheduler(Spec):
    """A scheduler; the block itself checks its numbers, when the spec is made."""

    slot: ClassVar = "mu"

    def __post_init__(self) -> None:
        super().__post_init__()
        self.build()


# --- Smoothness ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Fixed(_Scheduler):
    """Keep mu constant: :class:`morl_blocks.schedulers.Fixed`."""

    block: ClassVar = schedulers.Fixed
    mu: float = 1.0


@dataclass(frozen=True)
class LinearDecay(_Scheduler):
    """Let mu fall linearly: :class:`morl_blocks.schedulers.LinearDecay`."""

    block: ClassVar = schedulers.LinearDecay
    start: float = 10.0
    end: float = 0.05
    smoothing: float = 1.0


@dataclass(frozen=True)
class ConflictBraked(_Scheduler):
    """Brake a base schedule by gradient conflict: :class:`morl_blocks.schedulers.ConflictBraked`."""

    block: ClassVar = schedulers.ConflictBraked
    nested: ClassVar = {"base": "mu"}
    base: Spec = field(default_factory=LinearDecay)
    maximum: float = 10.0
    threshold: float = 0.4
    smoothing: float = 0.05


# --- Scalarizers: built with the run's scheduler, or None -------------------------------------------------------------


def _linear(scheduler: Any) -> scalarizers.Linear:
    return scalarizers.Linear()


def _tchebycheff(scheduler: Any, utopia: Tensor | float) -> scalarizers.Tchebycheff:
    return scalarizers.Tchebycheff(per_run(utopia, 2))


def _smooth(
    scheduler: Any, utopia: Tensor | float, attention: AttentionKind, maintenance: Tensor | float = 0.0
) -> scalarizers.AdaptiveSmoothTchebycheff:
    if scheduler is None:
        raise ValueError("`mu` must be a scheduler for a smooth scalarizer, got None.")
    return scalarizers.AdaptiveSmoothTchebycheff(scheduler, per_run(utopia, 2), maintenance, attention=attention)


@dataclass(frozen=True)
class Linear(Spec):
    """The weighted sum: :class:`morl_blocks.scalarizers.Linear`."""

    slot: ClassVar = "scalarizer"
    block: ClassVar = staticmethod(_linear)


@dataclass(frozen=True)
class Tchebycheff(Spec):
    """The worst weighted gap: :class:`morl_blocks.scalarizers.Tchebycheff`."""

    slot: ClassVar = "scalarizer"
    block: ClassVar = staticmethod(_tchebycheff)
    utopia: float = 1.05


@dataclass(frozen=True)
class SmoothTchebycheff(Spec):
    """Smooth Tchebycheff with the mu of the recipe's ``mu`` slot and no maintenance rate."""

    slot: ClassVar = "scalarizer"
    block: ClassVar = staticmethod(_smooth)
    utopia: float = 1.05
    attention: AttentionKind = "softmax"


@dataclass(frozen=True)
class AdaptiveSmoothTchebycheff(Spec):
    """The paper's scalarizer: :class:`morl_blocks.scalarizers.AdaptiveSmoothTchebycheff`."""

    slot: ClassVar = "scalarizer"
    block: ClassVar = staticmethod(_smooth)
    utopia: float = 1.05
    maintenance: float = 0.15
    attention: AttentionKind = "softmax"


# --- Combiners: `weigh` is the pure, vectorised form (gramian, attention, order) -> weights ---------------------------


@dataclass(frozen=True)
class CombinerSpec(Spec):
    """A combiner. A subclass without a pure form keeps ``weigh`` and is asked run by run, through its live block."""

    slot: ClassVar = "combiner"

    def weigh(self) -> Weigh | None:
        """Return the function ``(gramian [R,m,m], attention [R,m], order [R,m,m]) -> weights [R,m]``, if there is."""
        return None


@dataclass(frozen=True)
class Sum(CombinerSpec):
    """Add the gradients up: :class:`morl_blocks.combiners.Sum`."""

    block: ClassVar = combiners.Sum

    def weigh(self) -> Weigh:
        """Weigh every objective 1."""
        return lambda gramian, attention, order: torch.ones_like(attention)


@dataclass(frozen=True)
class WeightedSum(CombinerSpec):
    """Weigh the gradients by the attention: :class:`morl_blocks.combiners.WeightedSum`."""

    block: ClassVar = combiners.WeightedSum
    rescale: bool = True

    def weigh(self) -> Weigh:
        """Weigh by the attention, times m when rescaled."""
        return lambda gramian, attention, order: attention * (attention.shape[-1] if self.rescale else 1)


@dataclass(frozen=True)
class PCGrad(CombinerSpec):
    """Sum the projected gradients: :class:`morl_blocks.combiners.PCGrad`."""

    block: ClassVar = combiners.PCGrad

    def weigh(self) -> Weigh:
        """Sum the rows of the projection coefficients."""
        return lambda gramian, attention, order: pcgrad_projections(gramian, order).sum(-2)


@dataclass(frozen=True)
class WeightedPCGrad(CombinerSpec):
    """Sum the projected gradients weighted by the attention: :class:`morl_blocks.combiners.WeightedPCGrad`."""

    block: ClassVar = combiners.WeightedPCGrad
    rescale: bool = True

    def weigh(self) -> Weigh:
        """Sum the rows of the projection coefficients, weighted by the attention."""

        def weighted(gramian: Tensor, attention: Tensor, order: Tensor) -> Tensor:
            scale = attention * (attention.shape[-1] if self.rescale else 1)
            return (scale.unsqueeze(-1) * pcgrad_projections(gramian, order)).sum(-2)

        return weighted


@dataclass(frozen=True)
class TorchJD(CombinerSpec):
    """A weighting of TorchJD by the name of its class, such as ``"UPGradWeighting"``; runs are looped over."""

    weighting: str = "UPGradWeighting"

    def build(self, *args: Any) -> combiners.TorchJD:
        """Return the adapter around a new weighting."""
        try:
            classes = import_module("torchjd.aggregation")
        except ImportError as error:
            raise ValueError("`TorchJD` must find the package torchjd: pip install 'morl-blocks[torchjd]'.") from error
        if not hasattr(classes, self.weighting):
            raise ValueError(f"`weighting` must name a class of torchjd.aggregation, got {self.weighting!r}.")
        return combiners.TorchJD(getattr(classes, self.weighting)())


# --- Critics: built with (observation_dim, num_objectives) ------------------------------------------------------------


@dataclass(frozen=True)
class Shared(Spec):
    """All objectives share everything but the last layer: :class:`morl_blocks.critics.SharedCritic`."""

    slot: ClassVar = "critic"
    block: ClassVar = critics.SharedCritic
    hidden: int = 64
    depth: int = 2


@dataclass(frozen=True)
class Branched(Spec):
    """One head per objective on a shared trunk: :class:`morl_blocks.critics.BranchedCritic`."""

    slot: ClassVar = "critic"
    block: ClassVar = critics.BranchedCritic
    hidden: int = 64
    depth: int = 2


@dataclass(frozen=True)
class AttentionWeighted(Spec):
    """Weigh a critic's loss by the attention: :class:`morl_blocks.critics.AttentionWeightedCritic`."""

    slot: ClassVar = "critic"
    nested: ClassVar = {"critic": "critic"}
    critic: Spec = field(default_factory=Branched)

    def build(self, *args: Any) -> critics.AttentionWeightedCritic:
        """Return the wrapped critic."""
        return critics.AttentionWeightedCritic(self.critic.build(*args))


# --- Advantages -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Vector(Spec):
    """One advantage per objective, each normalised over the rollout."""

    slot: ClassVar = "advantage"


@dataclass(frozen=True)
class Scalarised(Spec):
    """One advantage: the utility of the return minus the utility of the value. One gradient, nothing to combine."""

    slot: ClassVar = "advantage"


__all__ = [
    "AdaptiveSmoothTchebycheff",
    "AttentionWeighted",
    "Branched",
    "CombinerSpec",
    "ConflictBraked",
    "Fixed",
    "Linear",
    "LinearDecay",
    "Live",
    "PCGrad",
    "Scalarised",
    "Shared",
    "SmoothTchebycheff",
    "Spec",
    "Sum",
    "Tchebycheff",
    "TorchJD",
    "Vector",
    "WeightedPCGrad",
    "WeightedSum",
]
