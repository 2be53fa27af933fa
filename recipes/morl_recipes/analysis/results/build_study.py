"""Name the planned runs, build a study from them and the stored runs, and describe missing runs."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from morl_recipes.analysis.results.study import READINGS, TESTED, Array, Reading, Study
from morl_recipes.common import checks, scores
from morl_recipes.common.naming import unknown
from morl_recipes.recipe import paper
from morl_recipes.recipe.fields import blocks_of
from morl_recipes.recipe.rows import PASTA, ROWS
from morl_recipes.recipe.run import Run
from morl_recipes.store.manifest import EnvInfo, Manifest

HV_TOLERANCE = 1e-6
SHOWN = 3


class TableRow(NamedTuple):
    """A planned run, whether it is the package's PASTA by name and blocks, and its blocks as text (no PPO settings)."""

    run: Run
    is_reference: bool
    blocks: str

    @property
    def name(self) -> str:
        """Return the name in tables; another row with the name PASTA is shown with its group."""
        run = self.run
        if self.is_reference:
            return paper.REFERENCE
        if run.method.lower() in ("pasta", paper.REFERENCE.lower()):
            return f"{run.method} of {run.group}"
        return run.method if run.plugin or paper.is_reference(run.method) else paper.method_name(run.method)

    def name_in(self, group: str) -> str | None:
        """Return the name of the row of another group with the same training; ``None`` if there is none.

        PASTA belongs to every group. *No Decay* (controller) equals *mu=10.0* (fixed_mu): trained once, shown twice.
        """
        if self.is_reference:
            return paper.REFERENCE
        return None if self.run.plugin else _rows_of(group).get(self.blocks)


def build_study(
    manifest: Manifest,
    planned: Sequence[TableRow],
    stored: pd.DataFrame,
    env: str,
    group: str,
    reading: Reading,
    reference: str,
) -> Study:
    """Build the study of one group on one environment; ``stored`` is the frame of the runs, by ``run_id``."""
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
        else:
            run_ids[cell] = run.run_id
    finished = stored.where(stored["status"] == "done").reindex(run_ids.ravel())
    every = {name: _returns(finished, name, (*run_ids.shape, len(info.objectives))) for name in READINGS}
    hv = {name: _hypervolumes(info, returns) for name, returns in every.items()}
    gaps = (f"{repeated} runs repeat the method, preference and seed of another and are left out.",) * bool(repeated)
    cells = (methods, preferences, seeds, run_ids.astype(str))
    study = Study(env, group, info, *cells, every[reading], hv[reading], gaps, reading, reference, every=hv)
    return replace(study, gaps=tuple(_gaps(study, stored.reindex(run_ids.ravel()))))


def _plan(planned: Sequence[TableRow], env: str, group: str, done: set[str], reference: str) -> list[tuple[Run, str]]:
    """List the planned runs of a study with their names; finished runs and runs of the group itself come first.

    Runs of PASTA, of the reference and of rows that another group trains under another name are among them.
    """
    here = [one for one in planned if one.run.env == env]
    own = [(one.run, one.name) for one in here if one.run.group == group]
    preferences, names = {run.preference for run, _ in own}, {name for _, name in own}
    others = [one for one in here if one.run.group != group and one.run.preference in preferences]
    added = [(one.run, name) for one in others if (name := one.name_in(group)) is not None]
    if reference not in names:
        added += [(one.run, reference) for one in others if one.name == reference != paper.REFERENCE]
    return sorted([*own, *added], key=lambda pair: pair[0].run_id not in done)


def _ordered(methods: Iterable[str], group: str) -> tuple[str, ...]:
    """Sort methods as in the paper; in groups that the paper does not have, PASTA comes first."""
    appendix = paper.per_preference()
    printed = appendix.loc[appendix["group"] == group, "method"].unique().tolist() or [paper.REFERENCE]
    found = list(dict.fromkeys(methods))
    return tuple([m for m in printed if m in found] + [m for m in found if m not in printed])


