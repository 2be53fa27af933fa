"""The hyperparameters of PPO, checked when they are set."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Literal, get_args, get_type_hints

from morl_recipes.common.checks import at_least, between, fail, flag, number, one_of, positive, table
from morl_recipes.common.naming import unknown


@dataclass(frozen=True)
class PPO:
    """The hyperparameters of PPO. Runs of one population may differ in the floats.

    Args:
        learning_rate: Step size of both Adam optimisers.
        steps_per_iteration: Environment steps that a run collects before each update.
        epochs: Passes over the collected steps.
        minibatch_size: Steps per gradient.
        clip: Clip range of the probability ratio.
        value_coefficient: Factor of the critic's loss (it matters only because gradients are clipped).
        entropy_coefficient: Factor of the entropy bonus, added once, after the gradients are combined.
        gamma: Discount.
        gae_lambda: Trace decay of the advantage estimate.
        max_gradient_norm: Largest norm of the actor's and of the critic's gradient.
        normalize_targets: Let the critic predict returns normalised to [0, 1] instead of raw ones.
        normalize_advantages: Standardise advantages over the ``"rollout"``, or also over each ``"minibatch"``.
        time_limit: How the estimator treats a time limit: ``"bootstrap"`` from the last observation, or as
            ``"terminal"``.
        mask: Use the mask of episode ends of each ``"step"`` itself, or of the ``"next"`` one.
        learning_rate_decay: Share of the learning rate that is removed linearly by the end: 0 keeps it constant, 1 ends
            at 0.
    """

    learning_rate: float = 3e-4
    steps_per_iteration: int = 2048
    epochs: int = 10
    minibatch_size: int = 64
    clip: float = 0.2
    value_coefficient: float = 0.5
    entropy_coefficient: float = 0.01
    gamma: float = 0.99
    gae_lambda: float = 0.95
    max_gradient_norm: float = 0.5
    normalize_targets: bool = False
    normalize_advantages: Literal["rollout", "minibatch"] = "rollout"
    time_limit: Literal["bootstrap", "terminal"] = "bootstrap"
    mask: Literal["step", "next"] = "step"
    learning_rate_decay: float = 0.0

    def __post_init__(self) -> None:
        """Check every number, and convert it to a plain float or int."""
        checked: dict[str, float] = {}
        for name in ("learning_rate", "clip", "max_gradient_norm"):
            checked[name] = positive(name, getattr(self, name))
        for name in ("value_coefficient", "entropy_coefficient"):
            checked[name] = between(name, getattr(self, name), 0.0, math.inf)
        for name in ("gamma", "gae_lambda", "learning_rate_decay"):
            checked[name] = between(name, getattr(self, name), 0.0, 1.0)
        for name in ("steps_per_iteration", "epochs", "minibatch_size"):
            checked[name] = at_least(name, getattr(self, name), 1)
        flag("normalize_targets", self.normalize_targets)
        for name in ("normalize_advantages", "time_limit", "mask"):
            one_of(name, getattr(self, name), get_args(get_type_hints(PPO)[name]))
        for name, value in checked.items():
            object.__setattr__(self, name, value)
        if self.steps_per_iteration % self.minibatch_size:
            fail("minibatch_size", f"divide steps_per_iteration ({self.steps_per_iteration})", self.minibatch_size)

    @classmethod
    def from_dict(cls, data: object) -> PPO:
        """Read the numbers that a file changes; unknown names and values of another kind raise ``ValueError``."""
        data = table("ppo", data)
        kinds = {f.name: type(f.default) for f in fields(cls)}
        for name, value in data.items():
            if name not in kinds:
                raise unknown("number of [ppo]", name, kinds)
            if kinds[name] is bool:
                flag(name, value)
            if kinds[name] in (int, float):
                number(name, value)
        return cls(**data)
