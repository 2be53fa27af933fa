"""Make a published table from result stores, or add their runs to one: a CSV file with one line per finished run.

From a clone of the project::

    python -m benchmarks.publish runs/pasta runs/linear --name stealth-200k --sweep stealth_200k

writes ``recipes/morl_recipes/data/results/stealth-200k.csv``; ``--out`` names another folder. With ``--sweep`` the runs
of that sweep file that nobody has trained yet are listed as missing; with ``--only-planned`` no others are taken from
the stores. ``morl-blocks table --results NAME`` prints it. The validations of each run are kept beside it:
``benchmarks/curves.py``.
"""

import csv
import io
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

import pandas as pd
import tyro

from benchmarks import curves
from morl_recipes.analysis.datasets import SCHEMA, Cell, Dataset, cells_of, folder, read_dataset, to_json
from morl_recipes.common import atomic_files
from morl_recipes.common.errors import StoreError
from morl_recipes.common.naming import count
from morl_recipes.recipe import paper
from morl_recipes.recipe.rows import ROWS
from morl_recipes.recipe.run import IDENTITY, Run
from morl_recipes.running.plan import make_plan
from morl_recipes.running.sweep import read_sweep
from morl_recipes.store.files import as_json, digest
from morl_recipes.store.frames import load_runs, run_columns
from morl_recipes.store.manifest import Manifest, check_run_id
from morl_recipes.store.store import RUNS, Store

DIGITS = 9
"""Digits of a number: all that a 32-bit return has, and more than any table shows."""
ALWAYS = ("status", "reason")
"""Columns of a store's frame that the lines leave out: every line is of a run that is done."""
ORIGIN = ("seconds", "version", "torch", "commit")
"""What a line says beside the scores: wall time from the start of its sweep, and what trained it."""
ROW = ("env", "group", "method", "steps", "plugin", "recipe")
FAILED = [*IDENTITY, "reason", "steps"]
VARIABLE = ("compile", "update", "total_steps")
"""Settings in which stores may differ: two change the last digits of a run at most, the steps stand in every row."""
UNMATCHED = ("run_id", *ALWAYS, *ORIGIN)
"""Columns in which two records of the same run may differ."""


@dataclass(frozen=True)
class Args:
    """Keep the finished runs of result folders as one file: a line per run, without policies and histories.

    The validations of the runs are kept in a second file, for learning curves.

    A file of the same name is extended. The same run twice is refused unless its numbers are the same; so are other
    settings, bounds or recipes.
    """

    folders: tyro.conf.Positional[tuple[Path, ...]]
    """Results of sweeps or trainings, complete or not."""
    name: str
    """Name of the table."""
    out: Path | None = None
    """Folder of the file; by default that of the package."""
    sweep: Annotated[str | None, tyro.conf.arg(metavar="FILE")] = None
    """A sweep file, or the name of a shipped one, with everything that the table shall hold in the end."""
    only_planned: bool = False
    """Take only runs of the sweep file from the folders, and leave their other runs."""


def main(args: Args) -> None:
    """Write the file, and say what is in it."""
    plan = None if args.sweep is None else make_plan(read_sweep(args.sweep)).manifest()
    if args.only_planned and plan is None:
        raise SystemExit("--only-planned needs --sweep FILE, which says what is planned.")
    made = publish(args.folders, args.name, args.out, plan=plan, only_planned=args.only_planned)
    rows = {(run.env, run.group, run.method) for run in made.manifest.runs}
    print(f"{args.name}: {len(made.done)} of {len(made.manifest.runs)} planned runs, {count(len(rows), 'row')}.")
    where = args.name if args.out is None else args.out / f"{args.name}.csv"
    print(f"Next: morl-blocks table --results {where}")


