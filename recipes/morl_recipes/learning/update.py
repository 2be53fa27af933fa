r"""The update of one minibatch, for R runs of any blocks: the paper's Algorithm 2.

.. code-block:: text

    for every objective i:   g_i = gradient of the policy loss L_i
    kappa, c = conflict and weights of the combiner, from the inner products of the g_i
    actor   <- Adam(sum_i c_i g_i - entropy bonus + penalty)
    critic  <- Adam(gradient of its own loss)

Where preferences differ from sample to sample, the samples are weighed before the losses, and the objectives are not:
see :mod:`morl_recipes.learning.weighing`.

The blocks are the public modules, lifted over runs with ``torch.func``. A faster form for the blocks of this package is
in :mod:`morl_recipes.learning.fast`; tests hold the two together.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from morl_blocks.critics import value_loss
from morl_blocks.ppo import Actor, ActorPenalty, ObjectiveLoss
from morl_recipes.common import checks
from morl_recipes.learning.adam import Pace, Trainable, adam
from morl_recipes.learning.blocks import Combine
from morl_recipes.learning.lift import LiftedActor, LiftedCritic
from morl_recipes.learning.minibatch import Columns, Hyper, Minibatch

RECORD = ("conflict", "actor_gradient", "critic_gradient", "loss_value")
Step = Callable[[Trainable, Trainable, Tensor, Tensor, Tensor | None, Hyper, Pace, Tensor], None]


class Update:
    """One gradient step of every run.

    Args:
        actor: Stacked actors.
        critic: Stacked critics; one without a ``loss`` method is trained by the uniform value loss.
        loss: From probabilities and advantages to one loss per objective.
        combine: How the objectives' gradients become one.
        columns: Layout of the packed data.
        penalty: A further term of the actor's loss, if there is one.
    """

    def __init__(
        self,
        actor: LiftedActor,
        critic: LiftedCritic,
        loss: ObjectiveLoss,
        combine: Combine,
        columns: Columns,
        penalty: ActorPenalty | None = None,
    ) -> None:
        self.actor, self.critic, self.loss, self.penalty = actor, critic, loss, penalty
        self.combine, self.columns = combine, columns

    def step(
        self,
        actor: Trainable,
        critic: Trainable,
        data: Tensor,
        rows: Tensor,
        noise: Tensor | None,
        hyper: Hyper,
        pace: Pace,
        record: Tensor,
    ) -> None:
        r"""Take one gradient step in place.

        Args:
            actor: Actors and their moments.
            critic: Critics and their moments.
            data: The packed rollout, ``[R, N, D]``.
            rows: The minibatch: row numbers of ``data`` flattened to ``[R * N, D]``, ``[R, B]``.
            noise: The combiner's noise, ``[R, ...]``, if it draws any.
            hyper: Hyper-parameters of the runs.
            pace: Adam's numbers of this step.
            record: Sums of what ``RECORD`` names (norms before the clip), ``[R, 4]``; added to.
        """
        batch = self.columns.take(data, rows)
        conflict, actor_gradient = self.actor_gradient(actor.params, self.combine.weigh(batch), noise, hyper)
        loss, critic_gradient = self.critic_gradient(critic.params, batch, hyper)
        actor_norm = adam(actor, actor_gradient, hyper.max_gradient_norm, pace)
        critic_norm = adam(critic, critic_gradient, hyper.max_gradient_norm, pace)
        record += torch.stack([conflict, actor_norm, critic_norm, loss], dim=-1)

    def actor_gradient(
        self, flat: Tensor, batch: Minibatch, noise: Tensor | None, hyper: Hyper
    ) -> tuple[Tensor, Tensor]:
        """Return the conflict ratio ``[R]`` and the combined gradient with the entropy bonus ``[R, P]``."""
        jacobian = torch.func.vmap(torch.func.jacrev(self._losses))(flat, batch, hyper.clip)  # [R, q + 2, P]
        objectives, bonus, penalty = jacobian[:, :-2], jacobian[:, -2], jacobian[:, -1]
        conflict, weights = self.combine(objectives @ objectives.mT, batch.attention, noise)
        combined = (weights.unsqueeze(1) @ objectives).squeeze(1)
        combined = combined - hyper.entropy_coefficient.unsqueeze(-1) * bonus
        return conflict, combined if self.penalty is None else combined + penalty

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
