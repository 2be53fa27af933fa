r"""The update of one minibatch with derivatives in closed form: one backward pass for any number of objectives.

The m objectives share the log-probability of each sample, so with :math:`g_b = \nabla_\theta \log \pi(a_b)` the
gradient of objective i is :math:`g^{(i)} = \sum_b C_{bi}\, g_b` with scalars
:math:`C_{bi} = \partial L_i / \partial \log \pi(a_b)`. Inner products need only the kernel of the samples,

.. math:: G = C^\top K C, \qquad K_{bb'} = g_b^\top g_{b'} = \sum_l (\delta^l_b \cdot \delta^l_{b'})
          (h^l_b \cdot h^l_{b'} + 1),

with features :math:`h` and errors :math:`\delta` of layer l, both known after *one* backward pass. The combiner turns G
into weights c, and :math:`\sum_i c_i g^{(i)} = \sum_b (C c)_b\, g_b` is one ordinary gradient. So the m gradients are
never computed, and the actor's cost hardly grows with m. (The kernel grows with the square of the minibatch: for small
layers, large minibatches and few objectives the gradients of a layer are computed anyway, with the same result.)
"""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from morl_blocks.combiners import PCGrad, Sum, WeightedPCGrad, WeightedSum
from morl_blocks.ppo import ObjectiveLoss
from morl_recipes.learning.blocks import Combine
from morl_recipes.learning.fast.networks import FastActor, FastCritic, gradients
from morl_recipes.learning.minibatch import Hyper, Minibatch
from morl_recipes.learning.update import Update

WITHOUT_AUTOGRAD = (PCGrad, WeightedPCGrad, Sum, WeightedSum)
"""Combiners that do not differentiate, so that steps may run in inference mode."""
HALF_LOG_2PI = 0.5 * math.log(2 * math.pi)


class FastUpdate(Update):
    """One gradient step of every run, only for the networks and the loss of this package."""

    actor: FastActor  # type: ignore[assignment]
    critic: FastCritic  # type: ignore[assignment]

    def __init__(self, actor: FastActor, critic: FastCritic, loss: ObjectiveLoss, combine: Combine) -> None:
        super().__init__(actor, critic, loss, combine)  # type: ignore[arg-type]
        self.head: GaussianScore | CategoricalScore = GaussianScore() if actor.gaussian else CategoricalScore()
        self.inference = all(type(block) in WITHOUT_AUTOGRAD for block in combine.blocks)

    def objective_gradients(
        self, flat: Tensor, batch: Minibatch, hyper: Hyper
    ) -> tuple[Tensor | None, Callable[[Tensor], Tensor]]:
        """Return the inner products of the objectives' gradients, and the map from their weights to the gradient."""
        net = self.actor
        params, layers = net.read(flat)
        raw, features = net.forward(layers, batch.inputs)
        log_prob, slope, extra = self.head.score(raw, params, batch.action)
        per_sample = surrogate_slope(log_prob, batch)  # C, [R, B, q]
        errors = net.errors(layers, features, slope)
        single = per_sample.shape[-1] == 1  # a scalarised advantage: nothing to combine
        gramian = None if single else objective_gramian(features, errors, extra, per_sample)

        def weighted_sum(weights: Tensor) -> Tensor:
            scale = per_sample if single else torch.bmm(per_sample, weights.unsqueeze(-1))
            bonus, raw_slope = hyper.entropy_coefficient.reshape(-1, 1, 1), self.head.entropy_slope(raw)
            if raw_slope is None:
                scaled = [error * scale for error in errors]
            else:
                scaled = net.errors(layers, features, slope * scale - raw_slope * (bonus / raw.shape[1]))
            # The entropy's derivative by each log standard deviation is 1.
            own = {name: (part * scale).sum(1) - bonus[:, 0] for name, part in extra.items()}
            return net.layout.join({**gradients(net.names, features, scaled), **own})

        return gramian, weighted_sum

    def critic_gradient(self, flat: Tensor, batch: Minibatch, hyper: Hyper) -> tuple[Tensor, Tensor]:
        """Return the value loss ``[R]`` and the gradient of it times its coefficient, ``[R, P]``."""
        values, pull = self.critic.pullback(flat, batch.inputs)
        size, m = values.shape[-2:]
        errors = values - batch.target
        weighted = errors * (batch.attention if self.critic.weighted else 1 / m)
        scale = hyper.value_coefficient.reshape(-1, 1, 1) * (2 / size)
        return (weighted * errors).sum((1, 2)) / size, pull(scale * weighted)


