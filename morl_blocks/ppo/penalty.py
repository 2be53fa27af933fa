"""An additional term of the actor's loss, added once, after the objectives' gradients are combined."""

from abc import ABC, abstractmethod

import torch
from torch import Tensor, nn

from morl_blocks import _checks
from morl_blocks.ppo.actors import Actor


class ActorPenalty(nn.Module, ABC):
    """A penalty on the actor that does not depend on the objectives. To write one, implement :meth:`forward`."""

    @abstractmethod
    def forward(self, actor: Actor, observation: Tensor, preference: Tensor) -> Tensor:
        """Return a loss to minimise, a scalar, for the samples of a minibatch, ``[B, n]`` and ``[B, m]``."""


def indifference(divergence: Tensor, preference: Tensor, other: Tensor, scale: float) -> Tensor:
    r"""Measure how much closer two action distributions are than their preferences.

    .. math:: \max\bigl(0,\ \beta\, d(w, w') - \operatorname{KL}\bigr), \qquad d(w, w') = \tfrac12 \|w - w'\|_1

    Args:
        divergence: Divergence of the two distributions, ``[*B]``.
        preference: The first preference, ``[*B, m]``.
        other: The second preference, ``[*B, m]``.
        scale: Divergence that is required between opposite corners, :math:`\beta`.

    Returns:
        Shortfall, >= 0, ``[*B]``.

    Example:
        >>> indifference(torch.tensor([0.2]), torch.tensor([[1.0, 0.0]]), torch.tensor([[0.0, 1.0]]), scale=1.0)
        tensor([0.8000])
    """
    divergence, preference, other = _checks.alike(divergence=divergence, preference=preference, other=other)
    _checks.objectives("preference", preference)
    _checks.same_shape("other", other, preference.shape)
    _checks.same_shape("divergence", divergence, preference.shape[:-1])
    scale = _checks.single("scale", scale)
    _checks.positive("scale", scale)
    distance = 0.5 * (preference - other).abs().sum(-1)
    return (scale * distance - divergence).clamp_min(0.0)


class Indifference(ActorPenalty):
    """Penalise a policy that ignores its preference: :func:`indifference` between each sample and its neighbour.

    The actor sees each observation of a minibatch twice, with its own preference and with that of the sample before it.
    In a random minibatch that is a random preference. If preferences are not redrawn, all are equal and the penalty is
    0.

    Args:
        coefficient: Weight of the term, >= 0.
        scale: Divergence that is required between opposite corners of the simplex, > 0.

    Example:
        >>> from morl_blocks.ppo import CategoricalActor
        >>> actor = CategoricalActor(4, num_objectives=2, num_actions=3)
        >>> Indifference()(actor, torch.zeros(6, 4), torch.tensor([[0.5, 0.5]]).expand(6, 2)).detach()
        tensor(0.)
    """

    def __init__(self, coefficient: float = 0.01, scale: float = 1.0) -> None:
        super().__init__()
        self.coefficient, self.scale = _checks.single("coefficient", coefficient), _checks.single("scale", scale)
        _checks.between("coefficient", self.coefficient, 0.0, torch.inf, bounds="[)")
        _checks.positive("scale", self.scale)

    def forward(self, actor: Actor, observation: Tensor, preference: Tensor) -> Tensor:
        """Return the mean shortfall times the coefficient."""
        observation = _checks.floats("observation", observation)
        preference = _checks.floats("preference", preference)
        _checks.objectives("preference", preference)
        if observation.dim() < 2 or not len(observation):
            _checks.fail("observation", "have shape [B, n] with B > 0", f"shape {list(observation.shape)}")
        _checks.same_shape("preference", preference, torch.Size([*observation.shape[:-1], preference.shape[-1]]))
        other = preference.roll(1, -2)
        divergence = actor.kl(actor(observation, preference), actor(observation, other))
        return self.coefficient * indifference(divergence, preference, other, self.scale).mean()

    def extra_repr(self) -> str:
        """Show the numbers in ``repr``."""
        return f"coefficient={self.coefficient:g}, scale={self.scale:g}"
