"""Load an object by its import path, so that code can refer to it without importing it."""

from importlib import import_module
from typing import Any

from morl_envs import _names


def load(path: str) -> Any:
    """Import the module of ``"module:name"`` and return the object.

    Example:
        >>> load("math:pi")
        3.141592653589793
    """
    module, colon, name = path.partition(":")
    if not (module and colon and name):
        _names.fail("path", "read module:name", repr(path))
    return getattr(import_module(module), name)
