"""Read a whole store as two tidy frames, of pandas or of polars."""

import io
import math
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, overload

import numpy as np
import pandas as pd

from morl_recipes import scores
from morl_recipes.store._store import Store
from morl_recipes.store._tests import POINTS as TEST_POINTS
from morl_recipes.store._tests import read_tests

if TYPE_CHECKING:
    import polars as pl

FrameKind: TypeAlias = Literal["pandas", "polars"]

KEYS = ["run_id", "group", "method", "env", "preference", "seed"]
_TEXT, _WHOLE = ("run_id", "group", "method", "env", "status", "reason"), ("seed", "iteration", "steps")


def _number(value: float | None) -> float:
    """JSON has no NaN: it was written as null."""
    return math.nan if value is None else float(value)


def _row(fields: Mapping[str, Any], tests: Mapping[str, Any], objectives: int) -> dict[str, Any]:
    """Flatten one ``run.json`` and its tests; objectives that the environment does not have are NaN."""
    row = {key: fields[key] for key in (*KEYS, "status", "reason", "steps")}
    row["preference"] = tuple(fields["preference"])
    for name in ("peak", "final"):
        point = fields[name] or {"returns": []}
        row |= {f"{name}_{key}": _number(point.get(key)) for key in ("steps", *scores.names())}
        returns = [*point["returns"], *[None] * (objectives - len(point["returns"]))]
        row |= {f"{name}_{i}": _number(value) for i, value in enumerate(returns)}
    for name, point in tests.items():
        known = {key: value for key, value in (point or {}).items() if key not in ("returns", "returns_se")}
        for suffix in ("", "_se"):
            known |= {f"{i}{suffix}": value for i, value in enumerate((point or {}).get(f"returns{suffix}", ()))}
        row |= {f"{name}_{key}": _number(known.get(key)) for key in _test_keys(objectives)}
    return row


def _test_keys(objectives: int) -> list[str]:
    """What a test has: its episodes, then scores and returns with their standard errors."""
    numbers = [*scores.names(), *map(str, range(objectives))]
    return ["episodes", *(f"{key}{suffix}" for suffix in ("", "_se") for key in numbers)]


def _columns(objectives: int) -> list[str]:
    """The columns of :func:`load_runs`, also when there are no runs."""
    points = [f"{name}_{key}" for name in ("peak", "final") for key in ("steps", *scores.names(), *range(objectives))]
    tests = [f"{name}_{key}" for name in TEST_POINTS for key in _test_keys(objectives)]
    return [*KEYS, "status", "reason", "steps", *points, *tests]


@overload
def load_runs(store: str | Path | Store, *, frame: Literal["pandas"] = ...) -> pd.DataFrame: ...
@overload
def load_runs(store: str | Path | Store, *, frame: Literal["polars"]) -> "pl.DataFrame": ...
def load_runs(store: str | Path | Store, *, frame: FrameKind = "pandas") -> "pd.DataFrame | pl.DataFrame":
    """Read one row per run, done or failed.

    Args:
        store: A store or its folder.
        frame: ``"pandas"``, or ``"polars"`` (extra ``polars``).

    Returns:
        ``run_id, group, method, env, preference`` (a tuple; a list in polars), ``seed, status, reason, steps``, then
        for the best and the last validation point ``peak_steps, peak_hv, peak_eu, peak_0, ...`` and ``final_...``,
        then for the same policies on fresh episodes ``test_peak_episodes, test_peak_hv, ..., test_peak_hv_se, ...`` and
        ``test_final_...``, where ``_se`` is a standard error over episodes.
        Numbers that a run does not have are NaN. An empty store gives an empty frame with the same columns.
    """
    as_asked = _converter(frame)
    store = store if isinstance(store, Store) else Store.open(store)
    objectives = max((len(info.objectives) for info in store.manifest.environments.values()), default=0)
    found = [store.read(run_id) for run_id in store.run_ids()]
    rows = [_row(fields, read_tests(store, fields), objectives) for fields in found]
    return as_asked(pd.DataFrame(rows, columns=_columns(objectives)))


def parse_history(content: bytes) -> pd.DataFrame:
    """Read a history to the last bit, which pandas' own parser does not promise in all versions."""
    header, _, body = content.decode().partition("\n")
    names = header.split(",")
    numbers = np.loadtxt(io.StringIO(body), delimiter=",", ndmin=2) if body.strip() else np.zeros((0, len(names)))
    frame = pd.DataFrame(numbers, columns=names)
    return frame.astype({"iteration": np.int64, "steps": np.int64})


@overload
def load_history(store: str | Path | Store, *, frame: Literal["pandas"] = ...) -> pd.DataFrame: ...
@overload
def load_history(store: str | Path | Store, *, frame: Literal["polars"]) -> "pl.DataFrame": ...
def load_history(store: str | Path | Store, *, frame: FrameKind = "pandas") -> "pd.DataFrame | pl.DataFrame":
    """Read the histories of all runs, one row per run and iteration.

    Args:
        store: A store or its folder.
        frame: ``"pandas"``, or ``"polars"`` (extra ``polars``).

    Returns:
        ``run_id, group, method, env, preference, seed`` and the columns of the histories. A column that a run does not
        have is NaN for it.
    """
    as_asked = _converter(frame)
    store = store if isinstance(store, Store) else Store.open(store)
    frames, keys, columns = [], [], dict[str, None]()
    for run_id in store.run_ids():
        fields = store.read(run_id)
        numbers = parse_history(store.read_file(run_id, "history.csv"))
        columns |= dict.fromkeys(numbers.columns)
        frames.append(numbers.dropna(axis="columns", how="all"))
        keys.append([*(fields[key] for key in KEYS[:4]), tuple(fields["preference"]), fields["seed"]])
    if not frames:
        return as_asked(pd.DataFrame(columns=[*KEYS, "iteration", "steps"]))
    owner = np.repeat(np.arange(len(frames)), [len(one) for one in frames])
    identity = pd.DataFrame(keys, columns=KEYS).iloc[owner].reset_index(drop=True)
    rows = pd.concat(frames, ignore_index=True).reindex(columns=list(columns))
    return as_asked(pd.concat([identity, rows], axis="columns"))


def _converter(frame: FrameKind) -> "Callable[[pd.DataFrame], pd.DataFrame | pl.DataFrame]":
    """Return the way from pandas to what was asked for; a package that is missing is named before anything is read."""
    if frame not in ("pandas", "polars"):
        raise ValueError(f"`frame` must be 'pandas' or 'polars', got {frame!r}.")
    if frame == "pandas":
        return lambda table: table
    try:
        polars = import_module("polars")
    except ImportError as error:
        raise ImportError("Polars frames need the polars extra: pip install 'morl-blocks[polars]'.") from error
    return lambda table: _to_polars(polars, table)


def _to_polars(polars: Any, table: pd.DataFrame) -> "pl.DataFrame":
    """Convert column by column, so that no Arrow is needed and an empty frame has the types of a full one."""
    types = {"preference": polars.List(polars.Float64), **dict.fromkeys(_WHOLE, polars.Int64)}
    types |= dict.fromkeys(_TEXT, polars.String)
    columns = {str(name): [list(v) if isinstance(v, tuple) else v for v in table[name]] for name in table.columns}
    made: pl.DataFrame = polars.DataFrame(columns, schema={name: types.get(name, polars.Float64) for name in columns})
    return made
