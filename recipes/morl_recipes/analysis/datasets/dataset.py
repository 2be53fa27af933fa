"""A published table: what was planned, and one line per finished run, in one file that is whole or not there."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any, overload

import pandas as pd

from morl_recipes.analysis.datasets.lines import from_csv, to_csv
from morl_recipes.analysis.datasets.plan import cells_of, compact, expand
from morl_recipes.common import checks
from morl_recipes.common.errors import StoreError
from morl_recipes.common.naming import unknown
from morl_recipes.recipe.identity import IDENTITY
from morl_recipes.store.files import LARGEST_JSON, digest, plain, read_bytes
from morl_recipes.store.manifest import Manifest

SCHEMA = 1
"""Version of the file's layout; readers refuse any other."""
FOLDER = "results"
FAILED = [*IDENTITY, "reason", "steps"]
ADVICE = "Restore it from a copy, or make it again with `morl-blocks publish`."


@dataclass(frozen=True)
class Dataset:
    """A table of runs that were trained, without their policies and histories.

    Attributes:
        name: What it is called.
        manifest: What the sweeps set out to do, with every run that was planned.
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

    def to_text(self) -> str:
        """Write the dataset: comments with what was planned, then one line per finished run.

        ``pandas.read_csv(path, comment="#")`` reads the lines.
        """
        failed = self.runs.loc[self.runs["status"] == "failed", FAILED].to_dict("records")
        head: dict[str, Any] = {"schema": SCHEMA, "name": self.name, **compact(self.manifest), "failed": failed}
        rows = head.pop("rows")
        body = "".join(f"# {_json(row)}\n" for row in rows) + to_csv(self.done)
        head = plain(head)
        return f"# {_json({'digest': digest((_json(head) + body).encode()), **head})}\n{body}"

    @classmethod
    def from_text(cls, text: str, where: str) -> "Dataset":
        """Read what :meth:`to_text` wrote; anything else raises :class:`~morl_recipes.store.StoreError`."""
        first, _, body = text.partition("\n")
        try:
            head = json.loads(first.removeprefix("# "))
            mark, schema = head.pop("digest"), head["schema"]
        except (ValueError, KeyError, AttributeError, TypeError):
            raise StoreError(f"{where}: not a file of published results (its first line says nothing).") from None
        if schema != SCHEMA:
            raise StoreError(f"{where}: has layout {str(schema)[:20]}, this version of morl-blocks reads {SCHEMA}.")
        if digest((_json(head) + body).encode()) != mark:
            raise StoreError(f"{where}: damaged (its digest does not match). {ADVICE}")
        try:
            return cls._rebuild(head, body)
        except (AttributeError, KeyError, TypeError, ValueError, OverflowError) as error:
            raise StoreError(f"{where}: damaged ({error}). {ADVICE}") from error

    @classmethod
    def _rebuild(cls, head: Mapping[str, Any], body: str) -> "Dataset":
        lines = body.splitlines(keepends=True)
        count = next((i for i, line in enumerate(lines) if not line.startswith("# ")), len(lines))
        rows = [json.loads(line.removeprefix("# ")) for line in lines[:count]]
        runs = from_csv("".join(lines[count:]))
        if head["failed"]:
            failed = [{**run, "preference": tuple(run["preference"]), "status": "failed"} for run in head["failed"]]
            runs = pd.concat([runs, pd.DataFrame(failed)], ignore_index=True)
        manifest = expand({**head, "rows": rows}, dict(zip(cells_of(runs), runs["run_id"], strict=True)))
        return cls(head["name"], manifest, runs)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(", ", ": "))


def folder() -> Path:
    """Return the folder of the package's own datasets."""
    return Path(str(resources.files("morl_recipes") / "data" / FOLDER))


def names() -> list[str]:
    """Return the names of the datasets that come with the package."""
    return sorted(path.stem for path in folder().glob("*.csv"))


def read_dataset(path: str | Path) -> Dataset:
    """Read a dataset from its file; a damaged or foreign one raises :class:`~morl_recipes.store.StoreError`."""
    path = Path(path)
    content = read_bytes(path, LARGEST_JSON, ADVICE)
    try:
        return Dataset.from_text(content.decode(), str(path))
    except UnicodeDecodeError as error:
        raise StoreError(f"{path}: damaged (no text). {ADVICE}") from error


def find_dataset(name: str | Path) -> Dataset:
    """Return a dataset of the package by its name, or one of your own by the path of its file.

    Args:
        name: Such as ``"stealth-200k"`` or ``"mine/sweep.csv"``.
    """
    if not isinstance(name, str | Path):
        checks.fail("name", "be a name or a path", repr(name))
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

    Args:
        name: Name of a table, or the path of a file that ``morl-blocks publish`` wrote; by default none.

    Returns:
        One row per finished run, with the columns of :func:`morl_recipes.store.load_runs` and ``seconds`` (wall time
        from the start of its sweep until it was written, with all that trained before and beside it), ``version`` (of
        morl-blocks), ``torch`` and ``commit``. Without a name, the list of names.
    """
    return names() if name is None else find_dataset(name).done
