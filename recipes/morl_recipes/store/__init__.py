"""Result store: one folder per sweep that exists complete or not at all, run by run.

Write with :class:`Store`, read with :func:`load_runs` and :func:`load_history`. The schema is documented in
``docs/store.md``.
"""

from morl_recipes.common.errors import StoreError
from morl_recipes.store.frames import load_history, load_runs
from morl_recipes.store.front import FrontRecord, read_front
from morl_recipes.store.manifest import SCHEMA, EnvInfo, Manifest, PlannedRun, make_run_id
from morl_recipes.store.record import RunRecord
from morl_recipes.store.store import Store
from morl_recipes.store.verify import Finding, Verified, verify
from morl_recipes.store.versions import other_versions, run_versions

__all__ = [
    "SCHEMA",
    "EnvInfo",
    "Finding",
    "FrontRecord",
    "Manifest",
    "PlannedRun",
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
