"""Train from Python, by short functions that call :func:`~morl_recipes.running.execute.execute`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import Any

from morl_envs.plugin import Plugin
from morl_envs.source import close, find_source
from morl_recipes.common import atomic_files, checks
from morl_recipes.learning.batch import Batch
from morl_recipes.recipe.recipe import Recipe
from morl_recipes.recipe.run import Run, check_batch
from morl_recipes.recipe.settings import Settings, takes
from morl_recipes.running.engines.events import Work
from morl_recipes.running.engines.inline import RaisingEngine
from morl_recipes.running.engines.job import train_job
from morl_recipes.running.execute import Options, alone, execute
from morl_recipes.running.loggers import Logger, check_loggers
from morl_recipes.running.plan import Plan, plan_runs
from morl_recipes.running.result import TrainResult
from morl_recipes.store.checkpoint import CHECKPOINT, CheckpointError, OtherTrainingError
from morl_recipes.store.frames import load_record
from morl_recipes.store.store import CHECKPOINTS, Store

COMMAND = "morl_recipes.train(...)"


@dataclass(frozen=True)
class How:
    """How a training from Python is resumed and displayed.

    Args:
        resume: Continue the training in the folder if there is one (its settings must be the same).
        retry_failed: On ``resume``: train failed runs again.
        accept_versions: On ``resume``: continue under other versions of PyTorch or of the environment.
        progress: Show the progress bar.
        loggers: TorchRL loggers, or anything with ``log_scalar(name, value, step)``.
        plugin: The user's file that defines the recipe, if any; the ids of its runs depend on its text.
    """

    resume: bool = False
    retry_failed: bool = False
    accept_versions: bool = False
    progress: bool = True
    loggers: Sequence[Logger] = ()
    plugin: Plugin | None = None

    def __post_init__(self) -> None:
        """Check the options that are true or false."""
        for name in ("resume", "retry_failed", "accept_versions", "progress"):
            checks.flag(name, getattr(self, name))

    @classmethod
    def of(cls, given: dict[str, Any]) -> How:
        """Split the given arguments into these options and settings."""
        return cls(**{field.name: given.pop(field.name) for field in fields(cls) if field.name in given})

    def work(self, **options: Any) -> Work:
        """Return the function that trains a job, with further options of ``train_job``."""
        own: dict[str, Any] = {"accept_versions": self.accept_versions, "progress": self.progress}
        return partial(train_job, **own, loggers=check_loggers(self.loggers), **options)


@takes(How, Settings)
def train(
    recipe: Recipe,
    env: Any,
    preferences: Sequence[Sequence[float]],
    seeds: Sequence[int],
    total_steps: int,
    *,
    out: Path | str | None = None,
    settings: Settings | None = None,
    **changes: Any,
) -> TrainResult:
    """Train a recipe, one run per (preference, seed) pair, all at once.

    Args:
        recipe: The recipe, for example ``PASTA``.
        env: A name (``"stealth"``), a card, an ``EnvSource`` or a function ``(num_envs, seeds) -> TensorEnv``. It is
            closed at the end, if it can be.
        preferences: Preferences on the simplex.
        seeds: Seeds; every preference is trained with each of them.
        total_steps: Environment steps **per run**, rounded up to whole iterations.
        out: Folder of the results, the same as of ``morl-blocks train``; without it nothing is written.
        settings: All settings as one object; arguments given by name replace its values.
        **changes: Options of resuming, and settings by name.

    Returns:
        One result per run, preferences outermost.

    Example:
        >>> from morl_recipes.recipe.rows import PASTA
        >>> from morl_envs.toy import toy
        >>> result = train(PASTA, toy(), [[0.5, 0.5]], seeds=[0], total_steps=2048, progress=False)
        >>> result.runs[0].status, len(result.runs[0].history)
        ('done', 1)
    """
    how = How.of(changes)
    checks.instance("recipe", recipe, Recipe, "be a Recipe, such as morl_recipes.PASTA")
    chosen = given_settings(settings).change(total_steps=total_steps, **changes)
    pairs = [(weights, seed) for weights in checks.preferences(preferences) for seed in checks.seeds(seeds)]
    runs = [Run(recipe, weights, seed) for weights, seed in pairs]
    if how.resume and out is None:
        checks.fail("out", "be given to resume", "None")
    source = find_source(env, chosen.device)
    source = source if out is None else source.complete()
    plan = plan_runs(runs, source, chosen, how.plugin, stored=out is not None)
    store = None if out is None else _open(plan, checks.path("out", out), resume=how.resume)
    work = how.work(raises=(OtherTrainingError,))
    options = Options(how.retry_failed, how.accept_versions, progress=False, work=work, say=None, size=len(runs))
    outcome = execute(plan, store, RaisingEngine(), options)
    if store is None:
        return TrainResult(outcome.records, source, chosen)
    records = [replace(load_record(store, run.run_id), recipe=recipe) for run in plan.runs]
    return TrainResult(records, source, chosen)


@takes(How)
def train_runs(
    runs: Sequence[Run], env: Any, settings: Settings | None = None, *, folder: Path | None = None, **changes: Any
) -> TrainResult:
    """Train runs of one structure (see :func:`~morl_recipes.by_batch`) as one batch.

    Args:
        runs: The runs.
        env: As for :func:`train`.
        settings: Settings of the training.
        folder: Folder of the checkpoint and of ``history.csv``; without it nothing is written.
        **changes: Options of resuming.
    """
    how = How.of(changes)
    if changes:
        raise TypeError(f"train_runs() got an unexpected keyword argument {next(iter(changes))!r}")
    folder = None if folder is None else checks.path("folder", folder)
    return train_folder(runs, env, given_settings(settings), how, folder)


def train_folder(
    runs: Sequence[Run],
    env: Any,
    settings: Settings,
    how: How,
    folder: Path | None,
    *,
    stops: bool = False,
    **hooks: Any,
) -> TrainResult:
    """Train runs as one batch without a store; the folder is that of the checkpoint.

    ``stops`` lets an interrupt stop what comes after, even if it came too late for this; ``hooks`` are further
    arguments of :func:`~morl_recipes.running.engines.job.train_job`.
    """
    check_batch(runs)
    if folder is not None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except (FileExistsError, NotADirectoryError) as error:
            raise ValueError(f"`out` must be a folder, got a file or a path below one: {folder}.") from error
        if (folder / CHECKPOINT).exists() and not how.resume:
            checks.fail("out", "hold no earlier training (resume it, or choose another folder)", folder)
    elif how.resume:
        checks.fail("out", "be given to resume", "None")
    source = find_source(env, settings.device)
    plan = plan_runs(runs, source, settings, stored=False)
    work = how.work(raises=(CheckpointError,), shared=False, **hooks)
    options = Options(progress=False, work=lambda job, _, report: work(job, folder, report), say=None, size=len(runs))
    outcome = execute(plan, None, RaisingEngine(), options)
    if stops and outcome.interrupted:
        where = "nothing was saved, because there is no `out`" if folder is None else f"saved in {folder}"
        raise KeyboardInterrupt(f"Stopped between two trainings: {where}; resume=True continues it.")
    return TrainResult(outcome.records, source, settings)


def given_settings(settings: Settings | None, **defaults: Any) -> Settings:
    """Return the given settings, or the defaults."""
    return Settings(**defaults) if settings is None else checks.instance("settings", settings, Settings, "be Settings")


def save_result(result: TrainResult, out: Path) -> Store:
    """Write a training that was kept in memory to its own store; a store that contains runs raises an error."""
    runs = [Run(record.recipe, record.preference, record.seed) for record in result.runs]
    plan = plan_runs(runs, result.source.complete(), result.settings)
    store = Store.create(out, plan.manifest(COMMAND))
    with alone(store.path):
        _require_unused("folder", "hold no earlier training (choose another folder)", store)
        for planned, record in zip(plan.runs, result.runs, strict=True):
            store.write(replace(record, run_id=planned.run_id))
    return store


def _open(plan: Plan, out: Path, *, resume: bool) -> Store:
    """Open the store of a training; mistakes in a block are found before anything is written."""
    manifest = plan.manifest(COMMAND)
    if Store.check(out, manifest) is None:
        (job,) = plan.populations(len(plan.runs))
        runs, source = job.live()
        close(Batch(runs[:1], source, job.settings).env)
    store = Store.create(out, manifest)
    if not resume:
        _require_unused("out", "hold no earlier training (resume it, or choose another folder)", store)
    return store


def _require_unused(name: str, rule: str, store: Store) -> None:
    """Raise for a store with runs or checkpoints, because finished runs are never overwritten."""
    if store.run_ids() or any(atomic_files.inside(store.path, CHECKPOINTS).glob(f"*/{CHECKPOINT}")):
        checks.fail(name, rule, store.path)
