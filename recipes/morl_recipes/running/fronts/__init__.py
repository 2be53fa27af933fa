"""Fronts: many trade-offs from one training, as points and policies in a folder."""

import warnings
from importlib import import_module
from typing import Any

from morl_recipes.running.fronts.front import Front
from morl_recipes.running.fronts.recipe import front_recipe
from morl_recipes.running.fronts.train import train_front

__all__ = ["Front", "front_recipe", "train_front"]


def __getattr__(name: str) -> Any:
    """Return the names that version 0.2 had here, with a warning."""
    if name not in ("draw_front", "write_front_page"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    new = "morl_recipes.analysis.fronts"
    warnings.warn(f"`{name}` has moved: import it from `{new}` instead.", DeprecationWarning, stacklevel=2)
    return getattr(import_module(new), name)
