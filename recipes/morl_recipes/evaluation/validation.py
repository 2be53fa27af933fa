"""Validation: raw, undiscounted vector returns of every run's policy on environments of its own."""

from __future__ import annotations

import torch
from torch import Tensor

from morl_recipes.common import checks, scores
from morl_recipes.learning.batch import Batch

LOOK_EVERY = 32


class Evaluator:
    """Play whole episodes with the current policies of a batch.

    Every run has its own validation environments, seeded from its own seed and apart from those it trains on. Each
    validation plays the next episode of each of them, however long the others take for theirs.

    Args:
        batch: The runs.
        episodes: Episodes per run.
        deterministic: Take the most likely action instead of a sample.
    """

    def __init__(self, batch: Batch, episodes: int, *, deterministic: bool = True) -> None:
        checks.at_least("eval_episodes", episodes, 1)
        self.batch, self.episodes, self.deterministic = batch, episodes, deterministic
        self.env = batch.open_env("evaluation", episodes)

    @torch.no_grad()
    def __call__(self) -> Tensor:
        """Return the mean return of each objective, ``[R, m]``."""
        batch, actor, collector = self.batch, self.batch.drive.actor, self.batch.collector
        flat, runs = batch.actor.params, len(batch.runs)
        total = torch.zeros(runs, self.episodes, batch.objectives, device=batch.device)
        playing = torch.ones(runs, self.episodes, 1, dtype=torch.bool, device=batch.device)
        noise = self._noise().to(batch.device) if not self.deterministic else None
        preferences = batch.preferences.unsqueeze(1).expand(-1, self.episodes, -1)
        observation = self.env.reset_tensors()
        start = self.env.get_state()
        for step in range(self.env.horizon):
            inputs = collector.inputs(collector.shaped(observation), preferences, batch.scale)
            output = actor.output(flat, inputs)
            action = (
                actor.ask(flat, "mode", output) if noise is None else actor.ask(flat, "sample", output, noise[:, step])
            )
            _, reward, terminated, truncated = self.env.step_tensors(collector.to_env(action).flatten(0, 1))
            done = terminated | truncated
            earned = torch.where(_finite(inputs), reward.to(total).reshape(total.shape), torch.nan)
            total += torch.where(playing, earned, 0.0)
            playing &= ~done.to(batch.device).reshape(playing.shape)
            if step % LOOK_EVERY == LOOK_EVERY - 1 and not bool(playing.any()):
                break
            observation = self.env.reset_tensors(done)
        self.env.set_state(start)  # forget what was played while others were not yet done
        return total.mean(1)

    def _noise(self) -> Tensor:
        stream, actor = self.batch.streams["evaluation"], self.batch.drive.actor.module
        return stream.noise(actor.noise, self.env.horizon, self.episodes, actor.noise_dim)


def _finite(inputs: Tensor) -> Tensor:
    """Tell which inputs ``[R, E, n]`` a network may see, ``[R, E, 1]``; a return after any other is worth nothing."""
    return inputs.isfinite().all(-1, keepdim=True)


class Scores:
    """Judge mean returns by every score of :mod:`morl_recipes.common.scores`, and keep the best of each run."""

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
        """Return every score by its name, each ``[R]`` on the CPU; NaN where returns are not finite or bounds miss."""
        means, weights = returns.cpu().double().numpy(), self.preferences.numpy()
        return {s.name: torch.from_numpy(scores.judge(s, means, weights, self.bounds)) for s in scores.SCORES}

    def keep_best(self, found: dict[str, Tensor], batch: Batch) -> None:
        """Remember iteration and policy of the runs that are better than ever.

        The first score that can be had decides (HV with bounds), the next one breaks ties (EU).
        """
        score = torch.stack([judge.sign * found[judge.name] for judge in self.judges], dim=-1)
        (first, second), (best, runner_up) = score.unbind(-1), self.best.unbind(-1)
        better = ((first > best) | ((first == best) & (second > runner_up))) & batch.alive.cpu()
        self.best = torch.where(better.unsqueeze(-1), score, self.best)
        self.best_iteration = torch.where(better, batch.iteration, self.best_iteration)
        chosen = better.unsqueeze(-1).to(batch.device)
        pairs = zip(batch.policies(), self.best_policies, strict=True)
        self.best_policies = [torch.where(chosen, new, old) for new, old in pairs]
