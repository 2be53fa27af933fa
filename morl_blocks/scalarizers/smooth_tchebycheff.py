"""Smooth Tchebycheff scalarization (STCH) and the attention it induces."""

from abc import abstractmethod
from typing import Literal

import torch
from torch import Tensor

from morl_blocks import _checks
from morl_blocks.scalarizers.base import Sense, UtopiaScalarizer, weighted_gaps

AttentionKind = Literal["softmax", "gradient"]


def smooth_tchebycheff(values: Tensor, weights: Tensor, mu: Tensor | float, utopia: Tensor | float) -> Tensor:
    r"""Score how close the worst weighted objective is to the utopia point (maximise).

    .. math:: U_\mu(\bar r; w) = -\mu \log \sum_i e^{w_i (\zeta - \bar r_i) / \mu}

    Tends to :math:`-\max_i w_i(\zeta-\bar r_i)` as :math:`\mu \to 0` and never exceeds it:
    :math:`U_\mu \le U_{TCH} \le U_\mu + \mu \log m` (the paper prints the other sign). As :math:`\mu \to \infty`,
    :math:`U_\mu + \mu \log m` becomes linear, with gradient :math:`w_i / m`.

    Args:
        values: Normalised returns, ``[*B, m]``.
        weights: Preference on the simplex, ``[m]`` or ``[*B, m]``.
        mu: Smoothness, > 0, broadcastable to ``[*B]``.
        utopia: Ideal value, above 1, broadcastable to ``[*B, m]``.

    Returns:
        Utility, ``[*B]``.

    Example:
        >>> r, w = torch.tensor([0.2, 0.5, 0.8]), torch.tensor([0.5, 0.3, 0.2])
        >>> smooth_tchebycheff(r, w, mu=0.1, utopia=1.05)
        tensor(-0.4343)
    """
    return -smooth_maximum(weighted_gaps(values, weights, utopia), mu)


def smooth_maximum(gaps: Tensor, mu: Tensor | float, mask: Tensor | None = None) -> Tensor:
    r"""Return :math:`\mu \log \sum_i e^{y_i / \mu}` over the last dimension, without overflow for any :math:`\mu > 0`.

    Args:
        gaps: Weighted gaps, ``[*B, m]``.
        mu: Smoothness, > 0, broadcastable to ``[*B]``.
        mask: Objectives that count, ``[*B, m]`` of booleans; all by default.

    Returns:
        Smooth maximum, ``[*B]``.

    Example:
        >>> smooth_maximum(torch.tensor([1e6, 0.0]), 1e-4)
        tensor(1000000.)
    """
    gaps, mu = _gaps_and_mu(gaps, mu, mask)
    if mask is None:
        top = gaps.detach().amax(-1)
        return top + mu * ((gaps - top.unsqueeze(-1)) / mu.unsqueeze(-1)).exp().sum(-1).log()
    top = gaps.detach().masked_fill(~mask, -torch.inf).amax(-1)
    shifted = torch.where(mask, gaps - top.unsqueeze(-1), 0.0) / mu.unsqueeze(-1)
    return top + mu * (shifted.exp() * mask).sum(-1).log()


def smooth_attention(gaps: Tensor, mu: Tensor | float, mask: Tensor | None = None) -> Tensor:
    r"""Compute the attention over the objectives, highest for the largest gap.

    .. math:: \delta_i = \frac{e^{y_i / \mu}}{\sum_j e^{y_j / \mu}}

    It is sharp for small :math:`\mu` and uniform for large :math:`\mu`, where it no longer depends on the preference.
    The paper calls it the derivative of STCH; the true derivative is :math:`w_i \delta_i`.

    Args:
        gaps: Weighted gaps, ``[*B, m]``.
        mu: Smoothness, > 0, broadcastable to ``[*B]``.
        mask: Objectives that count, ``[*B, m]`` of booleans; all by default.

    Returns:
        Attention, ``[*B, m]``.

    Example:
        >>> smooth_attention(torch.tensor([0.425, 0.165, 0.05]), 0.1)
        tensor([0.9109, 0.0677, 0.0214])
    """
    gaps, mu = _gaps_and_mu(gaps, mu, mask)
    if mask is not None:
        gaps = gaps.masked_fill(~mask, -torch.inf)
    return ((gaps - gaps.detach().amax(-1, keepdim=True)) / mu.unsqueeze(-1)).softmax(-1)