def publish(
    stores: Iterable[str | Path | Store],
    name: str,
    out: str | Path | None = None,
    *,
    plan: Manifest | None = None,
    only_planned: bool = False,
) -> Dataset:
    """Make a dataset from result stores, or add their runs to the one of this name.

    Finished runs become lines. Runs that were planned and are not finished stay planned, so that tables count them as
    missing. A run that is there twice is taken once when its numbers are the same, to :data:`DIGITS` digits, and is
    refused otherwise; so are stores with other bounds, settings or recipes. Nothing is written then.

    Args:
        stores: Result stores, or their folders.
        name: Name of the dataset.
        out: Folder of its file; by default the package's own.
        plan: What the table shall hold in the end, where the stores are parts of it.
        only_planned: Leave the runs of the stores that are not in the plan.

    Returns:
        The dataset, as written. What does not fit raises :class:`~morl_recipes.store.StoreError`.
    """
    check_run_id(name, "name")
    path = (folder() if out is None else Path(out)) / f"{name}.csv"
    parts = [(str(path), read_dataset(path))] if path.exists() else []
    opened = [Store.open(store) for store in stores]
    found = [(str(store.path), of_store(store, name)) for store in opened]
    if only_planned and plan is not None:
        found = [(where, part_of(dataset, plan)) for where, dataset in found]
    parts += found
    parts += [] if plan is None else [("the plan", Dataset(name, plan, pd.DataFrame(columns=run_columns(0))))]
    if not parts:
        raise ValueError("`stores` must name at least one result store, got none.")
    merged = merge(parts, name)
    if merged.done.empty:
        raise StoreError(f"{parts[0][0]}: no finished run yet. Nothing was written.")
    with atomic_files.staged(path) as temporary:
        temporary.write_text(to_text(merged), encoding="utf-8", newline="\n")
    _keep_curves(path, opened)
    return read_dataset(path)


def _keep_curves(path: Path, stores: Iterable[Store]) -> None:
    """Add the validations of the stores' runs to the curves of a table."""
    where, lines = curves.curves_path(path), dict[str, list[str]]()
    for store in stores:
        lines |= curves.of_store(store)
    curves.write_lines(where, lines | curves.read_lines(where), read_dataset(path))


def of_store(store: Store, name: str) -> Dataset:
    """Return the finished and the failed runs of a store as a dataset; a damaged run raises."""
    runs = load_runs(store)
    found = [(store.read(run_id), store.path / RUNS / run_id / "run.json") for run_id in runs["run_id"]]
    rows = [origin(fields, store.manifest.created, path.stat().st_mtime) for fields, path in found]
    origins = pd.DataFrame(rows, columns=list(ORIGIN))
    return Dataset(name, store.manifest, pd.concat([runs, origins], axis="columns"))


def part_of(dataset: Dataset, plan: Manifest) -> Dataset:
    """Return the runs of a dataset that are planned, with the environments that these have."""
    cells = {cell_of(run) for run in plan.runs}
    kept = tuple(run for run in dataset.manifest.runs if cell_of(run) in cells)
    envs = {run.env for run in kept}
    known = {env: info for env, info in dataset.manifest.environments.items() if env in envs}
    inside = [cell in cells for cell in cells_of(dataset.runs)]
    runs = dataset.runs[inside].reset_index(drop=True)
    return Dataset(dataset.name, replace(dataset.manifest, runs=kept, environments=known), runs)


def merge(parts: Iterable[tuple[str, Dataset]], name: str) -> Dataset:
    """Join datasets of one table.

    Args:
        parts: Where each comes from, for errors, and the dataset.
        name: Name of the whole.
    """
    (first, whole), *others = everything = list(parts)
    for where, part in others:
        _require_same(first, whole.manifest, where, part.manifest)
    planned = _planned(everything)
    environments = {env: info for _, part in everything for env, info in part.manifest.environments.items()}
    objectives = max(len(info.objectives) for info in environments.values())
    runs = pd.concat([part.runs for _, part in everything if len(part.runs)] or [whole.runs], ignore_index=True)
    runs = runs.reindex(columns=[*run_columns(objectives), *ORIGIN])
    runs = _once(runs, [where for where, part in everything for _ in range(len(part.runs))])
    cells = cells_of(runs)
    known = dict(zip(cells, runs["run_id"], strict=True))
    ordered = in_order(planned.values())
    place = {cell_of(run): number for number, run in enumerate(ordered)}
    order = sorted(range(len(runs)), key=lambda row: place[cells[row]])
    manifest = replace(
        whole.manifest,
        environments=environments,
        runs=tuple(replace(run, run_id=known.get(cell_of(run), run.run_id)) for run in ordered),
        training={key: value for key, value in whole.manifest.training.items() if key not in VARIABLE},
    )
    return Dataset(name, manifest, runs.iloc[order].reset_index(drop=True))


