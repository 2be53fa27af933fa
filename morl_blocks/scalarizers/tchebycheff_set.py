"""Smooth Tchebycheff for a set of solutions: a few solutions that serve many objectives together."""

from torch import Tensor

from morl_blocks import _checks
from morl_blocks.scalarizers.base import Sense, UtopiaScalarizer, weighted_gaps
from morl_blocks.scalarizers.smooth_tchebycheff import smooth_attention, smooth_maximum


def smooth_tchebycheff_set(values: Tensor, weights: Tensor, mu: Tensor | float, utopia: Tensor | float) -> Tensor:
    r"""Score K solutions by the worst objective, each objective taken at its best solution (maximise).

    .. math::

        U_\mu = -\mu \log \sum_i e^{s_i / \mu}, \qquad
        s_i = -\mu \log \sum_k e^{-w_i (\zeta - \bar r_{ki}) / \mu}

    :math:`s_i` is a smooth minimum over the solutions, so each objective may be served by a different solution. Tends
    to :math:`-\max_i \min_k w_i (\zeta - \bar r_{ki})` as :math:`\mu \to 0`. With K = 1 it is
    :func:`~morl_blocks.scalarizers.smooth_tchebycheff`. After Lin et al., arXiv 2405.19650, with one smoothness for
    both; there losses are minimised.

    Args:
        values: Normalised returns of each solution, ``[*B, K, m]``.
        weights: Preference on the simplex, ``[m]`` or ``[*B, 1, m]``.
        mu: Smoothness, > 0, broadcastable to ``[*B]``.
        utopia: Ideal value, above 1, broadcastable to ``[*B, K, m]``.

    Returns:
        Utility, ``[*B]``.

    Example:
        >>> import torch
        >>> specialists = torch.tensor([[1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 1.0]])
        >>> twins = torch.full((2, 4), 0.5)
        >>> w = torch.full((4,), 0.25)
        >>> smooth_tchebycheff_set(specialists, w, 0.01, 1.05) > smooth_tchebycheff_set(twins, w, 0.01, 1.05)
        tensor(True)
    """
    gaps = weighted_gaps(values, weights, utopia)
    return -smooth_maximum(nearest_gaps(gaps, mu), mu)


def nearest_gaps(gaps: Tensor, mu: Tensor | float) -> Tensor:
    """Return each objective's smooth minimum of the gaps over the solutions: ``[*B, K, m]`` to ``[*B, m]``."""
    if gaps.dim() < 2 or not gaps.shape[-2]:
        _checks.fail("values", "be [*B, K, m] with K >= 1", f"shape {list(gaps.shape)}")
    mu = _checks.like("mu", mu, gaps)
    _checks.broadcastable("mu", mu, gaps.shape[:-2])
    return -smooth_maximum(-gaps.mT, mu.unsqueeze(-1))


class SmoothTchebycheffSet(UtopiaScalarizer):
    r"""Score K solutions together, so that each objective is served well by at least one of them.

    It is meant for many objectives (users, tasks, fault cases) and few solutions (models, designs). To train all K
    solutions at once, minimise the utility of their losses ``[K, m]``.

    Args:
        mu: Smoothness, > 0: a number, or a tensor broadcastable to ``[*B]``.
        utopia: Ideal value, broadcastable to ``[*B, K, m]``; by default 1.05 for ``"max"`` and -0.05 for ``"min"``.
        sense: ``"max"`` (default): values are returns; ``"min"``: values are losses and the utility is a loss.

    Shape: values ``[*B, K, m]``, weights ``[m]`` or ``[*B, 1, m]``; utility ``[*B]``; gradient and attention ``[*B, K,
    m]``. The attention sums to 1 over solutions and objectives: it shows which solution serves which objective.

    Example:
        >>> import torch
        >>> losses = torch.tensor([[0.1, 0.9, 0.2], [0.8, 0.2, 0.7]])  # two solutions, three objectives
        >>> scalarizer, w = SmoothTchebycheffSet(mu=0.02, utopia=0.0, sense="min"), torch.full((3,), 1 / 3)
        >>> scalarizer(losses, w)
        tensor(0.0823)
        >>> scalarizer.attention(losses, w).round(decimals=2)
        tensor([[0.0900, 0.0000, 0.4600],
                [0.0000, 0.4600, 0.0000]])
    """

    mu: Tensor

    def __init__(self, mu: Tensor | float = 0.1, utopia: Tensor | float | None = None, *, sense: Sense = "max") -> None:
        super().__init__(utopia, sense=sense)
        smoothness = _checks.number("mu", mu)
        _checks.positive("mu", smoothness)
        self.register_buffer("mu", smoothness)

    def score(self, values: Tensor, weights: Tensor) -> Tensor:
        """Return the utility of each set, ``[*B]``."""
        mu = self.mu.to(values.dtype)
        return self._signed(smooth_maximum(nearest_gaps(self._gaps(values, weights), mu), mu))

    def differentiate(self, values: Tensor, weights: Tensor) -> Tensor:
        r"""Return :math:`w_i \delta_i \sigma_{ki}`, ``[*B, K, m]``."""
        return weights * self.attend(values, weights)

    def attend(self, values: Tensor, weights: Tensor) -> Tensor:
        r"""Return :math:`\delta_i \sigma_{ki}`, ``[*B, K, m]``.

        :math:`\delta` is the softmax of the objectives' smooth minima, and :math:`\sigma_{\cdot i}` shares objective i
        among the solutions.
        """
        gaps, mu = self._gaps(values, weights), self.mu.to(values.dtype)
        objectives = smooth_attention(nearest_gaps(gaps, mu), mu)
        return objectives.unsqueeze(-2) * smooth_attention(-gaps.mT, mu.unsqueeze(-1)).mT

    def _scored(self, values: Tensor, weights: Tensor) -> Tensor:
        """Return the utility: one number per set."""
        return self.score(values, weights)

    def _checked(self, values: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
        """Check both inputs; all solutions of a set have one preference."""
        values, weights = super()._checked(values, weights)
        if values.dim() < 2 or not values.shape[-2]:
            _checks.fail("values", "be [*B, K, m] with K >= 1", f"shape {list(values.shape)}")
        if weights.dim() > 1 and weights.shape[-2] != 1:
            _checks.fail("weights", "be [m] or [*B, 1, m]: one preference per set", f"shape {list(weights.shape)}")
        return values, weights