def smooth_difference(gaps: Tensor, other_gaps: Tensor, mu: Tensor | float, mask: Tensor | None = None) -> Tensor:
    r"""Return :func:`smooth_maximum` of ``gaps`` minus that of ``other_gaps``, with full precision for a large mu.

    .. math:: \mu \log \sum_i \delta_i\, e^{(y_i - y'_i)/\mu}, \qquad \delta = \mathrm{softmax}(y'/\mu)

    Both maxima grow like :math:`\mu \log m`, a term that this form never computes. Where the exponents are small, the
    argument of the logarithm is near 1, so ``log1p`` and ``expm1`` are used.

    Args:
        gaps: Weighted gaps, ``[*B, m]``.
        other_gaps: Weighted gaps to compare with, ``[*B, m]``.
        mu: Smoothness, > 0, broadcastable to ``[*B]``.
        mask: Objectives that count, ``[*B, m]`` of booleans; all by default.

    Returns:
        Difference, ``[*B]``.

    Example:
        >>> smooth_difference(torch.tensor([0.3, 0.1]), torch.tensor([0.2, 0.1]), 1e6)
        tensor(0.0500)
    """
    gaps, mu = _gaps_and_mu(gaps, mu, mask)
    other_gaps = _checks.like("other_gaps", other_gaps, gaps)
    _checks.same_shape("other_gaps", other_gaps, gaps.shape)
    share = smooth_attention(other_gaps, mu, mask)
    steps = (gaps - other_gaps) / mu.unsqueeze(-1)
    if mask is not None:
        steps = torch.where(mask, steps, 0.0)
    near = (share * steps.clamp(-1, 1).expm1()).sum(-1).log1p()
    far = smooth_maximum(gaps, mu, mask) - smooth_maximum(other_gaps, mu, mask)
    return torch.where((steps.abs() <= 1).all(-1), mu * near, far)


def _gaps_and_mu(gaps: Tensor, mu: Tensor | float, mask: Tensor | None) -> tuple[Tensor, Tensor]:
    """Return gaps as floating point and mu as a checked tensor that broadcasts with them."""
    gaps = _checks.floats("gaps", gaps)
    _checks.objectives("gaps", gaps, minimum=1)
    mu = _checks.like("mu", mu, gaps)
    _checks.positive("mu", mu)
    _checks.broadcastable("mu", mu, gaps.shape[:-1])
    if mask is not None:
        _checks.flags("mask", mask, gaps.shape)
    return gaps, mu


