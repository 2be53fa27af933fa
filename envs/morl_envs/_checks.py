"""Checks of user input: each raises ``ValueError`` with the argument's name, the rule and the value."""

import math
import operator
from collections.abc import Sequence
from typing import SupportsIndex

import torch
from torch import Tensor

from morl_envs._names import fail as fail


def positive(name: str, value: float) -> None:
    """Require a finite number > 0."""
    if not (math.isfinite(value) and value > 0):
        fail(name, "be > 0", value)


def non_negative(name: str, value: float) -> None:
    """Require a finite number >= 0."""
    if not (math.isfinite(value) and value >= 0):
        fail(name, "be >= 0", value)


def between(name: str, value: float, low: float, high: float) -> None:
    """Require a number in the closed interval [low, high]."""
    if not low <= value <= high:
        fail(name, f"lie in [{low:g}, {high:g}]", value)


def whole(name: str, value: float, low: int) -> None:
    """Require a whole number >= ``low``."""
    if math.isnan(value) or value != int(value) or value < low:
        fail(name, f"be a whole number >= {low}", value)


def size_range(name: str, value: Sequence[float]) -> None:
    """Require two numbers 0 < low <= high."""
    if len(value) != 2 or not 0 < value[0] <= value[1] < math.inf:
        fail(name, "be two numbers 0 < low <= high", value)


def batch(value: Sequence[int] | int) -> int:
    """Return N of a batch size ``[N]`` with N >= 1 (a plain N is accepted too)."""
    shape = (value,) if isinstance(value, int) else tuple(value)
    if len(shape) != 1 or shape[0] < 1:
        fail("batch_size", "be [N] with N >= 1", list(shape))
    return int(shape[0])


def seeds(value: SupportsIndex | Sequence[int] | Tensor, count: int) -> Tensor:
    """Return one int64 seed per environment: ``value + k`` for a single number, else the given numbers.

    Example:
        >>> seeds(7, 3)
        tensor([7, 8, 9])
    """
    rule = f"be a whole number or {count} of them, one per environment"
    if isinstance(value, SupportsIndex) and not getattr(value, "shape", ()):
        return _seed_range(value, count, rule)
    try:
        result = torch.as_tensor(value, device="cpu")
    except (TypeError, ValueError, RuntimeError):
        fail("seed", rule, repr(value))
    if result.numel() and (result.is_floating_point() or result.is_complex() or result.dtype == torch.bool):
        fail("seed", rule, repr(value))
    if result.shape != (count,):
        fail("seed", rule, f"shape {list(result.shape)}")
    if bool((result < 0).any()):
        fail("seed", "be >= 0", int(result.min()))
    return result.to(torch.int64, copy=True)


def _seed_range(value: SupportsIndex, count: int, rule: str) -> Tensor:
    """Return ``value + k`` for every environment k."""
    try:
        first = operator.index(value)
    except TypeError:  # a float in a tensor or an array
        fail("seed", rule, repr(value))
    if not 0 <= first < 2**62:
        fail("seed", "lie in [0, 2**62)", first)
    return first + torch.arange(count)


def action(value: Tensor, shape: tuple[int, ...]) -> None:
    """Require finite actions of the right shape (out-of-range actions are clipped later and raise no error)."""
    if tuple(value.shape) != shape:
        fail("action", f"have shape {list(shape)}", f"shape {list(value.shape)}")
    # The extremes are finite exactly when all numbers are (NaN propagates to both): one pass instead of three.
    low, high = torch.aminmax(value)
    if not (math.isfinite(low) and math.isfinite(high)):
        bad = value[~torch.isfinite(value)]
        fail("action", "be finite", float(bad.flatten()[0]))


def mask(value: Tensor, count: int) -> Tensor:
    """Return a reset mask as bool ``[N]``; ``[N]`` and ``[N, 1]`` are accepted."""
    if value.dtype != torch.bool or value.shape not in {(count,), (count, 1)}:
        fail("mask", f"be bool of shape [{count}] or [{count}, 1]", f"{value.dtype} of shape {list(value.shape)}")
    return value.reshape(count)
