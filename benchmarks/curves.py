"""Learning curves of published runs: the validations of each run, one line per run, in a file beside the table.

``benchmarks/publish.py`` writes them, because stores are not kept for ever. The curves of the package's own tables are
in ``benchmarks/results/curves``, those of any other ``FOLDER/NAME.csv`` in ``FOLDER/curves/NAME.csv``. Nothing of the
package reads them.
"""

import csv
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from morl_recipes.analysis.datasets import Dataset, find_dataset, folder
from morl_recipes.common import atomic_files, scores
from morl_recipes.common.errors import StoreError
from morl_recipes.store.frames import load_both
from morl_recipes.store.store import Store

RESULTS = Path(__file__).parent / "results"
DIGITS = 6
"""Digits of a mean return: more than the noise of a validation leaves."""
KEYS = ("run_id", "group", "method", "env", "preference", "seed")
Lines = dict[str, list[str]]
"""The cells of each run behind its id: steps, then the mean returns of each objective, separated by blanks."""


def curves_path(table: Path) -> Path:
    """Return where the curves of a table are, given the path of its file."""
    where = RESULTS if table.parent.resolve() == folder().resolve() else table.parent
    return where / "curves" / table.name


def of_store(store: Store) -> Lines:
    """Return the validations of every run of a store that has a history."""
    names = [f"return_{i}" for i in range(store.manifest.most_objectives)]
    _, history = load_both(store, names)
    lines: Lines = {}
    for run_id, run in history.groupby("run_id", observed=True):
        points = run[run[names[0]].notna()]
        returns = [points[name] for name in names if name in points and points[name].notna().all()]
        if len(points):
            cells = [" ".join(f"{value:.{DIGITS}g}" for value in column) for column in returns]
            lines[str(run_id)] = [" ".join(map(str, points["steps"])), *cells]
    return lines


def read_lines(path: Path) -> Lines:
    """Read a file of curves; without one there are none."""
    if not path.exists():
        return {}
    with path.open(encoding="utf-8", newline="") as file:
        _, *rows = csv.reader(file)
    found = {row[0]: [cell for cell in row[1:] if cell] for row in rows}
    for run_id, cells in found.items():
        if len(cells) < 2 or len({len(cell.split()) for cell in cells}) != 1:
            raise StoreError(f"{path}: the line of {run_id} has no steps, or not as many returns. Restore it.")
    return found


def write_lines(path: Path, lines: Mapping[str, list[str]], dataset: Dataset) -> None:
    """Write the curves of the runs of a dataset, in its order; nothing is written where no run has any."""
    kept = [[run_id, *lines[run_id]] for run_id in dataset.done["run_id"] if run_id in lines]
    if not kept:
        return
    objectives = max(map(len, kept)) - 2
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_files.staged(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["run_id", "steps", *(f"return_{i}" for i in range(objectives))])
        writer.writerows([*row, *[""] * (objectives + 2 - len(row))] for row in kept)


def learning_curves(dataset: str | Path | Dataset, path: Path | None = None) -> pd.DataFrame:
    """Return the validations of a published table, one row per run and validation.

    Args:
        dataset: Name of a table, the path of its file, or the dataset itself.
        path: File of the curves; by default where :func:`curves_path` says, for a dataset that of the package's table.

    Returns:
        ``run_id, group, method, env, preference, seed, steps, hv, eu, return_0, ...`` of the runs that have a curve.
        Runs that were published without one have no rows.
    """
    if not isinstance(dataset, Dataset):
        table = Path(dataset)
        path = path or curves_path(table if table.suffix == ".csv" else folder() / f"{dataset}.csv")
        dataset = find_dataset(dataset)
    lines = read_lines(path or curves_path(folder() / f"{dataset.name}.csv"))
    count = dataset.manifest.most_objectives
    columns = [*KEYS, "steps", *scores.names(), *(f"return_{i}" for i in range(count))]
    frames = []
    for run in dataset.done[[*KEYS]].to_dict("records"):
        if run["run_id"] not in lines:
            continue
        steps, *returns = ([float(number) for number in cell.split()] for cell in lines[run["run_id"]])
        points, weights = np.array(returns).T, np.array(run["preference"])
        bounds = dataset.manifest.environments[run["env"]].bounds
        judged = {score.name: scores.judge(score, points, weights, bounds) for score in scores.SCORES}
        fixed = {str(key): [value] * len(points) for key, value in run.items()}
        values = {f"return_{i}": column for i, column in enumerate(points.T)}
        frames.append(pd.DataFrame(fixed | {"steps": np.array(steps, dtype=int)} | judged | values))
    return pd.concat(frames, ignore_index=True).reindex(columns=columns) if frames else pd.DataFrame(columns=columns)