class SmoothScalarizer(UtopiaScalarizer):
    """The base class of fixed and adaptive STCH: everything except the source of the smoothness.

    Args:
        utopia: Ideal value, broadcastable to ``[*B, m]``; by default 1.05 for ``"max"`` and -0.05 for ``"min"``.
        sense: ``"max"`` (default): values are returns; ``"min"``: values are losses and the utility is a loss.
        attention: ``"softmax"`` is the paper's attention; ``"gradient"`` is the exact derivative, normalised
            to sum 1, which keeps the preference also for large smoothness.
        mask_zero_weight: Leave objectives of weight 0 out of the sum. By default they stay, as in the paper, and
            get a positive softmax attention.
    """

    def __init__(
        self,
        utopia: Tensor | float | None = None,
        *,
        sense: Sense = "max",
        attention: AttentionKind = "softmax",
        mask_zero_weight: bool = False,
    ) -> None:
        super().__init__(utopia, sense=sense)
        _checks.choice("attention", attention, ("softmax", "gradient"))
        _checks.boolean("mask_zero_weight", mask_zero_weight)
        self.attention_kind: AttentionKind = attention
        self.mask_zero_weight = mask_zero_weight

    @abstractmethod
    def _smoothness(self, values: Tensor) -> Tensor:
        """Return mu in the dtype of ``values``, broadcastable to ``[*B]``."""

    def _mask(self, values: Tensor, weights: Tensor) -> Tensor | None:
        return (weights > 0).expand_as(values) if self.mask_zero_weight else None

    def score(self, values: Tensor, weights: Tensor) -> Tensor:
        """Return the smooth worst gap, signed by the sense, ``[*B]``."""
        mask = self._mask(values, weights)
        return self._signed(smooth_maximum(self._gaps(values, weights), self._smoothness(values), mask))

    def subtract(self, values: Tensor, others: Tensor, weights: Tensor) -> Tensor:
        """Return the difference of two scores, ``[*B]``, by :func:`smooth_difference`."""
        gaps, other_gaps = self._gaps(values, weights), self._gaps(others, weights)
        mask = self._mask(values, weights)
        return self._signed(smooth_difference(gaps, other_gaps, self._smoothness(values), mask))

    def _softmax(self, values: Tensor, weights: Tensor) -> Tensor:
        mask = self._mask(values, weights)
        return smooth_attention(self._gaps(values, weights), self._smoothness(values), mask)

    def differentiate(self, values: Tensor, weights: Tensor) -> Tensor:
        r"""Return :math:`w_i \delta_i`, ``[*B, m]``."""
        return weights * self._softmax(values, weights)

    def attend(self, values: Tensor, weights: Tensor) -> Tensor:
        """Return the softmax or the normalised derivative, ``[*B, m]``."""
        if self.attention_kind == "softmax":
            return self._softmax(values, weights)
        # Normalising w_i delta_i in log space cannot divide by zero when delta is all on an objective of weight 0.
        gaps = self._gaps(values, weights)
        top = gaps.detach().masked_fill(weights == 0, -torch.inf).amax(-1, keepdim=True)
        scaled = (gaps - top) / self._smoothness(values).unsqueeze(-1)
        return torch.where(weights == 0, -torch.inf, scaled + weights.log()).softmax(-1)

    def extra_repr(self) -> str:
        """Show the options in ``repr``."""
        return f"{super().extra_repr()}, attention={self.attention_kind!r}, mask_zero_weight={self.mask_zero_weight}"


class SmoothTchebycheff(SmoothScalarizer):
    """Smooth Tchebycheff with a fixed smoothness.

    Args:
        mu: Smoothness, > 0: a number, or a tensor broadcastable to ``[*B]``.
        utopia: Ideal value, broadcastable to ``[*B, m]``; by default 1.05 for ``"max"`` and -0.05 for ``"min"``.
        sense: ``"max"`` (default): values are returns; ``"min"``: values are losses and the utility is a loss.
        attention: ``"softmax"`` (the paper's) or ``"gradient"`` (the exact derivative, normalised).
        mask_zero_weight: Leave objectives of weight 0 out of the sum.

    Example:
        >>> scalarizer = SmoothTchebycheff(mu=0.1)
        >>> r, w = torch.tensor([0.2, 0.5, 0.8]), torch.tensor([0.5, 0.3, 0.2])
        >>> scalarizer(r, w)
        tensor(-0.4343)
        >>> scalarizer.attention(r, w)
        tensor([0.9109, 0.0677, 0.0214])
        >>> scalarizer.gradient(r, w)
        tensor([0.4555, 0.0203, 0.0043])
    """

    mu: Tensor

    def __init__(
        self,
        mu: Tensor | float = 0.1,
        utopia: Tensor | float | None = None,
        *,
        sense: Sense = "max",
        attention: AttentionKind = "softmax",
        mask_zero_weight: bool = False,
    ) -> None:
        super().__init__(utopia, sense=sense, attention=attention, mask_zero_weight=mask_zero_weight)
        smoothness = _checks.number("mu", mu)
        _checks.positive("mu", smoothness)
        self.register_buffer("mu", smoothness)

    def _smoothness(self, values: Tensor) -> Tensor:
        mu = self.mu.to(values.dtype)
        _checks.broadcastable("mu", mu, values.shape[:-1])
        return mu
