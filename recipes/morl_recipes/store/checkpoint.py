"""Checkpoints: one safetensors file with a description; a crash leaves the old one or the new one."""

from __future__ import annotations

import json
import zlib
from pathlib import Path
from typing import Any

import safetensors
import safetensors.torch
from torch import Tensor

from morl_recipes.common import atomic_files
from morl_recipes.common.errors import StoreError
from morl_recipes.store.difference import changes
from morl_recipes.store.versions import DECISIVE, dynamics_of, other_versions

CHECKPOINT, FORMAT, VERSION = "checkpoint.safetensors", "morl-blocks checkpoint", 3
"""Since version 3 the history is a file beside the checkpoint, which therefore does not grow."""
ACCEPT = "Continue all the same with --accept-versions (from Python accept_versions=True)"
"""Advice about other versions."""


class CheckpointError(ValueError):
    """A file is not a checkpoint of this package, is damaged, or belongs to another training."""


class OtherTrainingError(CheckpointError):
    """A checkpoint is intact but belongs to another training."""


def save(path: Path, tensors: dict[str, Tensor], meta: dict[str, Any]) -> None:
    """Write a checkpoint completely or not at all."""
    own = {name: tensor.detach().cpu().contiguous().clone() for name, tensor in tensors.items()}
    text = json.dumps(meta)
    header = {"format": FORMAT, "version": str(VERSION), "checksum": _checksum(own, text), "meta": text}
    atomic_files.replace(path, safetensors.torch.save(own, header))


def load(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Read a checkpoint; a file that is foreign, of another version or damaged raises :class:`CheckpointError`."""
    try:
        with safetensors.safe_open(path, framework="pt") as file:
            header = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - not a mapping
    except (safetensors.SafetensorError, OSError, ValueError, TypeError, MemoryError) as error:
        raise CheckpointError(f"`{path}` must be a checkpoint, got a damaged or foreign file: {error}.") from error
    if header.get("format") != FORMAT:
        raise CheckpointError(f"`{path}` must be a checkpoint of morl-blocks, got a safetensors file of another kind.")
    if header.get("version") != str(VERSION):
        raise CheckpointError(f"`{path}` must have checkpoint version {VERSION}, got {header.get('version')}.")
    text = header.get("meta", "")
    if header.get("checksum") != _checksum(tensors, text):
        raise CheckpointError(f"`{path}` must match its checksum, got damaged data.")
    try:
        meta = json.loads(text)
    except (ValueError, RecursionError):
        meta = None
    if not isinstance(meta, dict):
        raise CheckpointError(f"`{path}` must describe itself, got something else in its header.")
    return tensors, meta


def peek(path: Path) -> dict[str, Any]:
    """Return the description of a checkpoint, unchecked; empty if there is none or it cannot be read."""
    try:
        with safetensors.safe_open(path, framework="pt") as file:
            meta = json.loads((file.metadata() or {}).get("meta", "{}"))
    except (safetensors.SafetensorError, OSError, ValueError, TypeError, RecursionError):
        return {}
    return meta if isinstance(meta, dict) else {}


def other_versions_of(meta: dict[str, Any]) -> str:
    """Describe the versions that wrote a checkpoint, as ``torch 2.8.0, here 2.13.0``; empty for the installed ones."""
    stored, env = meta.get("versions"), meta.get("env")
    packages = (*DECISIVE, *dynamics_of(str(env.get("name", "")) if isinstance(env, dict) else ""))
    return other_versions(stored, packages=packages) if isinstance(stored, dict) else ""


def require_versions(path: Path) -> None:
    """Require that a checkpoint, if there is one, was written by the installed versions; a damaged one passes."""
    if other := other_versions_of(peek(path)):
        raise StoreError(
            f"{path}: was written by other versions ({other}): the numbers may differ from an uninterrupted training. "
            f"{ACCEPT}, or use those versions."
        )


def require_same(path: Path, saved: dict[str, Any], asked: dict[str, Any]) -> None:
    """Require that a checkpoint belongs to the requested training; the error names the difference with both values."""
    for name, given in json.loads(json.dumps(asked)).items():
        for where, stored, wanted in changes(saved.get(name), given, name):
            raise OtherTrainingError(
                f"`{path}` must belong to the same training, got another `{where}`: stored {stored}, given {wanted}."
            )


def _checksum(tensors: dict[str, Tensor], text: str) -> str:
    value = zlib.crc32(text.encode())
    for name in sorted(tensors):
        tensor = tensors[name]
        value = zlib.crc32(f"{name}{tensor.dtype}{list(tensor.shape)}".encode(), value)
        value = zlib.crc32(tensor.numpy().tobytes(), value)
    return f"{value:08x}"
