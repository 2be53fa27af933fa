"""Read a whole store as two tidy pandas frames."""

import io
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from morl_recipes.store._store import Store

KEYS = ["run_id", "group", "method", "env", "preference", "seed"]


def _number(value: float | None) -> float:
    """JSON has no NaN: it was written as null."""
    return math.nan if value is None else float(value)


def _row(fields: Mapping[str, Any], objectives: int) -> dict[str, Any]:
    """Flatten one ``run.json``; objectives that the environment does not have are NaN."""
    row = {key: fields[key] for key in (*KEYS, "status", "reason", "steps")}
    row["preference"] = tuple(fields["preference"])
    for name in ("peak", "final"):
        point = fields[name] or {"steps": None, "hv": None, "eu": None, "returns": []}
        row |= {f"{name}_{key}": _number(point[key]) for key in ("steps", "hv", "eu")}
        returns = [*point["returns"], *[None] * (objectives - len(point["returns"]))]
        row |= {f"{name}_{i}": _number(value) for i, value in enumerate(returns)}
    return row


def _columns(objectives: int) -> list[str]:
    """The columns of :func:`load_runs`, also when there are no runs."""
    points = [f"{name}_{key}" for name in ("peak", "final") for key in ("steps", "hv", "eu", *range(objectives))]
    return [*KEYS, "status", "reason", "steps", *points]


def load_runs(store: str | Path | Store) -> pd.DataFrame:
    """Read one row per run, done or failed.

    Args:
        store: A store or its folder.

    Returns:
        ``run_id, group, method, env, preference`` (tuple), ``seed, status, reason, steps``, then for the best and the
        last validation point ``peak_steps, peak_hv, peak_eu, peak_0, ...`` and ``final_...``. Numbers that a run does
        not have are NaN. An empty store gives an empty frame with the same columns.
    """
    store = store if isinstance(store, Store) else Store.open(store)
    objectives = max((len(info.objectives) for info in store.manifest.environments.values()), default=0)
    rows = [_row(store.read(run_id), objectives) for run_id in store.run_ids()]
    return pd.DataFrame(rows, columns=_columns(objectives))


def _parse(content: bytes) -> pd.DataFrame:
    """Read a history to the last bit, which pandas' own parser does not promise in all versions."""
    header, _, body = content.decode().partition("\n")
    names = header.split(",")
    numbers = np.loadtxt(io.StringIO(body), delimiter=",", ndmin=2) if body.strip() else np.zeros((0, len(names)))
    frame = pd.DataFrame(numbers, columns=names)
    return frame.astype({"iteration": np.int64, "steps": np.int64})


def load_history(store: str | Path | Store) -> pd.DataFrame:
    """Read the histories of all runs, one row per run and iteration.

    Args:
        store: A store or its folder.

    Returns:
        ``run_id, group, method, env, preference, seed`` and the columns of the histories. A column that a run does not
        have is NaN for it.
    """
    store = store if isinstance(store, Store) else Store.open(store)
    frames, keys, columns = [], [], dict[str, None]()
    for run_id in store.run_ids():
        fields = store.read(run_id)
        frame = _parse(store.read_file(run_id, "history.csv"))
        columns |= dict.fromkeys(frame.columns)
        frames.append(frame.dropna(axis="columns", how="all"))
        keys.append([*(fields[key] for key in KEYS[:4]), tuple(fields["preference"]), fields["seed"]])
    if not frames:
        return pd.DataFrame(columns=[*KEYS, "iteration", "steps"])
    owner = np.repeat(np.arange(len(frames)), [len(frame) for frame in frames])
    identity = pd.DataFrame(keys, columns=KEYS).iloc[owner].reset_index(drop=True)
    rows = pd.concat(frames, ignore_index=True).reindex(columns=list(columns))
    return pd.concat([identity, rows], axis="columns")
