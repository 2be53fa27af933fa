"""Options that commands which train share, and how ``train`` and ``sweep`` execute a plan and print its outcome."""

from __future__ import annotations

import shlex
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro

from morl_recipes.cli.options import Words, default, given, parse_preference
from morl_recipes.cli.signals import forward_sigterm
from morl_recipes.common.naming import count
from morl_recipes.common.text import for_terminal, say

if TYPE_CHECKING:
    from morl_recipes.running.engines.events import Engine, Work
    from morl_recipes.running.execute import Outcome
    from morl_recipes.running.plan import Plan

SHOWN_FAILURES = 10
LOGGERS = "{csv,tensorboard,wandb,mlflow}"


@dataclass(frozen=True, kw_only=True)
class Training:
    """Options of every command that trains."""

    seeds: Annotated[tuple[int, ...], default("0")] = ()
    """A list of seeds: 0 1 2"""
    num_seeds: Annotated[int | None, default("1", "INT")] = None
    """A number of seeds instead of a list, like `seeds = 3` in a file: 3 is 0 1 2."""
    changes: Annotated[Words, tyro.conf.UseAppendAction, default("none"), tyro.conf.arg(name="set")] = ()
    """A change of the recipes by dotted name: --set ppo.learning_rate=1e-4 --set mu.threshold=0.3"""
    retry_failed: bool = False
    """Train failed runs again."""
    accept_versions: bool = False
    """Continue under other versions of PyTorch or of environments than the training was started with."""
    quiet: bool = False
    """Show no progress."""


@dataclass(frozen=True, kw_only=True)
class PlannedTraining(Training, ABC):
    """Options of ``train`` and ``sweep``."""

    preferences: Annotated[Words, default("those of the environment")] = ()
    """A list of preferences, as in 0.1,0.7,0.2 0.8,0.1,0.1"""
    logger: Annotated[
        Literal["csv", "tensorboard", "wandb", "mlflow"] | None,
        default("none", LOGGERS),
        tyro.conf.arg(constructor=str),
    ] = None
    """Also log all numbers with a TorchRL logger; its files are in the folder's logs."""

    def sweep_keys(self, settings: object) -> dict[str, Any]:
        """Return the keys of a sweep for the options that were given; other options give no key."""
        from morl_recipes.recipe.fields import parse_changes

        keys = given(settings) | seeds_key(self.seeds, self.num_seeds)
        keys |= {"preferences": tuple(map(parse_preference, self.preferences))} if self.preferences else {}
        return keys | ({"set": parse_changes(self.changes)} if self.changes else {})

    @abstractmethod
    def planned(self) -> tuple[Plan, Path, Engine] | None:
        """Return the plan, the folder of its results and the engine; ``None`` if nothing is to be trained."""

    def run(self, argv: list[str]) -> int:
        """Train the missing runs of the plan, print the outcome and return the exit code."""
        from morl_recipes.running.execute import Options, execute
        from morl_recipes.store.store import Store

        if (planned := self.planned()) is None:
            return 0
        plan, out, engine = planned
        with forward_sigterm():  # after the engine, because Ray installs a SIGTERM handler of its own
            options = Options(self.retry_failed, self.accept_versions, not self.quiet, self._work(out))
            store = Store.create(out, plan.manifest(shlex.join(["morl-blocks", *argv])))
            outcome = execute(plan, store, engine, options)
        return print_outcome(outcome)

    def _work(self, out: Path) -> Work | None:
        """Return the function that trains a job, with the selected logger if there is one."""
        if self.logger is None:
            return None
        from morl_recipes.running.engines.job import train_job
        from morl_recipes.running.loggers import check_logger, open_logger

        check_logger(self.logger)
        return partial(
            train_job, accept_versions=self.accept_versions, log=partial(open_logger, self.logger, out / "logs")
        )


def seeds_key(seeds: Sequence[int], num_seeds: int | None) -> dict[str, Any]:
    """Return the key of a sweep for a list of seeds or a number of seeds."""
    if num_seeds is None:
        return {"seeds": tuple(seeds)} if seeds else {}
    if seeds:
        raise ValueError(f"`num_seeds` must not be given beside `seeds`, got {num_seeds} and {list(seeds)}.")
    return {"seeds": num_seeds}


def print_outcome(outcome: Outcome) -> int:
    """Print the outcome of a plan, and return the exit code."""
    planned, failed = len(outcome.store.manifest.runs), outcome.failed
    ran, failed_now = len(outcome.ran), len(set(outcome.ran) & set(failed))
    if not ran and not outcome.lost:
        say(f"Nothing to do: {outcome.done} of {count(planned, 'run')} done already.")
    elif failed_now:
        say(f"{count(ran, 'run')} attempted, {failed_now} failed; {outcome.done} of {planned} done.")
    else:
        say(f"{count(ran, 'run')} trained; {outcome.done} of {planned} done.")
    for run_id, reason in list(failed.items())[:SHOWN_FAILURES]:
        say(f"  failed: {run_id}: {for_terminal(reason)}")
    if failed:
        more = f" ({len(failed) - SHOWN_FAILURES} more are not shown)" if len(failed) > SHOWN_FAILURES else ""
        say(f"{count(len(failed), 'run')} failed{more}. To train again, add --retry-failed")
    if outcome.lost:
        reasons = "; ".join(sorted(set(outcome.lost.values()))[:3])
        say(f"{count(len(outcome.lost), 'run')} lost, not failed ({reasons}). The same command trains them.")
    if outcome.done:
        say(f"Results: {outcome.store.path}   Next: morl-blocks table {shlex.quote(str(outcome.store.path))}")
    return 1 if failed or outcome.lost else 0
