"""An adapter that turns TorchJD's scalarizers into ours."""

import copy
from collections.abc import Callable
from importlib import import_module
from typing import Any

import torch
from torch import Tensor

from morl_blocks import _checks
from morl_blocks._extras import require
from morl_blocks.scalarizers.base import Scalarizer


class TorchJDScalarizer(Scalarizer):
    """Score the losses with a scalarizer of TorchJD (STCH, PBI, COSMOS, GeometricMean, UW, FAMO, ...).

    TorchJD (``pip install 'morl-blocks[torchjd]'``) scores one vector of losses at a time, so the adapter loops over a
    batch. The sense is always ``"min"``: losses in, a loss out. Methods with ``weights`` use those of each call instead
    of their own. The others have no preference: for them ``weights`` is checked and has no effect. The gradient comes
    from autograd, and the attention is its absolute value, normalised.

    Methods with learned or running state (``UW``, ``IMTLL``, ``FAMO``, ``DWA``) take one vector per call. Their
    parameters are parameters of this module; call their own methods (``update``, ``step``) on ``method``.

    Args:
        method: A scalarizer such as ``STCH(mu=0.1)``, of ``torchjd.scalarization`` or derived from its class.

    Example:
        >>> from torchjd.scalarization import STCH, GeometricMean
        >>> losses, w = torch.tensor([0.2, 0.8]), torch.tensor([0.5, 0.5])
        >>> TorchJDScalarizer(STCH(mu=0.1))(losses, w)
        tensor(0.4049)
        >>> TorchJDScalarizer(GeometricMean()).attention(losses, w)
        tensor([0.8000, 0.2000])
    """

    def __init__(self, method: Callable[[Tensor], Tensor]) -> None:
        super().__init__(sense="min")
        require("TorchJDScalarizer", "torchjd")
        base: Any = import_module("torchjd.scalarization").Scalarizer
        if not isinstance(method, base):
            hint = f"an instance such as {method.__name__}()" if isinstance(method, type) else "a scalarizer"
            _checks.fail("method", f"be {hint} of torchjd.scalarization", repr(method))
        self.method = method

    def score(self, values: Tensor, weights: Tensor) -> Tensor:
        """Return TorchJD's utility of each vector, ``[*B]``."""
        return self._scores(self.method, values, weights)

    def differentiate(self, values: Tensor, weights: Tensor) -> Tensor:
        """Return autograd's derivative, ``[*B, m]``, on a copy of the method, so that its state does not change."""
        with torch.enable_grad():
            inner = values.detach().requires_grad_()
            score = self._scores(copy.deepcopy(self.method), inner, weights.detach()).sum()
            (gradient,) = torch.autograd.grad(score, inner, allow_unused=True, materialize_grads=True)
        return gradient

    def subtract(self, values: Tensor, others: Tensor, weights: Tensor) -> Tensor:
        """Return the difference of two scores, both by the method in its current state."""
        return self._scores(copy.deepcopy(self.method), values, weights) - self._scores(
            copy.deepcopy(self.method), others, weights
        )

    def _scores(self, method: Any, values: Tensor, weights: Tensor) -> Tensor:
        """Score vector by vector."""
        if values.dim() > 1 and hasattr(method, "reset"):
            rule = f"be one vector [m]: {type(method).__name__} remembers earlier calls"
            _checks.fail("values", rule, f"shape {list(values.shape)}")
        m = values.shape[-1]
        rows = zip(values.reshape(-1, m), weights.expand_as(values).reshape(-1, m), strict=True)
        scores = [_weighed(method, *row) for row in rows]
        return torch.stack(scores).reshape(values.shape[:-1]) if scores else values.sum(-1)

    def extra_repr(self) -> str:
        """Show TorchJD's method in ``repr``; the sense is always the same."""
        return ""


def _weighed(method: Any, losses: Tensor, preference: Tensor) -> Tensor:
    """Return the method's score with the call's preference instead of its own."""
    if not isinstance(getattr(method, "weights", False), Tensor | None):
        return _scalar(method, losses)
    kept, method.weights = method.weights, preference
    try:
        return _scalar(method, losses)
    finally:
        method.weights = kept


def _scalar(method: Any, losses: Tensor) -> Tensor:
    """Call the method and return one number."""
    score: Tensor = method(losses)
    return score.reshape(())
