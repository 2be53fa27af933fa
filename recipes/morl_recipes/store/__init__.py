"""Result store: one folder per sweep that exists complete or not at all, run by run.

Write with :class:`Store`, read with :func:`load_runs` and :func:`load_history`. The schema is documented in
``docs/store.md``.
"""

import warnings
from typing import Any

from morl_recipes.common.errors import StoreError
from morl_recipes.recipe.run import Run
from morl_recipes.store.frames import load_history, load_runs
from morl_recipes.store.front import FrontReturns, read_front
from morl_recipes.store.manifest import SCHEMA, EnvInfo, Manifest, make_run_id
from morl_recipes.store.record import RunRecord
from morl_recipes.store.store import Store
from morl_recipes.store.verify import Finding, Verified, verify
from morl_recipes.store.versions import other_versions, run_versions

__all__ = [
    "SCHEMA",
    "EnvInfo",
    "Finding",
    "FrontReturns",
    "Manifest",
    "Run",
    "RunRecord",
    "Store",
    "StoreError",
    "Verified",
    "load_history",
    "load_runs",
    "make_run_id",
    "other_versions",
    "read_front",
    "run_versions",
    "verify",
]


def __getattr__(name: str) -> Any:
    """Return the name that version 0.2 had for a planned run, with the order of its arguments."""
    if name != "PlannedRun":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    message = "`PlannedRun(run_id, group, ...)` is `Run(recipe, preference, seed, run_id, group, ...)` now."
    warnings.warn(message, DeprecationWarning, stacklevel=2)
    order = ("run_id", "group", "method", "env", "preference", "seed", "steps", "recipe", "plugin")
    return lambda *args, **fields: Run(**{"recipe": {}, **dict(zip(order, args, strict=False)), **fields})
