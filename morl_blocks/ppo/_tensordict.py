"""Checked reads from a tensordict: entries must exist, and shapes must not broadcast."""

from collections.abc import Iterable
from types import EllipsisType

import torch
from tensordict import NestedKey, TensorDictBase
from tensordict.nn import TensorDictModuleBase
from torch import Tensor, nn

from morl_blocks import _checks

PADDING: tuple[NestedKey, ...] = (("collector", "mask"), "shifted_valid")
"""Where TorchRL says which steps of a minibatch count."""
Steps = Tensor | EllipsisType
"""Index of the steps that count: all of them, or a mask."""


def read(tensordict: TensorDictBase, key: NestedKey) -> Tensor:
    """Return an entry, or raise an error that names the missing one."""
    value = tensordict.get(key, None)
    if value is None:
        present = sorted(tensordict.keys(include_nested=True, leaves_only=True), key=str)
        raise ValueError(f"`tensordict` must hold {key!r}, got {present}.")
    return _checks.tensor(key if isinstance(key, str) else key[-1], value)


def take(tensordict: TensorDictBase, keys: Iterable[NestedKey]) -> TensorDictBase:
    """Return only these entries, or raise an error that names the missing one."""
    keys = list(keys)
    for key in keys:
        read(tensordict, key)
    return tensordict.select(*keys)


def written(name: str, network: TensorDictModuleBase, output: TensorDictBase, key: NestedKey) -> Tensor:
    """Return the entry that ``network`` wrote under ``key``, or raise an error with its ``out_keys``."""
    value: Tensor | None = output.get(key, None)
    if value is None:
        raise ValueError(f"`{name}` must write {key!r}, got out_keys {list(network.out_keys)}.")
    return value


def require_module(name: str, module: nn.Module, *attributes: str) -> None:
    """Require a tensordict module, which has ``in_keys`` and ``out_keys`` (and these attributes)."""
    needed = ("in_keys", "out_keys", *attributes)
    if not all(hasattr(module, attribute) for attribute in needed):
        _checks.fail(name, f"be a tensordict module with {', '.join(needed)}", type(module).__name__)


def next_key(key: NestedKey) -> NestedKey:
    """Return ``key`` under ``"next"``."""
    return ("next", key) if isinstance(key, str) else ("next", *key)


def require_shape(name: str, value: Tensor, shape: torch.Size) -> None:
    """Require exactly this shape."""
    if value.shape != shape:
        _checks.fail(name, f"have shape {list(shape)}", f"shape {list(value.shape)}")


def require_vectors(name: str, value: Tensor, batch: torch.Size) -> None:
    """Require one vector over the objectives per batch entry, ``[*B, m]``."""
    if not batch:
        _checks.fail("tensordict", "have a batch dimension", f"batch size {list(batch)}")
    if value.shape[:-1] != batch:
        _checks.fail(name, f"have shape {[*batch, 'm']}", f"shape {list(value.shape)}")


def valid_steps(tensordict: TensorDictBase, key: NestedKey | None) -> Steps:
    """Return the index of the steps that are no padding; ``...`` where nothing is marked.

    Args:
        tensordict: A minibatch, ``[*B]``.
        key: Where the mask is, ``[*B]`` or ``[*B, 1]``; ``"auto"`` looks where TorchRL writes one, ``None`` nowhere.
    """
    names = () if key is None else PADDING if key == "auto" else (key,)
    valid: Steps = ...
    for mask in (tensordict.get(name, None) for name in names):
        if mask is None:
            continue
        flat = mask.squeeze(-1) if mask.dim() > tensordict.batch_dims else mask
        require_shape("mask", flat, tensordict.batch_size)
        valid = flat if isinstance(valid, EllipsisType) else valid & flat
    if isinstance(valid, Tensor) and not valid.any():
        _checks.fail("mask", "keep at least one step", "none")
    return valid
