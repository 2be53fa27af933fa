"""From a rollout to what the update learns from: advantages, value targets and attention."""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from morl_blocks.ppo import AdvantageForm, Estimate, ReturnNormalizer, vector_gae
from morl_blocks.ppo.normalizer import MIN_RANGE
from morl_recipes.learning.blocks import Scalarizers
from morl_recipes.learning.rollout import Rollout
from morl_recipes.recipe.ppo import PPO


class Targets(NamedTuple):
    """Per step: ``advantage [R, N, q]``; ``target``, ``attention``, ``value`` and raw ``returns`` ``[R, N, m]``."""

    advantage: Tensor
    target: Tensor
    attention: Tensor
    value: Tensor
    returns: Tensor


def estimate(
    rollout: Rollout, value: Tensor, next_value: Tensor, gamma: Tensor, gae_lambda: Tensor, ppo: PPO
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
        time_limit=ppo.time_limit,
        mask=ppo.mask,
    )
    return advantage.flatten(1, 2), returns.flatten(1, 2)


def learn_from(
    raw: tuple[Tensor, Tensor, Tensor],
    preferences: Tensor,
    normalizer: ReturnNormalizer,
    scalarizers: Scalarizers,
    forms: Sequence[AdvantageForm],
    clock: tuple[float, Tensor] | None = None,
    *,
    normalize_targets: bool,
    before: tuple[Tensor, Tensor] | None = None,
    expected: Tensor | None = None,
) -> Targets:
    """Widen the bounds, choose the smoothness, then normalise, weigh and standardise.

    Args:
        raw: Vector advantages, λ-returns and values, ``[R, N, m]`` each.
        preferences: Preference of every step, ``[R, N, m]``.
        normalizer: Bounds of every run's returns; widened here.
        scalarizers: The runs' scalarizers; their smoothness is stepped here, if there is a ``clock``.
        forms: The runs' forms of advantage.
        clock: Share of the training done, and the runs' conflict in the last iteration, ``[R]``.
        normalize_targets: Targets in [0, 1] instead of raw.
        before: For forms of whole episodes: what was collected before each step, ``[R, N, m]``, and the discount of the
            step, ``[R, N, 1]``. Utility and attention are then those of the episode, not of what is to come.
        expected: For forms at the expectation: raw expected return from the initial states under the preference of
            each step, ``[R, N, m]``.
    """
    _, returns, value = raw
    # A run that is about to fail must not stop the checks of the others: its numbers are replaced here, and the
    # failure is found where the iteration ends.
    sane = torch.stack([tensor.isfinite().flatten(1).all(-1) for tensor in raw]).all(0).reshape(-1, 1, 1)
    safe = [torch.where(sane, tensor, 0.0) for tensor in raw]
    judged, forecast = safe[1], safe[2]
    if before is not None:
        normalizer.update(judged)
        judged, forecast = (_whole(tensor, *before) for tensor in (judged, forecast))
    normalized = normalizer(judged)
    if clock is not None:
        scalarizers.step(*clock, normalized, preferences)
    estimates = [*safe, normalized, normalizer.normalize(forecast)]
    if expected is not None:
        estimates += [normalizer.normalize(expected.nan_to_num(0.0, 0.0, 0.0)), _span(normalizer)]
    rows = zip(forms, zip(*estimates, strict=True), scalarizers.blocks, preferences, strict=True)
    ready = torch.stack([form(Estimate(*own), scalarizer, weights) for form, own, scalarizer, weights in rows])
    attention = scalarizers.attention(normalized, preferences)
    target = normalizer.normalize(safe[1]) if normalize_targets else returns
    return Targets(ready, target, attention, value, returns)


def _span(normalizer: ReturnNormalizer) -> Tensor:
    """Return the raw return that is 1 when normalised, ``[R, m]``."""
    return (normalizer.high - normalizer.low).clamp_min(MIN_RANGE)


def _whole(returns: Tensor, collected: Tensor, discount: Tensor) -> Tensor:
    """Return what an episode is worth as a whole; a run that is about to fail adds nothing that is not finite."""
    return (collected + discount * returns).nan_to_num(0.0, 0.0, 0.0)


def restore(normalizer: ReturnNormalizer, normalized: Tensor) -> Tensor:
    """Undo the normalisation of values ``[R, N, m]``; identity before the first return."""
    low, high = normalizer.low, normalizer.high
    known = low.isfinite() & high.isfinite()
    span = torch.where(known, (high - low).clamp_min(MIN_RANGE), 1.0)
    return normalized * span.unsqueeze(1) + torch.where(known, low, 0.0).unsqueeze(1)
