"""Checks of user input: each raises ``ValueError`` with the argument's name, the rule and the value."""

import math
import operator
from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any, SupportsIndex

import numpy as np
import torch
from torch import Tensor

from morl_envs._names import fail as fail

MOST = 2**31
"""Most environments of a batch, and most steps: beyond any memory."""


def _number(value: object) -> float:
    """Return a number as a float, NaN for anything else, including text, flags and infinity."""
    try:
        number = math.nan if isinstance(value, bool | str | bytes) else float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, RuntimeError, OverflowError):
        return math.nan
    return number if math.isfinite(number) else math.nan


def finite(name: str, value: object) -> None:
    """Require a finite number."""
    if math.isnan(_number(value)):
        fail(name, "be a finite number", repr(value))


def positive(name: str, value: object) -> None:
    """Require a finite number > 0."""
    if not _number(value) > 0:
        fail(name, "be > 0", repr(value))


def non_negative(name: str, value: object) -> None:
    """Require a finite number >= 0."""
    if not _number(value) >= 0:
        fail(name, "be >= 0", repr(value))


def between(name: str, value: object, low: float, high: float) -> None:
    """Require a number in the closed interval [low, high]."""
    if not low <= _number(value) <= high:
        fail(name, f"lie in [{low:g}, {high:g}]", repr(value))


def whole(name: str, value: object, low: int) -> None:
    """Require a whole number >= ``low``."""
    number = _number(value)
    if not (number >= low and number == int(number)):
        fail(name, f"be a whole number >= {low}", repr(value))


def flag(name: str, value: object) -> None:
    """Require true or false."""
    if not isinstance(value, bool):
        fail(name, "be true or false", repr(value))


def path(name: str, value: object) -> Path:
    """Require a path that a file system can have."""
    found = Path(value) if isinstance(value, str | PathLike) else None
    if found is None or "\0" in str(found) or any(len(part.encode()) > 255 for part in found.parts):
        fail(name, "be a path", repr(value)[:200])
    return found


def device(value: Any) -> torch.device:
    """Require a device that this machine has; ``None`` is the CPU."""
    try:
        found = torch.device("cpu" if value is None else value)
        torch.empty(0, device=found)
    except (TypeError, ValueError, RuntimeError, AssertionError, NotImplementedError) as error:
        raise ValueError(f"`device` must be one of this machine, such as 'cpu', got {value!r} ({error}).") from error
    return found


def numbers(name: str, value: Any, least: int = 1) -> None:
    """Require a sequence of finite numbers."""
    known = isinstance(value, Sequence | Tensor | np.ndarray) and not isinstance(value, str | bytes)
    items = list(value) if known and len(value) >= least else [math.nan]
    if any(math.isnan(_number(item)) for item in items):
        fail(name, f"be {least} or more finite numbers", repr(value))


def texts(name: str, value: object) -> None:
    """Require a sequence of texts."""
    if not isinstance(value, list | tuple) or not all(isinstance(item, str) for item in value):
        fail(name, "be text", repr(value)[:200])


def size_range(name: str, value: Sequence[float]) -> None:
    """Require two numbers 0 < low <= high."""
    numbers(name, value, least=2)
    if len(value) != 2 or not 0 < value[0] <= value[1]:
        fail(name, "be two numbers 0 < low <= high", value)


def batch(value: Any, name: str = "batch_size") -> int:
    """Return N of a batch size ``[N]`` with N >= 1 (a plain N is accepted too)."""
    shape = tuple(value) if isinstance(value, Sequence) and not isinstance(value, str | bytes) else (value,)
    count = _number(shape[0]) if len(shape) == 1 else math.nan
    if not count >= 1 or count != int(count):
        fail(name, "be [N] with N >= 1", repr(value))
    if count > MOST:
        fail(name, f"be at most {MOST}", repr(value))
    return int(shape[0])


def seeds(value: SupportsIndex | Sequence[int] | Tensor, count: int, name: str = "seed") -> Tensor:
    """Return one int64 seed per environment: ``value + k`` for a single number, else the given numbers.

    Example:
        >>> seeds(7, 3)
        tensor([7, 8, 9])
    """
    rule = f"be a whole number or {count} of them, one per environment"
    if isinstance(value, bool | str | bytes):
        fail(name, rule, repr(value))
    if isinstance(value, SupportsIndex) and not getattr(value, "shape", ()):
        return _seed_range(value, count, name, rule)
    try:
        result = torch.as_tensor(value, device="cpu")
    except (TypeError, ValueError, RuntimeError):
        fail(name, rule, repr(value))
    if result.numel() and (result.is_floating_point() or result.is_complex() or result.dtype == torch.bool):
        fail(name, rule, repr(value))
    if result.shape != (count,):
        fail(name, rule, f"shape {list(result.shape)}")
    if bool((result < 0).any()):
        fail(name, "be >= 0", int(result.min()))
    return result.to(torch.int64, copy=True)


def _seed_range(value: SupportsIndex, count: int, name: str, rule: str) -> Tensor:
    """Return ``value + k`` for every environment k."""
    try:
        first = operator.index(value)
    except TypeError:  # a float in a tensor or an array
        fail(name, rule, repr(value))
    if not 0 <= first < 2**62:
        fail(name, "lie in [0, 2**62)", first)
    return first + torch.arange(count)


def action(value: Tensor, shape: tuple[int, ...]) -> None:
    """Require finite actions of the right shape (out-of-range actions are clipped later and raise no error)."""
    if not isinstance(value, Tensor) or value.is_complex():
        fail("action", f"be a tensor of real numbers of shape {list(shape)}", repr(value)[:200])
    if tuple(value.shape) != shape:
        fail("action", f"have shape {list(shape)}", f"shape {list(value.shape)}")
    # The extremes are finite exactly when all numbers are (NaN propagates to both): one pass instead of three.
    low, high = torch.aminmax(value)
    if not (math.isfinite(low) and math.isfinite(high)):
        bad = value[~torch.isfinite(value)]
        fail("action", "be finite", float(bad.flatten()[0]))


def observation(value: object, width: int) -> None:
    """Require observations ``[N, n]`` with at least ``width`` numbers each."""
    if not isinstance(value, Tensor) or value.dim() != 2 or value.shape[1] < width or value.is_complex():
        got = f"shape {list(value.shape)}" if isinstance(value, Tensor) else repr(value)[:200]
        fail("observation", f"be a tensor [N, n] with n >= {width}", got)


def command(value: Any, name: str = "action") -> Tensor:
    """Return real numbers as a float32 tensor."""
    try:
        array = np.asarray(value)
    except (TypeError, ValueError, RuntimeError):
        array = np.asarray(None)
    if array.dtype.kind not in "biuf":
        fail(name, "be an array of real numbers", repr(value)[:200])
    return torch.as_tensor(array.astype(np.float32, copy=False))


def mask(value: Tensor, count: int) -> Tensor:
    """Return a reset mask as bool ``[N]``; ``[N]`` and ``[N, 1]`` are accepted."""
    if not isinstance(value, Tensor):
        fail("mask", f"be a tensor of bools of shape [{count}]", repr(value)[:200])
    if value.dtype != torch.bool or value.shape not in {(count,), (count, 1)}:
        fail("mask", f"be bool of shape [{count}] or [{count}, 1]", f"{value.dtype} of shape {list(value.shape)}")
    return value.reshape(count)
