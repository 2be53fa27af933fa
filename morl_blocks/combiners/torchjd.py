"""An adapter that turns TorchJD's aggregators and weightings into combiners."""

from collections.abc import Callable
from importlib import import_module
from typing import Any

import torch
from torch import Generator, Tensor

from morl_blocks import _checks
from morl_blocks._extras import require
from morl_blocks.combiners._base import Combiner, DrawingCombiner, Merged
from morl_blocks.combiners.conflict import pair_conflict
from morl_blocks.combiners.gramian import gramian_of

# Weightings that are declared on the Jacobian but use only its number of rows.
COUNTING = ("ConstantWeighting", "MeanWeighting", "RandomWeighting", "SumWeighting")


class TorchJD(DrawingCombiner):
    """Let a TorchJD aggregator or weighting (UPGrad, MGDA, CAGrad, ...) combine the gradients.

    TorchJD (``pip install 'morl-blocks[torchjd]'``) processes one matrix at a time, so the adapter loops over runs.
    Methods that draw random numbers use PyTorch's global state. Here each call uses a copy of it, seeded from the
    generator, so the result depends only on the generator and the global state does not change.

    Most methods need only the Gramian and work everywhere. Those that need the gradients themselves (``ConFIG``,
    ``GradDrop``, ``TrimmedMean``, ``NashMTL``, ``ExcessMTL``, ...) work when called on a Jacobian and in
    ``combine_gradients``; for them :meth:`weights` of a Gramian raises an error.

    Args:
        method: An aggregator such as ``UPGrad()`` or a weighting such as ``UPGradWeighting()``, of
            ``torchjd.aggregation`` or derived from its classes.
        seed: Seed of its own generator; by default draws come from the call's generator or PyTorch's global one.

    Example:
        >>> from torchjd.aggregation import UPGrad, UPGradWeighting
        >>> TorchJD(UPGradWeighting())(torch.tensor([[1.0, 0.0], [-1.0, 1.0]])).round(decimals=3)
        tensor([0.2500, 0.7500])
        >>> TorchJD(UPGrad())(torch.tensor([[1.0, 0.0], [-1.0, 1.0]])).round(decimals=3)
        tensor([0.2500, 0.7500])
    """

    batched = False

    def __init__(self, method: Callable[[Tensor], Tensor], seed: int | None = None) -> None:
        super().__init__(seed)
        _sorted(method)
        self.method = method

    @property
    def needs_jacobian(self) -> bool:
        """Whether the method needs the gradients themselves."""
        return _sorted(self.method)[0] is None

    def draw(self, shape: tuple[int, ...], generator: Generator) -> Tensor:
        """Draw one seed per run, ``[*R]``."""
        return torch.randint(2**31, shape[:-1], generator=generator, device=generator.device)

    def combine(self, gramian: Tensor, attention: Tensor, noise: Tensor | None) -> Tensor:
        """Compute the weights of one Gramian ``[m, m]`` with the weighting, on a copy of the random state."""
        on_gramian, _ = _sorted(self.method)
        if on_gramian is None:
            rule = "see the gradients themselves: call it on a Jacobian, or use combine_gradients"
            _checks.fail(type(self.method).__name__, rule, "a Gramian")
        return _seeded(on_gramian, gramian, noise)

    def merge(self, jacobian: Tensor, attention: Tensor | None = None, generator: Generator | None = None) -> Merged:
        """Return the combined gradient, its weights if the method has them, and the conflict ratio."""
        on_gramian, on_jacobian = _sorted(self.method)
        if on_gramian is not None:
            return super().merge(jacobian, attention, generator)
        jacobian = _checks.floats("jacobian", jacobian)
        _checks.jacobian(jacobian)
        runs, (m, size) = jacobian.shape[:-2], jacobian.shape[-2:]
        seeds = self.draw((*runs, m), self._source() if generator is None else generator)
        rows = zip(jacobian.reshape(-1, m, size), seeds.flatten(), strict=True)
        gradients = [_seeded(on_jacobian, one, seed) for one, seed in rows]
        gradient = torch.stack(gradients) if gradients else jacobian.new_zeros(0, size)
        gradient = gradient.reshape(*runs, size).to(jacobian.dtype)
        _checks.no_overflow("jacobian", gradient, jacobian)
        return Merged(
            gradient,
            torch.full_like(jacobian[..., 0], torch.nan),
            pair_conflict(gramian_of(jacobian)).to(jacobian.dtype),
        )

    def _looped(self, gramian: Tensor, attention: Tensor, noise: Tensor | None) -> tuple[Tensor, Tensor]:
        if gramian.dim() > 2 and hasattr(_sorted(self.method)[0], "reset"):
            rule = f"be one [m, m]: {type(self.method).__name__} remembers earlier calls, so each run needs its own"
            _checks.fail("gramian", rule, f"shape {list(gramian.shape)}")
        return super()._looped(gramian, attention, noise)

    def _require_weights(self, weights: Tensor, gramian: Tensor) -> None:
        if weights.shape != gramian.shape[:-1]:
            rule = f"return {gramian.shape[-1]} weights for a Gramian"
            _checks.fail(type(self.method).__name__, rule, f"shape {list(weights.shape)}")


