"""Statistics of a study, with confidence intervals: one row per method, and one per method and preference."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from morl_blocks import metrics
from morl_blocks.metrics import Comparison, Interval, bootstrap_ci, compare, interquartile_mean
from morl_recipes.analysis.results.study import Array, Study
from morl_recipes.common import scores
from morl_recipes.common.scores import HYPERVOLUME

NAN = float("nan")
NOTHING = Interval(NAN, NAN, NAN)
Mask = NDArray[np.bool_]
Pair = tuple[float, float]


@dataclass(frozen=True)
class MethodStatistics:
    """One row of a summary table; missing numbers are NaN, and the notes of the study give the reasons.

    ``runs`` counts usable and planned runs, ``preferences`` those with a usable run. ``hv_spread`` is the standard
    deviation over preferences (ddof 1) of the seed mean. Rates (``win_rate``, ``dominance``, ``auc``) use the cells
    that all methods have, ``against`` those that both have (``None`` without any). ``beside`` is the mean hypervolume
    by the second score: best validations for test scores, and vice versa.
    """

    method: str
    runs: tuple[int, int]
    hv: Interval
    hv_spread: float
    iqm: Interval
    preferences: int
    win_rate: Interval
    dominance: Interval
    auc: Interval
    against: Comparison | None
    beside: Interval = NOTHING


def mean_interval(
    values: Array,
    usable: Mask | None = None,
    statistic: Literal["mean", "iqm"] = "mean",
    limits: tuple[float, float] = HYPERVOLUME.limits,
) -> Interval:
    """Average the seed means of the preferences, ``[P, S]``, or with ``"iqm"`` the middle half of all runs.

    There is no interval if a preference has fewer than two seeds. An interval is clipped to the limits of the score.
    """
    usable = np.ones(values.shape, np.bool_) if usable is None else usable
    values, usable = values[usable.any(1)], usable[usable.any(1)]
    if not usable.any() or not np.isfinite(values[usable]).all():
        return NOTHING
    if usable.sum(1).min() < 2:
        means = [row[there].mean() for row, there in zip(values, usable, strict=True)]
        return Interval(float(np.mean(means) if statistic == "mean" else interquartile_mean(values[usable])), NAN, NAN)
    estimate, low, high = bootstrap_ci(values, statistic, present=usable)
    return Interval(estimate, max(low, limits[0]), min(high, limits[1]))


def spread(values: Array) -> float:
    """Return the standard deviation (ddof 1), NaN for one number."""
    return float(values.std(ddof=1)) if len(values) > 1 else NAN


def relative_rates(study: Study) -> dict[str, list[Interval]]:
    """Compute the rates that compare methods, on the (preference, seed) cells that every active method has.

    ``win_rate``, ``dominance`` and ``auc`` have one interval per method; the bootstrap resamples whole seeds, for all
    preferences and methods at once. They are NaN if fewer than two methods have runs, if the methods share no cell, or
    if there are no bounds (the dominance rate needs none).
    """
    rates = {name: [NOTHING] * len(study.methods) for name in ("win_rate", "dominance", "auc")}
    active, there = np.flatnonzero(study.active), np.flatnonzero(study.common.any(1))
    if len(active) < 2 or not len(there):
        return rates
    common = study.common[there]
    hv, returns = study.hv[active][:, there], study.returns[active][:, there]
    known = bool(np.isfinite(hv[:, common]).all())
    if common.sum(1).min() > 1:
        found = {"dominance": metrics.objective_dominance_ci(returns, present=common)}
        if known:
            found["win_rate"] = metrics.win_rate_ci(hv, present=common)
            found["auc"] = metrics.profile_auc_ci(hv, present=common)
    else:
        found = _point_rates(hv, returns, common)
    for name, intervals in found.items():
        for k, interval in zip(active, intervals, strict=True):
            rates[name][k] = interval if known or name == "dominance" else NOTHING
    return rates


def _point_rates(hv: Array, returns: Array, common: Mask) -> dict[str, list[Interval]]:
    """Compute rates without intervals, because some preference has a single seed."""
    hv, returns = np.where(common, np.nan_to_num(hv), 0.0), np.where(common[..., None], returns, 0.0)
    counts = common.sum(1)
    found = {
        "win_rate": metrics.win_rate(hv.sum(-1) / counts),
        "dominance": metrics.objective_dominance_rate(returns.sum(-2) / counts[:, None]),
        "auc": metrics.profile_auc(hv[:, common]),
    }
    return {name: [Interval(float(value), NAN, NAN) for value in values] for name, values in found.items()}


def against_reference(study: Study, method: int) -> Comparison | None:
    """Compare a method with the reference by :func:`compare_runs`."""
    if study.reference not in study.methods or study.methods[method] == study.reference:
        return None
    return compare_runs(study.hv[method], study.hv[study.methods.index(study.reference)])


def compare_runs(first: Array, second: Array, level: float = 0.95) -> Comparison | None:
    """Compare rows ``[P, S]`` run by run; ``None`` without two common seeds for each common preference."""
    shared = np.isfinite(first) & np.isfinite(second)
    there = shared.any(1)
    if not there.any() or shared[there].sum(1).min() < 2:
        return None
    return compare(first[there], second[there], present=shared[there], level=level)


def study_statistics(study: Study) -> list[MethodStatistics]:
    """Return one row of the summary table per method."""
    rates = relative_rates(study)
    second = study.every.get(study.beside, np.full(study.hv.shape, NAN))
    rows = []
    for k, method in enumerate(study.methods):
        hv, usable = study.hv[k], study.usable[k]
        means = np.array([row[there].mean() for row, there in zip(hv, usable, strict=True) if there.any()])
        own: dict[str, Any] = {"hv": mean_interval(hv, usable), "iqm": mean_interval(hv, usable, "iqm")}
        own |= {"beside": mean_interval(second[k], np.isfinite(second[k]))}
        own |= {name: intervals[k] for name, intervals in rates.items()}
        own |= {"runs": study.runs(k), "hv_spread": spread(means), "preferences": len(means)}
        rows.append(MethodStatistics(method=method, against=against_reference(study, k), **own))
    return rows


def detectable(rows: list[MethodStatistics]) -> float:
    """Return the HV difference that these seeds detect with 80 % power at the 5 % level: the median over methods."""
    found = [row.against.detectable for row in rows if row.against is not None]
    return float(np.median(found)) if found else NAN


@dataclass(frozen=True)
class PreferenceStatistics:
    """One row of a table per preference; ``pairs`` are mean and spread over seeds of each score and each return."""

    method: str
    preference: tuple[float, ...]
    seeds: int
    hv: Interval
    pairs: list[Pair]


def preference_statistics(study: Study) -> list[PreferenceStatistics]:
    """Return one row of the per-preference tables per preference and method, in this order."""
    judged = np.stack([study.score(score) for score in scores.SCORES], axis=-1)
    numbers = np.concatenate([judged, study.returns], axis=-1)
    rows = []
    for p, preference in enumerate(study.preferences):
        for k, method in enumerate(study.methods):
            there = study.usable[k, p]
            pairs = [(float(c.mean()) if len(c) else NAN, spread(c)) for c in numbers[k, p, there].T]
            hv = mean_interval(study.hv[k, p : p + 1], there[None])
            rows.append(PreferenceStatistics(method, preference, int(there.sum()), hv, pairs))
    return rows


def identical_methods(studies: Sequence[Study]) -> list[tuple[str, ...]]:
    """Group the methods whose runs have exactly the same returns: the block in which they differ had no effect.

    Rows that share their runs, such as PASTA in every group, count once.
    """
    found: dict[tuple[object, ...], dict[tuple[str, ...], str]] = {}
    for study in studies:
        for k, method in enumerate(study.methods):
            if study.active[k]:
                key = (study.env, study.preferences, study.seeds, study.returns[k].tobytes())
                found.setdefault(key, {}).setdefault(tuple(study.run_ids[k].flat), method)
    return [tuple(methods.values()) for methods in found.values() if len(methods) > 1]
