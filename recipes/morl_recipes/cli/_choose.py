"""From what people type after ``--run`` to one run."""

from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path

from morl_recipes.store import Store

SHOWN = 5


def choose_run(folder: Path, name: str | None) -> str | None:
    """Return the id of the finished run that a name stands for.

    Args:
        folder: A result store.
        name: A run id, whole parts of one between its dots (``linear``, ``baselines.linear``) or any piece of one;
            ``None`` leaves the choice to whoever reads the store.
    """
    if name is None:
        return None
    store = Store.open(folder)
    run_ids = sorted(store.done())
    return match_run(name, run_ids) if run_ids else None


def match_run(name: str, run_ids: Sequence[str]) -> str:
    """Return the one id that a name stands for; whole parts between dots come before pieces of a part.

    Example:
        >>> match_run("linear", ["stealth.baselines.linear.s0", "stealth.ours.linear-vector.s0"])
        'stealth.baselines.linear.s0'
    """
    whole = [run_id for run_id in run_ids if f".{name}." in f".{run_id}."]
    pieces = [run_id for run_id in run_ids if name in run_id]
    found = [name] if name in run_ids else whole or pieces
    if not found:
        near = get_close_matches(name, run_ids, n=3, cutoff=0.5)
        raise ValueError(f"unknown run {name!r}. {'Nearest' if near else 'Known'}: {_some(near or run_ids)}.")
    if len(found) > 1:
        raise ValueError(f"`run` must name one run, got {name!r}, which is part of {len(found)}: {_some(found)}.")
    return found[0]


def _some(run_ids: Sequence[str]) -> str:
    """List a few runs, and say where the rest is."""
    more = len(run_ids) - SHOWN
    return ", ".join(run_ids[:SHOWN]) + (f" and {more} more (the folders in FOLDER/runs)" if more > 0 else "")