def as_combiner(value: object) -> Combiner:
    """Return a combiner: the value itself, or an adapter around a TorchJD aggregator or weighting."""
    if isinstance(value, Combiner):
        return value
    try:
        return TorchJD(value)  # type: ignore[arg-type]  # raises for anything else
    except (ModuleNotFoundError, ValueError):
        raise ValueError(
            f"`combiner` must be a Combiner such as PCGrad(), or an aggregator or weighting of TorchJD, got {value!r}."
        ) from None


def _seeded(function: Any, matrix: Tensor, seed: Tensor | None) -> Tensor:
    """Call TorchJD on a copy of the random state, seeded."""
    with torch.random.fork_rng(devices=[]):
        if seed is not None:
            torch.default_generator.manual_seed(int(seed))  # torch.manual_seed reseeds all devices, and takes longer
        result: Tensor = function(matrix)
    return result


def _sorted(method: Any) -> tuple[Any, Any]:
    """Return what to call on a Gramian and what to call on a Jacobian; one of them is ``None``."""
    require("TorchJD", "torchjd")
    torchjd = import_module("torchjd.aggregation")
    if isinstance(method, torchjd.GramianWeightedAggregator):
        return method.gramian_weighting, None
    if isinstance(method, torchjd.WeightedAggregator) and _counts(method.weighting):
        return method.weighting, None
    if isinstance(method, torchjd.Aggregator):
        return None, method
    if isinstance(method, torchjd.Weighting):
        if _takes_jacobian(method):
            return None, torchjd.WeightedAggregator(method)
        return method, None
    hint = f"an instance such as {method.__name__}()" if isinstance(method, type) else "an aggregator or a weighting"
    rule = f"be {hint} of torchjd.aggregation"
    return _checks.fail("method", rule, repr(method))


def _counts(weighting: Any) -> bool:
    """Return whether a weighting uses only the number of rows."""
    return type(weighting).__name__ in COUNTING and type(weighting).__module__.startswith("torchjd.")


def _takes_jacobian(weighting: Any) -> bool:
    """Return whether a weighting needs the gradients themselves; a wrapper needs what the wrapped weighting needs."""
    bases = import_module("torchjd.aggregation._weighting_bases")
    if isinstance(weighting, bases._GramianWeighting) or _counts(weighting):
        return False
    if hasattr(weighting, "fn"):  # a composition: a weighting after a function of the Jacobian
        return True
    if hasattr(weighting, "weighting"):
        return _takes_jacobian(weighting.weighting)
    return isinstance(weighting, bases._MatrixWeighting)
