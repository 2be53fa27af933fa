"""Validation: raw, undiscounted vector returns of every run's policy in separate environments."""

from __future__ import annotations

import torch
from torch import Tensor

from morl_recipes.common import scores
from morl_recipes.evaluation.episodes import StackedPolicy, episode_returns
from morl_recipes.learning.batch import Batch


class Evaluator:
    """Play whole episodes with the current policies of a batch.

    Every run has its own validation environments, seeded from its own seed and separate from those of the training.
    Each validation plays the next episode of each environment, however long the other episodes are.
    """

    def __init__(self, batch: Batch, episodes: int, *, deterministic: bool = True) -> None:
        self.batch, self.episodes, self.deterministic = batch, episodes, deterministic
        self.env = batch.open_env("evaluation", episodes)
        self.preferences = batch.preferences.unsqueeze(1).expand(-1, episodes, -1)

    @torch.no_grad()
    def __call__(self) -> Tensor:
        """Return the mean return of each objective, ``[R, m]``."""
        batch, actor, noise = self.batch, self.batch.learner.actor, None
        if not self.deterministic:
            shape = (self.env.horizon, self.episodes, actor.module.noise_dim)
            noise = batch.streams["evaluation"].noise(actor.module.noise, *shape).to(batch.device)
        statistics = [tensor.unsqueeze(1) for tensor in batch.statistics()[:2]]
        policy = StackedPolicy(actor, batch.actor.params, self.preferences, self.env, statistics, noise)
        first = self.env.reset_tensors()
        start = self.env.get_state()
        returns = episode_returns(self.env, policy, first=first)
        self.env.set_state(start)  # discard the steps played while others were not done
        return returns.to(batch.device).reshape(len(batch.runs), self.episodes, -1).mean(1)


class BestPolicies:
    """Compute every score of :mod:`morl_recipes.common.scores`, and keep the best policy of each run."""

    def __init__(self, batch: Batch) -> None:
        self.bounds = batch.source.bounds
        judges = [score for score in scores.SCORES if self.bounds is not None or not score.needs_bounds]
        self.judges = (judges[0], judges[min(1, len(judges) - 1)])
        self.preferences = batch.preferences.cpu().double()
        runs = len(batch.runs)
        self.best = torch.full((runs, 2), -torch.inf, dtype=torch.float64)
        self.best_iteration = torch.zeros(runs, dtype=torch.int64)
        self.best_policies = [tensor.clone() for tensor in batch.policies()]

    def __call__(self, returns: Tensor) -> dict[str, Tensor]:
        """Return every score by its name, each ``[R]`` on the CPU; NaN if returns or bounds are unusable."""
        means, weights = returns.cpu().double().numpy(), self.preferences.numpy()
        return {s.name: torch.from_numpy(scores.judge(s, means, weights, self.bounds)) for s in scores.SCORES}

    def keep_best(self, found: dict[str, Tensor], batch: Batch) -> None:
        """Store iteration and policy of the runs that have a new best score.

        The first score that can be computed decides (HV with bounds); the next one breaks ties (EU).
        """
        score = torch.stack([judge.sign * found[judge.name] for judge in self.judges], dim=-1)
        (first, second), (best, runner_up) = score.unbind(-1), self.best.unbind(-1)
        better = ((first > best) | ((first == best) & (second > runner_up))) & batch.alive.cpu()
        self.best = torch.where(better.unsqueeze(-1), score, self.best)
        self.best_iteration = torch.where(better, batch.iteration, self.best_iteration)
        chosen = better.unsqueeze(-1).to(batch.device)
        pairs = zip(batch.policies(), self.best_policies, strict=True)
        self.best_policies = [torch.where(chosen, new, old) for new, old in pairs]
