"""Find an object by its import path, so that whoever names it need not import it."""

from importlib import import_module
from typing import Any

from morl_envs import _names


def load(path: str) -> Any:
    """Return what ``"module:name"`` stands for, importing the module.

    Example:
        >>> load("math:pi")
        3.141592653589793
    """
    module, colon, name = path.partition(":")
    if not (module and colon and name):
        _names.fail("path", "read module:name", repr(path))
    return getattr(import_module(module), name)
