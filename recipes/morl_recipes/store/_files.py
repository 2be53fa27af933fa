"""Files that exist complete or not at all, and JSON that knows when it was damaged."""

import hashlib
import json
import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from morl_recipes.store._errors import StoreError


def plain(value: object) -> Any:
    """Reduce a value to what JSON holds: NaN and infinite numbers become null, arrays and tuples become lists.

    Example:
        >>> plain({"hv": float("nan"), "returns": (1, 2.5)})
        {'hv': None, 'returns': [1, 2.5]}
    """
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    raise StoreError(f"{value!r} cannot be stored as JSON: use numbers, text, lists and dicts.")


def digest(content: bytes) -> str:
    """Return the SHA-256 of some bytes."""
    return hashlib.sha256(content).hexdigest()


def _seal_of(fields: Mapping[str, Any]) -> str:
    """Digest a JSON object independently of its layout in the file."""
    body = {key: value for key, value in fields.items() if key != "digest"}
    return digest(json.dumps(body, sort_keys=True, separators=(",", ":"), allow_nan=False).encode())


def seal(fields: Mapping[str, Any]) -> bytes:
    """Write a JSON object together with a digest of itself."""
    body = plain(fields)
    return (json.dumps({**body, "digest": _seal_of(body)}, indent=1, allow_nan=False) + "\n").encode()


def unseal(path: Path, *, schema: int, advice: str = "Restore it, or remove it.") -> dict[str, Any]:
    """Read a sealed JSON object of this schema; a damaged or foreign file raises :class:`StoreError`.

    Args:
        path: The file.
        schema: The version that it must have.
        advice: What to do about a damaged file, in a sentence.
    """
    try:
        fields = json.loads(path.read_bytes())
    except OSError as error:
        raise StoreError(f"{path}: cannot be read ({error.strerror}). {advice}") from error
    except ValueError:
        raise StoreError(f"{path}: damaged (not JSON). {advice}") from None
    if not isinstance(fields, dict) or "schema" not in fields:
        raise StoreError(f"{path}: not a file of a morl-blocks store (no schema version).")
    if fields["schema"] != schema:
        raise StoreError(
            f"{path}: has schema version {fields['schema']!r}, this version of morl-blocks reads {schema}. "
            "Use the version that wrote it, or another folder."
        )
    if fields.get("digest") != _seal_of(fields):
        raise StoreError(f"{path}: damaged (its digest does not match). {advice}")
    return fields


def write_synced(path: Path, content: bytes) -> None:
    """Write a new file and wait until the disk has it."""
    with path.open("xb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def sync_folder(path: Path) -> None:
    """Wait until the disk has the names in a folder (a no-op where folders cannot be opened)."""
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
