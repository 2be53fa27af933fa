"""The training data of the update, computed from a rollout: advantages, value targets and attention."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor

from morl_blocks.ppo import AdvantageForm, Estimate, ReturnNormalizer, vector_gae
from morl_blocks.ppo.normalizer import MIN_RANGE
from morl_recipes.common import checks
from morl_recipes.learning.blocks import Scalarizers
from morl_recipes.learning.observations import scaled
from morl_recipes.learning.rollout import Rollout
from morl_recipes.recipe.ppo import PPO

if TYPE_CHECKING:
    from morl_recipes.learning.batch import Batch

Estimates = tuple[Tensor, Tensor, Tensor]
"""Vector advantages, λ-returns and raw values, ``[R, N, m]`` each."""


class Targets(NamedTuple):
    """Per step: ``advantage [R, N, q]``; ``target``, ``attention``, ``value`` and raw ``returns`` ``[R, N, m]``."""

    advantage: Tensor
    target: Tensor
    attention: Tensor
    value: Tensor
    returns: Tensor


def gae(batch: Batch, rollout: Rollout) -> Estimates:
    """Return vector advantages, λ-returns and the critics' raw values of a rollout."""
    value, next_value = batch.values(rollout.inputs), batch.values(rollout.next_inputs)
    if batch.ppo.normalize_targets:
        value, next_value = (restore(batch.normalizer, own) for own in (value, next_value))
    return *estimate(rollout, value, next_value, batch.hyper["gamma"], batch.hyper["gae_lambda"], batch.ppo), value


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


def targets_of(batch: Batch, rollout: Rollout, estimates: Estimates) -> Targets:
    """Return the training data of a batch, after its schedulers were stepped: see :func:`learning_targets`."""
    preferences, collected = rollout.inputs[..., -batch.objectives :].flatten(1, 2), None
    if batch.accrual is not None:
        collected = batch.accrual.over(rollout.reward, rollout.done, batch.hyper["gamma"])
    return learning_targets(
        estimates,
        preferences,
        batch.normalizer,
        batch.scalarizers,
        batch.forms,
        (min(1.0, batch.steps / batch.settings.total_steps), batch.conflict),
        normalize_targets=batch.ppo.normalize_targets,
        collected=collected,
        expected=None if batch.collector.initial is None else expected_returns(batch, preferences),
    )


def expected_returns(batch: Batch, preferences: Tensor) -> Tensor:
    """Return the critics' values of the initial states, ``[R, N, m]``; equal preferences are evaluated once."""
    if batch.collector.initial is None:
        checks.fail("advantage", "keep initial states (at_expectation)", type(batch.forms[0]).__name__)
    initial = batch.collector.initial.observation
    result = []
    for run, own in enumerate(preferences):
        distinct, place = own.unique(dim=0, return_inverse=True)
        pairs = distinct.unsqueeze(1).expand(-1, initial.shape[1], -1).unsqueeze(0)
        observation = initial[run].expand(1, len(distinct), -1, -1)
        if batch.scale is not None:
            observation = scaled(observation, batch.scale.mean[run], batch.scale.variance[run])
        inputs = torch.cat([observation, pairs], dim=-1).flatten(1, 2)
        values = batch.learner.critic.values(batch.critic.params[run : run + 1], inputs)
        result.append(values.reshape(len(distinct), -1, batch.objectives).mean(1)[place])
    expected = torch.stack(result)
    return restore(batch.normalizer, expected) if batch.ppo.normalize_targets else expected


def learning_targets(
    estimates: Estimates,
    preferences: Tensor,
    normalizer: ReturnNormalizer,
    scalarizers: Scalarizers,
    forms: Sequence[AdvantageForm],
    clock: tuple[float, Tensor] | None = None,
    *,
    normalize_targets: bool,
    collected: tuple[Tensor, Tensor] | None = None,
    expected: Tensor | None = None,
) -> Targets:
    """Widen the bounds of the returns, choose the smoothness, then normalise, weight and standardise.

    The scalarizers are stepped if there is a ``clock``: the share of the training done, and the conflict of the last
    iteration, ``[R]``. ``collected`` is the result of :class:`Accrual`, for forms of whole episodes: utility and
    attention are then those of the episode, not of the future rewards. ``expected`` is the raw return from the initial
    states under the preference of each step, ``[R, N, m]``, for advantages at the expected return.
    """
    _, returns, value = estimates
    # A run that is about to fail must not make the checks fail for the others, so its numbers are replaced here. The
    # failure is detected at the end of the iteration.
    sane = torch.stack([tensor.isfinite().flatten(1).all(-1) for tensor in estimates]).all(0).reshape(-1, 1, 1)
    safe = [torch.where(sane, tensor, 0.0) for tensor in estimates]
    judged, forecast = safe[1], safe[2]
    if collected is not None:
        normalizer.update(judged)
        before, discount = (tensor.flatten(1, 2) for tensor in collected)
        judged, forecast = ((before + discount * own).nan_to_num(0.0, 0.0, 0.0) for own in (judged, forecast))
    normalized = normalizer(judged)
    if clock is not None:
        scalarizers.step(*clock, normalized, preferences)
    parts = [*safe, normalized, normalizer.normalize(forecast)]
    if expected is not None:
        span = (normalizer.high - normalizer.low).clamp_min(MIN_RANGE)  # the raw return that is normalised to 1
        parts += [normalizer.normalize(expected.nan_to_num(0.0, 0.0, 0.0)), span]
    rows = zip(forms, zip(*parts, strict=True), scalarizers.blocks, preferences, strict=True)
    ready = torch.stack([form(Estimate(*own), scalarizer, weights) for form, own, scalarizer, weights in rows])
    attention = scalarizers.attention(normalized, preferences)
    target = normalizer.normalize(safe[1]) if normalize_targets else returns
    return Targets(ready, target, attention, value, returns)


def restore(normalizer: ReturnNormalizer, normalized: Tensor) -> Tensor:
    """Invert the normalisation of values ``[R, N, m]``; identity before the first return."""
    low, high = normalizer.low, normalizer.high
    known = low.isfinite() & high.isfinite()
    span = torch.where(known, (high - low).clamp_min(MIN_RANGE), 1.0)
    return normalized * span.unsqueeze(1) + torch.where(known, low, 0.0).unsqueeze(1)


class Accrual:
    r"""Accumulate the discounted reward since each episode began, and the discount of the next step.

    .. math:: C_t = \sum_{k<t} \gamma^k r_k, \qquad d_t = \gamma^t
    """

    def __init__(self, runs: int, envs: int, objectives: int, device: torch.device | str = "cpu") -> None:
        self.reward = torch.zeros(runs, envs, objectives, device=device)
        self.discount = torch.ones(runs, envs, 1, device=device)

    def over(self, reward: Tensor, done: Tensor, gamma: Tensor) -> tuple[Tensor, Tensor]:
        """Return the reward collected before each step, ``[R, E, T, m]``, and the step's discount, ``[R, E, T, 1]``."""
        rate, before, discounts = gamma.reshape(-1, 1, 1), [], []
        for step_reward, step_done in zip(reward.unbind(2), done.unbind(2), strict=True):
            before.append(self.reward)
            discounts.append(self.discount)
            self.reward = torch.where(step_done, 0.0, self.reward + self.discount * step_reward)
            self.discount = torch.where(step_done, 1.0, self.discount * rate)
        return torch.stack(before, dim=2), torch.stack(discounts, dim=2)
