r"""The update of one minibatch for R runs, as one function that eager mode calls and ``torch.compile`` fuses.

The m objectives share the log-probability of each sample, so with :math:`g_b = \nabla_\theta \log \pi(a_b)` the
gradient of objective i is :math:`g^{(i)} = \sum_b C_{bi}\, g_b` with scalars
:math:`C_{bi} = \partial L_i / \partial \log \pi(a_b)`. Inner products need only the kernel of the samples,

.. math:: G = C^\top K C, \qquad K_{bb'} = g_b^\top g_{b'} = \sum_l (\delta^l_b \cdot \delta^l_{b'})
          (h^l_b \cdot h^l_{b'} + 1),

with features :math:`h` and errors :math:`\delta` of layer l, both known after *one* backward pass. The combiner turns G
into weights c, and :math:`\sum_i c_i g^{(i)} = \sum_b (C c)_b\, g_b` is one ordinary gradient. So the m gradients are
never formed, and the actor's cost hardly grows with m. (The kernel grows with the square of the minibatch: for small
layers, large minibatches and few objectives the gradients of a layer are formed after all, with the same result.)
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor

from morl_blocks.combiners import pair_conflict
from morl_recipes._checks import compilable
from morl_recipes.learning.heads import Head
from morl_recipes.learning.networks import Actor, StackedCritic

BETA_1, BETA_2, ADAM_EPSILON = 0.9, 0.999, 1e-8
RECORD = ("conflict", "actor_gradient", "critic_gradient", "loss_value")
Weights = Callable[[Tensor, Tensor, Tensor], Tensor]


class Columns(NamedTuple):
    """Widths of the columns of a packed rollout ``[R, N, sum]``."""

    inputs: int
    action: int
    log_prob: int
    advantage: int
    target: int
    attention: int


class Trainable(NamedTuple):
    """One network's parameters and its Adam moments, each ``[R, P]``; updated in place."""

    params: Tensor
    first: Tensor
    second: Tensor

    def runs(self, part: slice) -> "Trainable":
        """Return views of some of the runs."""
        return Trainable(*(tensor[part] for tensor in self))


class Numbers(NamedTuple):
    """Per-run numbers of the update, each ``[R]``."""

    clip: Tensor
    value_coefficient: Tensor
    entropy_coefficient: Tensor
    max_gradient_norm: Tensor

    def runs(self, part: slice) -> "Numbers":
        """Return views of some of the runs."""
        return Numbers(*(tensor[part] for tensor in self))


def fuse(step: Callable[..., None], device: torch.device) -> Callable[..., None]:
    """Compile an update's step; on a CPU also what calls the kernels, which is a third of the time of a single run."""
    compilable(torch.__path__[0])
    # Every batch of a process compiles the same lines of code for its own shapes.
    torch._dynamo.config.recompile_limit = max(torch._dynamo.config.recompile_limit, 256)
    options: dict[str, str | int | bool | Callable[..., Any]] = {"cpp_wrapper": device.type == "cpu"}
    return torch.compile(step, fullgraph=True, dynamic=False, options=options)


class Update:
    """The update of one minibatch.

    Args:
        actor: Stacked actors.
        head: Their distribution.
        critic: Stacked critics.
        weights: ``(gramian [R,m,m], attention [R,m], order [R,m,m]) -> [R,m]``, how to combine the objectives.
        columns: Layout of the packed data.
        weighted_critic: Weigh the value loss by the attention (else every objective counts 1/m).
    """

    def __init__(
        self,
        actor: Actor,
        head: Head,
        critic: StackedCritic,
        weights: Weights,
        columns: Columns,
        *,
        weighted_critic: bool,
    ) -> None:
        self.actor, self.head, self.critic = actor, head, critic
        self.weights, self.columns, self.weighted_critic = weights, columns, weighted_critic

    def step(
        self,
        actor: Trainable,
        critic: Trainable,
        data: Tensor,
        rows: Tensor,
        order: Tensor,
        numbers: Numbers,
        step_size: Tensor,
        correction: Tensor,
        record: Tensor,
    ) -> None:
        r"""Take one gradient step in place.

        Args:
            actor: Actors and their moments.
            critic: Critics and their moments.
            data: The packed rollout, ``[R, N, D]``.
            rows: The minibatch: row numbers of ``data`` flattened to ``[R * N, D]``, ``[R, B]``.
            order: Order in which objectives meet in PCGrad, ``[R, m, m]``.
            numbers: Numbers of the runs.
            step_size: Learning rate over Adam's first bias correction, ``[R, 1]``.
            correction: Adam's second bias correction, square root of :math:`1 - \beta_2^t`, a scalar.
            record: Sums of what ``RECORD`` names (norms before the clip), ``[R, 4]``; added to.
        """
        batch = data.flatten(0, 1).index_select(0, rows.flatten()).unflatten(0, rows.shape)
        inputs, action, old_log_prob, advantage, target, attention = batch.split(list(self.columns), dim=-1)
        conflict, actor_gradient = self.actor_gradient(
            actor.params, inputs, action, old_log_prob, advantage, attention, order, numbers
        )
        loss, critic_gradient = self.critic_gradient(critic.params, inputs, target, attention, numbers)
        actor_norm = _adam(actor, actor_gradient, numbers.max_gradient_norm, step_size, correction)
        critic_norm = _adam(critic, critic_gradient, numbers.max_gradient_norm, step_size, correction)
        record += torch.stack([conflict, actor_norm, critic_norm, loss], dim=-1)

    def actor_gradient(
        self,
        flat: Tensor,
        inputs: Tensor,
        action: Tensor,
        old_log_prob: Tensor,
        advantage: Tensor,
        attention: Tensor,
        order: Tensor,
        numbers: Numbers,
    ) -> tuple[Tensor, Tensor]:
        """Return the conflict ratio ``[R]`` and the combined gradient with the entropy bonus ``[R, P]``."""
        size, m = advantage.shape[-2:]
        params = self.actor.layout.views(flat)
        raw, features = self.actor.forward(params, inputs)
        log_prob, slope, extra = self.head.score(raw, params, action)
        ratio = (log_prob.unsqueeze(-1) - old_log_prob).exp()
        clip = numbers.clip.reshape(-1, 1, 1)
        free = torch.where(advantage > 0, ratio <= 1 + clip, ratio >= 1 - clip)
        per_sample = torch.where(free, ratio * advantage, 0.0) / -size  # C, [R, B, m]
        errors = self.actor.errors(params, features, slope)
        if m > 1:
            gramian = objective_gramian(features, errors, extra, per_sample)
            conflict = pair_conflict(gramian)
            weights = self.weights(gramian, attention.mean(1), order)
            scale = torch.bmm(per_sample, weights.unsqueeze(-1))
        else:  # a scalarised advantage: nothing to combine, nothing to conflict with
            conflict, scale = torch.zeros_like(numbers.clip), per_sample
        bonus = numbers.entropy_coefficient.reshape(-1, 1, 1)
        raw_slope, extra_slope = self.head.entropy_slope(raw)
        if raw_slope is None:
            errors = [error * scale for error in errors]
        else:
            errors = self.actor.errors(params, features, slope * scale - raw_slope * (bonus / size))
        extra = {name: (extra[name] * scale).sum(1) - bonus[:, 0] * extra_slope[name] for name in extra}
        return conflict, self.actor.gradient(features, errors, extra)

    def critic_gradient(
        self, flat: Tensor, inputs: Tensor, target: Tensor, attention: Tensor, numbers: Numbers
    ) -> tuple[Tensor, Tensor]:
        """Return the weighted value loss ``[R]`` and the gradient of it times its coefficient, ``[R, P]``."""
        values, pull = self.critic.pullback(flat, inputs)
        weight = attention if self.weighted_critic else torch.full_like(attention, 1 / attention.shape[-1])
        scale = numbers.value_coefficient.reshape(-1, 1, 1) * (2 / target.shape[1])
        errors = values - target
        weighted = weight * errors
        return (weighted * errors).sum((1, 2)) / target.shape[1], pull(scale * weighted)


