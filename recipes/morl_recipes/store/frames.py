"""Read a whole store as two tidy frames, of pandas or of polars."""

import math
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args, overload

import numpy as np
import pandas as pd

from morl_recipes.common import checks, scores
from morl_recipes.common.errors import StoreError
from morl_recipes.recipe.run import IDENTITY
from morl_recipes.store.histories import History, read_history, stacked
from morl_recipes.store.record import RunRecord, at_point
from morl_recipes.store.shapes import POLICY, TEST_POINTS
from morl_recipes.store.store import Store
from morl_recipes.store.tests import read_tests

if TYPE_CHECKING:
    import polars as pl

FrameKind: TypeAlias = Literal["pandas", "polars"]
Damaged: TypeAlias = Literal["raise", "mark"]

KEYS = list(IDENTITY)
_TEXT, _WHOLE = ("run_id", "group", "method", "env", "status", "reason"), ("seed", "iteration", "steps")


def _number(value: float | None) -> float:
    """JSON has no NaN, so it was written as null."""
    return math.nan if value is None else float(value)


def _row(fields: Mapping[str, Any], objectives: int) -> dict[str, Any]:
    """Flatten one ``run.json`` with its tests; objectives that the environment does not have are NaN."""
    row = {key: fields[key] for key in (*KEYS, "status", "reason", "steps")}
    row["preference"] = tuple(fields["preference"])
    for name in ("peak", "final"):
        point = fields[name] or {"returns": []}
        row |= {f"{name}_{key}": _number(point.get(key)) for key in ("steps", *scores.names())}
        returns = [*point["returns"], *[None] * (objectives - len(point["returns"]))]
        row |= {f"{name}_{i}": _number(value) for i, value in enumerate(returns)}
    for name in TEST_POINTS:
        point = fields.get(name) or {}
        known = {key: value for key, value in point.items() if key not in ("returns", "returns_se")}
        for suffix in ("", "_se"):
            known |= {f"{i}{suffix}": value for i, value in enumerate(point.get(f"returns{suffix}", ()))}
        row |= {f"{name}_{key}": _number(known.get(key)) for key in _test_keys(objectives)}
    return row


def _test_keys(objectives: int) -> list[str]:
    """Columns of a test: its episodes, then scores and returns with their standard errors."""
    numbers = [*scores.names(), *map(str, range(objectives))]
    return ["episodes", *(f"{key}{suffix}" for suffix in ("", "_se") for key in numbers)]


def run_columns(objectives: int) -> list[str]:
    """Return the columns of :func:`load_runs`, also when there are no runs."""
    nothing: dict[str, Any] = dict.fromkeys((*KEYS, "status", "reason", "steps", "peak", "final"))
    return list(_row({**nothing, "preference": ()}, objectives))


@overload
def load_runs(store: str | Path | Store, *, frame: Literal["pandas"] = ..., damaged: Damaged = ...) -> pd.DataFrame: ...
@overload
def load_runs(store: str | Path | Store, *, frame: Literal["polars"], damaged: Damaged = ...) -> "pl.DataFrame": ...
def load_runs(
    store: str | Path | Store, *, frame: FrameKind = "pandas", damaged: Damaged = "raise"
) -> "pd.DataFrame | pl.DataFrame":
    """Read one row per run, done or failed.

    Args:
        store: A store or its folder.
        frame: ``"pandas"``, or ``"polars"`` (extra ``polars``).
        damaged: ``"raise"`` an error for the first damaged run, or ``"mark"`` it: a row with status ``damaged``, no
            numbers, and the problem as its reason.

    Returns:
        ``run_id, group, method, env, preference`` (a tuple; a list in polars), ``seed, status, reason, steps``, then
        for the best and the last validation point ``peak_steps, peak_hv, peak_eu, peak_0, ...`` and ``final_...``,
        then for the same policies on fresh episodes ``test_peak_episodes, test_peak_hv, ..., test_peak_hv_se, ...`` and
        ``test_final_...``, where ``_se`` is a standard error over episodes.
        Numbers that a run does not have are NaN. An empty store gives an empty frame with the same columns.
    """
    as_asked = _converter(frame)
    return as_asked(_Reading(Store.open(store), damaged).read(runs=True).runs())


@overload
def load_history(
    store: str | Path | Store, *, frame: Literal["pandas"] = ..., damaged: Damaged = ...
) -> pd.DataFrame: ...
@overload
def load_history(store: str | Path | Store, *, frame: Literal["polars"], damaged: Damaged = ...) -> "pl.DataFrame": ...
def load_history(
    store: str | Path | Store, *, frame: FrameKind = "pandas", damaged: Damaged = "raise"
) -> "pd.DataFrame | pl.DataFrame":
    """Read the histories of all runs, one row per run and iteration.

    Args:
        store: A store or its folder.
        frame: ``"pandas"``, or ``"polars"`` (extra ``polars``).
        damaged: ``"raise"`` an error for the first damaged run, or ``"mark"`` it: it has no rows, and
            ``attrs["damaged"]`` of the pandas frame describes the problem, by run id.

    Returns:
        ``run_id, group, method, env, preference, seed`` and the columns of the histories. A column that a run does not
        have is NaN for it.
    """
    as_asked = _converter(frame)
    return as_asked(_Reading(Store.open(store), damaged).read(histories=True).histories(KEYS))


