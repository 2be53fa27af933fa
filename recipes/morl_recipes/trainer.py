"""Train a recipe: one call, one loop, R runs at once."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Literal

from morl_recipes import _checks
from morl_recipes.learning.runs import Run
from morl_recipes.options import Options
from morl_recipes.recipe import Recipe
from morl_recipes.result import TrainResult
from morl_recipes.session import Session
from morl_recipes.watching import Interrupt, Logger


def train(
    recipe: Recipe,
    env: Any,
    preferences: Sequence[Sequence[float]],
    seeds: Sequence[int],
    total_steps: int,
    *,
    out: Path | str | None = None,
    resume: bool = False,
    compile: Literal["auto"] | bool = "auto",
    update: Literal["auto", "generic", "fast"] = "auto",
    device: str = "cpu",
    num_envs: int = 8,
    progress: bool = True,
    eval_every: int = 10,
    eval_episodes: int = 10,
    eval_deterministic: bool = True,
    checkpoint_every: int = 10,
    loggers: Sequence[Logger] = (),
) -> TrainResult:
    """Train a recipe, one run per (preference, seed) pair, all at once.

    Args:
        recipe: What to train, for example ``PASTA``.
        env: A name (``"stealth"``), a card, an ``EnvSource`` or a function ``(num_envs, seeds) -> TensorEnv``. It is
            closed at the end, if it can be.
        preferences: Preferences on the simplex.
        seeds: Seeds; every preference is trained with each of them.
        total_steps: Environment steps **per run**, rounded up to whole iterations.
        out: Folder for the checkpoint and ``history.csv``; nothing is written without it.
        resume: Continue the training in ``out`` if there is one (its settings must be the same).
        compile: Fuse the update with ``torch.compile``: half a minute to compile, which pays for large populations and
            small networks.
        update: Which form of the update: ``"auto"``, ``"generic"`` or ``"fast"``.
        device: Where the tensors live.
        num_envs: Environments per run.
        progress: Show the progress bar.
        eval_every: Iterations between validations; the last iteration is always validated.
        eval_episodes: Episodes per validation.
        eval_deterministic: Validate the most likely actions instead of samples.
        checkpoint_every: Iterations between checkpoints.
        loggers: TorchRL loggers, or anything with ``log_scalar(name, value, step)``.

    Returns:
        One result per run, preferences outermost.

    Example:
        >>> from morl_recipes.rows import PASTA
        >>> from morl_recipes.toy import toy
        >>> result = train(PASTA, toy(), [[0.5, 0.5]], seeds=[0], total_steps=2048, progress=False)
        >>> result.runs[0].status, len(result.runs[0].history)
        ('done', 1)
    """
    weights, numbers = _checks.preferences(preferences), _checks.seeds(seeds)
    runs = [Run(recipe, preference, seed) for preference in weights for seed in numbers]
    options = Options(
        out=None if out is None else Path(out),
        resume=resume,
        compile=compile,
        update=update,
        device=device,
        num_envs=num_envs,
        progress=progress,
        eval_every=eval_every,
        eval_episodes=eval_episodes,
        eval_deterministic=eval_deterministic,
        checkpoint_every=checkpoint_every,
        loggers=loggers,
    )
    return train_runs(runs, env, total_steps, options)


def train_runs(runs: Sequence[Run], env: Any, total_steps: int, options: Options | None = None) -> TrainResult:
    """Train runs of one structure (see :func:`~morl_recipes.learning.runs.by_batch`) as one population."""
    with closing(Session(runs, env, total_steps, options or Options())) as training, Interrupt() as interrupt:
        training.start()
        while not training.finished:
            try:
                training.advance()
            except BaseException:
                training.save()
                raise
            if interrupt.requested and not training.finished:
                training.stop()
        return training.result()
