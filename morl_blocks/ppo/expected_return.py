"""The expected return J of a policy, and the weights of the objectives in the gradient of a utility of J."""

from collections.abc import Callable

import torch
from torch import Tensor, nn

from morl_blocks import _checks
from morl_blocks.scalarizers import Scalarizer


def initial_values(critic: Callable[[Tensor, Tensor], Tensor], initial: Tensor, preferences: Tensor) -> Tensor:
    r"""Estimate the expected return under each preference from a critic: the mean of its values at initial states.

    .. math:: \hat J(w) = \frac1K \sum_k V(s_k, w), \qquad s_k \sim \text{initial states}

    Each preference has its own estimate; nothing is averaged over preferences. The unit is that of the critic's
    targets, which may be discounted. A bias of the critic is a bias of the estimate.

    Args:
        critic: Maps observations ``[*B, K, n]`` and preferences ``[*B, K, m]`` to values ``[*B, K, m]``.
        initial: Initial observations of episodes, ``[K, n]`` with K >= 1.
        preferences: Preferences, ``[*B, m]``.

    Returns:
        Expected returns, ``[*B, m]``.

    Example:
        >>> def critic(observation, preference):
        ...     return observation + 10 * preference
        >>> initial = torch.tensor([[1.0, 2.0], [3.0, 2.0]])
        >>> initial_values(critic, initial, torch.tensor([[1.0, 0.0], [0.0, 1.0]]))
        tensor([[12.,  2.],
                [ 2., 12.]])
    """
    initial, preferences = _checks.alike(initial=initial, preferences=preferences)
    _checks.objectives("preferences", preferences)
    if initial.dim() != 2 or not len(initial):
        _checks.fail(
            "initial", "hold observations of initial states, [K, n] with K >= 1", f"shape {list(initial.shape)}"
        )
    shape, count = preferences.shape, len(initial)
    values = critic(
        initial.expand(*shape[:-1], *initial.shape), preferences.unsqueeze(-2).expand(*shape[:-1], count, shape[-1])
    )
    _checks.same_shape("critic", values, torch.Size([*shape[:-1], count, shape[-1]]))
    return values.mean(-2)


class ExpectedReturn(nn.Module):
    r"""Keep a running average of the returns of played episodes, per run and objective.

    .. math:: S \leftarrow \lambda S + \sum_n R_n, \qquad N \leftarrow \lambda N + n, \qquad \hat J = S / N

    For :math:`\lambda = 1` it is the plain mean; otherwise at most :math:`n / (1-\lambda)` episodes count. It is not
    biased towards its initial value. While the policy improves it lags by about :math:`1/(1-\lambda)` updates.

    Args:
        num_objectives: Number of objectives, m.
        runs: Leading shape of independent runs, ``()`` for one run.
        memory: Decay of the earlier episodes at each update, in [0, 1].

    Example:
        >>> expected = ExpectedReturn(2, memory=0.5)
        >>> expected.update(torch.tensor([[1.0, 0.0], [3.0, 0.0]]))
        >>> expected.update(torch.tensor([[8.0, 4.0]]))
        >>> expected.value
        tensor([5., 2.])
    """

    total: Tensor
    count: Tensor

    def __init__(self, num_objectives: int, runs: tuple[int, ...] = (), *, memory: float = 0.8) -> None:
        super().__init__()
        _checks.at_least("num_objectives", num_objectives, 2)
        _checks.between("memory", memory, 0.0, 1.0)
        self.memory, runs = memory, _checks.leading("runs", runs)
        self.register_buffer("total", torch.zeros(*runs, num_objectives))
        self.register_buffer("count", torch.zeros(*runs, 1))

    @property
    def known(self) -> Tensor:
        """Which runs have seen an episode, ``[*R]``."""
        return self.count.squeeze(-1) > 0

    @property
    def value(self) -> Tensor:
        """The expected returns, ``[*R, m]``."""
        if not _checks.is_traced(self.count) and not bool(self.known.all()):
            _checks.fail("returns", "hold an episode of every run before their mean is read", "none")
        return self.total / self.count

    @torch.no_grad()
    def update(self, returns: Tensor, ended: Tensor | None = None) -> None:
        """Update the average with the returns of episodes.

        Args:
            returns: Returns, ``[*R, N, m]``.
            ended: Which of the returns are those of whole episodes, ``[*R, N]``; all by default.
        """
        returns = _checks.over_time("returns", _checks.like("returns", returns, self.total))
        _checks.same_shape("returns", returns[..., 0, :], self.total.shape)
        mask = torch.ones(returns.shape[:-1], dtype=torch.bool, device=returns.device)
        mask = mask if ended is None else _checks.flags("ended", ended, returns.shape[:-1])
        kept = torch.where(mask.unsqueeze(-1), returns, 0.0)
        _checks.finite("returns", kept)
        count = mask.sum(-1, keepdim=True).to(self.count)
        fade = torch.where(count > 0, self.memory, 1.0)  # an update without episodes does not decay the average
        self.total.copy_(fade * self.total + kept.sum(-2))
        self.count.copy_(fade * self.count + count)


def utility_weights(scalarizer: Scalarizer, expected: Tensor, weights: Tensor, span: Tensor | float = 1.0) -> Tensor:
    r"""Return how much utility each objective's return adds at the expected return: the exact gradient of U(J; w).

    .. math:: c_i = \frac{\partial U(\bar J; w)}{\partial J_i} = \frac{1}{\text{span}_i}
              \left.\frac{\partial U}{\partial \bar r_i}\right|_{\bar J}, \qquad \nabla U(J) = \sum_i c_i \nabla J_i

    The utility of the *expected* return (SER): taken once per policy and preference, not per sample. For smooth
    Tchebycheff it is :math:`w_i \delta_i / \text{span}_i`, for a linear utility it does not depend on J.

    Args:
        scalarizer: The utility, to be maximised.
        expected: Normalised expected returns, ``[*B, m]``.
        weights: Preferences, ``[m]`` or ``[*B, m]``.
        span: Raw return that is normalised to 1, > 0, broadcastable to ``[*B, m]``; 1 for raw returns.

    Returns:
        Weights of the objectives' gradients, ``[*B, m]``; not normalised.

    Example:
        >>> from morl_blocks.scalarizers import SmoothTchebycheff
        >>> w, span = torch.tensor([0.5, 0.5]), torch.tensor([1.0, 10.0])
        >>> utility_weights(SmoothTchebycheff(0.1, utopia=1.0), torch.tensor([0.6, 0.6]), w, span)
        tensor([0.2500, 0.0250])
    """
    if not isinstance(scalarizer, Scalarizer):
        _checks.fail("scalarizer", "be a Scalarizer such as SmoothTchebycheff(0.1)", repr(scalarizer))
    _checks.maximised("scalarizer", scalarizer)
    expected = _checks.floats("expected", expected)
    span = _checks.like("span", span, expected)
    _checks.positive("span", span)
    _checks.broadcastable("span", span, expected.shape)
    return scalarizer.gradient(expected, weights) / span
