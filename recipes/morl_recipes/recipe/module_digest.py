"""A digest of a live module: its ``repr`` shows the class, and no numbers."""

from __future__ import annotations

import hashlib
import inspect
import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

INTERNAL = frozenset(vars(nn.Module())) - {"training"}
"""What every module has, whatever it computes."""


def digest_of(module: nn.Module) -> str:
    """Return a short text that differs between modules of different classes, tensors or attributes.

    All parameters and buffers count, also those that a state dict leaves out. So do attributes that are plain (numbers,
    words, tensors, arrays, collections and objects of these); a function counts by its name alone.

    Example:
        >>> from morl_blocks.schedulers import Fixed
        >>> digest_of(Fixed(2.0)) == digest_of(Fixed(2.0)), digest_of(Fixed(2.0)) == digest_of(Fixed(3.0))
        (True, False)
    """
    return _sha256(json.dumps(_plain(module, frozenset())).encode())[:16]


def _plain(value: Any, above: frozenset[int]) -> Any:
    """Return a value as what JSON can hold; ``above`` has the ids of what it lies in, so that a circle ends."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Tensor):
        raw = value.detach().cpu().reshape(-1).view(torch.uint8).numpy().tobytes()
        return ["tensor", str(value.dtype), list(value.shape), value.requires_grad, _sha256(raw)]
    if isinstance(value, np.ndarray | np.generic):
        return ["array", str(value.dtype), list(value.shape), _sha256(value.tobytes())]
    if isinstance(value, type) or inspect.isroutine(value):
        return [getattr(value, "__module__", ""), value.__qualname__]
    if id(value) in above:
        return "above"
    above |= {id(value)}
    if isinstance(value, Mapping):
        return [[str(key), _plain(item, above)] for key, item in value.items()]
    if isinstance(value, list | tuple):
        return [_plain(item, above) for item in value]
    if isinstance(value, set | frozenset):  # Python shuffles words anew in every process
        return sorted(json.dumps(_plain(item, above)) for item in value)
    return [_plain(type(value), above), _plain(_attributes(value), above)]


def _attributes(value: Any) -> dict[str, Any]:
    """Return what an object holds, by name; of a module its tensors and modules too, and nothing of PyTorch's own."""
    own = dict(getattr(value, "__dict__", {}))
    if not isinstance(value, nn.Module):
        return own
    held = {**value._parameters, **value._buffers, **value._modules}
    return {name: item for name, item in own.items() if name not in INTERNAL} | held


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
