"""Pick a run of a store by what people type, and find its environment again."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from morl_recipes.common.errors import StoreError
from morl_recipes.common.naming import some, unknown
from morl_recipes.environments.source import EnvSource, find_source
from morl_recipes.store.frames import load_runs
from morl_recipes.store.store import Store

SHOWN, REST = 5, "the folders in FOLDER/runs"


def find_run(store: Store, name: str | None = None) -> dict[str, Any]:
    """Choose the best finished run of a store.

    Args:
        store: The store.
        name: A run id, whole parts of one between its dots (``linear``, ``baselines.linear``), a row as tables print it
            (``STCH (0.1)``) or any piece of an id, in any case; it must not mean several methods.

    Returns:
        The row of :func:`~morl_recipes.store.load_runs` with the best peak hypervolume (expected utility when no run
        has one) among those that the name stands for.
    """
    rows: list[dict[str, Any]] = load_runs(store, damaged="mark").to_dict("records")  # type: ignore[assignment]
    there = [row for row in rows if row["status"] in ("done", "damaged")]
    if name is not None and there:
        found = match_runs(name, sorted(row["run_id"] for row in there))
        there = [row for row in there if row["run_id"] in found]
    rows = [row for row in there if row["status"] == "done"]
    if not rows:
        damage = [row["reason"] for row in there]
        raise StoreError(damage[0] if damage else f"{store.path}: no finished run yet. Nothing to show.")
    score = "peak_hv" if any(row["peak_hv"] == row["peak_hv"] for row in rows) else "peak_eu"
    return max(rows, key=lambda row: float("-inf") if row[score] != row[score] else row[score])


def match_runs(name: str, run_ids: Sequence[str]) -> list[str]:
    """Return the ids that a name stands for, all of one method; whole parts between dots come before pieces.

    Example:
        >>> match_runs("Linear", ["stealth.baselines.linear.s0", "stealth.ours.linear-vector.s0"])
        ['stealth.baselines.linear.s0']
    """
    lower = name.lower()
    row = ".".join(re.sub(r"[^a-z0-9]+", "-", part).strip("-") for part in lower.split("/"))  # as tables print it
    whole = [run_id for run_id in run_ids if f".{lower}." in f".{run_id.lower()}."]
    whole = whole or [run_id for run_id in run_ids if row and f".{row}." in f".{run_id.lower()}."]
    pieces = [run_id for run_id in run_ids if lower in run_id.lower()]
    found = [name] if name in run_ids else whole or pieces
    if not found:
        raise unknown("run", name, run_ids, shown=SHOWN, rest=REST)
    if len({tuple(run_id.split(".")[:3]) for run_id in found}) > 1:
        listed = some(found, SHOWN, REST)
        raise ValueError(f"`run` must name one method, got {name!r}, which is part of {len(found)} runs: {listed}.")
    return found


def source_of(store: Store, name: str, env: Any = None) -> EnvSource:
    """Return the environment of a stored run.

    A store may come from a stranger: a name in it that leads to code (``my_env.py:make_env``) is not followed, and the
    text of files that its manifest keeps is not run. The user names such an environment again.

    Args:
        store: The store.
        name: Name of the environment, as stored.
        env: The environment itself, or its name as the user gives it, where the stored name does not do.
    """
    if env is None and ":" in name:
        raise ValueError(
            f"{store.path}: its environment {name!r} is code, and none is run because a store says so. If you trust "
            f"it, name it: --env {name}, in Python env=..."
        )
    try:
        return find_source(name if env is None else env).complete()
    except ValueError as error:
        if env is not None:
            raise
        reason = f"{store.path}: its environment {name!r} cannot be opened by name ({error})"
        raise ValueError(
            f"{reason} Give it from Python: play(folder, env=...), export_policy(..., env=...)."
        ) from error
