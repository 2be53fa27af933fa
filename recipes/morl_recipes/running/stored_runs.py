"""Runs of a store: found by a name that users type, with their policies and their environments."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, get_args

from torch import Tensor

from morl_envs.protocol import TensorEnv
from morl_envs.source import EnvSource, find_source
from morl_recipes.common import checks
from morl_recipes.common.errors import StoreError
from morl_recipes.common.naming import some, unknown
from morl_recipes.evaluation.saved_policy import Point, SavedPolicy, bounds_of, make_policy
from morl_recipes.recipe.fields import described_actor
from morl_recipes.recipe.policy_network import Network
from morl_recipes.store.frames import load_runs
from morl_recipes.store.record import at_point
from morl_recipes.store.store import Store
from morl_recipes.store.versions import dynamics_of, other_versions

SHOWN, REST = 5, "the folders in FOLDER/runs"


def find_run(store: Store, name: str | None = None) -> dict[str, Any]:
    """Choose the best finished run of a store: by peak hypervolume, or by expected utility if no run has one.

    ``name`` is a run id, complete parts of one between its dots (``linear``, ``baselines.linear``), a row as tables
    print it (``STCH (0.1)``) or any substring of an id, in any case; it must match a single method.
    """
    rows: list[dict[str, Any]] = load_runs(store, damaged="mark").to_dict("records")  # type: ignore[assignment]
    there = [row for row in rows if row["status"] in ("done", "damaged")]
    if name is not None and there:
        checks.text("run", name)
        found = match_runs(name, sorted(row["run_id"] for row in there))
        there = [row for row in there if row["run_id"] in found]
    rows = [row for row in there if row["status"] == "done"]
    if not rows:
        damage = [row["reason"] for row in there]
        raise StoreError(damage[0] if damage else f"{store.path}: no finished run yet. Nothing to show.")
    score = "peak_hv" if any(row["peak_hv"] == row["peak_hv"] for row in rows) else "peak_eu"
    return max(rows, key=lambda row: float("-inf") if row[score] != row[score] else row[score])


def match_runs(name: str, run_ids: Sequence[str]) -> list[str]:
    """Return the ids that match a name, all of one method; complete parts between dots come before substrings."""
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
    """Return the environment of a stored run, or the one that the user gives instead; its objectives must be the same.

    A store may be untrusted: a name in it that refers to code (``my_env.py:make_env``) is not followed, and the files
    in its manifest are not run. The user has to name such an environment again.
    """
    if env is None and ":" in name:
        raise ValueError(
            f"{store.path}: its environment {name!r} is code, which is never run from a store. If you trust "
            f"it, give it: --env {name}, in Python env=..."
        )
    try:
        source = find_source(name if env is None else env).complete()
    except ValueError as error:
        if env is not None:
            raise
        reason = f"{store.path}: its environment {name!r} cannot be opened by name ({error})"
        raise ValueError(
            f"{reason} Give it from Python: play(folder, env=...), export_policy(..., env=...)."
        ) from error
    before, now = (", ".join(each.objectives) for each in (store.manifest.environments[name], source))
    if before != now:
        reason = f"{name} had the objectives {before}, here it has {now}"
        raise StoreError(f"{store.path}: {reason}. Use the version that trained it; nothing was changed.")
    return source


def open_policy(
    store: Store, name: str | None, point: Point, env: Any = None
) -> tuple[dict[str, Any], EnvSource, SavedPolicy]:
    """Return the best run for a name as :func:`find_run` does, the source of its environment, and its policy."""
    row = find_run(store, name)
    source = source_of(store, row["env"], env)
    with source.opened(1, [0]) as world:
        return row, source, load_policy(store, row, point, world)


def load_policy(store: Store, run: Mapping[str, Any], point: Point, env: TensorEnv) -> SavedPolicy:
    """Return the policy of a run at its best or last validation point, for its environment."""
    own, m = policy_tensors(store, run["run_id"], point), len(run["preference"])
    try:
        return make_policy(own | bounds_of(env), m, stored_network(store, run["run_id"], own, env))
    except (KeyError, RuntimeError, ValueError, TypeError) as error:
        reason = str(error).strip().replace("\n", " ")[:200]
        raise StoreError(f"{store.path}: the policy of run {run['run_id']} fits no network ({reason}).") from error


def policy_tensors(store: Store, run_id: str, point: Point) -> dict[str, Tensor]:
    """Return the parameters of a policy by name, with its observation statistics if there are any."""
    checks.one_of("point", point, get_args(Point))
    own = at_point(store.policy(run_id), point)
    if not own:
        raise StoreError(f"{store.path}: run {run_id} has no policy of its {point}.")
    return own


def stored_network(store: Store, run_id: str, tensors: Mapping[str, Tensor], env: TensorEnv) -> Network:
    """Return the network of a stored run's recipe, or the paper's for a recipe of version 0.1, which names no actor.

    The source code in a manifest is never run: a custom actor is known after its file was imported.
    """
    planned = store.planned[run_id]
    actor = described_actor(planned.recipe)
    return Network.of_shapes(tensors, len(planned.preference)) if actor is None else Network.of(actor, env)


def require_dynamics(store: Store, fields: Mapping[str, Any]) -> None:
    """Require that a run, or its sweep if the run has no versions, used the installed environment packages."""
    then = {**store.manifest.versions, **fields.get("versions", {})}
    other = other_versions(then, packages=dynamics_of(fields["env"]))
    if other:
        raise StoreError(
            f"{store.path}: run {fields['run_id']} was trained with other versions ({other}). Install those, or accept "
            "others (--accept-versions)."
        )
