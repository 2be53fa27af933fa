"""How log-probability and entropy change with an actor's last layer, per sample and for R runs at once.

A score has two methods. ``score`` returns log-probabilities and their derivatives per sample, by the raw output and by
extra parameters; ``entropy_slope`` the derivative of the entropy, by the raw output per sample, and of its mean by
extra parameters.
"""

import torch
from torch import Tensor

from morl_blocks.ppo import Actor, UnitBoxGaussianActor, gaussian_log_prob

Params = dict[str, Tensor]


class GaussianScore:
    """Derivatives of a Gaussian with a sigmoid mean and a free log standard deviation per action dimension."""

    def score(self, raw: Tensor, params: Params, action: Tensor) -> tuple[Tensor, Tensor, Params]:
        """Return log-densities, their derivative by the raw output, and by the log standard deviation."""
        log_std = params["log_std"].unsqueeze(1)
        mean, precision = raw.sigmoid(), (-log_std).exp()
        scaled = (action - mean) * precision
        slope: Tensor = torch.ops.aten.sigmoid_backward(scaled * precision, mean)  # ... * mean * (1 - mean)
        return gaussian_log_prob(action, mean, log_std), slope, {"log_std": scaled * scaled - 1}

    def entropy_slope(self, raw: Tensor) -> tuple[Tensor | None, Params]:
        """Return 1 per log standard deviation; the mean does not matter."""
        return None, {"log_std": torch.ones_like(raw[:, 0])}


class CategoricalScore:
    """Derivatives of logits over discrete actions, which are indices ``[R, b]``."""

    def score(self, raw: Tensor, params: Params, action: Tensor) -> tuple[Tensor, Tensor, Params]:
        """Return log-probabilities and their derivative: one-hot minus probabilities."""
        log_probs = raw.log_softmax(-1)
        chosen = torch.arange(raw.shape[-1], device=raw.device) == action.unsqueeze(-1)
        log_prob = torch.where(chosen, log_probs, 0.0).sum(-1)
        return log_prob, chosen.to(raw.dtype) - log_probs.exp(), {}

    def entropy_slope(self, raw: Tensor) -> tuple[Tensor | None, Params]:
        r"""Return :math:`-p_k (\log p_k + H)` per sample."""
        log_probs = raw.log_softmax(-1)
        probs = log_probs.exp()
        entropy = -(probs * log_probs).sum(-1, keepdim=True)
        return -probs * (log_probs + entropy), {}


def score_of(actor: Actor) -> GaussianScore | CategoricalScore:
    """Return the derivatives that belong to an actor's distribution."""
    return GaussianScore() if isinstance(actor, UnitBoxGaussianActor) else CategoricalScore()
