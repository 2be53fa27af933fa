"""Sort the runs of a store into panels, and say what does not fit or is not there."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from morl_recipes.panels._fill import fill_panel
from morl_recipes.panels._names import is_reference
from morl_recipes.panels._panel import Panel, Point
from morl_recipes.store import Manifest, PlannedRun, Store, StoreError, load_history, load_runs


@dataclass(frozen=True)
class Results:
    """Everything that tables and reports are made of.

    Attributes:
        path: Folder of the store.
        manifest: What the sweep set out to do.
        point: Which validation point of each run counts.
        panels: One per environment and group.
        runs: The frame of :func:`morl_recipes.store.load_runs`.
        history: The frame of :func:`morl_recipes.store.load_history`, empty when it was not asked for.
    """

    path: Path
    manifest: Manifest
    point: Point
    panels: tuple[Panel, ...]
    runs: pd.DataFrame = field(repr=False)
    history: pd.DataFrame = field(repr=False)


def load_results(store: str | Path | Store, *, point: Point = "peak", history: bool = False) -> Results:
    """Read a store and sort its runs into comparable panels.

    PASTA is trained once and stands in every group, as in the paper. Failed and damaged runs, runs with returns that
    are not finite and runs that are not there become gaps, and sentences in ``gaps``.

    Args:
        store: A store or its folder.
        point: The best validation point of each run (what the paper reports) or the last one.
        history: Also read the histories.

    Returns:
        The results; an empty store raises :class:`~morl_recipes.store.StoreError`.
    """
    if point not in ("peak", "final"):
        raise ValueError(f"`point` must be 'peak' or 'final', got {point!r}.")
    store = store if isinstance(store, Store) else Store.open(store)
    runs = load_runs(store, damaged="mark")
    curves = load_history(store, damaged="mark") if history else pd.DataFrame()
    runs = _mark(runs, curves.attrs.get("damaged", {}))
    if not (runs["status"] == "done").any():
        count = len(store.manifest.runs)
        words = "failed or damaged" if (runs["status"] == "damaged").any() else "failed"
        reasons = f" ({len(runs)} {words}, first: {runs['reason'].iloc[0]})" if len(runs) else ""
        raise StoreError(f"{store.path}: no finished run yet, of {count} planned{reasons}. Nothing to show.")
    stored = runs.set_index("run_id")
    panels = tuple(fill_panel(store.manifest, stored, env, group, point) for env, group in _blocks(store.manifest.runs))
    return Results(store.path, store.manifest, point, panels, runs, curves)


def _mark(runs: pd.DataFrame, damaged: Mapping[str, str]) -> pd.DataFrame:
    """Mark the runs whose histories are damaged, so that nothing of them is shown."""
    hit = runs["run_id"].isin(list(damaged))
    status = runs["status"].where(~hit, "damaged")
    return runs.assign(status=status, reason=runs["reason"].where(~hit, runs["run_id"].map(dict(damaged))))


def _blocks(planned: Sequence[PlannedRun]) -> list[tuple[str, str]]:
    """List (environment, group) in the order of the plan; PASTA alone is no group where there are others."""
    blocks: dict[tuple[str, str], bool] = {}
    for run in planned:
        key = (run.env, run.group)
        blocks[key] = blocks.get(key, False) or not is_reference(run)
    with_others = {env for (env, _), others in blocks.items() if others}
    return [key for key, others in blocks.items() if others or key[0] not in with_others]
