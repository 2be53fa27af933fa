"""The numbers of the paper's tables, with confidence intervals, from the arrays of a panel."""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from morl_blocks.metrics import (
    Comparison,
    Interval,
    bootstrap_ci,
    compare,
    objective_dominance_rate,
    profile_auc,
    seed_draws,
    win_rate,
)
from morl_recipes.panels._panel import Array, Panel
from morl_recipes.paper import REFERENCE

RESAMPLES = 2000
NAN = float("nan")

Draws: TypeAlias = list[NDArray[np.int64]] | None


@dataclass(frozen=True)
class MethodStatistics:
    """One row of a summary table; NaN where a number cannot be had, with the reason among the panel's notes.

    Attributes:
        method: Name of the method.
        runs: Usable and planned runs.
        hv: Mean over preferences of the seed mean, with its interval over seeds.
        hv_spread: Standard deviation over preferences (ddof 1) of the seed mean.
        preferences: Preferences with a usable run.
        win_rate: Share of preferences won, on the cells that all methods have.
        dominance: Objective dominance rate, on the same cells.
        auc: Area under the performance profile, on the same cells.
        against: Paired comparison with PASTA on the cells that both have; ``None`` when there is none.
    """

    method: str
    runs: tuple[int, int]
    hv: Interval
    hv_spread: float
    preferences: int
    win_rate: Interval
    dominance: Interval
    auc: Interval
    against: Comparison | None


@dataclass(frozen=True)
class PreferenceStatistics:
    """One row of a table per preference: mean and standard deviation over seeds (ddof 1, NaN for one seed).

    Attributes:
        method: Name of the method.
        preference: The preference.
        seeds: Usable runs.
        hv: Hypervolume with its interval over seeds.
        hv_spread: Standard deviation of the hypervolume.
        eu: Expected utility, mean and standard deviation.
        returns: Raw return of each objective, mean and standard deviation.
    """

    method: str
    preference: tuple[float, ...]
    seeds: int
    hv: Interval
    hv_spread: float
    eu: tuple[float, float]
    returns: tuple[tuple[float, float], ...]


def mean_interval(cells: list[Array]) -> Interval:
    """Average preferences of the seed mean; the interval is NaN when a preference has fewer than two seeds.

    A hypervolume lies in [0, 1], so an interval of few seeds that reaches beyond is cut there; it loses no truth.
    """
    cells = [cell for cell in cells if len(cell)]
    if not cells or not all(np.isfinite(cell).all() for cell in cells):
        return Interval(NAN, NAN, NAN)
    if min(len(cell) for cell in cells) < 2:
        return Interval(float(np.mean([cell.mean() for cell in cells])), NAN, NAN)
    estimate, low, high = bootstrap_ci(cells, resamples=RESAMPLES)
    return Interval(estimate, max(low, 0.0), min(high, 1.0))


def _cells(panel: Panel, method: int, values: Array) -> list[Array]:
    """Return the usable runs of a method, one array per preference."""
    return [row[there] for row, there in zip(values[method], panel.usable[method], strict=True)]


def _spread(values: Array) -> float:
    return float(values.std(ddof=1)) if len(values) > 1 else NAN


def _intervals(estimates: Array, samples: Array | None) -> list[Interval]:
    """Put percentile intervals around one estimate per method; ``samples`` is ``[resamples, methods]``."""
    if samples is None:
        return [Interval(float(value), NAN, NAN) for value in estimates]
    low, high = np.quantile(samples, [0.025, 0.975], axis=0)
    return [Interval(*map(float, row)) for row in zip(estimates, low, high, strict=True)]


def relative_rates(panel: Panel) -> dict[str, list[Interval]]:
    """Compute what compares methods with each other, on the (preference, seed) cells that every active method has.

    Seeds are redrawn within each preference, the same ones for all methods.

    Returns:
        ``win_rate``, ``dominance`` and ``auc``, one interval per method; all NaN when fewer than two methods have
        runs, they share no cell, or there are no bounds (the dominance rate needs none).
    """
    nothing = [Interval(NAN, NAN, NAN)] * len(panel.methods)
    rates = {"win_rate": list(nothing), "dominance": list(nothing), "auc": list(nothing)}
    rows = [row for row in panel.common if row.any()]
    active = np.flatnonzero(panel.active)
    if len(active) < 2 or not rows:
        return rates
    there = np.flatnonzero(panel.common.any(1))
    hv = [panel.hv[active][:, p, panel.common[p]] for p in there]
    returns = [panel.returns[active][:, p, panel.common[p]] for p in there]
    draws = None
    if min(int(row.sum()) for row in rows) >= 2:
        generator = np.random.default_rng(0)
        draws = [seed_draws(int(row.sum()), RESAMPLES, generator) for row in rows]
    found = {"dominance": _dominance(returns, draws)}
    if np.isfinite(np.concatenate(hv, axis=1)).all():
        found |= {"win_rate": _wins(hv, draws), "auc": _areas(hv, draws)}
    for name, intervals in found.items():
        for k, interval in zip(active, intervals, strict=True):
            rates[name][k] = interval
    return rates


