"""The base class of scalarizers: the sense, the checks and the methods that users call."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Literal

import torch
from torch import Tensor, nn

from morl_blocks import _checks

Sense = Literal["max", "min"]
DEFAULT_UTOPIA: dict[str, float] = {"max": 1.05, "min": -0.05}


class Scalarizer(nn.Module, ABC):
    """Turn a vector of objective values into one utility, its gradient, and an attention over the objectives.

    ``sense="max"``: values are returns, the utility is to be maximised. ``sense="min"``: values are losses, the utility
    is a loss to be minimised.

    To write a scalarizer, implement :meth:`score`. Its gradient then comes from autograd and its attention from the
    gradient. Override :meth:`differentiate`, :meth:`attend` and :meth:`subtract` to use other formulas. All of them get
    checked tensors in single precision or more.

    Args:
        sense: ``"max"`` (default) or ``"min"``.

    Example:
        >>> class Nash(Scalarizer):
        ...     '''The weighted sum of logarithms.'''
        ...     def score(self, values, weights):
        ...         return (weights * values.log()).sum(-1)
        >>> r, w = torch.tensor([0.2, 0.5]), torch.tensor([0.5, 0.5])
        >>> Nash()(r, w), Nash().gradient(r, w), Nash().attention(r, w)
        (tensor(-1.1513), tensor([2.5000, 1.0000]), tensor([0.7143, 0.2857]))
    """

    def __init__(self, *, sense: Sense = "max") -> None:
        super().__init__()
        _checks.choice("sense", sense, ("max", "min"))
        self.sense: Sense = sense

    def forward(self, values: Tensor, weights: Tensor) -> Tensor:
        """Return the utility.

        Args:
            values: Objective values, ``[*B, m]``.
            weights: Preference on the simplex, ``[m]`` or ``[*B, m]``; one per run, ``[R, 1, m]``, for ``[R, T, m]``.

        Returns:
            Utility, ``[*B]``: to be maximised for ``sense="max"``, minimised for ``sense="min"``.
        """
        return self._finish(values, self._scored, *self._checked(values, weights))

    def difference(self, values: Tensor, others: Tensor, weights: Tensor) -> Tensor:
        """Return the utility of ``values`` minus that of ``others``, ``[*B]``, at full precision.

        Args:
            values: Objective values, ``[*B, m]``.
            others: Values to compare them with, ``[*B, m]``.
            weights: Preference on the simplex, ``[m]`` or ``[*B, m]``.
        """
        checked, weighing = self._checked(values, weights)
        compared = _checks.floats("others", others)
        _checks.same_shape("others", compared, checked.shape)
        _checks.finite("others", compared)
        return self._finish(values, self.subtract, checked, compared.to(checked), weighing)

    def gradient(self, values: Tensor, weights: Tensor) -> Tensor:
        """Return the exact derivative of the utility with respect to ``values``, ``[*B, m]``."""
        return self._finish(values, self.differentiate, *self._checked(values, weights))

    def attention(self, values: Tensor, weights: Tensor) -> Tensor:
        """Return the current attention over the objectives: non-negative, summing to 1, ``[*B, m]``."""
        return self._finish(values, self.attend, *self._checked(values, weights))

    @abstractmethod
    def score(self, values: Tensor, weights: Tensor) -> Tensor:
        """Return the utility of checked inputs.

        Args:
            values: Objective values, floating point, ``[*B, m]``.
            weights: Preferences in the same dtype, ``[m]`` or ``[*B, m]`` (of size 1 where they are shared).

        Returns:
            Utility, ``[*B]``.
        """

    def differentiate(self, values: Tensor, weights: Tensor) -> Tensor:
        """Return d score / d values, ``[*B, m]``: by autograd, also under ``no_grad`` and ``vmap``."""
        if not torch.compiler.is_compiling() and torch.is_inference_mode_enabled():  # torch 2.4 gives zero there
            with torch.inference_mode(mode=False):
                return self.differentiate(values.clone(), weights.clone())
        gradient: Tensor = torch.func.grad(lambda inner: self._scored(inner, weights).sum())(values)
        return gradient

    def attend(self, values: Tensor, weights: Tensor) -> Tensor:
        """Return the attention, ``[*B, m]``: the absolute gradient, normalised; uniform where it is zero."""
        size = self.differentiate(values, weights).abs()
        total = size.sum(-1, keepdim=True)
        return torch.where(total == 0, 1 / size.shape[-1], size / total)  # NaN stays NaN and raises an error later

    def subtract(self, values: Tensor, others: Tensor, weights: Tensor) -> Tensor:
        """Return ``score(values) - score(others)``, ``[*B]``; override it where that loses precision."""
        return self._scored(values, weights) - self._scored(others, weights)

    def _scored(self, values: Tensor, weights: Tensor) -> Tensor:
        """Return the utility; raise unless it is ``[*B]``, because summing it would hide the mistake."""
        result = self.score(values, weights)
        _checks.same_shape(f"{type(self).__name__}.score", result, values.shape[:-1])
        return result

    def _finish(self, given: Any, method: Callable[..., Tensor], *checked: Tensor) -> Tensor:
        """Call a method on checked input; raise if the result overflowed, and restore the dtype of the input."""
        result = method(*checked)
        half = isinstance(given, Tensor) and given.is_floating_point() and given.element_size() < 4
        result = result.to(given.dtype) if half else result
        others = {"others": checked[1]} if len(checked) > 2 else {}
        _checks.no_overflow("values", result, checked[0], block=type(self).__name__, **others)
        return result

    def _checked(self, values: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
        """Check both inputs and return them in single precision or more, ``weights`` in the dtype of ``values``."""
        values, weights = _checks.floats("values", values), _checks.floats("weights", weights)
        _checks.objectives("values", values)
        _checks.finite("values", values)
        _checks.objectives("weights", weights, values.shape[-1])
        _checks.aligned("weights", weights, values.shape)
        _checks.simplex("weights", weights)
        values = values.float() if values.element_size() < 4 else values
        return values, weights.to(values)

    def extra_repr(self) -> str:
        """Show the sense in ``repr``."""
        return f"sense={self.sense!r}"


class UtopiaScalarizer(Scalarizer):
    """A scalarizer that measures gaps to an ideal (utopia) point.

    Args:
        utopia: Ideal value of the objectives: one number, or a tensor that broadcasts to ``[*B, m]``. By default 1.05
            for returns normalised to [0, 1] and its mirror image -0.05 for losses in [0, 1].
        sense: ``"max"`` (default) or ``"min"``.
    """

    utopia: Tensor

    def __init__(self, utopia: Tensor | float | None = None, *, sense: Sense = "max") -> None:
        super().__init__(sense=sense)
        value = _checks.number("utopia", DEFAULT_UTOPIA[sense] if utopia is None else utopia)
        if sense == "max":
            _checks.utopia(value)
        else:
            _checks.finite("utopia", value)
        self.register_buffer("utopia", value)

    def _gaps(self, values: Tensor, weights: Tensor) -> Tensor:
        """Return the weighted gaps to the utopia point, ``[*B, m]``; larger is worse in either sense."""
        utopia = self.utopia.to(_checks.working(values).dtype)
        if self.sense == "max":
            return weighted_gaps(values, weights, utopia)
        return weighted_gaps(-values, weights, -utopia)

    def _signed(self, worst: Tensor) -> Tensor:
        """Turn a (smooth) worst gap into the utility of this sense."""
        return -worst if self.sense == "max" else worst


def weighted_gaps(values: Tensor, weights: Tensor, utopia: Tensor | float) -> Tensor:
    r"""Measure how far each objective is from the utopia point (values are maximised).

    .. math:: y_i = w_i (\zeta - \bar r_i)

    Args:
        values: Normalised returns, ``[*B, m]``.
        weights: Preference on the simplex, ``[m]`` or ``[*B, m]``.
        utopia: Ideal value, broadcastable to ``[*B, m]``.

    Returns:
        Weighted gaps, ``[*B, m]``.

    Example:
        >>> weighted_gaps(torch.tensor([0.2, 0.5]), torch.tensor([0.5, 0.5]), 1.0)
        tensor([0.4000, 0.2500])
    """
    values, weights = _checks.pair(values, weights)
    exact = _checks.working(values)  # in half precision, rounding the utopia point may outweigh a small gap
    ideal = _checks.like("utopia", utopia, exact)
    _checks.broadcastable("utopia", ideal, values.shape)
    _checks.finite("utopia", ideal)
    return (weights * (ideal - exact)).to(values)
