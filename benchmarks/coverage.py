"""How often does a 95 % interval hold the truth when the runs of one seed are alike?

Three made-up methods, two of them close, with the levels and the spread of the stealth task. Runs of one seed and
method are correlated over preferences. Each trial is a sweep; its intervals are those of
:mod:`morl_blocks.metrics`. The truth is what sweeps of this size show on average (20,000 of them). A figure is the mean
over the methods whose truth is not exactly 0 or 1; in brackets the lowest and the highest of them. "Per preference" is
what redrawing seeds within each preference would hold for the mean.

Run ``python -m benchmarks.coverage``; it prints a table and writes it as JSON.
"""

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import tyro
from scipy.special import stdtrit  # type: ignore[import-untyped]

from benchmarks._report import Report
from morl_blocks import metrics

Array = np.ndarray[Any, np.dtype[np.float64]]
CORRELATIONS = (0.0, 0.1, 0.36, 0.6)
SIZES = ((8, 5), (1, 5), (8, 3))
LEVELS, SPREAD = (0.29, 0.27, 0.14), 0.03
OBJECTIVES = ((5.2, 4.6, 4.2), (250.0, 262.0, 210.0), (24.0, 24.6, 25.4))
"""Score, stealth and exploration of the three methods; their spreads are a tenth of the first method's."""


@dataclasses.dataclass(frozen=True)
class Args:
    """Count how often the intervals hold the truth."""

    out: Path = Path("benchmarks/results/coverage.json")
    """Where to write the figures."""
    trials: int = 1000
    """Sweeps per figure."""
    truth: int = 20_000
    """Sweeps whose mean counts as the truth."""


def sweeps(
    count: int, preferences: int, seeds: int, correlation: float, generator: np.random.Generator
) -> tuple[Array, Array]:
    """Make up sweeps: hypervolumes ``[count, K, P, S]`` and returns ``[count, K, P, S, 3]``."""
    levels = np.column_stack([LEVELS, np.transpose(OBJECTIVES)])  # [K, 1 + 3]
    spreads = np.array([SPREAD, *(0.1 * row[0] for row in OBJECTIVES)])
    taste = np.arange(preferences)[None, :, None] * 1.3 + 2.0 * np.arange(len(LEVELS))[:, None, None]
    means = levels[:, None] + (preferences > 1) * 0.5 * spreads * np.cos(taste + np.arange(4))  # [K, P, 1 + 3]
    shape = (count, len(LEVELS), preferences, seeds, 4)
    shared, own = generator.normal(size=(count, len(LEVELS), 1, seeds, 4)), generator.normal(size=shape)
    noise = np.sqrt(correlation) * shared + np.sqrt(1 - correlation) * own
    runs = means[:, :, None] + spreads * noise
    return np.clip(runs[..., 0], 0.0, 1.0), runs[..., 1:]


def statistics(hv: Array, returns: Array) -> dict[str, Array]:
    """Compute what the tables show, ``[count, K]`` each."""
    instances = hv.reshape(*hv.shape[:2], -1)
    return {
        "HV mean": hv.mean((-2, -1)),
        "win rate": metrics.win_rate(hv.mean(-1)),
        "dominance": metrics.objective_dominance_rate(returns.mean(-2)),
        "DMP AUC": metrics.profile_auc(instances),
    }


INTERVALS: dict[str, Callable[[Array, Array], list[metrics.Interval]]] = {
    "HV mean": lambda hv, _: [metrics.bootstrap_ci(method) for method in hv],
    "win rate": lambda hv, _: metrics.win_rate_ci(hv, resamples=300),
    "dominance": lambda _, returns: metrics.objective_dominance_ci(returns, resamples=300),
    "DMP AUC": lambda hv, _: metrics.profile_auc_ci(hv, resamples=300),
}


def per_preference(hv: Array) -> Array:
    """Return half the width of the interval that takes each run for a draw of its own, ``[count, K]``."""
    preferences, seeds = hv.shape[-2:]
    error = np.sqrt((hv.var(-1, ddof=1) / seeds).mean(-1) / preferences)
    return np.asarray(stdtrit(preferences * (seeds - 1), 0.975) * error)


def coverage(preferences: int, seeds: int, correlation: float, args: Args) -> dict[str, list[float]]:
    """Return the share of trials in which each interval holds the truth, one number per method, in per cent."""
    generator = np.random.default_rng([preferences, seeds, int(100 * correlation)])
    chunks = [sweeps(2000, preferences, seeds, correlation, generator) for _ in range(max(1, args.truth // 2000))]
    truths = [statistics(*chunk) for chunk in chunks]
    truth = {name: np.mean([one[name].mean(0) for one in truths], axis=0) for name in INTERVALS}
    hv, returns = sweeps(args.trials, preferences, seeds, correlation, generator)
    held: dict[str, list[list[bool]]] = {name: [] for name in INTERVALS}
    for scores, raw in zip(hv, returns, strict=True):
        for name, interval in INTERVALS.items():
            found = zip(interval(scores, raw), truth[name], strict=True)
            held[name].append([low <= value <= high for (_, low, high), value in found])
    inside = {name: (truth[name] > 0) & (truth[name] < 1) for name in INTERVALS}
    rates = {name: (100 * np.mean(rows, axis=0))[inside[name]].tolist() for name, rows in held.items()}
    naive = np.abs(hv.mean((-2, -1)) - truth["HV mean"]) <= per_preference(hv)
    return rates | {"per preference": (100 * naive.mean(0)).tolist()}


def main(args: Args) -> dict[str, Any]:
    """Print and write the coverage of every interval."""
    report, results = Report(args.out), dict[str, Any]()
    names = [*INTERVALS, "per preference"]
    report.say(
        f"coverage of 95 % intervals, % of {args.trials} sweeps, mean over methods [lowest, highest]",
        "size   corr.  " + "  ".join(f"{name:>18}" for name in names),
    )
    for preferences, seeds in SIZES:
        for correlation in CORRELATIONS:
            rates = coverage(preferences, seeds, correlation, args)
            cells = [f"{np.mean(row):.1f} [{min(row):.1f}, {max(row):.1f}]" for row in (rates[name] for name in names)]
            report.say(f"{preferences} x {seeds}  {correlation:5.2f}  " + "  ".join(f"{cell:>18}" for cell in cells))
            results[f"{preferences}x{seeds}, {correlation}"] = rates
    means = [np.mean(rates[name]) for rates in results.values() for name in INTERVALS]
    report.say(f"all of ours: {min(means):.1f} to {max(means):.1f} %")
    report.write(results)
    return results


if __name__ == "__main__":
    main(tyro.cli(Args))
