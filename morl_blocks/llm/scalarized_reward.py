"""Several reward functions as a single one."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from morl_blocks import _checks
from morl_blocks.llm.conflict import reward_conflict
from morl_blocks.scalarizers import AdaptiveSmoothTchebycheff, Scalarizer

RewardFunction = Callable[..., Sequence[float | None]]


class ScalarizedReward:
    """Score every completion by the utility of all its rewards: one reward function in place of several.

    TRL's ``GRPOTrainer(reward_funcs=...)`` accepts it directly, and so does any code that calls reward functions with
    the keywords ``prompts`` and ``completions``. Under STCH a completion is as good as its worst weighted reward, so a
    policy cannot trade a good completion of one kind for a good one of another kind.

    The utility is computed first; the trainer then normalises it within groups. A completion for which one of the
    rewards is ``None`` or NaN gets ``None``: TRL gives it the advantage 0. The trainer handles groups of one and
    constant utilities; in TRL their advantages are 0.

    If TRL passes its hooks, ``log_metric`` logs the mean of each reward, the mean attention on it, and ``mu``. A
    scalarizer with a scheduler is then stepped with the training progress once per training step. Its conflict is
    :func:`~morl_blocks.llm.reward_conflict`, where equal prompts form a group.

    Args:
        reward_funcs: Reward functions as TRL takes them, at least two, each to be maximised.
        scalarizer: Any scalarizer to maximise (``sense="max"``).
        weights: Preference on the simplex, ``[m]``.
        normalizer: Maps rewards ``[N, m]`` to [0, 1], where STCH and TCH expect them; by default they are not mapped.
            If it has an ``update`` method, that receives each batch first.
        name: Name under which trainers log it.

    Example:
        >>> from morl_blocks.scalarizers import SmoothTchebycheff
        >>> def short(completions, **kwargs):
        ...     return [1 - len(text) / 10 for text in completions]
        >>> def letters(completions, **kwargs):
        ...     return [sum(map(str.isalpha, text)) / 10 for text in completions]
        >>> reward = ScalarizedReward([short, letters], SmoothTchebycheff(0.01), torch.tensor([0.5, 0.5]))
        >>> [round(score, 3) for score in reward(prompts=["?"] * 3, completions=["", "abcde", "abcdefghij"])]
        [-0.525, -0.282, -0.525]
    """

    def __init__(
        self,
        reward_funcs: Sequence[RewardFunction],
        scalarizer: Scalarizer,
        weights: Tensor,
        *,
        normalizer: Callable[[Tensor], Tensor] | None = None,
        name: str = "scalarized",
    ) -> None:
        if isinstance(reward_funcs, str) or not all(callable(one) for one in reward_funcs) or len(reward_funcs) < 2:
            _checks.fail("reward_funcs", "be two or more functions", repr(reward_funcs))
        if not isinstance(scalarizer, Scalarizer):
            _checks.fail("scalarizer", "be a Scalarizer such as SmoothTchebycheff(0.1)", repr(scalarizer))
        _checks.maximised("scalarizer", scalarizer)
        preference = _checks.floats("weights", weights)
        _checks.objectives("weights", preference, len(reward_funcs))
        _checks.same_shape("weights", preference, torch.Size([len(reward_funcs)]))
        _checks.simplex("weights", preference)
        self.reward_funcs, self.scalarizer, self.weights = list(reward_funcs), scalarizer, _checks.own(preference)
        self.normalizer, self.__name__ = normalizer, name
        self._stepped_at: int | None = None

    def __call__(self, prompts: Sequence[Any], completions: Sequence[Any], **kwargs: Any) -> list[float | None]:
        """Return the utility of each completion, ``None`` where a reward is missing.

        Args:
            prompts: One per completion.
            completions: Completions of the model.
            **kwargs: Passed on to every reward function.
        """
        rewards = self.rewards(prompts, completions, **kwargs)
        self._step(rewards, prompts, kwargs.get("trainer_state"))
        known = ~rewards.isnan().any(-1)
        result: list[float | None] = [None] * len(rewards)
        if not bool(known.any()):
            return result
        values = self._normalized(rewards[known])
        self._log(rewards[known], values, kwargs.get("log_metric"))
        utilities = self.scalarizer(values, self.weights).tolist()
        for place, utility in zip(known.nonzero().flatten().tolist(), utilities, strict=True):
            result[place] = utility
        return result

    def rewards(self, prompts: Sequence[Any], completions: Sequence[Any], **kwargs: Any) -> Tensor:
        """Return the rewards of all functions, ``[N, m]``; NaN where a function returned ``None``."""
        columns = []
        for function in self.reward_funcs:
            column = function(prompts=prompts, completions=completions, **kwargs)
            if len(column) != len(completions):
                rule = f"return one reward per completion ({len(completions)})"
                _checks.fail(_name(function), rule, f"{len(column)} rewards")
            columns.append([math.nan if reward is None else float(reward) for reward in column])
        rewards = torch.tensor(columns, dtype=torch.float32).mT
        _checks.moderate("rewards", torch.where(rewards.isnan(), 0.0, rewards))
        return rewards

    def _normalized(self, rewards: Tensor) -> Tensor:
        if self.normalizer is None:
            return rewards
        if hasattr(self.normalizer, "update"):
            self.normalizer.update(rewards)
        values = self.normalizer(rewards)
        _checks.same_shape("normalizer", values, rewards.shape)
        return values

    def _step(self, rewards: Tensor, prompts: Sequence[Any], state: Any) -> None:
        """Step the scheduler if the trainer's step has changed since the last call; evaluation does not change it."""
        if not isinstance(self.scalarizer, AdaptiveSmoothTchebycheff) or state is None:
            return
        if state.global_step == self._stepped_at or not len(rewards):
            return
        self._stepped_at = state.global_step
        seen: dict[str, int] = {}
        groups = torch.tensor([seen.setdefault(str(prompt), len(seen)) for prompt in prompts])
        progress = min(1.0, state.global_step / max(1, state.max_steps))
        self.scalarizer.step(progress, reward_conflict(rewards, groups))

    def _log(self, rewards: Tensor, values: Tensor, log_metric: Callable[[str, float], None] | None) -> None:
        if log_metric is None:
            return
        attention = self.scalarizer.attention(values, self.weights).mean(0).tolist()
        for function, mean, share in zip(self.reward_funcs, rewards.mean(0).tolist(), attention, strict=True):
            log_metric(f"{self.__name__}/{_name(function)}/mean", mean)
            log_metric(f"{self.__name__}/{_name(function)}/attention", share)
        mu = getattr(self.scalarizer, "mu", None)
        if isinstance(mu, Tensor) and mu.numel() == 1:
            log_metric(f"{self.__name__}/mu", float(mu))


def _name(function: Any) -> str:
    return str(getattr(function, "__name__", type(function).__name__))
