"""From result stores to a dataset: finished runs alone, each once, and a file that is written whole."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from morl_recipes.analysis.datasets.dataset import Dataset, folder, read_dataset
from morl_recipes.analysis.datasets.lines import ALWAYS, ORIGIN, cell, origin
from morl_recipes.analysis.datasets.plan import ROW, Cell, cell_of, cells_of, in_order
from morl_recipes.common import atomic_files
from morl_recipes.common.errors import StoreError
from morl_recipes.store.frames import load_runs, run_columns
from morl_recipes.store.manifest import Manifest, PlannedRun, check_run_id
from morl_recipes.store.store import RUNS, Store

VARIABLE = ("compile", "update", "total_steps")
"""Settings in which stores may differ: two change the last digits of a run at most, the steps stand in every row."""
UNMATCHED = ("run_id", *ALWAYS, *ORIGIN)
"""Columns in which two records of the same run may differ."""


def publish(
    stores: Iterable[str | Path | Store], name: str, out: str | Path | None = None, *, plan: Manifest | None = None
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

    Returns:
        The dataset, as written. What does not fit raises :class:`~morl_recipes.store.StoreError`.
    """
    check_run_id(name, "name")
    path = (folder() if out is None else Path(out)) / f"{name}.csv"
    parts = [(str(path), read_dataset(path))] if path.exists() else []
    parts += [(str(store.path), of_store(store, name)) for store in map(Store.open, stores)]
    parts += [] if plan is None else [("the plan", Dataset(name, plan, pd.DataFrame(columns=run_columns(0))))]
    if not parts:
        raise ValueError("`stores` must name at least one result store, got none.")
    merged = merge(parts, name)
    if merged.done.empty:
        raise StoreError(f"{parts[0][0]}: no finished run yet. Nothing was written.")
    with atomic_files.staged(path) as temporary:
        temporary.write_text(merged.to_text(), encoding="utf-8", newline="\n")
    return read_dataset(path)


def of_store(store: Store, name: str) -> Dataset:
    """Return the finished and the failed runs of a store as a dataset; a damaged run raises."""
    runs = load_runs(store)
    found = [(store.read(run_id), store.path / RUNS / run_id / "run.json") for run_id in runs["run_id"]]
    rows = [origin(fields, store.manifest.created, path.stat().st_mtime) for fields, path in found]
    origins = pd.DataFrame(rows, columns=list(ORIGIN))
    return Dataset(name, store.manifest, pd.concat([runs, origins], axis="columns"))


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


def _planned(parts: Iterable[tuple[str, Dataset]]) -> dict[Cell, PlannedRun]:
    """Return every run that was planned, once; the same row of two sweeps must be the same."""
    rows: dict[tuple[str, str, str], tuple[str, Mapping[str, Any]]] = {}
    found: dict[Cell, PlannedRun] = {}
    steps: dict[str, tuple[str, int]] = {}
    for where, part in parts:
        for run in part.manifest.runs:
            fields = {key: getattr(run, key) for key in ROW}
            before, known = rows.setdefault((run.env, run.group, run.method), (where, fields))
            for key in (key for key in ROW if fields[key] != known[key]):
                words = f"{fields[key]} steps, and {known[key]} in" if key == "steps" else f"another {key} than in"
                _refuse(where, f"{run.env}, {run.group}/{run.method} has {words} {before}")
            before, count = steps.setdefault(run.env, (where, run.steps))
            if count != run.steps:
                _refuse(where, f"{run.env} was trained for {run.steps} steps, in {before} for {count}")
            found.setdefault(cell_of(run), run)
    return found


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
