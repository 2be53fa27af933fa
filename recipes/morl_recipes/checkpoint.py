"""Checkpoints: one safetensors file with its description inside; a crash leaves the old one or the new one."""

from __future__ import annotations

import json
import os
import zlib
from pathlib import Path
from typing import Any

import safetensors
import safetensors.torch
from torch import Tensor

FORMAT = "morl-blocks checkpoint"
VERSION = 2


class CheckpointError(ValueError):
    """A file that is no checkpoint of this package, is damaged, or belongs to another training."""


def save(path: Path, tensors: dict[str, Tensor], meta: dict[str, Any]) -> None:
    """Write a checkpoint: to a temporary file, flushed to the disk, then renamed over the old one.

    Args:
        path: The file.
        tensors: Everything with numbers.
        meta: Everything else, as JSON.
    """
    plain = {name: tensor.detach().cpu().contiguous().clone() for name, tensor in tensors.items()}
    text = json.dumps(meta)
    header = {"format": FORMAT, "version": str(VERSION), "checksum": _checksum(plain, text), "meta": text}
    temporary = path.with_name(f".{path.name}.tmp")
    with temporary.open("wb") as file:
        file.write(safetensors.torch.save(plain, header))
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)
    _flush_folder(path.parent)


def load(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Read a checkpoint; a file that is foreign, of another version or damaged raises :class:`CheckpointError`."""
    try:
        with safetensors.safe_open(path, framework="pt") as file:
            header = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - not a mapping
    except (safetensors.SafetensorError, OSError) as error:
        raise CheckpointError(f"`{path}` must be a checkpoint, got a damaged or foreign file: {error}.") from error
    if header.get("format") != FORMAT:
        raise CheckpointError(f"`{path}` must be a checkpoint of morl-blocks, got a safetensors file of another kind.")
    if header.get("version") != str(VERSION):
        raise CheckpointError(f"`{path}` must have checkpoint version {VERSION}, got {header.get('version')}.")
    text = header.get("meta", "")
    if header.get("checksum") != _checksum(tensors, text):
        raise CheckpointError(f"`{path}` must match its checksum, got damaged data.")
    return tensors, json.loads(text)


def require_same(path: Path, saved: dict[str, Any], asked: dict[str, Any]) -> None:
    """Require that a checkpoint belongs to the training that was asked for; name what differs, and both values."""
    for name, value in asked.items():
        found = _difference(name, saved.get(name), json.loads(json.dumps(value)))
        if found is not None:
            where, stored, given = found
            raise CheckpointError(
                f"`{path}` must belong to the same training, got another `{where}`: stored {stored}, given {given}."
            )


def _difference(name: str, stored: Any, given: Any) -> tuple[str, Any, Any] | None:
    """Return the first place at which two JSON values differ, with what stands there; ``None`` if they agree."""
    if stored == given:
        return None
    if isinstance(stored, dict) and isinstance(given, dict) and stored.keys() == given.keys():
        below = (_difference(f"{name}.{key}", stored[key], given[key]) for key in given)
        return next(found for found in below if found is not None)
    if isinstance(stored, list) and isinstance(given, list) and len(stored) == len(given):
        pairs = enumerate(zip(stored, given, strict=True))
        below = (_difference(f"{name}[{index}]", *pair) for index, pair in pairs)
        return next(found for found in below if found is not None)
    return name, stored, given


def _checksum(tensors: dict[str, Tensor], text: str) -> str:
    value = zlib.crc32(text.encode())
    for name in sorted(tensors):
        tensor = tensors[name]
        value = zlib.crc32(f"{name}{tensor.dtype}{list(tensor.shape)}".encode(), value)
        value = zlib.crc32(tensor.numpy().tobytes(), value)
    return f"{value:08x}"


def _flush_folder(folder: Path) -> None:
    """Make the rename itself last, where the system can."""
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