def _require_same(first: str, ours: Manifest, where: str, theirs: Manifest) -> None:
    """Refuse other bounds or objectives of an environment, and other settings."""
    for env in ours.environments.keys() & theirs.environments.keys():
        if ours.environments[env] != theirs.environments[env]:
            _refuse(where, f"{env} has other objectives or bounds than in {first}")
    for key in sorted((ours.training.keys() | theirs.training.keys()) - {*VARIABLE}):
        mine, other = ours.training.get(key), theirs.training.get(key)
        if mine != other:
            _refuse(where, f"trained with {key} {other} instead of {mine} in {first}")


def _planned(parts: Iterable[tuple[str, Dataset]]) -> dict[Cell, Run]:
    """Return every run that was planned, once; the same row of two sweeps must be the same."""
    rows: dict[tuple[str, str, str], tuple[str, Mapping[str, Any]]] = {}
    found: dict[Cell, Run] = {}
    steps: dict[str, tuple[str, int]] = {}
    for where, part in parts:
        for run in part.manifest.runs:
            fields = row_of(run)
            before, known = rows.setdefault((run.env, run.group, run.method), (where, fields))
            for key in (key for key in ROW if fields[key] != known[key]):
                words = f"{fields[key]} steps, and {known[key]} in" if key == "steps" else f"another {key} than in"
                _refuse(where, f"{run.env}, {run.group}/{run.method} has {words} {before}")
            before, count = steps.setdefault(run.env, (where, run.steps))
            if count != run.steps:
                _refuse(where, f"{run.env} was trained for {run.steps} steps, in {before} for {count}")
            found.setdefault(cell_of(run), run)
    return found


def row_of(run: Run) -> dict[str, Any]:
    """Return what the runs of one row share, with the recipe as JSON."""
    fields = run.to_dict()
    return {key: fields[key] for key in ROW}


def _once(runs: pd.DataFrame, origins: list[str]) -> pd.DataFrame:
    """Keep each run once, a finished one before a failed one; two finished ones must have the same numbers."""
    chosen: dict[Cell, int] = {}
    numbers = runs[[name for name in runs.columns if name not in UNMATCHED]].to_dict("records")
    done = (runs["status"] == "done").tolist()
    for row, key in enumerate(cells_of(runs)):
        before = chosen.setdefault(key, row)
        if done[row] and not done[before]:
            chosen[key] = row
        elif done[row] and row != before:
            apart = [name for name in numbers[row] if cell(numbers[row][name]) != cell(numbers[before][name])]
            if apart:
                both = " and ".join(cell(numbers[one][apart[0]]) or "nothing" for one in (row, before))
                what = f"{runs['run_id'].iloc[row]} is in {origins[before]} with other numbers ({apart[0]}: {both})"
                _refuse(origins[row], what)
    return runs.iloc[sorted(chosen.values())].reset_index(drop=True)


def _refuse(where: str, what: str) -> None:
    raise StoreError(f"{where}: {what}. Publish it under another name; nothing was written.")


def to_text(dataset: Dataset) -> str:
    """Write a dataset: comments with what was planned, then one line per finished run."""
    failed = dataset.runs.loc[dataset.runs["status"] == "failed", FAILED].to_dict("records")
    head: dict[str, Any] = {"schema": SCHEMA, "name": dataset.name, **compact(dataset.manifest), "failed": failed}
    rows = head.pop("rows")
    body = "".join(f"# {to_json(row)}\n" for row in rows) + to_csv(dataset.done)
    head = as_json(head)
    return f"# {to_json({'digest': digest((to_json(head) + body).encode()), **head})}\n{body}"


