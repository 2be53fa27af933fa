"""Advantages for the utility of the expected return (SER): the exact gradient of U(E[R]; w)."""

import torch
from torch import Tensor

from morl_blocks import _checks
from morl_blocks.ppo.advantage import EPSILON, AdvantageForm, Estimate, vector_advantage
from morl_blocks.ppo.expected_return import utility_weights
from morl_blocks.scalarizers import Scalarizer


def expectation_advantage(advantage: Tensor, weights: Tensor) -> Tensor:
    r"""Weight vector advantages by the gradient of the utility at the expected return, and standardise their sum.

    .. math:: A_t = \sum_i c_i A_{t,i}, \qquad c_i = \partial U / \partial J_i

    The policy gradient is linear in the advantage, so that of :math:`A_t` is the gradient of U(J; w), up to the
    standard deviation by which it is divided.

    Args:
        advantage: Raw advantages, ``[*B, T, m]``, not standardised per objective: that would change the weights.
        weights: :func:`~morl_blocks.ppo.utility_weights` of each step's preference, ``[m]`` or ``[*B, T, m]``.

    Returns:
        Standardised advantages, ``[*B, T]``.

    Example:
        >>> expectation_advantage(torch.tensor([[1.0, 0.0], [0.0, 1.0]]), torch.tensor([0.75, 0.25]))
        tensor([ 1., -1.])
    """
    advantage, weights = _checks.alike(advantage=advantage, weights=weights)
    _checks.aligned("weights", weights, advantage.shape)
    return vector_advantage((weights * advantage).sum(-1, keepdim=True)).squeeze(-1)


class ExpectationAdvantage(AdvantageForm):
    r"""One advantage, that of the utility of the *expected* return (SER): :func:`expectation_advantage`.

    .. math:: A_t = \sum_i \left.\frac{\partial U}{\partial J_i}\right|_{J(w_t)} A_{t,i}

    J(w) is the expected return from the initial states under the preference of the step. It is estimated elsewhere and
    passed in the :class:`~morl_blocks.ppo.Estimate`. :class:`ScalarisedAdvantage` and :class:`EpisodeAdvantage` apply
    the utility to single returns instead; for a linear utility all three agree up to a scale.
    """

    at_expectation = True

    def forward(self, estimate: Estimate, scalarizer: Scalarizer, weights: Tensor) -> Tensor:
        """Return the advantage, ``[T, 1]``."""
        return expectation_advantage(estimate.advantage, _weights(estimate, scalarizer, weights)).unsqueeze(-1)


class VectorExpectationAdvantage(AdvantageForm):
    r"""One advantage per objective, weighted by the gradient of the utility of the expected return, for a combiner.

    .. math:: A_{t,i} = \frac{c_i (A_{t,i} - \operatorname{mean}_t A_{t,i})}{\operatorname{std}_t \sum_j c_j A_{t,j}}

    With ``Sum()`` the update is that of :class:`ExpectationAdvantage`, except for the clip, which is per objective
    here. With ``PCGrad()`` it is weighted PCGrad, because a projection does not depend on the length of the gradient it
    projects on.
    """

    at_expectation = True

    def forward(self, estimate: Estimate, scalarizer: Scalarizer, weights: Tensor) -> Tensor:
        """Return advantages, ``[T, m]``."""
        advantage = _checks.over_time("advantage", estimate.advantage)
        parts = _weights(estimate, scalarizer, weights) * advantage
        parts = parts - parts.mean(-2, keepdim=True)
        size = parts.sum(-1).square().mean().sqrt()
        return torch.where(size > EPSILON, parts / size.clamp_min(EPSILON), 0.0)


def _weights(estimate: Estimate, scalarizer: Scalarizer, weights: Tensor) -> Tensor:
    """Return the gradient of the utility at the expected return of each step's preference, ``[T, m]``."""
    if estimate.expected is None or estimate.span is None:
        _checks.fail("estimate", "hold the expected return from initial states for an advantage at expectation", None)
    return utility_weights(scalarizer, estimate.expected, weights, estimate.span)
