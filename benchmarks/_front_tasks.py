"""What a front is measured on and how: tasks, the clock, and one evaluation for every contender."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import process_time
from typing import Any

import numpy as np
import torch
from torch import Tensor

from morl_blocks.metrics import eum, even_weights, front_hypervolume
from morl_envs import make_batch
from morl_recipes.common.seeds import derive
from morl_recipes.evaluation.episodes import FRONT, episode_returns
from morl_recipes.recipe.protocols import protocol

Points = list[list[float]]
Policy = Callable[[Tensor, Tensor], Tensor]
"""From observations ``[N, n]`` and preferences ``[N, m]`` to actions ``[N, a]`` or ``[N]``."""


@dataclass(frozen=True)
class FrontTask:
    """One environment and its evaluation.

    Attributes:
        env: Id of the environment.
        gamma: Discount of the evaluation.
        reference: Reference point of the hypervolume.
        weights: Size of the even grid of the expected utility.
        asked: Size of the even grid of preferences for which a policy is played.
        members: Policies of a decomposed front of ours.
        episodes: Episodes per policy and preference.
        steps: Environment steps at which contenders are compared besides the time.
        share: Part of ``--seconds`` that a contender gets here.
    """

    env: str
    gamma: float
    reference: tuple[float, ...]
    weights: int
    asked: int
    members: int
    episodes: int
    steps: int
    share: float = 1.0

    @property
    def training_gamma(self) -> float:
        """Discount of every contender's training: that of the evaluation, or 0.99 where that has none."""
        return self.gamma if self.gamma < 1 else 0.99

    def scores(self, points: Points) -> dict[str, float]:
        """Return front hypervolume and expected utility."""
        grid = even_weights(len(self.reference), self.weights)
        volume = front_hypervolume(points, self.reference, allow_empty=True)
        return {"hv": volume, "eum": eum(points, grid)}

    def preferences(self, count: int) -> Tensor:
        """Return an even grid of preferences, ``[count, m]``."""
        return torch.tensor(even_weights(len(self.reference), count)).float()


def _task(env: str, name: str = "exact", like: str | None = None, **own: Any) -> FrontTask:
    """Return a task with the discount, the reference point and the weights of a protocol."""
    from_data = protocol(name).task(like or env)
    return FrontTask(env, from_data.gamma, from_data.reference, from_data.weights, **own)


TASKS = {
    task.env: task
    for task in (
        _task("deep-sea-treasure-v0", asked=101, members=11, episodes=1, steps=5_000, share=0.75),
        _task("fruit-tree-v0", asked=126, members=21, episodes=1, steps=5_000, share=0.75),
        _task("minecart-v0", asked=21, members=15, episodes=2, steps=5_000),
        _task("mo-hopper-2obj-v5", "B", asked=11, members=11, episodes=2, steps=5_000),
        _task("mo-halfcheetah-v5", "B", "mo-hopper-2obj-v5", asked=11, members=11, episodes=2, steps=5_000),
    )
}
"""The half-cheetah is in no published protocol that runs here: it is measured like the hopper."""


def played(policy: Policy, preferences: Tensor, task: FrontTask, seed: int) -> Points:
    """Return the mean return of a policy under each preference; every contender of a seed meets the same episodes.

    The observations are the environment's own, without the coding of our cards.
    """
    starts = [derive(seed, FRONT, index) for index in range(task.episodes)]
    env = make_batch(task.env, len(preferences) * task.episodes, starts * len(preferences), values=None)
    weights = preferences.repeat_interleave(task.episodes, dim=0)
    returns = episode_returns(env, lambda observation: policy(observation, weights), task.gamma)
    returns = returns.cpu().reshape(len(preferences), task.episodes, -1)
    getattr(env, "close", lambda: None)()
    points: Points = returns.double().mean(1).tolist()
    return points


class Clock:
    """CPU seconds of this process since the start, without what was spent on measuring."""

    def __init__(self) -> None:
        self.began, self.spared = process_time(), 0.0

    def __call__(self) -> float:
        """Return the seconds."""
        return process_time() - self.began - self.spared

    def aside(self, measure: Callable[[], Any]) -> Any:
        """Return what a function returns, off the clock."""
        start = process_time()
        result = measure()
        self.spared += process_time() - start
        return result


class Race:
    """Take a contender's points once at a number of steps and once when its time is up.

    Args:
        task: What is measured.
        seconds: Time of the contender.
        points: Called for the points that the contender reaches now.
    """

    def __init__(self, task: FrontTask, seconds: float, points: Callable[[], Sequence[Any]]) -> None:
        self.task, self.seconds, self.points = task, seconds, points
        self.clock, self.steps = Clock(), 0
        self.marks: dict[str, dict[str, Any]] = {}

    def tick(self, steps: int, *, following: int = 1) -> bool:
        """Take note of steps; return whether the contender has to stop.

        Args:
            steps: Environment steps that were just done.
            following: Steps that come next in one go, after which it would be too late for the mark of steps.
        """
        self.steps += steps
        if "steps" not in self.marks and self.task.steps < self.steps + following and self.steps <= self.task.steps:
            self._mark("steps")
        late = self.clock() >= self.seconds
        if late:
            self.finish()
        return late and (self.steps >= self.task.steps or self.clock() >= 1.5 * self.seconds)

    def finish(self) -> None:
        """Take the mark of the time, if it was not taken: a contender may stop a little before."""
        if "time" not in self.marks:
            self._mark("time")

    def _mark(self, name: str) -> None:
        seconds = self.clock()
        points = self.clock.aside(lambda: np.asarray(self.points(), np.float64).tolist())
        scores = self.task.scores(points)
        self.marks[name] = {"steps": self.steps, "seconds": round(seconds, 2), **scores, "points": points}