def _wins(hv: list[Array], draws: Draws) -> list[Interval]:
    """Win rates; ``hv`` holds one ``[methods, seeds]`` array per preference."""
    point = win_rate(np.stack([cell.mean(1) for cell in hv], axis=-1))
    if draws is None:
        return _intervals(point, None)
    means = [cell[:, draw].mean(-1).T for cell, draw in zip(hv, draws, strict=True)]
    return _intervals(point, win_rate(np.stack(means, axis=-1)))


def _dominance(returns: list[Array], draws: Draws) -> list[Interval]:
    """Objective dominance rates; ``returns`` holds one ``[methods, seeds, m]`` array per preference."""
    point = objective_dominance_rate(np.stack([cell.mean(1) for cell in returns], axis=1))
    if draws is None:
        return _intervals(point, None)
    means = [cell[:, draw].mean(-2).swapaxes(0, 1) for cell, draw in zip(returns, draws, strict=True)]
    return _intervals(point, objective_dominance_rate(np.stack(means, axis=2)))


def _areas(hv: list[Array], draws: Draws) -> list[Interval]:
    """Areas under the performance profile; an instance is a (preference, seed) pair."""
    point = profile_auc(np.concatenate(hv, axis=1))
    if draws is None:
        return _intervals(point, None)
    drawn = [cell[:, draw].swapaxes(0, 1) for cell, draw in zip(hv, draws, strict=True)]
    return _intervals(point, profile_auc(np.concatenate(drawn, axis=-1)))


def _against_reference(panel: Panel, method: int) -> Comparison | None:
    """Compare a method with PASTA run by run; ``None`` without two shared seeds on each shared preference."""
    if REFERENCE not in panel.methods or panel.methods[method] == REFERENCE:
        return None
    reference = panel.methods.index(REFERENCE)
    shared = np.isfinite(panel.hv[method]) & np.isfinite(panel.hv[reference])
    rows = [p for p in range(len(panel.preferences)) if shared[p].any()]
    if not rows or min(int(shared[p].sum()) for p in rows) < 2:
        return None
    first, second = ([panel.hv[k, p, shared[p]] for p in rows] for k in (method, reference))
    return compare(first, second, resamples=RESAMPLES)


def panel_statistics(panel: Panel) -> list[MethodStatistics]:
    """Return one row of the summary table per method."""
    rates = relative_rates(panel)
    rows = []
    for k, method in enumerate(panel.methods):
        cells = _cells(panel, k, panel.hv)
        means = np.array([cell.mean() for cell in cells if len(cell)])
        rows.append(
            MethodStatistics(
                method=method,
                runs=(int(panel.usable[k].sum()), int((panel.run_ids[k] != "").sum())),
                hv=mean_interval(cells),
                hv_spread=_spread(means),
                preferences=len(means),
                win_rate=rates["win_rate"][k],
                dominance=rates["dominance"][k],
                auc=rates["auc"][k],
                against=_against_reference(panel, k),
            )
        )
    return rows


def preference_statistics(panel: Panel) -> list[PreferenceStatistics]:
    """Return one row of the per-preference tables per preference and method, in this order."""
    rows = []
    utilities = panel.utilities
    for p, preference in enumerate(panel.preferences):
        for k, method in enumerate(panel.methods):
            there = panel.usable[k, p]
            hv, eu, returns = panel.hv[k, p, there], utilities[k, p, there], panel.returns[k, p, there]
            columns = [eu, *returns.T]
            pairs = [(float(c.mean()) if len(c) else NAN, _spread(c)) for c in columns]
            rows.append(
                PreferenceStatistics(
                    method, preference, int(there.sum()), mean_interval([hv]), _spread(hv), pairs[0], tuple(pairs[1:])
                )
            )
    return rows