def compact(manifest: Manifest) -> dict[str, Any]:
    """Return a manifest as JSON with one entry per row: its recipe, and its seeds by preference."""
    rows: dict[tuple[str, str, str], dict[str, Any]] = {}
    for run in manifest.runs:
        entry = rows.setdefault((run.env, run.group, run.method), row_of(run) | {"seeds": {}})
        entry["seeds"].setdefault(run.preference, []).append(run.seed)
    listed = [{**row, "seeds": list(row["seeds"].items())} for row in rows.values()]
    fields: dict[str, Any] = as_json(
        {
            "environments": {name: vars(info) for name, info in manifest.environments.items()},
            "training": manifest.training,
            "versions": manifest.versions,
            "rows": listed,
        }
    )
    return fields


def in_order(runs: Iterable[Run]) -> list[Run]:
    """Sort runs as ``ROWS`` does, whatever the order of the sweeps: the same runs make the same file.

    Rows of a user come last. Preferences keep the order in which they were planned.
    """
    runs = list(runs)
    groups = list(ROWS)
    methods = {group: list(map(paper.method_name, rows)) for group, rows in ROWS.items()}
    weights = {weight: place for place, weight in enumerate(dict.fromkeys(run.preference for run in runs))}

    def key(run: Run) -> tuple[Any, ...]:
        known = methods.get(run.group, [])
        group = groups.index(run.group) if run.group in groups else len(groups)
        method = known.index(run.method) if run.method in known else len(known)
        return run.env, group, run.group, method, run.method, weights[run.preference], run.seed

    return sorted(runs, key=key)


def cell_of(run: Run) -> Cell:
    """Return which cell of the tables a run fills."""
    return run.env, run.group, run.method, run.preference, run.seed


def to_csv(frame: pd.DataFrame) -> str:
    """Write one line per run.

    Args:
        frame: The frame of :func:`morl_recipes.store.load_runs` with the columns :data:`ORIGIN`, of runs that are done.
    """
    text = io.StringIO()
    names = [name for name in frame.columns if name not in ALWAYS]
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names)
    for row in frame[names].to_dict("records"):
        writer.writerow([cell(value) for value in row.values()])
    return text.getvalue()


def cell(value: object) -> str:
    """Write one value: weights with all their digits, other numbers with :data:`DIGITS`, nothing for NaN.

    Example:
        >>> cell((0.1, 1 / 3)), cell(0.123456789012), cell(float("nan")), cell(7)
        ('0.1 0.3333333333333333', '0.123456789', '', '7')
    """
    if isinstance(value, tuple):
        return " ".join(map(repr, value))
    if isinstance(value, float):
        return "" if math.isnan(value) else f"{value:.{DIGITS}g}"
    return str(value)


def origin(fields: Mapping[str, Any], created: str, written: float) -> dict[str, Any]:
    """Say of a stored run how long it took and what trained it; NaN or nothing where that is not known.

    Args:
        fields: The fields of its ``run.json``.
        created: When its sweep began, ISO 8601.
        written: When its file was written, in seconds since 1970.

    Example:
        >>> origin({"versions": {"torch": "2.13.0"}}, "1970-01-01T00:01:00+00:00", 100.0)
        {'seconds': 40.0, 'version': '', 'torch': '2.13.0', 'commit': ''}
    """
    versions = fields.get("versions", {})
    try:
        seconds = round(written - datetime.fromisoformat(created).timestamp(), 1)
    except ValueError:
        seconds = math.nan
    return {
        "seconds": seconds if seconds >= 0 else math.nan,
        "version": versions.get("morl-blocks", ""),
        "torch": versions.get("torch", ""),
        "commit": versions.get("commit", ""),
    }


if __name__ == "__main__":
    main(tyro.cli(Args))
