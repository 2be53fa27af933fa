"""What every scalarizer shares: the sense, the checks and the three methods a user calls."""

from abc import abstractmethod
from typing import Literal

import torch
from torch import Tensor, nn

from morl_blocks import _checks

Sense = Literal["max", "min"]
DEFAULT_UTOPIA: dict[str, float] = {"max": 1.05, "min": -0.05}


class Scalarizer(nn.Module):
    """Turn a vector of objective values into one utility, its gradient, and an attention over the objectives.

    ``sense="max"``: values are returns, the utility is to be maximised. ``sense="min"``: values are losses, the utility
    is a loss to be minimised. Subclasses implement the three underscored methods on inputs that were checked here.

    Args:
        sense: ``"max"`` (default) or ``"min"``.
    """

    def __init__(self, *, sense: Sense = "max") -> None:
        super().__init__()
        _checks.choice("sense", sense, ("max", "min"))
        self.sense: Sense = sense

    def forward(self, values: Tensor, weights: Tensor) -> Tensor:
        """Return the utility.

        Args:
            values: Objective values, ``[*B, m]``.
            weights: Preference on the simplex, ``[m]`` or ``[*B, m]``.

        Returns:
            Utility, ``[*B]``: to be maximised for ``sense="max"``, minimised for ``sense="min"``.
        """
        return self._utility(*self._checked(values, weights))

    def gradient(self, values: Tensor, weights: Tensor) -> Tensor:
        """Return the exact derivative of the utility with respect to ``values``, ``[*B, m]``."""
        return self._gradient(*self._checked(values, weights))

    def attention(self, values: Tensor, weights: Tensor) -> Tensor:
        """Return how much each objective counts now: non-negative, summing to 1, ``[*B, m]``."""
        return self._attention(*self._checked(values, weights))

    @abstractmethod
    def _utility(self, values: Tensor, weights: Tensor) -> Tensor: ...

    @abstractmethod
    def _gradient(self, values: Tensor, weights: Tensor) -> Tensor: ...

    @abstractmethod
    def _attention(self, values: Tensor, weights: Tensor) -> Tensor: ...

    def _checked(self, values: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
        """Check both inputs and return them with ``weights`` in the dtype of ``values``."""
        _checks.objectives("values", values)
        _checks.finite("values", values)
        weights = torch.as_tensor(weights, dtype=values.dtype, device=values.device)
        _checks.objectives("weights", weights, values.shape[-1])
        _checks.broadcastable("weights", weights, values.shape)
        _checks.simplex("weights", weights)
        return values, weights

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
        value = torch.as_tensor(DEFAULT_UTOPIA[sense] if utopia is None else utopia, dtype=torch.get_default_dtype())
        if sense == "max":
            _checks.utopia(value)
        else:
            _checks.finite("utopia", value)
        self.register_buffer("utopia", value, persistent=False)

    def _gaps(self, values: Tensor, weights: Tensor) -> Tensor:
        """Return the weighted gaps to the utopia point, ``[*B, m]``; the larger, the worse, in either sense."""
        utopia = self.utopia.to(values.dtype)
        _checks.broadcastable("utopia", utopia, values.shape)
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
    return weights * (utopia - values)
