"""From an actor's raw output to actions, log-probabilities and their per-sample derivatives, for R runs at once."""

from typing import Protocol

import torch
from torch import Tensor

from morl_blocks.ppo import (
    categorical_entropy,
    categorical_log_prob,
    categorical_sample,
    gaussian_entropy,
    gaussian_log_prob,
    gaussian_sample,
    unit_box_to_action,
)

Params = dict[str, Tensor]


class Head(Protocol):
    """The distribution on top of an actor. Actions are stored as floats ``[R, b, a]``, indices too."""

    action_columns: int
    noise_columns: int
    uniform_noise: bool

    def sample(self, raw: Tensor, params: Params, noise: Tensor) -> Tensor:
        """Draw actions ``[R, b, a]`` from the raw output and noise."""
        ...

    def mode(self, raw: Tensor) -> Tensor:
        """Return the most likely actions, ``[R, b, a]``."""
        ...

    def to_env(self, action: Tensor) -> Tensor:
        """Return what the environment takes; always finite, so that one run's failure cannot stop the others."""
        ...

    def log_prob(self, raw: Tensor, params: Params, action: Tensor) -> Tensor:
        """Return log-probabilities, ``[R, b]``."""
        ...

    def score(self, raw: Tensor, params: Params, action: Tensor) -> tuple[Tensor, Tensor, Params]:
        """Return log-probabilities and their derivatives per sample: by the raw output and by extra parameters."""
        ...

    def entropy(self, raw: Tensor, params: Params) -> Tensor:
        """Return entropies, ``[R, b]``."""
        ...

    def entropy_slope(self, raw: Tensor) -> tuple[Tensor | None, Params]:
        """Return the derivative of the entropy: by the raw output per sample, and of the mean by extra parameters."""
        ...


class GaussianHead:
    """Sigmoid mean in the unit box and a free log standard deviation per action dimension.

    Args:
        low: Lower action bounds, ``[a]``.
        high: Upper action bounds, ``[a]``.
    """

    uniform_noise = False

    def __init__(self, low: Tensor, high: Tensor) -> None:
        self.low, self.high = low, high
        self.action_columns = self.noise_columns = len(low)

    def sample(self, raw: Tensor, params: Params, noise: Tensor) -> Tensor:
        """Draw unclipped unit-box actions."""
        return gaussian_sample(raw.sigmoid(), params["log_std"].unsqueeze(1), noise)

    def mode(self, raw: Tensor) -> Tensor:
        """Return the mean."""
        return raw.sigmoid()

    def to_env(self, action: Tensor) -> Tensor:
        """Clip and map to the action space."""
        return unit_box_to_action(action.nan_to_num(0.5), self.low, self.high)

    def log_prob(self, raw: Tensor, params: Params, action: Tensor) -> Tensor:
        """Return log-densities of unclipped actions."""
        return gaussian_log_prob(action, raw.sigmoid(), params["log_std"].unsqueeze(1))

    def score(self, raw: Tensor, params: Params, action: Tensor) -> tuple[Tensor, Tensor, Params]:
        """Return log-densities, their derivative by the raw output, and by the log standard deviation."""
        log_std = params["log_std"].unsqueeze(1)
        mean, precision = raw.sigmoid(), (-log_std).exp()
        scaled = (action - mean) * precision
        slope: Tensor = torch.ops.aten.sigmoid_backward(scaled * precision, mean)  # ... * mean * (1 - mean)
        return gaussian_log_prob(action, mean, log_std), slope, {"log_std": scaled * scaled - 1}

    def entropy(self, raw: Tensor, params: Params) -> Tensor:
        """Return the entropy, the same for every sample."""
        return gaussian_entropy(params["log_std"].unsqueeze(1).expand_as(raw))

    def entropy_slope(self, raw: Tensor) -> tuple[Tensor | None, Params]:
        """Return 1 per log standard deviation; the mean does not matter."""
        return None, {"log_std": torch.ones_like(raw[:, 0])}


class CategoricalHead:
    """Logits over discrete actions.

    Args:
        num_actions: Number of choices.
    """

    uniform_noise = True
    action_columns = 1

    def __init__(self, num_actions: int) -> None:
        self.noise_columns = num_actions

    def sample(self, raw: Tensor, params: Params, noise: Tensor) -> Tensor:
        """Draw indices."""
        return categorical_sample(raw, noise).unsqueeze(-1).to(raw.dtype)

    def mode(self, raw: Tensor) -> Tensor:
        """Return the index of the largest logit."""
        return raw.argmax(-1, keepdim=True).to(raw.dtype)

    def to_env(self, action: Tensor) -> Tensor:
        """Return integer indices without the last axis."""
        return action.squeeze(-1).to(torch.int64)

    def log_prob(self, raw: Tensor, params: Params, action: Tensor) -> Tensor:
        """Return log-probabilities."""
        return categorical_log_prob(action.squeeze(-1).to(torch.int64), raw)

    def score(self, raw: Tensor, params: Params, action: Tensor) -> tuple[Tensor, Tensor, Params]:
        """Return log-probabilities and their derivative: one-hot minus probabilities."""
        log_probs = raw.log_softmax(-1)
        chosen = torch.arange(raw.shape[-1], device=raw.device) == action
        log_prob = torch.where(chosen, log_probs, 0.0).sum(-1)
        return log_prob, chosen.to(raw.dtype) - log_probs.exp(), {}

    def entropy(self, raw: Tensor, params: Params) -> Tensor:
        """Return entropies."""
        return categorical_entropy(raw)

    def entropy_slope(self, raw: Tensor) -> tuple[Tensor | None, Params]:
        r"""Return :math:`-p_k (\log p_k + H)` per sample."""
        log_probs = raw.log_softmax(-1)
        probs = log_probs.exp()
        entropy = -(probs * log_probs).sum(-1, keepdim=True)
        return -probs * (log_probs + entropy), {}
