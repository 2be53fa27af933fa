"""Say in sentences what a study misses."""

from dataclasses import replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from morl_recipes.analysis.results.study import READINGS, TESTED, Study
from morl_recipes.recipe.paper import preference_labels

HV_TOLERANCE = 1e-6
SHOWN = 3


def _where(study: Study, cells: NDArray[np.bool_]) -> str:
    """Name the (preference, seed) cells of one method, briefly: ``0.10-0.90 (seeds 0, 2)``."""
    if cells.all():
        return "all preferences and seeds"
    parts = []
    for label, row in zip(preference_labels(study.preferences), cells, strict=True):
        seeds = [str(seed) for seed, there in zip(study.seeds, row, strict=True) if there]
        if seeds:
            parts.append(f"{label} (seed{'s' * (len(seeds) > 1)} {', '.join(seeds)})")
    return "; ".join(parts)


def find_gaps(study: Study, stored: pd.DataFrame) -> Study:
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
    """Tell which runs have no test score, where it is the one that counts."""
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
