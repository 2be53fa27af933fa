"""Train what a published table does not have yet, row by row, and publish each row when it is finished.

From a clone of the project, on any machine and as often as needed::

    python -m benchmarks.train_table mujoco_1m --name mujoco-1m

trains the rows of the sweep file ``mujoco_1m`` that the package's table ``mujoco-1m`` lacks; ``--out`` names another
folder. One row of one environment is trained at a time per worker, all its seeds together. After each row the table and
its learning curves are written, so a machine that disappears costs the rows in training only. On the same machine, an
interrupted row continues from its checkpoint.
``--envs`` and ``--rows`` train a part. ``--dry-run`` lists what is missing.
"""

from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import tyro

from benchmarks.publish import publish
from morl_recipes.analysis.datasets import Cell, cells_of, folder, read_dataset
from morl_recipes.common.naming import count
from morl_recipes.running.engines.events import Engine, Event, Watch, Work
from morl_recipes.running.engines.local import LocalEngine
from morl_recipes.running.execute import Options, execute
from morl_recipes.running.plan import Job, Plan, make_plan
from morl_recipes.running.sweep import read_sweep
from morl_recipes.store.manifest import Manifest
from morl_recipes.store.store import Store


@dataclass(frozen=True)
class Args:
    """Train the rows of a sweep file that a published table lacks."""

    sweep: tyro.conf.Positional[str]
    """A sweep file, or the name of a shipped one."""
    name: str
    """Name of the table."""
    out: Path | None = None
    """Folder of the table; by default that of the package."""
    rows: tuple[str, ...] = ()
    """Rows of the sweep to train, by their method's name; all by default."""
    envs: tuple[str, ...] = ()
    """Environments of the sweep to train; all by default."""
    store: Path | None = None
    """Folder of the results until they are published; ``runs/NAME`` by default."""
    workers: int | None = None
    """Worker processes; one per core by default."""
    dry_run: bool = False
    """List the missing rows."""


class Publishing:
    """An engine that calls a function after each job, when its records are in the store."""

    def __init__(self, engine: Engine, after: Callable[[], object]) -> None:
        self._engine, self._after = engine, after
        self.sees_folder, self.workers = engine.sees_folder, engine.workers

    def run(
        self, populations: Sequence[Job], work: Work, checkpoints: Path | None, watch: Watch
    ) -> Generator[Event, None, None]:
        """Yield the events of the engine."""
        with closing(self._engine.run(populations, work, checkpoints, watch)) as events:
            for event in events:
                yield event
                self._after()


def published(name: str, out: Path | None) -> set[Cell]:
    """Return the finished runs of a table, none if it does not exist yet."""
    path = (folder() if out is None else out) / f"{name}.csv"
    return set(cells_of(read_dataset(path).done)) if path.exists() else set()


def missing(plan: Plan, done: set[Cell]) -> set[tuple[str, str, str]]:
    """Return the rows of a plan, ``(env, group, method)``, with a run that is not done."""
    return {(run.env, run.group, run.method) for run in plan.runs if (*_row(run), run.preference, run.seed) not in done}


def part(plan: Plan, keep: Callable[[Any], bool]) -> Plan:
    """Return the plan of the runs to keep."""
    groups = [replace(group, runs=tuple(filter(keep, group.runs))) for group in plan.groups]
    runs, used = tuple(filter(keep, plan.runs)), tuple(group for group in groups if group.runs)
    envs = {run.env for run in runs}
    known = {name: info for name, info in plan.environments.items() if name in envs}
    return replace(plan, runs=runs, groups=used, environments=known)


def _row(run: Any) -> tuple[str, str, str]:
    return run.env, run.group, run.method


def train_table(
    plan: Plan, whole: Manifest, name: str, out: Path | None, store: Path, engine: Engine, **how: Any
) -> None:
    """Train the runs of a plan that a table lacks; a store that was begun is finished first.

    Args:
        plan: The runs to train if they are missing; the same number of runs for each row.
        whole: Everything that the table shall hold in the end.
        name: Name of the table.
        out: Folder of the table.
        store: Folder of the store.
        engine: Engine that trains.
        **how: Fields of :class:`~morl_recipes.running.execute.Options`.
    """
    rows = missing(plan, published(name, out))
    if not rows:
        print(f"{name}: nothing is missing.")
        return
    if store.exists():
        begun = {run.run_id for run in Store.open(store).manifest.runs}
        plan = part(plan, lambda run: run.run_id in begun)
        if not missing(plan, published(name, out)):
            raise SystemExit(
                f"`store` must not be finished, got {store}: choose another folder (--store), or remove it."
            )
    else:
        plan = part(plan, lambda run: _row(run) in rows)
    size = max(sum(_row(run) == _row(plan.runs[0]) for run in plan.runs), 1)
    kept = Store.create(store, plan.manifest(f"python -m benchmarks.train_table --name {name}"))
    keep = Publishing(engine, lambda: publish([kept], name, out, plan=whole) if kept.done() else None)
    execute(plan, kept, keep, Options(size=size, **how))


def main(args: Args) -> None:
    """List the missing rows, or train them."""
    whole = make_plan(read_sweep(args.sweep))
    chosen = part(whole, lambda run: run.env in (args.envs or [run.env]) and run.method in (args.rows or [run.method]))
    rows = missing(chosen, published(args.name, args.out))
    print(f"{args.name}: {count(len(rows), 'row')} to train")
    for env, group, method in sorted(rows):
        print(f"  {env}: {group}/{method}")
    if rows and not args.dry_run:
        store = args.store or Path("runs") / args.name
        train_table(chosen, whole.manifest(), args.name, args.out, store, LocalEngine(args.workers))


if __name__ == "__main__":
    main(tyro.cli(Args))
