"""Refuse unknown names with the nearest known ones."""

from collections.abc import Iterable
from difflib import get_close_matches

SHOWN = 10


def unknown(kind: str, name: str, known: Iterable[str]) -> ValueError:
    """Return the error for a name that is not known, with the nearest ones.

    Args:
        kind: What the name should name, such as ``"row"``.
        name: The name.
        known: The names that exist.

    Example:
        >>> unknown("environment", "steelth", ["stealth", "frogger"])
        ValueError("unknown environment 'steelth'. Nearest: stealth.")
        >>> unknown("environment", "?", ["stealth", "frogger"])
        ValueError("unknown environment '?'. Known: stealth, frogger.")
    """
    names = list(dict.fromkeys(known))
    by_lower = {candidate.lower(): candidate for candidate in names}
    near = [by_lower[match] for match in get_close_matches(name.lower(), by_lower, n=3, cutoff=0.5)]
    rest = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    hint = f"Nearest: {', '.join(near)}." if near else f"Known: {', '.join(names[:SHOWN])}{rest}."
    return ValueError(f"unknown {kind} {name!r}. {hint}")
