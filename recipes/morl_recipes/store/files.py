"""Sealed JSON, which contains its own digest, and safe reading of files, which may be untrusted."""

import hashlib
import json
import math
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from morl_recipes.common.errors import StoreError

LARGEST_JSON = 2**28
"""Maximal size of a JSON file in bytes; the manifest of 10,000 runs has 13 million."""
LARGEST_FILE = 2**30
"""Maximal size of any other file of a run in bytes."""

_NO_WAIT = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)  # a pipe in the place of a file must not block


def as_json(value: object) -> Any:
    """Convert a value to JSON data: NaN and infinite numbers become null, arrays and tuples become lists."""
    if isinstance(value, Mapping):
        return {str(key): as_json(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [as_json(item) for item in value]
    if isinstance(value, np.ndarray | np.generic):
        return as_json(value.tolist())
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
    """Write a JSON object together with its digest."""
    body = as_json(fields)
    return (json.dumps({**body, "digest": _seal_of(body)}, indent=1, allow_nan=False) + "\n").encode()


def unseal(path: Path, *, schema: int, advice: str = "Restore it, or remove it.") -> dict[str, Any]:
    """Read a sealed JSON object of this schema; a damaged or foreign file raises ``StoreError`` with the advice."""
    content = read_bytes(path, LARGEST_JSON, advice)
    try:
        fields = json.loads(content)
    except (ValueError, RecursionError):
        raise StoreError(f"{path}: damaged (not JSON). {advice}") from None
    if not isinstance(fields, dict) or "schema" not in fields:
        raise StoreError(f"{path}: not a file of a morl-blocks store (no schema version).")
    if fields["schema"] != schema:
        versions = fields.get("versions")
        writer = versions.get("morl-blocks") if isinstance(versions, dict) else None
        raise StoreError(
            f"{path}: has schema version {str(fields['schema'])[:20]}, this version of morl-blocks reads {schema}. "
            f"Use the version that wrote it{f' ({str(writer)[:20]})' if writer else ''}, or another folder."
        )
    try:
        intact = fields.get("digest") == _seal_of(fields)
    except (ValueError, RecursionError):  # NaN, or lists without end
        intact = False
    if not intact:
        raise StoreError(f"{path}: damaged (its digest does not match). {advice}")
    return fields


def read_bytes(path: Path, most: int, advice: str) -> bytes:
    """Read a file up to a maximal size; a missing, larger or special file raises :class:`StoreError`."""
    try:
        handle = os.open(path, os.O_RDONLY | _NO_WAIT)
        with os.fdopen(handle, "rb", buffering=0) as file:
            found = os.fstat(handle)
            if not stat.S_ISREG(found.st_mode):
                raise StoreError(f"{path}: damaged (no regular file). {advice}")
            if found.st_size > most:
                raise StoreError(f"{path}: damaged ({found.st_size:,} bytes, at most {most:,} expected). {advice}")
            return file.read()
    except OSError as error:
        raise StoreError(f"{path}: cannot be read ({error.strerror}). {advice}") from error
