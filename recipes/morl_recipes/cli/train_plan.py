"""Train a plan for ``morl-blocks train`` and ``morl-blocks sweep``, and print what happened."""

from __future__ import annotations

import shlex
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from morl_recipes.cli.signals import forward_sigterm
from morl_recipes.common.naming import count
from morl_recipes.common.text import for_terminal

if TYPE_CHECKING:
    from morl_recipes.running.engines.events import Engine
    from morl_recipes.running.execute import Outcome
    from morl_recipes.running.plan import Plan

SHOWN_FAILURES = 10


def train_plan(command: Any, plan: Plan, out: Path, engine: Engine, argv: list[str]) -> int:
    """Train the missing runs of a plan.

    Args:
        command: The command with its options ``logger, retry_failed, accept_versions, quiet``.
        plan: The plan.
        out: Folder of the results.
        engine: What trains.
        argv: What was typed.

    Returns:
        The exit code.
    """
    from morl_recipes.running.execute import run_sweep

    with forward_sigterm():
        outcome = run_sweep(
            plan,
            out,
            engine,
            command=shlex.join(["morl-blocks", *argv]),
            retry_failed=command.retry_failed,
            accept_versions=command.accept_versions,
            progress=not command.quiet,
            **_work(command, out),
        )
    return _print_outcome(outcome)


def _work(command: Any, out: Path) -> dict[str, Any]:
    """Return the option of ``run_sweep`` for a logger, if one was chosen."""
    if command.logger is None:
        return {}
    from morl_recipes.running.job import train_job
    from morl_recipes.running.loggers import check_logger, open_logger

    check_logger(command.logger)
    log = partial(open_logger, command.logger, out / "logs")
    return {"work": partial(train_job, accept_versions=command.accept_versions, log=log)}


def _print_outcome(outcome: Outcome) -> int:
    planned, failed = len(outcome.store.manifest.runs), outcome.failed
    ran, failed_now = len(outcome.ran), len(set(outcome.ran) & set(failed))
    if not ran and not outcome.lost:
        print(f"Nothing to do: {outcome.done} of {count(planned, 'run')} done already.")
    elif failed_now:
        print(f"{count(ran, 'run')} attempted, {failed_now} failed; {outcome.done} of {planned} done.")
    else:
        print(f"{count(ran, 'run')} trained; {outcome.done} of {planned} done.")
    for run_id, reason in list(failed.items())[:SHOWN_FAILURES]:
        print(f"  failed: {run_id}: {for_terminal(reason)}")
    if failed:
        more = f" ({len(failed) - SHOWN_FAILURES} more are not shown)" if len(failed) > SHOWN_FAILURES else ""
        print(f"{count(len(failed), 'run')} failed{more}. To train again, add --retry-failed")
    if outcome.lost:
        reasons = "; ".join(sorted(set(outcome.lost.values()))[:3])
        print(f"{count(len(outcome.lost), 'run')} lost, not failed ({reasons}). The same command trains them.")
    if outcome.done:
        print(f"Results: {outcome.store.path}   Next: morl-blocks table {shlex.quote(str(outcome.store.path))}")
    return 1 if failed or outcome.lost else 0
