"""Build a study from the plan and the stored runs, and describe what is missing."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from morl_recipes.analysis.results.row_names import TableRow
from morl_recipes.analysis.results.study import READINGS, TESTED, Array, Reading, Study
from morl_recipes.common import scores
from morl_recipes.recipe import paper
from morl_recipes.store.manifest import EnvInfo, Manifest, PlannedRun

HV_TOLERANCE = 1e-6
SHOWN = 3


def _ordered(methods: Iterable[str], group: str) -> tuple[str, ...]:
    """Sort methods as the paper does; in groups that the paper does not have, PASTA comes first."""
    appendix = paper.per_preference()
    printed = appendix.loc[appendix["group"] == group, "method"].unique().tolist() or [paper.REFERENCE]
    found = list(dict.fromkeys(methods))
    return tuple([m for m in printed if m in found] + [m for m in found if m not in printed])


def _plan(
    planned: Sequence[TableRow], env: str, group: str, done: set[str], reference: str
) -> list[tuple[PlannedRun, str]]:
    """List the planned runs of a study with their names; finished runs and those of the group itself come first.

    The reference, PASTA and rows that another group trains under another name are added on the group's preferences.
    """
    here = [one for one in planned if one.run.env == env]
    own = [(one.run, one.name) for one in here if one.run.group == group]
    preferences, names = {run.preference for run, _ in own}, {name for _, name in own}
    others = [one for one in here if one.run.group != group and one.run.preference in preferences]
    added = [(one.run, name) for one in others if (name := one.name_in(group)) is not None]
    if reference not in names:
        added += [(one.run, reference) for one in others if one.name == reference != paper.REFERENCE]
    return sorted([*own, *added], key=lambda pair: pair[0].run_id not in done)


def hypervolumes(info: EnvInfo, returns: Array) -> Array:
    """Score every run, NaN where it has no finite returns or the environment has no bounds, ``[*, m] -> [*]``."""
    return scores.judge(scores.HYPERVOLUME, returns, np.ones(returns.shape[-1]), info.bounds)


def build_study(
    manifest: Manifest,
    planned: Sequence[TableRow],
    stored: pd.DataFrame,
    env: str,
    group: str,
    reading: Reading,
    reference: str,
) -> Study:
    """Build the study of one group on one environment.

    Args:
        manifest: The plan; it decides which cells exist.
        planned: The planned runs with their names.
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
    plan = _plan(planned, env, group, done, reference)
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
    return _with_gaps(study, stored)


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


def _where(study: Study, cells: NDArray[np.bool_]) -> str:
    """Describe the (preference, seed) cells of one method: ``0.10-0.90 (seeds 0, 2)``."""
    if cells.all():
        return "all preferences and seeds"
    parts = []
    for label, row in zip(paper.preference_labels(study.preferences), cells, strict=True):
        seeds = [str(seed) for seed, there in zip(study.seeds, row, strict=True) if there]
        if seeds:
            parts.append(f"{label} (seed{'s' * (len(seeds) > 1)} {', '.join(seeds)})")
    return "; ".join(parts)


def _with_gaps(study: Study, stored: pd.DataFrame) -> Study:
    """Return the study with one sentence per method and kind of gap."""
    gaps = list(study.gaps)
    if study.info.bounds_problem is not None:
        gaps.append(f"No hypervolume, win rate or profile on {study.env}: {study.info.bounds_problem}.")
    status = stored["status"].reindex(study.run_ids.ravel()).to_numpy().reshape(study.run_ids.shape)
    planned = study.run_ids != ""
    for k, method in enumerate(study.methods):
        failed, damaged = status[k] == "failed", status[k] == "damaged"
        untested = (status[k] == "done") & _untested(study, stored)[k]
        broken = (status[k] == "done") & ~study.usable[k] & ~untested
        reasons = sorted({str(stored.at[run_id, "reason"]) for run_id in study.run_ids[k][failed]})
        some = ", ".join(study.run_ids[k][damaged][:SHOWN])
        kinds = (
            (failed, f"failed ({'; '.join(reasons)}): ", "."),
            (damaged, "are damaged and left out (", f"; {some}). morl-blocks verify says what to do."),
            (planned[k] & pd.isna(status[k]), "are missing: ", "."),
            (untested, "have no test score and are left out (`morl-blocks test` adds it): ", "."),
            (broken, "have returns that are not finite and are left out: ", "."),
        )
        runs = f"of {planned[k].sum()} runs"
        for cells, words, end in kinds:
            if cells.any():
                gaps.append(f"{method}: {cells.sum()} {runs} {words}{_where(study, cells)}{end}")
    gaps += _disagreement(study, stored)
    return replace(study, gaps=tuple(gaps))


def _untested(study: Study, stored: pd.DataFrame) -> NDArray[np.bool_]:
    """Return which runs have no test score, if the test score is the one in use."""
    if study.reading not in TESTED:
        return np.zeros(study.run_ids.shape, dtype=np.bool_)
    episodes = stored["test_peak_episodes"].reindex(study.run_ids.ravel()).to_numpy(dtype=float)
    return np.asarray(np.isnan(episodes).reshape(study.run_ids.shape))


def _disagreement(study: Study, stored: pd.DataFrame) -> list[str]:
    """Compare the stored hypervolumes with those from the manifest's bounds, which are the ones shown."""
    written = (
        stored[f"{READINGS[study.reading]}_hv"]
        .reindex(study.run_ids.ravel())
        .to_numpy(dtype=float)
        .reshape(study.hv.shape)
    )
    apart = int((np.abs(written - study.hv) > HV_TOLERANCE).sum())
    if not apart:
        return []
    return [f"{apart} runs were stored with another hypervolume than the manifest's bounds give; the latter is shown."]
