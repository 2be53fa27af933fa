"""Advantages for the actor: one per objective, or one of a scalar utility."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import ClassVar, Literal, NamedTuple

from torch import Tensor, nn

from morl_blocks import _checks
from morl_blocks.scalarizers import Scalarizer

EPSILON = 1e-8


def vector_advantage(advantage: Tensor) -> Tensor:
    r"""Standardise each objective over the rollout, so that no objective dominates the step by its scale.

    .. math:: \hat A_{t,i} = \frac{A_{t,i} - \operatorname{mean}_t A_{t,i}}{\operatorname{std}_t A_{t,i} + 10^{-8}}

    The standard deviation is that of the population; an objective without variance gets zeros. Flatten several
    environments of a run into the time dimension first: the rollout is dimension -2. Applied to the rows of a
    minibatch, ``[*B, b, m]``, the same function standardises per minibatch.

    Args:
        advantage: Raw advantages, ``[*B, T, m]`` with T >= 1.

    Returns:
        Standardised advantages, ``[*B, T, m]``.

    Example:
        >>> import torch
        >>> vector_advantage(torch.tensor([[1.0, 7.0], [3.0, 7.0]]))
        tensor([[-1.,  0.],
                [ 1.,  0.]])
    """
    advantage = _checks.over_time("advantage", advantage)
    dtype = advantage.dtype
    if advantage.element_size() < 4:  # half precision cannot represent the square, nor 1e-8
        advantage = advantage.float()
    # Dividing by a power of two rounds nothing and keeps the squares from overflow and underflow.
    unit = advantage.detach().abs().amax((-2,), keepdim=True).log2().floor().clamp(-60, 126).exp2()
    advantage = advantage / unit
    # Shifting by the first entry makes a constant objective exactly zero; rounding of the mean would leave ±1.
    shifted = advantage - advantage[..., :1, :]
    centred = shifted - shifted.mean(-2, keepdim=True)
    std = centred.square().mean(-2, keepdim=True).sqrt()
    return (centred / (std + EPSILON / unit)).to(dtype)


def scalarised_advantage(
    scalarizer: Callable[..., Tensor],
    normalized_return: Tensor,
    normalized_value: Tensor,
    weights: Tensor | None = None,
) -> Tensor:
    r"""Measure how much utility the return adds over the critic's prediction, standardised over the rollout.

    .. math:: A_t = U(\bar R_t) - U(\bar V_t)

    It works for any utility to maximise, linear or not; for a linear one it is the weighted sum of the normalised
    vector advantages. The paper does not say at which level its baselines scalarise; its tables support this form. A
    scalarizer of this package subtracts *before* the sum over the objectives
    (:meth:`~morl_blocks.scalarizers.Scalarizer.difference`), so that a large smoothness does not cost precision.

    Args:
        scalarizer: A scalarizer with ``weights``; or any utility ``[*B, T, m] -> [*B, T]`` without. Larger is better.
        normalized_return: λ-returns after :func:`~morl_blocks.ppo.normalize`, ``[*B, T, m]``.
        normalized_value: Values with the same bounds, ``[*B, T, m]``.
        weights: Preference for the scalarizer, ``[m]`` or ``[*B, T, m]``; one per run is ``[*B, 1, m]``.

    Returns:
        Standardised advantages, ``[*B, T]``; ``unsqueeze(-1)`` makes them the advantage of a single objective.

    Example:
        >>> import torch
        >>> from morl_blocks.scalarizers import SmoothTchebycheff
        >>> returns, values = torch.tensor([[0.2, 0.4], [0.8, 0.6]]), torch.tensor([[0.3, 0.3], [0.3, 0.3]])
        >>> scalarised_advantage(SmoothTchebycheff(mu=1e5), returns, values, torch.tensor([0.5, 0.5]))
        tensor([-1.0000,  1.0000])
    """
    returns = _checks.over_time("normalized_return", normalized_return)
    values = _checks.over_time("normalized_value", normalized_value)
    _checks.same_shape("normalized_value", values, returns.shape)
    _checks.maximised("scalarizer", scalarizer)
    difference = getattr(scalarizer, "difference", None)
    if weights is None:
        if isinstance(scalarizer, nn.Module) and difference is not None:
            _checks.fail("weights", f"be given with {type(scalarizer).__name__}", None)
        advantage = scalarizer(returns) - scalarizer(values)
    elif difference is None:
        advantage = scalarizer(returns, weights) - scalarizer(values, weights)
    else:
        advantage = difference(returns, values, weights)
    if advantage.shape != returns.shape[:-1]:
        rule = f"return utilities of shape {list(returns.shape[:-1])}"
        _checks.fail("scalarizer", rule, f"shape {list(advantage.shape)}")
    return vector_advantage(advantage.unsqueeze(-1)).squeeze(-1)


class Estimate(NamedTuple):
    """Estimates of a rollout, each ``[T, m]``: raw, and normalised by the returns seen so far.

    For advantages at the expected return, ``expected`` is the normalised expected return from the initial states under
    the preference of each step, and ``span`` the raw return that is normalised to 1, ``[m]``.
    """

    advantage: Tensor
    returns: Tensor
    value: Tensor
    normalized_return: Tensor
    normalized_value: Tensor
    expected: Tensor | None = None
    span: Tensor | None = None


class AdvantageForm(nn.Module, ABC):
    """The form of the advantages in the actor's gradient: ``[T, q]``, one per objective or a single one.

    To write a form, implement :meth:`forward`.

    Attributes:
        whole_episode: Whether it needs the normalised returns and values of whole episodes: the rewards collected
            before each step plus the (discounted) return from it.
        at_expectation: Whether it needs the expected return from the initial states.
    """

    whole_episode: ClassVar[bool] = False
    at_expectation: ClassVar[bool] = False

    @abstractmethod
    def forward(self, estimate: Estimate, scalarizer: Scalarizer, weights: Tensor) -> Tensor:
        """Return advantages, ``[T, q]``.

        Args:
            estimate: Vector advantages, λ-returns and values of a rollout.
            scalarizer: The utility, its smoothness set for this iteration.
            weights: Preference of every step, ``[T, m]``.
        """


class VectorAdvantage(AdvantageForm):
    """One advantage per objective: :func:`vector_advantage`; a combiner combines their gradients."""

    def forward(self, estimate: Estimate, scalarizer: Scalarizer, weights: Tensor) -> Tensor:
        """Return advantages, ``[T, m]``."""
        return vector_advantage(estimate.advantage)


class ScalarisedAdvantage(AdvantageForm):
    """One advantage, that of the utility: :func:`scalarised_advantage`; its single gradient needs no combiner.

    Args:
        returns: ``"normalized"``: the utility of returns scaled to [0, 1] by the range seen in the run, as in the
            paper. ``"raw"``: of the raw returns, which for a linear utility is the weighted reward.
    """

    def __init__(self, returns: Literal["normalized", "raw"] = "normalized") -> None:
        super().__init__()
        _checks.choice("returns", returns, ("normalized", "raw"))
        self.returns = returns

    def forward(self, estimate: Estimate, scalarizer: Scalarizer, weights: Tensor) -> Tensor:
        """Return the advantage, ``[T, 1]``."""
        raw = self.returns == "raw"
        returns = estimate.returns if raw else estimate.normalized_return
        value = estimate.value if raw else estimate.normalized_value
        return scalarised_advantage(scalarizer, returns, value, weights).unsqueeze(-1)


class EpisodeAdvantage(AdvantageForm):
    r"""One advantage, that of the utility of the *whole episode*, for utilities that are not linear.

    .. math:: A_t = U\bigl(\overline{C_t + \gamma^t R_t}\bigr) - U\bigl(\overline{C_t + \gamma^t V_t}\bigr),
              \qquad C_t = \sum_{k<t} \gamma^k r_k

    with k counted from the episode's first step. :class:`ScalarisedAdvantage` uses only the rewards still to come: with
    a utility such as Tchebycheff's the best trade-off then changes from step to step, and the policy does not follow
    one plan. This form uses the same sum at every step of an episode, so points inside a concave front can be reached.
    For a linear utility the two differ only by the factor :math:`\gamma^t`. With ``gae_lambda=1`` it is the policy
    gradient of :math:`E[U]`; with smaller values the critic's part of a return is already an expectation.
    """

    whole_episode = True

    def forward(self, estimate: Estimate, scalarizer: Scalarizer, weights: Tensor) -> Tensor:
        """Return the advantage, ``[T, 1]``."""
        returns, value = estimate.normalized_return, estimate.normalized_value
        return scalarised_advantage(scalarizer, returns, value, weights).unsqueeze(-1)