def surrogate_slope(log_prob: Tensor, batch: Minibatch) -> Tensor:
    r"""Return the derivative of the clipped surrogates by each sample's log-probability, ``[R, B, q]``.

    .. math:: C_{bi} = -\frac1B\, \rho_b A_{bi} \quad \text{where the clip leaves it free, else } 0
    """
    ratio = (log_prob - batch.old_log_prob).exp().unsqueeze(-1)
    free = (ratio >= batch.lowest) & (ratio <= batch.highest)
    return torch.where(free, ratio * batch.advantage, 0.0) / -log_prob.shape[-1]


def objective_gramian(
    features: list[Tensor], errors: list[Tensor], extra: dict[str, Tensor], per_sample: Tensor
) -> Tensor:
    """Return the inner products of the objectives' gradients, ``[R, m, m]``; each layer uses the cheaper method.

    ``features``, ``errors`` and ``extra`` are ``[R, B, ...]`` per layer; ``per_sample`` is C, ``[R, B, m]``.
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
    runs, _, m = per_sample.shape
    scaled = (per_sample.unsqueeze(-1) * error.unsqueeze(-2)).flatten(-2)  # [R, B, m * o]
    return torch.bmm(scaled.mT, inputs).view(runs, m, -1), torch.bmm(per_sample.mT, error)


def layer_kernel(inputs: Tensor, error: Tensor) -> Tensor:
    """Return the inner products of all samples' log-probability gradients by one layer, ``[R, B, B]``."""
    errors = torch.bmm(error, error.mT)
    return torch.addcmul(errors, errors, torch.bmm(inputs, inputs.mT))  # the bias counts like an input of 1


Params = dict[str, Tensor]


class GaussianScore:
    """Derivatives of a Gaussian with a sigmoid mean and a free log standard deviation per action dimension."""

    def score(self, raw: Tensor, params: Params, action: Tensor) -> tuple[Tensor, Tensor, Params]:
        """Return log-densities, their derivative by the raw output, and by the log standard deviation."""
        log_std = params["log_std"]
        mean, precision = raw.sigmoid(), (-log_std).exp()
        scaled = (action - mean) * precision
        square = scaled * scaled
        slope: Tensor = torch.ops.aten.sigmoid_backward.default(scaled * precision, mean)  # ... * mean * (1 - mean)
        log_prob = -(0.5 * square + log_std + HALF_LOG_2PI).sum(-1)
        return log_prob, slope, {"log_std": square - 1}

    def entropy_slope(self, raw: Tensor) -> Tensor | None:
        """Return ``None``: the mean does not matter."""
        return None


class CategoricalScore:
    """Derivatives of logits over discrete actions, which are indices ``[R, b]``."""

    def score(self, raw: Tensor, params: Params, action: Tensor) -> tuple[Tensor, Tensor, Params]:
        """Return log-probabilities and their derivative: one-hot minus probabilities."""
        log_probs = raw.log_softmax(-1)
        chosen = torch.arange(raw.shape[-1], device=raw.device) == action.unsqueeze(-1)
        log_prob = torch.where(chosen, log_probs, 0.0).sum(-1)
        return log_prob, chosen.to(raw.dtype) - log_probs.exp(), {}

    def entropy_slope(self, raw: Tensor) -> Tensor | None:
        r"""Return :math:`-p_k (\log p_k + H)` per sample."""
        log_probs = raw.log_softmax(-1)
        probs = log_probs.exp()
        entropy = -(probs * log_probs).sum(-1, keepdim=True)
        return -probs * (log_probs + entropy)