def load_both(store: Store, columns: Sequence[str] | None) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Read the runs and some columns of their histories (``None``: all) in one pass; damaged runs are marked.

    If columns are given, those that no run has are left out; the run id is a category, and no other name is included.
    """
    reading = _Reading(store, "mark", None if columns is None else frozenset(columns)).read(runs=True, histories=True)
    return reading.runs(), reading.histories(KEYS if columns is None else ["run_id"])


class _Reading:
    """One pass over the runs of a store; ``columns`` are the history columns to keep, ``None`` for all."""

    def __init__(self, store: Store, damaged: Damaged, columns: frozenset[str] | None = None) -> None:
        checks.one_of("damaged", damaged, get_args(Damaged))
        self._store, self._damaged, self._columns = store, damaged, columns
        self._rows, self._histories, self._keys = list[dict[str, Any]](), list[History](), list[list[Any]]()
        self._problems = dict[str, str]()

    def read(self, *, runs: bool = False, histories: bool = False) -> "_Reading":
        """Read every run, with tests that were written later, or its history."""
        objectives = self._store.manifest.most_objectives
        planned = {run.run_id: run for run in self._store.manifest.runs}
        for run_id, fields in self._store.records():
            try:
                if isinstance(fields, StoreError):
                    raise fields
                row = _row(fields | read_tests(self._store, fields), objectives) if runs else {}
                if histories:
                    self._histories.append(read_history(self._store, fields, self._columns))
                    self._keys.append([*(fields[key] for key in KEYS[:4]), tuple(fields["preference"]), fields["seed"]])
            except StoreError as problem:
                if self._damaged == "raise":
                    raise
                self._problems[run_id] = str(problem)
                identity = {key: getattr(planned[run_id], key) for key in KEYS}
                wrong = {"status": "damaged", "reason": str(problem), "steps": 0, "peak": None, "final": None}
                row = _row({**identity, **wrong}, objectives)
            self._rows.append(row)
        return self

    def runs(self) -> pd.DataFrame:
        """Return one row per run."""
        return pd.DataFrame(self._rows, columns=run_columns(self._store.manifest.most_objectives))

    def histories(self, keys: list[str]) -> pd.DataFrame:
        """Return one row per run and iteration, starting with some of the keys."""
        table = pd.DataFrame(columns=[*keys, "iteration", "steps"])
        if self._keys:
            owner = np.repeat(np.arange(len(self._keys)), [len(one.numbers) for one in self._histories])
            identity = pd.DataFrame(self._keys, columns=KEYS)[keys]
            if self._columns is not None:  # store each name once, not once per row
                identity = identity.astype("category")
            whose = {key: identity[key].take(owner).array for key in keys}
            table = pd.DataFrame(whose | stacked(self._histories), copy=False)
        table.attrs["damaged"] = self._problems
        return table


def load_record(store: Store, run_id: str) -> RunRecord:
    """Return a run as it was written, including its policies."""
    fields = store.read(run_id)
    bare = POLICY not in fields["files"]  # the run failed before it had a policy
    tensors = {} if bare else store.policy(run_id)
    kept = {key: fields[key] for key in (*KEYS, "status", "reason", "steps", "recipe")}
    kept |= {name: _point(fields[name]) for name in ("peak", "final")}
    kept |= {"preference": tuple(fields["preference"]), "versions": fields.get("versions", {})}
    return RunRecord(
        **kept,
        **read_tests(store, fields),
        history=pd.DataFrame(stacked([read_history(store, fields)])),
        policy=at_point(tensors, "final") or tensors,  # if there is no best policy, the last one has no prefix
        peak_policy=at_point(tensors, "peak"),
    )


def _point(fields: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Restore a validation point: JSON has lists for tuples and null for NaN."""
    if fields is None:
        return None
    return {
        key: tuple(map(_number, value)) if key == "returns" else _number(value) if key in scores.names() else value
        for key, value in fields.items()
    }


def _converter(frame: FrameKind) -> "Callable[[pd.DataFrame], pd.DataFrame | pl.DataFrame]":
    """Return the conversion from pandas; a missing package is reported before anything is read."""
    checks.one_of("frame", frame, get_args(FrameKind))
    if frame == "pandas":
        return lambda table: table
    try:
        polars = import_module("polars")
    except ImportError as error:
        raise ImportError("Polars frames need the polars extra: pip install 'morl-blocks[polars]'.") from error
    return lambda table: _to_polars(polars, table)


def _to_polars(polars: Any, table: pd.DataFrame) -> "pl.DataFrame":
    """Convert column by column, so that Arrow is not needed and an empty frame has the types of a full one."""
    types = {"preference": polars.List(polars.Float64), **dict.fromkeys(_WHOLE, polars.Int64)}
    types |= dict.fromkeys(_TEXT, polars.String)
    columns = {str(name): [list(v) if isinstance(v, tuple) else v for v in table[name]] for name in table.columns}
    made: pl.DataFrame = polars.DataFrame(columns, schema={name: types.get(name, polars.Float64) for name in columns})
    return made
