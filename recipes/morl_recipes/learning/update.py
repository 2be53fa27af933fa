"""The gradients of one minibatch for R runs of any blocks: the public modules, vectorised with ``torch.func``.

:mod:`morl_recipes.learning.fast` has an equivalent form that is faster for the blocks of this package; tests compare
both. :func:`~morl_recipes.learning.iteration.gradient_step` uses the gradients.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor

from morl_blocks.critics import value_loss
from morl_blocks.ppo import Actor, ActorPenalty, ObjectiveLoss
from morl_recipes.common import checks
from morl_recipes.learning.blocks import Combine
from morl_recipes.learning.iteration import gradient_step
from morl_recipes.learning.lift import LiftedActor, LiftedCritic
from morl_recipes.learning.minibatch import Hyper, Minibatch


class Update:
    """The gradients of every run; a critic without a ``loss`` method is trained by the uniform value loss."""

    standardise = False
    """Whether the advantages of each minibatch are standardised."""
    inference = False
    """Whether steps run in PyTorch's inference mode, which is faster; then no block may differentiate."""

    def __init__(
        self,
        actor: LiftedActor,
        critic: LiftedCritic,
        loss: ObjectiveLoss,
        combine: Combine,
        penalty: ActorPenalty | None = None,
    ) -> None:
        self.actor, self.critic, self.loss, self.penalty = actor, critic, loss, penalty
        self.combine = combine
        self.step: Callable[..., None] = partial(gradient_step, self)

    def objective_gradients(
        self, flat: Tensor, batch: Minibatch, hyper: Hyper
    ) -> tuple[Tensor | None, Callable[[Tensor], Tensor]]:
        """Return the inner products of the objectives' gradients, ``[R, q, q]``, and the map to the actors' gradient.

        It takes their weights ``[R, q]`` and returns the sum ``[R, P]``, less the entropy bonus, plus the penalty.
        """
        jacobian = torch.func.vmap(torch.func.jacrev(self._losses))(flat, batch, hyper.clip)  # [R, q + 2, P]
        objectives, bonus, penalty = jacobian[:, :-2], jacobian[:, -2], jacobian[:, -1]

        def weighted_sum(weights: Tensor) -> Tensor:
            combined: Tensor = (weights.unsqueeze(1) @ objectives).squeeze(1)
            combined = combined - hyper.entropy_coefficient.unsqueeze(-1) * bonus
            return combined if self.penalty is None else combined + penalty

        return objectives @ objectives.mT, weighted_sum

    def critic_gradient(self, flat: Tensor, batch: Minibatch, hyper: Hyper) -> tuple[Tensor, Tensor]:
        """Return the value loss ``[R]`` and the gradient of it times its coefficient, ``[R, P]``."""
        gradient, loss = torch.func.vmap(torch.func.grad_and_value(self._value_loss))(flat, batch)
        return loss, hyper.value_coefficient.unsqueeze(-1) * gradient

    def _losses(self, row: Tensor, batch: Minibatch, clip: Tensor) -> Tensor:
        """Return one run's policy losses, its entropy and its penalty (0 without one), ``[q + 2]``."""
        m = batch.target.shape[-1]
        observation, preference = batch.inputs[..., :-m], batch.inputs[..., -m:]

        def losses(actor: Actor, observation: Tensor, preference: Tensor, action: Tensor) -> tuple[Tensor, ...]:
            output = actor(observation, preference)
            entropy = actor.entropy(output).mean()
            penalty = entropy.new_zeros(()) if self.penalty is None else self.penalty(actor, observation, preference)
            return actor.log_prob(output, action), entropy, penalty

        log_prob, entropy, penalty = self.actor.one(losses, row, observation, preference, batch.action)
        objectives = self.loss(log_prob, batch.old_log_prob, batch.advantage, clip)
        checks.returned(self.loss, "forward", objectives, batch.advantage.shape[-1:])
        return torch.cat([objectives, entropy.reshape(1), penalty.reshape(1)])

    def _value_loss(self, row: Tensor, batch: Minibatch) -> Tensor:
        """Return one run's value loss."""
        m = batch.target.shape[-1]

        def loss(critic: Any, inputs: Tensor, target: Tensor, attention: Tensor) -> Tensor:
            values = critic(inputs[..., :-m], inputs[..., -m:])
            own = getattr(critic, "loss", None)
            return value_loss(values, target) if own is None else own(values, target, attention)

        result: Tensor = self.critic.one(loss, row, batch.inputs, batch.target, batch.attention)
        return result
