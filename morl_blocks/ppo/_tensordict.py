"""How the TorchRL modules read a tensordict: keys that must be there, shapes that must not broadcast."""

from collections.abc import Iterable

import torch
from tensordict import NestedKey, TensorDictBase
from tensordict.nn import TensorDictModuleBase
from torch import Tensor, nn

from morl_blocks import _checks


def read(tensordict: TensorDictBase, key: NestedKey) -> Tensor:
    """Return an entry, or say which one is missing."""
    value = tensordict.get(key, None)
    if value is None:
        present = sorted(tensordict.keys(include_nested=True, leaves_only=True), key=str)
        raise ValueError(f"`tensordict` must hold {key!r}, got {present}.")
    return _checks.tensor(key if isinstance(key, str) else key[-1], value)


def take(tensordict: TensorDictBase, keys: Iterable[NestedKey]) -> TensorDictBase:
    """Return these entries alone, or say which one is missing."""
    keys = list(keys)
    for key in keys:
        read(tensordict, key)
    return tensordict.select(*keys)


def written(name: str, network: TensorDictModuleBase, output: TensorDictBase, key: NestedKey) -> Tensor:
    """Return what ``network`` wrote under ``key``, or say what it writes instead."""
    value: Tensor | None = output.get(key, None)
    if value is None:
        raise ValueError(f"`{name}` must write {key!r}, got out_keys {list(network.out_keys)}.")
    return value


def require_module(name: str, module: nn.Module, *attributes: str) -> None:
    """Require a tensordict module: one that knows its keys (and has these attributes)."""
    needed = ("in_keys", "out_keys", *attributes)
    if not all(hasattr(module, attribute) for attribute in needed):
        _checks.fail(name, f"be a tensordict module with {', '.join(needed)}", type(module).__name__)


def next_key(key: NestedKey) -> NestedKey:
    """Return the place of ``key`` after the step."""
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
