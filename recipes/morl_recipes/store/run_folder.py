"""Read the folder of one run and check sizes, digests and which run the files belong to."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load
from torch import Tensor

from morl_recipes.common.errors import StoreError
from morl_recipes.recipe.run import IDENTITY, Run
from morl_recipes.store.files import LARGEST_FILE, digest, read_bytes, unseal
from morl_recipes.store.manifest import SCHEMA
from morl_recipes.store.shapes import POLICY, check_run


def again(folder: Path) -> str:
    """Return the advice about a damaged run."""
    return f"Remove the folder {folder}: the same sweep then trains this run again."


def read_fields(folder: Path, planned: Run) -> dict[str, Any]:
    """Return the fields of a run's ``run.json``; damaged files and those of another run raise :class:`StoreError`."""
    path = folder / "run.json"
    fields = unseal(path, schema=SCHEMA, advice=again(folder))
    problem = check_run(fields)
    if problem is not None:
        raise StoreError(f"{path}: damaged ({problem}). {again(folder)}")
    for name in IDENTITY:
        expected = getattr(planned, name)
        if fields[name] != (list(expected) if isinstance(expected, tuple) else expected):
            raise StoreError(f"{path}: belongs to another run ({fields['run_id'][:200]}). {again(folder)}")
    for name, expected in fields["files"].items():
        try:
            size = os.stat(f"{folder}/{name}").st_size  # noqa: PTH116 - thousands of them, and pathlib is slower
        except OSError:
            raise StoreError(f"{folder / name}: missing. {again(folder)}") from None
        if size != expected["bytes"]:
            raise StoreError(f"{folder / name}: damaged ({size} bytes, expected {expected['bytes']}). {again(folder)}")
    return fields


def read_content(folder: Path, fields: Mapping[str, Any], name: str) -> bytes:
    """Return a file of a run after checking its digest."""
    path, expected = folder / name, fields["files"].get(name)
    if expected is None:
        raise StoreError(f"{path}: the run has no such file.")
    content = read_bytes(path, min(expected["bytes"], LARGEST_FILE), again(folder))
    if digest(content) != expected["sha256"]:
        raise StoreError(f"{path}: damaged (its digest does not match). {again(folder)}")
    return content


def read_policy(folder: Path, fields: Mapping[str, Any]) -> dict[str, Tensor]:
    """Return the named tensors of a run's policy; the file must contain the run's id."""
    path = folder / POLICY
    content = read_content(folder, fields, POLICY)
    try:
        tensors: dict[str, Tensor] = load(content)
        owner = _owner_of_policy(content)
    except (SafetensorError, ValueError, RecursionError, OverflowError, TypeError, KeyError, AttributeError) as error:
        reason = str(error).partition("\n")[0][:200]
        raise StoreError(f"{path}: damaged (no safetensors: {reason}). {again(folder)}") from error
    if owner not in (None, fields["run_id"]):
        raise StoreError(f"{path}: belongs to another run ({owner}). {again(folder)}")
    return tensors


def _owner_of_policy(content: bytes) -> str | None:
    """Return the run that a policy belongs to by its header; policies of the first version have none there."""
    length = int.from_bytes(content[:8], "little")
    owner: str | None = json.loads(content[8 : 8 + length]).get("__metadata__", {}).get("run_id")
    return owner
