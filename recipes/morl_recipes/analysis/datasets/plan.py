"""What was planned, one entry per row instead of one per run, and back."""

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

import pandas as pd

from morl_recipes.recipe import paper
from morl_recipes.recipe.rows import ROWS
from morl_recipes.store.files import plain
from morl_recipes.store.manifest import Manifest, PlannedRun, env_info, make_run_id

Cell: TypeAlias = tuple[str, str, str, tuple[float, ...], int]
"""What a run is in a table: environment, group, method, preference and seed."""
ROW = ("env", "group", "method", "steps", "plugin", "recipe")


def cell_of(run: PlannedRun) -> Cell:
    """Return which cell of the tables a run fills."""
    return run.env, run.group, run.method, run.preference, run.seed


def cells_of(runs: pd.DataFrame) -> list[Cell]:
    """Return the cells of the runs of a frame."""
    return list(zip(*(runs[key] for key in ("env", "group", "method", "preference", "seed")), strict=True))


def compact(manifest: Manifest) -> dict[str, Any]:
    """Return a manifest as JSON with one entry per row: its recipe, and its seeds by preference."""
    rows: dict[tuple[str, str, str], dict[str, Any]] = {}
    for run in manifest.runs:
        new = {key: getattr(run, key) for key in ROW} | {"seeds": {}}
        entry = rows.setdefault((run.env, run.group, run.method), new)
        entry["seeds"].setdefault(run.preference, []).append(run.seed)
    listed = [{**row, "seeds": list(row["seeds"].items())} for row in rows.values()]
    fields: dict[str, Any] = plain(
        {
            "environments": {name: vars(info) for name, info in manifest.environments.items()},
            "training": manifest.training,
            "versions": manifest.versions,
            "rows": listed,
        }
    )
    return fields


def expand(fields: Mapping[str, Any], known: Mapping[Cell, str]) -> Manifest:
    """Rebuild the manifest from :func:`compact`.

    Args:
        fields: What :func:`compact` returned.
        known: The ids of the runs that are there, by cell; the others get one that follows from what they are.
    """
    runs = []
    for row in fields["rows"]:
        for weights, seeds in row["seeds"]:
            for seed in seeds:
                cell: Cell = (row["env"], row["group"], row["method"], tuple(weights), seed)
                name = known.get(cell) or make_run_id(*cell, row["recipe"])
                identity = (name, row["group"], row["method"], row["env"], tuple(weights), seed)
                runs.append(PlannedRun(*identity, row["steps"], row["recipe"], row["plugin"]))
    return Manifest(
        command=f"morl-blocks publish --name {fields['name']}",
        environments={name: env_info(info) for name, info in fields["environments"].items()},
        runs=tuple(runs),
        versions=fields["versions"],
        machine={},
        created="",
        training=fields["training"],
    )


def in_order(runs: Iterable[PlannedRun]) -> list[PlannedRun]:
    """Sort runs as ``ROWS`` does, whatever the order of the sweeps: the same runs make the same file.

    Rows of a user come last. Preferences keep the order in which they were planned.
    """
    runs = list(runs)
    groups = list(ROWS)
    methods = {group: list(map(paper.method_name, rows)) for group, rows in ROWS.items()}
    weights = {weight: place for place, weight in enumerate(dict.fromkeys(run.preference for run in runs))}

    def key(run: PlannedRun) -> tuple[Any, ...]:
        known = methods.get(run.group, [])
        group = groups.index(run.group) if run.group in groups else len(groups)
        method = known.index(run.method) if run.method in known else len(known)
        return run.env, group, run.group, method, run.method, weights[run.preference], run.seed

    return sorted(runs, key=key)
