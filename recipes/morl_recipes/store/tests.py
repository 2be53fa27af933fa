"""Test scores of runs that were stored without them, in a separate sealed file beside the run."""

from collections.abc import Mapping
from typing import Any

from morl_recipes.common import atomic_files
from morl_recipes.common.errors import StoreError
from morl_recipes.store.files import seal, unseal
from morl_recipes.store.manifest import SCHEMA
from morl_recipes.store.shapes import POLICY, TEST_POINTS, check_tests
from morl_recipes.store.store import RUNS, Store

TEST = "test.json"


def write_test(store: Store, run_id: str, points: Mapping[str, Any]) -> None:
    """Write the test scores of a run atomically; its other files are not changed."""
    path = atomic_files.inside(store.path, RUNS, run_id, TEST)
    fields = {"schema": SCHEMA, "run_id": run_id, "policy": _policy(store.read(run_id)), **points}
    try:
        atomic_files.replace(path, seal(fields))
    except OSError as error:
        raise StoreError(f"{path}: cannot be written ({error.strerror}). The run itself is untouched.") from error


def read_tests(store: Store, fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return ``test_peak`` and ``test_final`` of a run, ``None`` each if there is none.

    A test that was written later replaces those in the run's fields, which :meth:`Store.read` returns.
    """
    path = store.path / RUNS / fields["run_id"] / TEST
    if not path.is_file():
        return {name: fields.get(name) for name in TEST_POINTS}
    advice = f"Remove the file {path}: `morl-blocks test` writes it again."
    later = unseal(path, schema=SCHEMA, advice=advice)
    if later.get("run_id") != fields["run_id"] or later.get("policy") != _policy(fields):
        raise StoreError(f"{path}: belongs to another run ({str(later.get('run_id'))[:200]}). {advice}")
    problem = check_tests(later, len(fields["preference"]))
    if problem is not None:
        raise StoreError(f"{path}: damaged ({problem}). {advice}")
    return {name: later.get(name) for name in TEST_POINTS}


def _policy(fields: Mapping[str, Any]) -> str | None:
    """Return the digest of the policies that were tested."""
    digest: str | None = fields["files"].get(POLICY, {}).get("sha256")
    return digest