def objective_gramian(
    features: list[Tensor], errors: list[Tensor], extra: dict[str, Tensor], per_sample: Tensor
) -> Tensor:
    """Return the inner products of the objectives' gradients, ``[R, m, m]``; each layer the cheaper way.

    Args:
        features: Inputs of the layers, ``[R, B, i]`` each.
        errors: Derivatives of the log-probability before the layers' activations, ``[R, B, o]`` each.
        extra: Derivatives of the log-probability by the other parameters, ``[R, B, a]`` each.
        per_sample: Derivatives of the objectives by the log-probability, C, ``[R, B, m]``.
    """
    size, m = per_sample.shape[-2:]
    transposed = per_sample.mT
    rows = [torch.bmm(transposed, slope) for slope in extra.values()]
    kernel = None
    for inputs, error in zip(features, errors, strict=True):
        i, o = inputs.shape[-1], error.shape[-1]
        if 2 * m * i * o < size * (i + o):
            rows.extend(layer_gradients(inputs, error, per_sample))
        else:
            layer = layer_kernel(inputs, error)
            kernel = layer if kernel is None else kernel + layer
    jacobian = torch.cat(rows, dim=-1) if rows else per_sample.new_zeros(len(per_sample), m, 1)
    gramian = torch.bmm(jacobian, jacobian.mT)
    return gramian if kernel is None else gramian + torch.bmm(torch.bmm(transposed, kernel), per_sample)


def layer_gradients(inputs: Tensor, error: Tensor, per_sample: Tensor) -> tuple[Tensor, Tensor]:
    """Return the objectives' gradients of one layer's weights ``[R, m, o * i]`` and biases ``[R, m, o]``."""
    scaled = (per_sample.unsqueeze(-1) * error.unsqueeze(-2)).flatten(-2)  # [R, B, m * o]
    weights = torch.bmm(scaled.mT, inputs).unflatten(1, (per_sample.shape[-1], -1)).flatten(2)
    return weights, torch.bmm(per_sample.mT, error)


def layer_kernel(inputs: Tensor, error: Tensor) -> Tensor:
    """Return the inner products of all samples' log-probability gradients by one layer, ``[R, B, B]``."""
    errors = torch.bmm(error, error.mT)
    return torch.addcmul(errors, errors, torch.bmm(inputs, inputs.mT))  # the bias counts like an input of 1


def _adam(network: Trainable, gradient: Tensor, limit: Tensor, step_size: Tensor, correction: Tensor) -> Tensor:
    """Clip each run's gradient and take one Adam step in place; return the norms before the clip, ``[R]``."""
    norm: Tensor = torch.linalg.vector_norm(gradient, dim=-1)
    gradient = gradient * (limit / (norm + 1e-6)).clamp(max=1.0).unsqueeze(-1)
    network.first.lerp_(gradient, 1 - BETA_1)
    network.second.mul_(BETA_2).addcmul_(gradient, gradient, value=1 - BETA_2)
    # Adam's fraction with both sides times the correction: a division less per parameter.
    rate, epsilon = step_size * correction, ADAM_EPSILON * correction
    network.params.addcdiv_(network.first * -rate, network.second.sqrt() + epsilon)
    return norm
