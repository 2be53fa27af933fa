"""Test scores of runs that were stored without them: a sealed file of its own beside the run's."""

import os
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from morl_recipes.store._errors import StoreError
from morl_recipes.store._files import seal, sync_folder, unseal, write_synced
from morl_recipes.store._manifest import SCHEMA
from morl_recipes.store._store import RUNS, STAGING, Store

TEST = "test.json"
POINTS = ("test_peak", "test_final")


def write_test(store: Store, run_id: str, points: Mapping[str, Any]) -> None:
    """Write the test scores of a run whole; its other files are not touched.

    Args:
        store: The store.
        run_id: A run that is done.
        points: ``test_peak`` and ``test_final``.
    """
    staged = store.path / STAGING / f"{run_id}.{os.getpid()}.{secrets.token_hex(4)}.test"
    fields = {"schema": SCHEMA, "run_id": run_id, "policy": _policy(store.read(run_id)), **points}
    try:
        staged.parent.mkdir(exist_ok=True)
        write_synced(staged, seal(fields))
        staged.replace(_path(store, run_id))
        sync_folder(_path(store, run_id).parent)
    except OSError as error:
        raise StoreError(
            f"{store.path}: cannot write the test of run {run_id} ({error.strerror}). The run itself is untouched."
        ) from error
    finally:
        staged.unlink(missing_ok=True)


def read_tests(store: Store, fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return ``test_peak`` and ``test_final`` of a run, ``None`` each where there is none.

    Args:
        store: The store.
        fields: The run's fields, as :meth:`Store.read` returns them. A test that was written later comes first.
    """
    path = _path(store, fields["run_id"])
    if not path.is_file():
        return {name: fields.get(name) for name in POINTS}
    advice = f"Remove the file {path}: `morl-blocks test` writes it again."
    later = unseal(path, schema=SCHEMA, advice=advice)
    if later.get("run_id") != fields["run_id"] or later.get("policy") != _policy(fields):
        raise StoreError(f"{path}: belongs to another run ({later.get('run_id')}). {advice}")
    return {name: later.get(name) for name in POINTS}


def _path(store: Store, run_id: str) -> Path:
    return store.path / RUNS / run_id / TEST


def _policy(fields: Mapping[str, Any]) -> str | None:
    """Return the digest of the policies that were tested."""
    digest: str | None = fields["files"].get("policy.safetensors", {}).get("sha256")
    return digest
