"""Result store: one folder per sweep that exists complete or not at all, run by run.

Write with :class:`Store`, read with :func:`load_runs` and :func:`load_history`. The schema is documented in
``docs/store.md``.
"""

from morl_recipes.store._errors import StoreError
from morl_recipes.store._frames import load_history, load_runs
from morl_recipes.store._manifest import SCHEMA, EnvInfo, Manifest, PlannedRun, make_run_id
from morl_recipes.store._record import RunRecord
from morl_recipes.store._store import Store

__all__ = [
    "SCHEMA",
    "EnvInfo",
    "Manifest",
    "PlannedRun",
    "RunRecord",
    "Store",
    "StoreError",
    "load_history",
    "load_runs",
    "make_run_id",
]
