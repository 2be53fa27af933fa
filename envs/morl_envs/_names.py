"""Errors about names, for modules that must not import torch."""

from collections.abc import Iterable
from difflib import get_close_matches
from typing import NoReturn

SHOWN = 10
"""Number of names that a message lists at most."""


def fail(name: str, rule: str, value: object) -> NoReturn:
    """Raise ``ValueError`` with the argument's name, the rule and the value that broke it."""
    raise ValueError(f"`{name}` must {rule}, got {value}.")


def unknown(argument: str, rule: str, value: object, known: Iterable[str]) -> ValueError:
    """Return the error for an unknown name, with the nearest known ones.

    Example:
        >>> unknown("env", "be a known environment", "steelth", ["stealth", "frogger"])
        ValueError("`env` must be a known environment, got 'steelth'. Nearest: stealth.")
    """
    names = {name.lower(): name for name in known}
    near = [names[match] for match in get_close_matches(str(value).lower()[:100], names, n=3, cutoff=0.4)]
    others = [*names.values()][:SHOWN] + ["..."] * (len(names) > SHOWN)
    hint = f"Nearest: {', '.join(near)}" if near else f"Known: {', '.join(others)}"
    return ValueError(f"`{argument}` must {rule}, got {value!r}. {hint}.")
