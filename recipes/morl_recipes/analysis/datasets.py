"""Published tables: what was planned and one line per finished run, in one CSV file per table.

Read them with :func:`published`, print them with ``morl-blocks table --results NAME``. ``benchmarks/publish.py`` makes
the files.
"""

import io
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any, TypeAlias, overload

import pandas as pd

from morl_recipes.common import checks
from morl_recipes.common.errors import StoreError
from morl_recipes.common.naming import unknown
from morl_recipes.recipe.run import Run
from morl_recipes.store.files import LARGEST_JSON, digest, read_bytes
from morl_recipes.store.manifest import Manifest, env_info, make_run_id

SCHEMA = 1
"""Version of the file's layout; other versions raise an error."""
ADVICE = "Restore it from a copy."
TEXT = ("run_id", "group", "method", "env", "version", "torch", "commit")
WHOLE = ("seed", "steps")
Cell: TypeAlias = tuple[str, str, str, tuple[float, ...], int]
"""Columns that identify a run in a table: environment, group, method, preference and seed."""


@dataclass(frozen=True)
class Dataset:
    """A table of trained runs, without their policies and histories.

    Attributes:
        name: Name of the dataset.
        manifest: The plan of the sweeps, with every planned run.
        runs: The frame of :func:`morl_recipes.store.load_runs` with ``seconds, version, torch, commit``: one row per
            run that is done or has failed.
    """

    name: str
    manifest: Manifest
    runs: pd.DataFrame = field(repr=False)

    @property
    def done(self) -> pd.DataFrame:
        """Return the runs that are done."""
        return self.runs[self.runs["status"] == "done"].reset_index(drop=True)

    @classmethod
    def from_text(cls, text: str, where: str) -> "Dataset":
        """Parse the text of a file; anything else raises :class:`~morl_recipes.store.StoreError`."""
        first, _, body = text.partition("\n")
        try:
            head = json.loads(first.removeprefix("# "))
            mark, schema = head.pop("digest"), head["schema"]
        except (ValueError, KeyError, AttributeError, TypeError):
            raise StoreError(f"{where}: not a file of published results (its first line is not a header).") from None
        if schema != SCHEMA:
            raise StoreError(f"{where}: has layout {str(schema)[:20]}, this version of morl-blocks reads {SCHEMA}.")
        if digest((to_json(head) + body).encode()) != mark:
            raise StoreError(f"{where}: damaged (its digest does not match). {ADVICE}")
        try:
            lines = body.splitlines(keepends=True)
            count = next((i for i, line in enumerate(lines) if not line.startswith("# ")), len(lines))
            rows = [json.loads(line.removeprefix("# ")) for line in lines[:count]]
            runs = from_csv("".join(lines[count:]))
            if head["failed"]:
                failed = [{**run, "preference": tuple(run["preference"]), "status": "failed"} for run in head["failed"]]
                runs = pd.concat([runs, pd.DataFrame(failed)], ignore_index=True)
            return cls(head["name"], _manifest({**head, "rows": rows}, runs), runs)
        except (AttributeError, KeyError, TypeError, ValueError, OverflowError) as error:
            raise StoreError(f"{where}: damaged ({error}). {ADVICE}") from error


def to_json(value: object) -> str:
    """Write JSON in the layout of the files; the digest is computed from this text."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(", ", ": "))


def cells_of(runs: pd.DataFrame) -> list[Cell]:
    """Return the cells of the runs of a frame."""
    return list(zip(*(runs[key] for key in ("env", "group", "method", "preference", "seed")), strict=True))


def _manifest(fields: Mapping[str, Any], runs: pd.DataFrame) -> Manifest:
    """Rebuild the plan; missing runs get the id that is computed from their recipe and settings."""
    known = dict(zip(cells_of(runs), runs["run_id"], strict=True))
    planned = []
    for row in fields["rows"]:
        for weights, seeds in row["seeds"]:
            for seed in seeds:
                cell: Cell = (row["env"], row["group"], row["method"], tuple(weights), seed)
                name = known.get(cell) or make_run_id(*cell, row["recipe"])
                own = {key: row[key] for key in ("recipe", "group", "method", "env", "steps", "plugin")}
                planned.append(Run(preference=tuple(weights), seed=seed, run_id=name, **own))
    command = f"python -m benchmarks.publish --name {fields['name']}"
    environments = {name: env_info(info) for name, info in fields["environments"].items()}
    return Manifest(command, environments, tuple(planned), fields["versions"], {}, "", fields["training"])


def from_csv(text: str) -> pd.DataFrame:
    r"""Read the lines of the finished runs; columns of any other kind raise ``ValueError`` or ``KeyError``."""
    names = text.partition("\n")[0].split(",")
    read: dict[str, Callable[[str], Any]] = {name: lambda cell: float(cell or "nan") for name in names}
    read |= dict.fromkeys(TEXT, str) | dict.fromkeys(WHOLE, int)
    read["preference"] = lambda cell: tuple(map(float, cell.split()))
    frame = pd.read_csv(io.StringIO(text), converters=read, index_col=False, keep_default_na=False)
    place = names.index("steps")
    frame.insert(place, "status", "done")
    frame.insert(place + 1, "reason", "")
    return frame


def folder() -> Path:
    """Return the folder of the package's own datasets."""
    return Path(str(resources.files("morl_recipes") / "data" / "results"))


def names() -> list[str]:
    """Return the names of the datasets that come with the package."""
    return sorted(path.stem for path in folder().glob("*.csv"))


def read_dataset(path: str | Path) -> Dataset:
    """Read a dataset from its file; a damaged or foreign one raises :class:`~morl_recipes.store.StoreError`."""
    path = checks.path("name", path)
    content = read_bytes(path, LARGEST_JSON, ADVICE)
    try:
        return Dataset.from_text(content.decode(), str(path))
    except UnicodeDecodeError as error:
        raise StoreError(f"{path}: damaged (no text). {ADVICE}") from error


def find_dataset(name: str | Path) -> Dataset:
    """Return a dataset of the package by its name, or another one by the path of its file.

    Args:
        name: Such as ``"stealth-200k"`` or ``"mine/sweep.csv"``.
    """
    checks.path("name", name)
    if Path(name).suffix == ".csv":
        return read_dataset(name)
    if str(name) not in names():
        raise unknown("results", str(name), names())
    return read_dataset(folder() / f"{name}.csv")


@overload
def published(name: None = ...) -> list[str]: ...
@overload
def published(name: str) -> pd.DataFrame: ...
def published(name: str | None = None) -> "pd.DataFrame | list[str]":
    """Return one of our trained tables as a frame, or the names of all of them.

    A table may lack rows that are planned and not trained yet: ``find_dataset(name).manifest.runs`` has every run that
    is planned.

    Args:
        name: Name of a table, or the path of a file; by default none.

    Returns:
        One row per finished run, with the columns of :func:`morl_recipes.store.load_runs` and ``seconds`` (wall time
        from the start of its sweep until it was written, with all that trained before and beside it), ``version`` (of
        morl-blocks), ``torch`` and ``commit``. Without a name, the list of names.
    """
    return names() if name is None else find_dataset(name).done
