"""A training in progress: a batch with its validation, history and checkpoint."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from contextlib import closing
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from morl_recipes.common import checks
from morl_recipes.environments.source import close, find_source, sizes
from morl_recipes.evaluation.validation import Evaluator, Scores
from morl_recipes.learning.batch import Batch
from morl_recipes.learning.diagnostics import Iteration
from morl_recipes.learning.observations import STATISTICS
from morl_recipes.learning.runs import Run
from morl_recipes.learning.state import env_state, load_env, load_tensors, tensors_of
from morl_recipes.recipe.fields import describe_recipe
from morl_recipes.recipe.settings import Settings
from morl_recipes.recipe.user_code import Plugin
from morl_recipes.running.monitor import Bar, Interrupt, Logger, check_loggers, log
from morl_recipes.running.result import RunResult, TrainResult, validation
from morl_recipes.running.test_scores import with_tests
from morl_recipes.store import checkpoint
from morl_recipes.store.history import History, Mark
from morl_recipes.store.versions import run_versions

_LOG = logging.getLogger("morl_recipes")
CHECKPOINT = "checkpoint.safetensors"


class Session:
    """A batch with its validation, history and checkpoint, made of what :func:`~morl_recipes.train_runs` takes.

    ``files`` are those of the user, by what they define: a checkpoint of another text of theirs is refused. A folder
    of a store needs none of them, for its runs are named after their files already.
    """

    def __init__(
        self,
        runs: Sequence[Run],
        env: Any,
        settings: Settings,
        *,
        folder: Path | None = None,
        resume: bool = False,
        progress: bool = True,
        loggers: Sequence[Logger] = (),
        files: Mapping[str, Plugin | None] | None = None,
        accept_versions: bool = False,
    ) -> None:
        if resume and folder is None:
            checks.fail("out", "be given to resume", "None")
        require_device(settings.device)
        self.settings, self.folder, self.resume, self.progress = settings, folder, resume, progress
        self.loggers, self.accept_versions, self.interrupted = check_loggers(loggers), accept_versions, False
        self.files = {name: file.digest for name, file in (files or {}).items() if file is not None}
        self.batch = Batch(runs, find_source(env, settings.device), settings)
        self.evaluate = Evaluator(self.batch, settings.eval_episodes, deterministic=settings.eval_deterministic)
        self.scores = Scores(self.batch)
        self.iterations = self.batch.iterations
        self.reasons: dict[int, str] = {}
        self.history = History(runs, self.batch.objectives, self._file("history.csv"))
        self.bar = Bar(0, 0, show=False)  # until the start
        # Tensors and meta of the last finished iteration, all but for the history, which lies beside the checkpoint.
        self._kept: tuple[dict[str, Tensor], dict[str, Any]] | None = None
        self._eval_state: dict[str, Tensor] = {}  # a world that has not been played is left alone
        self._before: list[Tensor] = []  # until the start

    @property
    def finished(self) -> bool:
        """All iterations are done, or no run is left."""
        return self.batch.iteration >= self.iterations or len(self.reasons) == len(self.batch.runs)

    def train(self) -> TrainResult:
        """Start, train to the end, close and return the result; an interrupt saves first.

        One that comes in the last iteration or later stops nothing, and is kept in ``interrupted`` for who goes on.
        """
        with closing(self), Interrupt() as interrupt:
            self.start()
            while not self.finished:
                try:
                    self.take(self.batch.iterate())
                except BaseException:
                    self.save()
                    raise
                if interrupt.requested and not self.finished:
                    self.stop()
            result = self.result()
            self.interrupted = interrupt.requested
            return result

    def start(self) -> None:
        """Prepare the folder, load the checkpoint if asked to, and show the bar."""
        path = self._file(CHECKPOINT)
        if path is not None:
            _make_folder(path.parent)
            if path.exists() and not self.resume:
                checks.fail("out", "hold no earlier training (resume it, or choose another folder)", path.parent)
            if path.exists():
                self.load(path)
        self._before = self._copy_policies()
        per_iteration = self.batch.ppo.steps_per_iteration * len(self.batch.runs)
        done = self.batch.iteration * per_iteration
        self.bar = Bar(self.iterations * per_iteration, done, show=self.progress)

    def take(self, iteration: Iteration) -> None:
        """Validate, log and save after an iteration of the batch."""
        self._report(iteration.failed)
        validate = self.finished or iteration.number % self.settings.eval_every == 0
        row = self._row(iteration, self._validate() if validate else None)
        columns = self.history.add(row, self.batch.alive)
        self._before = self._copy_policies()
        self._keep()
        log(self.loggers, columns, iteration.steps)
        self.bar.update(self.batch.ppo.steps_per_iteration * len(self.batch.runs), columns)
        if self.finished or iteration.number % self.settings.checkpoint_every == 0:
            self.save()

    def stop(self) -> None:
        """Save, say how to go on, and leave."""
        self.save()
        where = (
            "nothing was saved, because there is no `out`"
            if self.folder is None
            else f"saved in {self.folder}; resume=True continues it"
        )
        message = f"Stopped after iteration {self.batch.iteration} of {self.iterations}: {where}."
        self.bar.say(message)
        raise KeyboardInterrupt(message)

    def save(self) -> None:
        """Write the checkpoint of the last finished iteration, if there is one and a folder for it."""
        path = self._file(CHECKPOINT)
        if path is not None and self._kept is not None:
            self.history.flush()
            checkpoint.save(path, *self._kept)

    def close(self) -> None:
        """Close the bar, and the environments that can be closed."""
        self.bar.close()
        for env in (self.batch.env, self.evaluate.env):
            close(env)

    def _keep(self) -> None:
        """Copy the state, so that an iteration that fails half-way costs no finished one."""
        if self.folder is None:
            return
        state = tensors_of(self.batch) | self._eval_state
        state |= {"best": self.scores.best, "best_iteration": self.scores.best_iteration}
        state |= {f"best/{index}": tensor for index, tensor in enumerate(self.scores.best_policies)}
        meta = self._identity | {
            "iteration": self.batch.iteration,
            "updates": self.batch.updates,
            "columns": self.history.columns,
            "history": list(self.history.mark),
            "versions": run_versions(),
            "reasons": {str(run): reason for run, reason in self.reasons.items()},
        }
        self._kept = {name: tensor.clone() for name, tensor in state.items()}, meta

    def load(self, path: Path) -> None:
        """Continue from a checkpoint of the same training; one of other versions must have been accepted."""
        if not self.accept_versions:
            checkpoint.require_versions(path)
        state, meta = checkpoint.load(path)
        checkpoint.require_same(path, meta, self._identity)
        for other in checkpoint.versions_note(meta):
            _LOG.warning("%s was written by other versions (%s); it is continued all the same.", path, other)
        try:
            self._restore(state, meta)
        except (KeyError, IndexError, TypeError, RuntimeError, ValueError) as error:
            raise checkpoint.CheckpointError(f"`{path}` must fit this training, got {error}.") from error

    def _restore(self, state: dict[str, Tensor], meta: dict[str, Any]) -> None:
        load_tensors(self.batch, state)
        self._eval_state = {name: tensor for name, tensor in state.items() if name.startswith("eval_env/")}
        if self._eval_state:
            load_env("eval_env", self.evaluate.env, self._eval_state)
        self.scores.best, self.scores.best_iteration = state["best"], state["best_iteration"]
        for index, tensor in enumerate(self.scores.best_policies):
            tensor.copy_(state[f"best/{index}"])
        self.batch.iteration, self.batch.updates = meta["iteration"], meta["updates"]
        self.reasons = {int(run): reason for run, reason in meta["reasons"].items()}
        self.history.load(Mark(*meta["history"]), meta["columns"])

    def result(self) -> TrainResult:
        """Return what every run became, with its test score."""
        batch = self.batch
        runs = [self._run_result(index) for index in range(len(batch.runs))]
        runs = with_tests(runs, batch.source, self.settings.test_episodes)
        return TrainResult(runs, batch.source, tuple(batch.env.objectives), self.settings)

    def _validate(self) -> Tensor:
        """Return the mean returns; a run with one that is not finite stops, with the policy that it had before."""
        returns, alive = self.evaluate(), self.batch.alive
        if self.folder is not None:
            self._eval_state = env_state("eval_env", self.evaluate.env)
        failed = (alive & ~returns.isfinite().all(-1)).nonzero().flatten().tolist()
        alive[failed] = False
        for policy, old in zip(self.batch.policies(), self._before, strict=True):
            policy[failed] = old[failed]
        self._report(dict.fromkeys(failed, "validation return"))
        return returns

    def _row(self, iteration: Iteration, returns: Tensor | None) -> dict[str, Tensor | float]:
        batch = self.batch
        nothing = torch.full((len(batch.runs), batch.objectives), torch.nan, device=batch.device)
        scores = self.scores(nothing if returns is None else returns)
        if returns is not None:
            self.scores.keep_best(scores, batch)
        head = {"iteration": float(iteration.number), "steps": float(iteration.steps)}
        head |= {"fast": float(batch.drive.fast), "compiled": float(batch.compiled)}
        return {**head, **iteration.watched, "return": nothing if returns is None else returns, **scores}

    def _report(self, failed: dict[int, str]) -> None:
        for index, cause in failed.items():
            run = self.batch.runs[index]
            reason = f"{cause} not finite in iteration {self.batch.iteration}"
            self.reasons[index] = reason
            _LOG.warning(
                "Run %d (preference %s, seed %d) stopped: %s. It keeps its state of the iteration before.",
                *(index, list(run.preference), run.seed, reason),
            )

    def _run_result(self, index: int) -> RunResult:
        run, frame = self.batch.runs[index], self.history.frame(index)
        m = self.batch.objectives
        best = int(self.scores.best_iteration[index])
        return RunResult(
            recipe=run.recipe,
            preference=run.preference,
            seed=run.seed,
            status="failed" if index in self.reasons else "done",
            reason=self.reasons.get(index, ""),
            history=frame,
            peak=validation(frame, m, best) if best else None,
            final=validation(frame, m),
            policy=self._policy(self.batch.policies(), index),
            peak_policy=self._policy(self.scores.best_policies, index),
        )

    def _policy(self, policies: list[Tensor], index: int) -> dict[str, Tensor]:
        flat, *scale = policies
        named = self.batch.drive.actor.layout.views(flat)
        named |= dict(zip(STATISTICS, scale, strict=False))
        return {name: tensor[index].detach().cpu().clone() for name, tensor in named.items()}

    def _copy_policies(self) -> list[Tensor]:
        return [tensor.clone() for tensor in self.batch.policies()]

    @cached_property
    def _identity(self) -> dict[str, Any]:
        """Return what must agree between a checkpoint and the training that continues it."""
        batch = self.batch
        return {
            "runs": len(batch.runs),
            "recipe": [describe_recipe(run.recipe) for run in batch.runs],
            "preferences": [list(run.preference) for run in batch.runs],
            "seeds": [run.seed for run in batch.runs],
            "env": {"name": batch.source.name, **sizes(batch.env)},
            **self.settings.decisive(),
            **self.files,
        }

    def _file(self, name: str) -> Path | None:
        return None if self.folder is None else self.folder / name


def require_device(device: str) -> None:
    """Refuse a device that this machine does not have."""
    try:
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:
        reason = str(error).partition("\n")[0]
        raise ValueError(f"`device` must be one that PyTorch finds here, got {device!r} ({reason}).") from error


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError) as error:
        raise ValueError(f"`out` must be a folder, got a file or a path below one: {folder}.") from error
