"""Fill the arrays of one panel from the plan and the stored runs."""

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd

from morl_recipes import paper, scores
from morl_recipes.panels._gaps import find_gaps
from morl_recipes.panels._names import second_name, shown_name
from morl_recipes.panels._panel import Array, Panel, Point, bounds_of
from morl_recipes.store import EnvInfo, Manifest, PlannedRun


def _ordered(methods: Iterable[str], group: str) -> tuple[str, ...]:
    """Sort methods as the paper does; in groups that the paper does not have, PASTA comes first."""
    appendix = paper.per_preference()
    printed = appendix.loc[appendix["group"] == group, "method"].unique().tolist() or [paper.REFERENCE]
    found = list(dict.fromkeys(methods))
    return tuple([m for m in printed if m in found] + [m for m in found if m not in printed])


def _plan(runs: Sequence[PlannedRun], env: str, group: str, done: set[str]) -> list[tuple[PlannedRun, str]]:
    """List the planned runs of a panel with their names, those to prefer for a cell first: done, then the group's own.

    PASTA belongs to every group, and so does a row of the group that another group trains under another name, but
    only on the preferences of the group.
    """
    own = [(run, shown_name(run)) for run in runs if run.env == env and run.group == group]
    preferences = {run.preference for run, _ in own}
    others = [run for run in runs if run.env == env and run.group != group and run.preference in preferences]
    guests = [(run, name) for run in others if (name := second_name(run, group)) is not None]
    return sorted([*own, *guests], key=lambda pair: pair[0].run_id not in done)


def hypervolumes(info: EnvInfo, returns: Array) -> Array:
    """Score every run, NaN where it has no finite returns or the environment has no bounds, ``[*, m] -> [*]``."""
    return scores.judge(scores.HYPERVOLUME, returns, np.ones(returns.shape[-1]), bounds_of(info))


def fill_panel(manifest: Manifest, stored: pd.DataFrame, env: str, group: str, point: Point) -> Panel:
    """Build the panel of one group on one environment.

    Args:
        manifest: The plan; it decides which cells exist.
        stored: The frame of :func:`~morl_recipes.store.load_runs`, indexed by ``run_id``.
        env: Name of the environment.
        group: Name of the group.
        point: Which validation point of each run counts.

    Returns:
        The panel, with a sentence for each kind of gap.
    """
    info = manifest.environments[env]
    done = set(stored.index[stored["status"] == "done"])
    plan = _plan(manifest.runs, env, group, done)
    named = {run.run_id: name for run, name in plan}
    in_order = [run for run in manifest.runs if run.run_id in named]
    methods = _ordered((named[run.run_id] for run in in_order), group)
    preferences = tuple(dict.fromkeys(run.preference for run in in_order))
    seeds = tuple(sorted({run.seed for run in in_order}))
    run_ids = np.full((len(methods), len(preferences), len(seeds)), "", dtype=object)
    returns = np.full((*run_ids.shape, len(info.objectives)), np.nan)
    columns = [f"{point}_{i}" for i in range(len(info.objectives))]
    numbers = dict(zip(stored.index, stored[columns].to_numpy(dtype=float), strict=True))
    repeated = 0
    for run, name in plan:
        cell = methods.index(name), preferences.index(run.preference), seeds.index(run.seed)
        if run_ids[cell]:
            repeated += run.group == group
            continue
        run_ids[cell] = run.run_id
        returns[cell] = numbers[run.run_id] if run.run_id in done else np.nan
    returns[~np.isfinite(returns).all(-1)] = np.nan
    panel = Panel(
        env=env,
        group=group,
        info=info,
        methods=methods,
        preferences=preferences,
        seeds=seeds,
        run_ids=run_ids.astype(str),
        returns=returns,
        hv=hypervolumes(info, returns),
        gaps=(f"{repeated} runs repeat the method, preference and seed of another and are left out.",) * bool(repeated),
    )
    return find_gaps(panel, stored, point)
