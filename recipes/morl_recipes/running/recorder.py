"""Results of a training: validations, history and checkpoint of a batch, and one record per run at the end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from morl_envs.source import close, sizes
from morl_recipes.common.text import LOG
from morl_recipes.learning.batch import Batch
from morl_recipes.learning.diagnostics import Iteration
from morl_recipes.learning.observations import STATISTICS
from morl_recipes.learning.state import env_state, load_env, load_tensors, tensors_of
from morl_recipes.running.loggers import Logger, log
from morl_recipes.running.progress import Bar
from morl_recipes.running.validation import BestPolicies, Evaluator
from morl_recipes.store import checkpoint
from morl_recipes.store.checkpoint import CHECKPOINT
from morl_recipes.store.history import History, Mark, validation_at
from morl_recipes.store.record import RunRecord
from morl_recipes.store.versions import run_versions


class Recorder:
    """Validate, log and save a batch after each iteration, with a ``folder`` for checkpoint and history.

    ``files`` are digests of the user's files by what they define: a checkpoint of another text raises an error. A
    folder of a store needs none, because the ids of its runs already depend on their files.
    """

    def __init__(
        self,
        batch: Batch,
        folder: Path | None = None,
        *,
        progress: bool = False,
        loggers: Sequence[Logger] = (),
        files: Mapping[str, str] | None = None,
    ) -> None:
        self.batch, self.folder = batch, folder
        self.progress, self.loggers, self.files = progress, loggers, files or {}
        settings = batch.settings
        self.evaluate = Evaluator(batch, settings.eval_episodes, deterministic=settings.eval_deterministic)
        self.scores = BestPolicies(batch)
        self.iterations = batch.iterations
        self.reasons: dict[int, str] = {}
        self.history = History(batch.runs, batch.objectives, None if folder is None else folder / "history.csv")
        self.bar = Bar(0, 0, show=False)  # until the start
        # Tensors and meta of the last finished iteration, except the history, which is stored beside the checkpoint.
        self._kept: tuple[dict[str, Tensor], dict[str, Any]] | None = None
        self._eval_state: dict[str, Tensor] = {}  # empty until the first validation
        self._before = batch.policies()

    @property
    def finished(self) -> bool:
        """Whether all iterations are done, or no run is left."""
        return self.batch.iteration >= self.iterations or len(self.reasons) == len(self.batch.runs)

    def start(self, *, accept_versions: bool = False) -> None:
        """Load the checkpoint, if there is one, and show the bar."""
        path = None if self.folder is None else self.folder / CHECKPOINT
        if path is not None and path.exists():
            self._load(path, accept_versions=accept_versions)
        self._before = [tensor.clone() for tensor in self.batch.policies()]
        per_iteration = self.batch.ppo.steps_per_iteration * len(self.batch.runs)
        done = self.batch.iteration * per_iteration
        self.bar = Bar(self.iterations * per_iteration, done, show=self.progress)

    def record(self, iteration: Iteration) -> None:
        """Validate, log and save after an iteration of the batch."""
        settings, batch = self.batch.settings, self.batch
        self._stop_runs(iteration.failed)
        validate = self.finished or iteration.number % settings.eval_every == 0
        columns = self.history.add(self._row(iteration, self._validate() if validate else None), batch.alive)
        self._before = [tensor.clone() for tensor in self.batch.policies()]
        self._keep()
        log(self.loggers, columns, iteration.steps)
        self.bar.update(batch.ppo.steps_per_iteration * len(batch.runs), columns)
        if self.finished or iteration.number % settings.checkpoint_every == 0:
            self.save()

    def stop(self) -> None:
        """Save the checkpoint and raise ``KeyboardInterrupt`` with a hint how to continue."""
        self.save()
        where = f"saved in {self.folder}; resume=True continues it"
        if self.folder is None:
            where = "nothing was saved, because there is no `out`"
        raise KeyboardInterrupt(f"Stopped after iteration {self.batch.iteration} of {self.iterations}: {where}.")

    def save(self) -> None:
        """Write the checkpoint of the last finished iteration, if there is one and a folder for it."""
        if self.folder is not None and self._kept is not None:
            self.history.flush()
            checkpoint.save(self.folder / CHECKPOINT, *self._kept)

    def close(self) -> None:
        """Close the bar, and all environments that have a ``close`` method."""
        self.bar.bar.close()
        for env in (self.batch.env, self.evaluate.env):
            close(env)

    def records(self) -> list[RunRecord]:
        """Return the record of every run, without its test scores."""
        return [self._record_of(index) for index in range(len(self.batch.runs))]

    def _keep(self) -> None:
        """Copy the state, so that an iteration that fails half-way loses no finished one."""
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

    def _load(self, path: Path, *, accept_versions: bool) -> None:
        """Continue from a checkpoint of the same training; other versions must have been accepted."""
        if not accept_versions:
            checkpoint.require_versions(path)
        state, meta = checkpoint.load(path)
        checkpoint.require_same(path, meta, self._identity)
        if other := checkpoint.other_versions_of(meta):
            LOG.warning("%s was written by other versions (%s); it is continued all the same.", path, other)
        try:
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
        except (KeyError, IndexError, TypeError, RuntimeError, ValueError) as error:
            raise checkpoint.CheckpointError(f"`{path}` must fit this training, got {error}.") from error

    def _validate(self) -> Tensor:
        """Return the mean returns; a run with a return that is not finite stops, and keeps its previous policy."""
        returns, alive = self.evaluate(), self.batch.alive
        if self.folder is not None:
            self._eval_state = env_state("eval_env", self.evaluate.env)
        failed = (alive & ~returns.isfinite().all(-1)).nonzero().flatten().tolist()
        alive[failed] = False
        for policy, old in zip(self.batch.policies(), self._before, strict=True):
            policy[failed] = old[failed]
        self._stop_runs(dict.fromkeys(failed, "validation return"))
        return returns

    def _row(self, iteration: Iteration, returns: Tensor | None) -> dict[str, Tensor | float]:
        """Return the iteration's row of the history; the validation may have found a new best policy."""
        batch = self.batch
        nothing = torch.full((len(batch.runs), batch.objectives), torch.nan, device=batch.device)
        scores = self.scores(nothing if returns is None else returns)
        if returns is not None:
            self.scores.keep_best(scores, batch)
        head = {"iteration": float(iteration.number), "steps": float(iteration.steps)}
        head |= {"fast": float(batch.learner.fast), "compiled": float(batch.compiled)}
        return {**head, **iteration.metrics, "return": nothing if returns is None else returns, **scores}

    def _stop_runs(self, failed: dict[int, str]) -> None:
        for index, cause in failed.items():
            run = self.batch.runs[index]
            self.reasons[index] = reason = f"{cause} not finite in iteration {self.batch.iteration}"
            LOG.warning(
                "Run %d (preference %s, seed %d) stopped: %s. It keeps the state of the previous iteration.",
                *(index, list(run.preference), run.seed, reason),
            )

    def _record_of(self, index: int) -> RunRecord:
        run, frame = self.batch.runs[index], self.history.frame(index)
        best, m = int(self.scores.best_iteration[index]), self.batch.objectives
        return RunRecord(
            *run.identity,
            status="failed" if index in self.reasons else "done",
            reason=self.reasons.get(index, ""),
            steps=0 if frame.empty else int(frame["steps"].max()),
            peak=validation_at(frame, m, best) if best else None,
            final=validation_at(frame, m),
            recipe=run.recipe,
            history=frame,
            policy=self.policy(index),
            peak_policy=self.policy(index, self.scores.best_policies),
        )

    def policy(self, index: int, policies: list[Tensor] | None = None) -> dict[str, Tensor]:
        """Return the current policy of a run, or another one, with the observation statistics if there are any."""
        flat, *scale = self.batch.policies() if policies is None else policies
        named = self.batch.learner.actor.layout.views(flat)
        named |= dict(zip(STATISTICS, scale, strict=False))
        return {name: tensor[index].detach().cpu().clone() for name, tensor in named.items()}

    @cached_property
    def _identity(self) -> dict[str, Any]:
        """Return the properties that must agree between a checkpoint and the training that continues it."""
        batch = self.batch
        return {
            "runs": len(batch.runs),
            "recipe": [run.description for run in batch.runs],
            "preferences": [list(run.preference) for run in batch.runs],
            "seeds": [run.seed for run in batch.runs],
            "env": {"name": batch.source.name, **sizes(batch.env)},
            **batch.settings.decisive(),
            **self.files,
        }
