"""From a rollout to what the update learns from: advantages, value targets and attention, packed per step."""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from morl_blocks.ppo import normalize, scalarised_advantage, update_bounds, vector_advantage, vector_gae
from morl_blocks.ppo.normalizer import MIN_RANGE
from morl_recipes.learning.rollout import Rollout


class Bounds(NamedTuple):
    """Smallest and largest return that each run has seen, ``[R, m]``."""

    low: Tensor
    high: Tensor

    @classmethod
    def empty(cls, runs: int, objectives: int, device: torch.device | str) -> "Bounds":
        """Return bounds that hold nothing yet."""
        low = torch.full((runs, objectives), torch.inf, device=device)
        return cls(low, -low)

    def restore(self, normalized: Tensor) -> Tensor:
        """Undo the normalisation of values ``[R, N, m]``; identity before the first return."""
        known = self.low.isfinite() & self.high.isfinite()
        span = torch.where(known, (self.high - self.low).clamp_min(MIN_RANGE), 1.0)
        return normalized * span.unsqueeze(1) + torch.where(known, self.low, 0.0).unsqueeze(1)


class Targets(NamedTuple):
    """Per step: ``advantage [R, N, q]``; ``target``, ``attention``, ``value`` and raw ``returns`` ``[R, N, m]``."""

    advantage: Tensor
    target: Tensor
    attention: Tensor
    value: Tensor
    returns: Tensor


def estimate(
    rollout: Rollout, value: Tensor, next_value: Tensor, gamma: Tensor, gae_lambda: Tensor
) -> tuple[Tensor, Tensor]:
    """Return vector advantages and λ-returns ``[R, N, m]`` from raw values ``[R, N, m]``."""
    shape = rollout.reward.shape
    advantage, returns = vector_gae(
        rollout.reward,
        value.reshape(shape),
        next_value.reshape(shape),
        rollout.terminated,
        rollout.done,
        gamma.reshape(-1, 1, 1, 1),
        gae_lambda.reshape(-1, 1, 1, 1),
    )
    return advantage.flatten(1, 2), returns.flatten(1, 2)


def learn_from(
    advantage: Tensor,
    returns: Tensor,
    value: Tensor,
    bounds: Bounds,
    scalarizer: nn.Module,
    preferences: Tensor,
    *,
    scalarised: bool,
    normalize_targets: bool,
) -> tuple[Targets, Bounds]:
    """Widen the bounds, then normalise, weigh and standardise.

    Args:
        advantage: Vector advantages, ``[R, N, m]``.
        returns: λ-returns, ``[R, N, m]``.
        value: Raw values, ``[R, N, m]``.
        bounds: Bounds before this iteration.
        scalarizer: Live scalarizer of the batch, its smoothness already stepped.
        preferences: ``[R, m]``.
        scalarised: One advantage of the utility instead of one per objective.
        normalize_targets: Targets in [0, 1] instead of raw.
    """
    bounds = Bounds(*update_bounds(bounds.low, bounds.high, returns))
    # A run that is about to fail must not stop the checks of the others: its numbers are replaced here, and the
    # failure is found where the iteration ends.
    normalized = normalize(returns, *bounds).nan_to_num(0.0, 1.0, 0.0)
    weights = preferences.unsqueeze(1)
    attention: Tensor = scalarizer.attention(normalized, weights)  # type: ignore[operator]
    if scalarised:
        normalized_value = normalize(value, *bounds).nan_to_num(0.0, 1.0, 0.0)
        ready = scalarised_advantage(scalarizer, normalized, normalized_value, weights).unsqueeze(-1)
    else:
        ready = vector_advantage(advantage)
    target = normalize(returns, *bounds) if normalize_targets else returns
    return Targets(ready, target, attention, value, returns), bounds
