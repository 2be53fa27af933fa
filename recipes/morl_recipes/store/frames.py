"""Read a whole store as two tidy frames, of pandas or of polars."""

import math
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args, overload

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from morl_recipes.common import checks, scores
from morl_recipes.common.errors import StoreError
from morl_recipes.recipe.run import IDENTITY
from morl_recipes.store.record import RunRecord, at_point
from morl_recipes.store.run_folder import Rows, read_history, read_policy, read_tests
from morl_recipes.store.shapes import POLICY, TEST_POINTS
from morl_recipes.store.store import Store

if TYPE_CHECKING:
    import polars as pl

Source: TypeAlias = str | Path | Store
Frame: TypeAlias = "pd.DataFrame | pl.DataFrame"
FrameKind: TypeAlias = Literal["pandas", "polars"]
Damaged: TypeAlias = Literal["raise", "mark"]

KEYS = list(IDENTITY)
_TEXT, _COUNTS, _WHOLE = (*KEYS[:4], "status", "reason"), ("iteration", "steps"), ("seed", "iteration", "steps")
_POINTS = ("peak", "final")


def _number(value: float | None) -> float:
    """JSON has no NaN, so it was written as null."""
    return math.nan if value is None else float(value)


def _row(fields: Mapping[str, Any], objectives: int) -> dict[str, Any]:
    """Flatten one ``run.json`` with its tests; objectives that the environment does not have are NaN."""
    row = {key: fields[key] for key in (*KEYS, "status", "reason", "steps")}
    row["preference"] = tuple(fields["preference"])
    for name in _POINTS:
        point = fields[name] or {"returns": []}
        row |= {f"{name}_{key}": _number(point.get(key)) for key in ("steps", *scores.names())}
        returns = dict(enumerate(point["returns"]))
        row |= {f"{name}_{i}": _number(returns.get(i)) for i in range(objectives)}
    for name in TEST_POINTS:
        point = fields.get(name) or {}
        row[f"{name}_episodes"] = _number(point.get("episodes"))
        for suffix in ("", "_se"):
            row |= {f"{name}_{key}{suffix}": _number(point.get(f"{key}{suffix}")) for key in scores.names()}
            returns = dict(enumerate(point.get(f"returns{suffix}", ())))
            row |= {f"{name}_{i}{suffix}": _number(returns.get(i)) for i in range(objectives)}
    return row


def run_columns(objectives: int) -> list[str]:
    """Return the columns of :func:`load_runs`, also when there are no runs."""
    nothing: dict[str, Any] = dict.fromkeys((*KEYS, "status", "reason", "steps", "peak", "final"))
    return list(_row({**nothing, "preference": ()}, objectives))


@overload
def load_runs(store: Source, *, frame: Literal["pandas"] = ..., damaged: Damaged = ...) -> pd.DataFrame: ...
@overload
def load_runs(store: Source, *, frame: Literal["polars"], damaged: Damaged = ...) -> "pl.DataFrame": ...
def load_runs(store: Source, *, frame: FrameKind = "pandas", damaged: Damaged = "raise") -> "Frame":
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
    convert = _converter(frame)
    return convert(load_both(Store.open(store), damaged=damaged, histories=False)[0])


@overload
def load_history(store: Source, *, frame: Literal["pandas"] = ..., damaged: Damaged = ...) -> pd.DataFrame: ...
@overload
def load_history(store: Source, *, frame: Literal["polars"], damaged: Damaged = ...) -> "pl.DataFrame": ...
def load_history(store: Source, *, frame: FrameKind = "pandas", damaged: Damaged = "raise") -> "Frame":
    """Read the histories of all runs, one row per run and iteration.

    Args:
        store: A store or its folder.
        frame: ``"pandas"``, or ``"polars"`` (extra ``polars``).
        damaged: ``"raise"``, or ``"mark"`` it: ``attrs["damaged"]`` of the pandas frame has its problem by run id.

    Returns:
        ``run_id, group, method, env, preference, seed`` and the columns of the histories. A column that a run does not
        have is NaN for it.
    """
    convert = _converter(frame)
    return convert(load_both(Store.open(store), damaged=damaged, tests=False)[1])


