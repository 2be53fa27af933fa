"""Text for messages: unknown names with the nearest known ones, shortened lists, nouns with their number."""

from collections.abc import Iterable, Sequence
from difflib import get_close_matches

from morl_recipes.common.text import for_terminal

SHOWN = 10


def unknown(kind: str, name: str, known: Iterable[str], *, shown: int = SHOWN, rest: str = "") -> ValueError:
    """Return the error for an unknown name, with the nearest names or the first ``shown`` of all names.

    ``kind`` says what is named; ``rest`` says where the other names are, in brackets after their number.

    Example:
        >>> unknown("environment", "steelth", ["stealth", "frogger"])
        ValueError("unknown environment 'steelth'. Nearest: stealth.")
    """
    names = list(dict.fromkeys(known))
    by_lower = {candidate.lower(): candidate for candidate in names}
    near = [by_lower[match] for match in get_close_matches(name.lower(), by_lower, n=3, cutoff=0.5)]
    hint = f"Nearest: {', '.join(near)}." if near else f"Known: {some(names, shown, rest) or 'none'}."
    return ValueError(for_terminal(f"unknown {kind} {name!r}. {hint}"))


def some(names: Sequence[str], shown: int = SHOWN, rest: str = "", between: str = ", ") -> str:
    """List some names, and say how many more there are."""
    more = len(names) - shown
    return between.join(names[:shown]) + (f" and {more} more{f' ({rest})' if rest else ''}" if more > 0 else "")


def count(number: int, word: str) -> str:
    """Return a number with its noun: ``1 run``, ``2 runs``."""
    return f"{number} {word}{'' if number == 1 else 's'}"
