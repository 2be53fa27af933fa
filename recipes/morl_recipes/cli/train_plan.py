"""The code that ``morl-blocks train`` and ``morl-blocks sweep`` share: executing a plan, and printing the outcome."""

from __future__ import annotations

import shlex
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from morl_recipes.common.naming import count
from morl_recipes.common.text import for_terminal, say

if TYPE_CHECKING:
    from morl_recipes.running.engines.events import Engine, Work
    from morl_recipes.running.execute import Options, Outcome
    from morl_recipes.running.plan import Plan
    from morl_recipes.store.store import Store

SHOWN_FAILURES = 10


def prepare(
    command: Any, plan: Plan, out: Path, engine: Engine, argv: list[str]
) -> tuple[Plan, Store, Engine, Options]:
    """Return the arguments of :func:`~morl_recipes.running.execute.execute`.

    Args:
        command: The command with its options ``logger, retry_failed, accept_versions, quiet``.
        plan: The plan.
        out: Folder of the results.
        engine: Engine that distributes the jobs.
        argv: Arguments of the command line.
    """
    from morl_recipes.running.execute import Options
    from morl_recipes.store.store import Store

    options = Options(command.retry_failed, command.accept_versions, not command.quiet, _work(command, out))
    store = Store.create(out, plan.manifest(shlex.join(["morl-blocks", *argv])))
    return plan, store, engine, options


def _work(command: Any, out: Path) -> Work | None:
    """Return the function that trains a job, with the selected logger if there is one."""
    if command.logger is None:
        return None
    from morl_recipes.running.engines.job import train_job
    from morl_recipes.running.loggers import check_logger, open_logger

    check_logger(command.logger)
    log = partial(open_logger, command.logger, out / "logs")
    return partial(train_job, accept_versions=command.accept_versions, log=log)


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