def load_both(
    store: Store,
    columns: Sequence[str] | None = None,
    *,
    damaged: Damaged = "mark",
    tests: bool = True,
    histories: bool = True,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Read the runs, with tests that were written later, and their histories, or some columns of them, in one pass.

    If columns are given, those that no run has are left out; the run id is a category, and no other name is included.
    """
    checks.one_of("damaged", damaged, get_args(Damaged))
    objectives = store.manifest.most_objectives
    rows, keys, read, problems = list[dict[str, Any]](), list[list[Any]](), list[Rows](), dict[str, str]()
    for run_id, fields in store.records():
        try:
            if isinstance(fields, StoreError):
                raise fields
            folder = store.folder(run_id)
            row = _row(fields | (read_tests(folder, fields) if tests else {}), objectives)
            if histories:
                read.append(read_history(folder, fields, columns))
                keys.append([row[key] for key in KEYS])
        except StoreError as problem:
            if damaged == "raise":
                raise
            problems[run_id] = str(problem)
            wrong = {"status": "damaged", "reason": str(problem), "steps": 0, **dict.fromkeys(_POINTS)}
            row = _row({**dict(zip(KEYS, store.planned[run_id].identity, strict=True)), **wrong}, objectives)
        rows.append(row)
    table = _stacked(keys, read, named=columns is None)
    table.attrs["damaged"] = problems
    return pd.DataFrame(rows, columns=run_columns(objectives)), table


def _stacked(keys: list[list[Any]], histories: Sequence[Rows], *, named: bool) -> pd.DataFrame:
    """Return one row per run and iteration with all keys of the run, or its id alone; a missing column is NaN."""
    own = KEYS if named else KEYS[:1]
    if not histories:
        return pd.DataFrame(columns=[*own, *_COUNTS])
    owner = np.repeat(np.arange(len(keys)), [len(one.numbers) for one in histories])
    identity = pd.DataFrame(keys, columns=KEYS)[own]
    if not named:  # store each id once, not once per row
        identity = identity.astype("category")
    whose = {key: identity[key].take(owner).array for key in own}
    return pd.DataFrame(whose | _columns(histories), copy=False)


def _columns(histories: Sequence[Rows]) -> dict[str, NDArray[Any]]:
    """Concatenate histories column by column."""
    places = {columns: {name: i for i, name in enumerate(columns)} for columns in {one.columns for one in histories}}
    table: dict[str, NDArray[Any]] = {}
    for name in dict.fromkeys(name for one in histories for name in one.columns):
        found = [(one.numbers, places[one.columns].get(name)) for one in histories]
        column = [np.full(len(rows), np.nan) if i is None else rows[:, i] for rows, i in found]
        table[name] = np.concatenate(column).astype(np.int64 if name in _COUNTS else np.float64, copy=False)
    return table


def load_record(store: Store, run_id: str) -> RunRecord:
    """Return a run as it was written, including its policies."""
    fields, folder = store.read(run_id), store.folder(run_id)
    tensors = read_policy(folder, fields) if POLICY in fields["files"] else {}  # a run may fail before it has one
    kept = {key: fields[key] for key in (*KEYS, "status", "reason", "steps", "recipe")}
    kept |= {name: _point(fields[name]) for name in _POINTS}
    kept |= {"preference": tuple(fields["preference"]), "versions": fields.get("versions", {})}
    return RunRecord(
        **kept,
        **read_tests(folder, fields),
        history=pd.DataFrame(_columns([read_history(folder, fields)])),
        policy=at_point(tensors, "final") or tensors,  # if there is no best policy, the last one has no prefix
        peak_policy=at_point(tensors, "peak"),
    )


def _point(fields: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Restore a validation point: JSON has lists for tuples and null for NaN."""
    if fields is None:
        return None
    restored = {name: _number(fields[name]) for name in scores.names() if name in fields}
    return {**fields, **restored, "returns": tuple(map(_number, fields["returns"]))}


def _converter(frame: FrameKind) -> Callable[[pd.DataFrame], Frame]:
    """Return the conversion from pandas; a missing package is reported before anything is read."""
    checks.one_of("frame", frame, get_args(FrameKind))
    if frame == "pandas":
        return lambda table: table
    try:
        polars = import_module("polars")
    except ImportError as error:
        raise ImportError("Polars frames need the polars extra: pip install 'morl-blocks[polars]'.") from error

    def convert(table: pd.DataFrame) -> "pl.DataFrame":
        """Convert column by column, so that Arrow is not needed and an empty frame has the types of a full one."""
        types = dict.fromkeys(_TEXT, polars.String) | dict.fromkeys(_WHOLE, polars.Int64)
        types |= {"preference": polars.List(polars.Float64)}
        columns = {str(name): [list(v) if isinstance(v, tuple) else v for v in table[name]] for name in table.columns}
        made: pl.DataFrame = polars.DataFrame(columns, {name: types.get(name, polars.Float64) for name in columns})
        return made

    return convert
