"""Checks of arguments that are not numbers: modules, options, shapes, devices."""

import inspect
from typing import Any

import numpy as np
import torch

from morl_blocks._checks._convert import fail
from morl_blocks._checks._numbers import at_least


def module(name: str, value: object) -> None:
    """Require a callable, as every module is."""
    if not callable(value):
        fail(name, "be a module", repr(value))


def activation(name: str, value: object) -> None:
    """Require a class of modules, or a function that makes one."""
    if not callable(value) or (inspect.isbuiltin(value) or isinstance(value, torch.nn.Module)):
        fail(name, "be a class of modules, such as torch.nn.Tanh", repr(value))


def boolean(name: str, value: object) -> None:
    """Require a bool; numbers, including NaN, raise."""
    if not isinstance(value, bool | np.bool_):
        fail(name, "be True or False", repr(value))


def integer(name: str, value: object) -> None:
    """Require an integer of either sign; a bool or a float raises."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        fail(name, "be an integer", repr(value))


def leading(name: str, value: Any) -> tuple[int, ...]:
    """Return a leading shape: a tuple of integers >= 1, empty for one run."""
    if not isinstance(value, tuple | list):
        fail(name, "be a tuple of whole numbers >= 1", repr(value))
    for size in value:
        at_least(name, size, 1)
    return tuple(value)


def device(name: str, value: Any) -> None:
    """Require a valid PyTorch device or ``None``."""
    if value is None or isinstance(value, torch.device):
        return
    try:
        torch.device(value if isinstance(value, str) else "")
    except RuntimeError:
        fail(name, "be a device such as 'cpu'", repr(value))
