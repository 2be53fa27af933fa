"""Fill the arrays of one study from the plan and the stored runs."""

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from morl_recipes.analysis.results.gaps import find_gaps
from morl_recipes.analysis.results.row_names import Who, second_name, shown_name
from morl_recipes.analysis.results.study import READINGS, Array, Reading, Study
from morl_recipes.common import scores
from morl_recipes.recipe import paper
from morl_recipes.store.manifest import EnvInfo, Manifest, PlannedRun


def _ordered(methods: Iterable[str], group: str) -> tuple[str, ...]:
    """Sort methods as the paper does; in groups that the paper does not have, PASTA comes first."""
    appendix = paper.per_preference()
    printed = appendix.loc[appendix["group"] == group, "method"].unique().tolist() or [paper.REFERENCE]
    found = list(dict.fromkeys(methods))
    return tuple([m for m in printed if m in found] + [m for m in found if m not in printed])


def _plan(
    everyone: Sequence[Who], env: str, group: str, done: set[str], reference: str
) -> list[tuple[PlannedRun, str]]:
    """List the planned runs of a study with their names, those to prefer for a cell first: done, then the group's own.

    The reference belongs to every group, and so do PASTA and a row of the group that another group trains under
    another name, but only on the preferences of the group.
    """
    here = [who for who in everyone if who.run.env == env]
    own = [(who.run, shown_name(who)) for who in here if who.run.group == group]
    preferences, names = {run.preference for run, _ in own}, {name for _, name in own}
    others = [who for who in here if who.run.group != group and who.run.preference in preferences]
    guests = [(who.run, name) for who in others if (name := second_name(who, group)) is not None]
    if reference not in names:
        guests += [(who.run, reference) for who in others if shown_name(who) == reference != paper.REFERENCE]
    return sorted([*own, *guests], key=lambda pair: pair[0].run_id not in done)


def hypervolumes(info: EnvInfo, returns: Array) -> Array:
    """Score every run, NaN where it has no finite returns or the environment has no bounds, ``[*, m] -> [*]``."""
    return scores.judge(scores.HYPERVOLUME, returns, np.ones(returns.shape[-1]), info.bounds)


def build_study(
    manifest: Manifest,
    everyone: Sequence[Who],
    stored: pd.DataFrame,
    env: str,
    group: str,
    reading: Reading,
    reference: str,
) -> Study:
    """Build the study of one group on one environment.

    Args:
        manifest: The plan; it decides which cells exist.
        everyone: Who each run of the plan is.
        stored: The frame of :func:`~morl_recipes.store.load_runs`, indexed by ``run_id``.
        env: Name of the environment.
        group: Name of the group.
        reading: Which score of each run counts.
        reference: The method that the others are compared with.

    Returns:
        The study, with a sentence for each kind of gap.
    """
    info = manifest.environments[env]
    done = set(stored.index[stored["status"] == "done"])
    plan = _plan(everyone, env, group, done, reference)
    named = {run.run_id: name for run, name in plan}
    in_order = [run for run in manifest.runs if run.run_id in named]
    methods = _ordered((named[run.run_id] for run in in_order), group)
    preferences = tuple(dict.fromkeys(run.preference for run in in_order))
    seeds = tuple(sorted({run.seed for run in in_order}))
    run_ids = np.full((len(methods), len(preferences), len(seeds)), "", dtype=object)
    repeated = 0
    for run, name in plan:
        cell = methods.index(name), preferences.index(run.preference), seeds.index(run.seed)
        if run_ids[cell]:
            repeated += run.group == group
            continue
        run_ids[cell] = run.run_id
    every = {name: _returns(stored, run_ids, done, name, len(info.objectives)) for name in READINGS}
    study = Study(
        env=env,
        group=group,
        info=info,
        methods=methods,
        preferences=preferences,
        seeds=seeds,
        run_ids=run_ids.astype(str),
        returns=every[reading],
        hv=hypervolumes(info, every[reading]),
        gaps=(f"{repeated} runs repeat the method, preference and seed of another and are left out.",) * bool(repeated),
        reading=reading,
        reference=reference,
        every={name: hypervolumes(info, returns) for name, returns in every.items()},
    )
    return find_gaps(study, stored)


def _returns(stored: pd.DataFrame, run_ids: NDArray[np.object_], done: set[str], reading: Reading, count: int) -> Array:
    """Return the returns of the runs in their cells, NaN where a run is not done or has no such reading."""
    columns = [f"{READINGS[reading]}_{i}" for i in range(count)]
    numbers = dict(zip(stored.index, stored[columns].to_numpy(dtype=float), strict=True))
    returns = np.full((*run_ids.shape, count), np.nan)
    for cell in np.ndindex(run_ids.shape):
        if run_ids[cell] in done:
            returns[cell] = numbers[run_ids[cell]]
    returns[~np.isfinite(returns).all(-1)] = np.nan
    return returns