def _returns(finished: pd.DataFrame, reading: Reading, shape: tuple[int, ...]) -> Array:
    """Return the returns of the runs in their cells, NaN if a run is not done or has no such score."""
    columns = [f"{READINGS[reading]}_{i}" for i in range(shape[-1])]
    returns = finished[columns].to_numpy(dtype=float).reshape(shape).copy()
    returns[~np.isfinite(returns).all(-1)] = np.nan
    return returns


def _hypervolumes(info: EnvInfo, returns: Array) -> Array:
    """Score every run, NaN if it has no finite returns or the environment has no bounds, ``[*, m] -> [*]``."""
    return scores.judge(scores.HYPERVOLUME, returns, np.ones(returns.shape[-1]), info.bounds)


def _gaps(study: Study, stored: pd.DataFrame) -> list[str]:
    """Return a sentence per method and kind of missing run; ``stored`` has a row per cell."""
    gaps, shape = list(study.gaps), study.run_ids.shape
    if study.info.bounds_problem is not None:
        gaps.append(f"No hypervolume, win rate or profile on {study.env}: {study.info.bounds_problem}.")
    status, reasons = (stored[name].to_numpy().reshape(shape) for name in ("status", "reason"))
    untested = np.zeros(shape, dtype=np.bool_)
    if study.reading in TESTED:
        untested = (status == "done") & stored["test_peak_episodes"].isna().to_numpy().reshape(shape)
    broken = (status == "done") & ~study.usable & ~untested
    for k, method in enumerate(study.methods):
        failed, damaged, planned = status[k] == "failed", status[k] == "damaged", study.run_ids[k] != ""
        why = "; ".join(sorted({str(reason) for reason in reasons[k][failed]}))
        some = ", ".join(study.run_ids[k][damaged][:SHOWN])
        kinds = (
            (failed, f"failed ({why}): ", "."),
            (damaged, "are damaged and left out (", f"; {some}). morl-blocks verify says what to do."),
            (planned & pd.isna(status[k]), "are missing: ", "."),
            (untested[k], "have no test score and are left out (`morl-blocks test` adds it): ", "."),
            (broken[k], "have returns that are not finite and are left out: ", "."),
        )
        for cells, words, end in kinds:
            if cells.any():
                gaps.append(f"{method}: {cells.sum()} of {planned.sum()} runs {words}{_where(study, cells)}{end}")
    # The manifest's bounds are used, because a run may have been stored with other bounds.
    written = stored[f"{READINGS[study.reading]}_hv"].to_numpy(dtype=float).reshape(shape)
    if apart := int((np.abs(written - study.hv) > HV_TOLERANCE).sum()):
        gaps.append(
            f"{apart} runs were stored with another hypervolume than the manifest's bounds give; the latter is shown."
        )
    return gaps


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


def with_name(run: Run) -> TableRow:
    """Compare the blocks of a run with PASTA's."""
    blocks = blocks_of(run.recipe)
    pasta = not run.plugin and paper.is_reference(run.method) and blocks == blocks_of(PASTA.to_dict())
    return TableRow(run, pasta, blocks)


@cache
def _rows_of(group: str) -> dict[str, str]:
    """Return the names of a group's rows by their blocks, without PASTA."""
    rows = {name: recipe for name, recipe in ROWS.get(group, {}).items() if not paper.is_reference(name)}
    return {blocks_of(recipe.to_dict()): paper.method_name(name) for name, recipe in rows.items()}


def find_reference(against: str, runs: Sequence[TableRow]) -> str:
    """Return the table name of the row to compare with, from any spelling; ``"pasta"`` may have other blocks."""
    checks.text("against", against)
    names = {_spelling(one.run.method): one.name for one in runs}
    names |= {name.lower(): name for name in names.values()}
    if _spelling(against) not in names:
        raise unknown("row of these results", against, names.values())
    return names[_spelling(against)]


def _spelling(method: str) -> str:
    return "pasta" if paper.is_reference(method) else method.lower()
