"""How often does a 95 % interval hold the truth when the runs of one seed are alike?

Three made-up methods, two of them close, with the levels and the spread of the stealth task. Runs of one seed and
method are correlated over preferences. Each trial is a sweep; its intervals are those of
:mod:`morl_blocks.metrics`. The truth is what sweeps of this size show on average (20,000 of them). A figure is the mean
over the methods whose truth is not exactly 0 or 1; in brackets the lowest and the highest of them. "Per preference" is
what redrawing seeds within each preference would hold for the mean.

The second table is of one method with skewed scores: "t" is the mean and Student's t alone, as for several preferences.
"BCa" and "bootstrap-t" (studentised, over all resamples of the seeds) were tried for one preference.

Run ``python -m benchmarks.coverage``; it prints a table and writes it as JSON.
"""

import dataclasses
import itertools
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import tyro
from scipy.special import ndtr, ndtri, stdtrit  # type: ignore[import-untyped]

from benchmarks._report import Report
from morl_blocks import metrics

Array = np.ndarray[Any, np.dtype[np.float64]]
SKEWED: dict[str, Callable[[np.random.Generator, tuple[int, ...]], Array]] = {
    "normal": lambda generator, shape: generator.normal(size=shape),
    "gamma 2": lambda generator, shape: generator.gamma(2.0, size=shape) - 2.0,
    "exponential": lambda generator, shape: generator.exponential(size=shape) - 1.0,
    "beta .5, 3": lambda generator, shape: generator.beta(0.5, 3.0, size=shape) - 0.5 / 3.5,
    "lognormal": lambda generator, shape: generator.lognormal(size=shape) - np.exp(0.5),
    "1 of 5 fails": lambda generator, shape: generator.normal(1.0, 0.15, shape) * (generator.random(shape) > 0.2) - 0.8,
}
"""Scores whose mean is 0."""
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
    skewed: int = 4000
    """Sweeps per figure of the second table."""


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


def resamples_of(scores: Array) -> tuple[Array, Array, Array]:
    """Return means and standard errors of all resamples of ``[count, n]``, and how likely each is."""
    seeds = scores.shape[-1]
    chosen = list(itertools.combinations_with_replacement(range(seeds), seeds))
    times = np.array([np.bincount(one, minlength=seeds) for one in chosen])
    odds = np.array([math.factorial(seeds) / math.prod(map(math.factorial, map(int, row))) for row in times])
    means = scores @ times.T / seeds
    spread = np.maximum(np.square(scores) @ times.T / seeds - np.square(means), 0.0)
    return means, np.sqrt(spread / (seeds - 1)), odds / seeds**seeds


def quantile(values: Array, odds: Array, share: Array) -> Array:
    """Return a quantile of each row of weighted values."""
    order = np.argsort(values, axis=-1)
    place = (np.cumsum(odds[order], axis=-1) < share[:, None]).sum(-1).clip(max=len(odds) - 1)
    return np.take_along_axis(np.take_along_axis(values, order, -1), place[:, None], -1)[:, 0]


def tried(scores: Array) -> dict[str, tuple[Array, Array]]:
    """Return the ends of three intervals of the mean of ``[count, n]`` that were tried, by name."""
    seeds, mean = scores.shape[-1], scores.mean(-1)
    error = scores.std(-1, ddof=1) / np.sqrt(seeds)
    reach = stdtrit(seeds - 1, 0.975) * error
    means, errors, odds = resamples_of(scores)
    alike = errors <= 1e-6 * error[:, None]
    student = np.where(alike, 0.0, (means - mean[:, None]) / np.where(alike, 1.0, errors))
    ends = [np.full(len(mean), share) for share in (0.025, 0.975)]
    low, high = (quantile(student, odds, end) for end in ends)
    below = (odds * (means < mean[:, None] - 1e-12)).sum(-1) + 0.5 * (odds * np.isclose(means, mean[:, None])).sum(-1)
    bias, gaps = ndtri(below.clip(1e-6, 1 - 1e-6)), scores - mean[:, None]
    bend = (gaps**3).sum(-1) / np.maximum(6 * np.square(gaps).sum(-1) ** 1.5, 1e-300)
    shares = [ndtr(bias + (bias + ndtri(end)) / (1 - bend * (bias + ndtri(end)))) for end in ends]
    bca = quantile(means, odds, shares[0]), quantile(means, odds, shares[1])
    return {"t": (mean - reach, mean + reach), "BCa": bca, "bootstrap-t": (mean - high * error, mean - low * error)}


def skewed(report: Report, args: Args) -> dict[str, Any]:
    """Print and return the coverage and the length of intervals of the mean of skewed scores."""
    generator, results = np.random.default_rng(0), dict[str, Any]()
    names = ("ours", "t", "BCa", "bootstrap-t")
    report.say("", "skewed scores, mean: coverage in %, and the length in lengths of t")
    report.say("size   corr.  scores        " + "  ".join(f"{name:>14}" for name in names))
    for preferences, seeds, correlation in ((1, 5, 0.0), (1, 3, 0.0), (1, 10, 0.0), (8, 5, 0.36), (8, 5, 0.6)):
        for kind, draw in SKEWED.items():
            shared, own = draw(generator, (args.skewed, 1, seeds)), draw(generator, (args.skewed, preferences, seeds))
            scores = np.sqrt(correlation) * shared + np.sqrt(1 - correlation) * own
            ours = np.array([metrics.bootstrap_ci(one)[1:] for one in scores])
            ends = {"ours": (ours[:, 0], ours[:, 1])} | (tried(scores.mean(1)) if seeds < 10 else {})
            rates = {name: 100 * float(np.mean((low <= 0) & (high >= 0))) for name, (low, high) in ends.items()}
            unit = 2 * stdtrit(seeds - 1, 0.975) * (scores.mean(1).std(-1, ddof=1) / np.sqrt(seeds)).mean()
            sizes = {name: float(np.mean(high - low) / unit) for name, (low, high) in ends.items()}
            cells = [f"{rates[name]:.1f} ({sizes[name]:.2f})" if name in rates else "" for name in names]
            line = f"{preferences} x {seeds:<2} {correlation:5.2f}  {kind:<12}"
            report.say(f"{line}  {'  '.join(f'{cell:>14}' for cell in cells)}".rstrip())
            results[f"{preferences}x{seeds}, {correlation}, {kind}"] = {"coverage": rates, "length": sizes}
    return results


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
    results["skewed"] = skewed(report, args)
    report.write(results)
    return results


if __name__ == "__main__":
    main(tyro.cli(Args))
