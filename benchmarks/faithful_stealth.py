r"""Does a policy serve the preference that it was asked for on stealth? Smooth Tchebycheff, Tchebycheff, and the slope.

Every run's best validation was played on fresh episodes; the mean return of those, scaled by the environment's bounds,
is what it achieved. ``U_STCH`` and ``U_TCH`` are the utilities of the preference that the run was asked for. ``slope``
is how much of an objective a unit of its weight buys, over the preferences (least squares, all objectives together).
Intervals are over seeds, where each seed is one sample for all preferences; a single seed has none.

Run ``python -m benchmarks.faithful_stealth --runs runs/faithful_stealth``. The other rows are the published dataset
``stealth-200k``. Folders may be parts of the sweep ``faithful_stealth``: what is missing is counted and left out.
"""

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
import tyro
from numpy.typing import NDArray

from benchmarks._report import Report
from morl_blocks.metrics import Interval, bootstrap_ci, compare, preference_correlation, preference_regret
from morl_blocks.scalarizers import Scalarizer, SmoothTchebycheff, Tchebycheff
from morl_envs import CARDS
from morl_recipes import published
from morl_recipes.store.frames import load_runs

Array = NDArray[np.float64]
ROWS = (
    ("baselines", "PASTA (Ours)"),
    ("ours", "Exact PCGrad"),
    ("ours", "Linear, vector advantages"),
    ("ours", "STCH (1.0), exact gradient"),
    ("baselines", "Linear"),
    ("ours", "Conditioned STCH"),
    *(("fixed_mu", f"mu={mu}") for mu in (0.01, 0.1, 0.5, 1.0, 5.0)),
    ("controller", "No Decay"),
)
MU = 0.1
BESIDE = ("PASTA (Ours)", "Exact PCGrad", "Linear, vector advantages")


@dataclasses.dataclass(frozen=True)
class Args:
    """Judge trained policies by the preference that they were asked for."""

    runs: tuple[Path, ...] = ()
    """Folders of the sweep faithful_stealth, or of parts of it."""
    out: Path = Path("benchmarks/results/faithful_stealth.json")
    """Where to write the figures."""
    mu: float = MU
    """Smoothness of the utility that judges."""


def achieved(frame: pd.DataFrame, preferences: Sequence[tuple[float, ...]]) -> tuple[Array, list[int]]:
    """Return scaled test returns ``[P, S, m]`` of the seeds that have a run of every preference, and those seeds."""
    card = CARDS["stealth"]
    low, high = np.array(card.hv_low), np.array(card.hv_high)
    columns = [f"test_peak_{i}" for i in range(len(card.objectives))]
    done = frame[frame[columns].notna().all(axis=1)]
    cells = {(p, int(s)): row for p, s, row in zip(done.preference, done.seed, done[columns].to_numpy(), strict=True)}
    every = sorted({seed for _, seed in cells})
    seeds = [seed for seed in every if all((preference, seed) in cells for preference in preferences)]
    points = [[cells[p, s] for s in seeds] for p in preferences]
    shape = (len(preferences), len(seeds), len(columns))
    return (np.array(points, dtype=float).reshape(shape) - low) / (high - low), seeds


def slopes(returns: Array, weights: Array) -> Array:
    """Return the slope of achieved on asked over preferences and objectives, seed by seed, ``[S]``."""
    asked = weights - weights.mean(0)
    got = returns - returns.mean(0)
    return np.asarray((asked[:, None] * got).sum((0, 2)) / (asked**2).sum())


def interval(values: Array, lowest: float = -np.inf, highest: float = np.inf) -> Interval:
    """Return the mean of ``[P, S]`` with its interval over seeds, cut where no mean can be; none for a single seed."""
    if values.shape[1] < 2:
        return Interval(float(values.mean()), float("nan"), float("nan"))
    estimate, low, high = bootstrap_ci(values)
    return Interval(estimate, max(low, lowest), min(high, highest))


def numbers(returns: Array, weights: Array, mu: float) -> dict[str, Array]:
    """Return every number of a row, ``[P, S]``, or ``[1, S]`` for what is of all preferences together."""
    scalarizers: dict[str, Scalarizer] = {"U_STCH": SmoothTchebycheff(mu), "U_TCH": Tchebycheff()}
    asked = np.broadcast_to(weights[:, None], returns.shape).copy()
    pair, by_seed = (torch.from_numpy(returns), torch.from_numpy(asked)), returns.transpose(1, 0, 2)
    found = {name: np.asarray(scalarizer(*pair).numpy()) for name, scalarizer in scalarizers.items()}
    found["regret"] = preference_regret(by_seed, weights, scalarizers["U_STCH"]).T
    found["slope"] = slopes(returns, weights)[None]
    found["rank"] = preference_correlation(by_seed, weights).mean(-1)[None]
    found["HV"] = np.asarray(np.clip(returns, 0, 1).prod(-1))
    return found


def judge(returns: Array, weights: Array, mu: float) -> dict[str, Interval]:
    """Return every number of a row, with intervals."""
    limits = {"regret": (0.0, np.inf), "rank": (-1.0, 1.0), "HV": (0.0, 1.0)}
    every = numbers(returns, weights, mu)
    return {name: interval(values, *limits.get(name, (-np.inf, np.inf))) for name, values in every.items()}


def against(own: Array, other: Array, weights: Array, mu: float) -> dict[str, Any]:
    """Compare two rows seed by seed: the difference with its interval, and the verdict."""
    first, second = (numbers(returns, weights, mu) for returns in (own, other))
    compared = {name: compare(first[name], second[name]) for name in ("U_STCH", "U_TCH", "slope", "HV")}
    return {name: (one.difference, one.verdict) for name, one in compared.items()}


def text(one: Interval) -> str:
    """Print an interval."""
    ends = "" if np.isnan(one.low) else f" [{one.low:+.3f}, {one.high:+.3f}]"
    return f"{one.estimate:+.3f}{ends}"


def main(args: Args) -> dict[str, Any]:
    """Print the table, write it, return the figures."""
    report, data = Report(args.out), published("stealth-200k")
    known = data[data.group.eq("baselines")].preference.unique()
    preferences = [tuple(p) for p in known]
    weights = np.array(preferences)
    weights = weights / weights.sum(1, keepdims=True)
    frames = {name: data[(data.group == group) & (data.method == name)] for group, name in ROWS}
    own = [load_runs(folder) for folder in args.runs]
    ours = pd.concat(own) if own else data.iloc[:0]
    frames |= {str(name): frame for name, frame in ours.groupby("method")}
    places: dict[str, tuple[Array, list[int]]] = {}
    results: dict[str, Any] = {"mu": args.mu, "preferences": preferences, "rows": {}}
    report.say(
        f"stealth, 200,704 steps, {len(preferences)} preferences; test returns of best validations, 95 % over seeds"
    )
    names = ("U_STCH", "U_TCH", "regret", "slope", "rank", "HV")
    report.say(f"{'row':27s} seeds  " + "".join(f"{name:26s}" for name in names))
    for name, frame in frames.items():
        returns, seeds = achieved(frame, preferences)
        if not seeds:
            report.say(f"{name:27s}     0  no seed with a run of every preference")
            continue
        places[name] = returns, seeds
        row = judge(returns, weights, args.mu)
        results["rows"][name] = {"seeds": seeds, **{key: list(one) for key, one in row.items()}}
        report.say(f"{name:27s} {len(seeds):5d}  " + "".join(f"{text(row[key]):26s}" for key in names).rstrip())
    for name in ("SER-STCH", "Conditioned SER-STCH", "SelfTuned"):
        for other in BESIDE if name in places else ():
            first, second = places[name], places[other]
            shared = [seed for seed in first[1] if seed in second[1]]
            if len(shared) < 2:
                continue
            mine, others = (place[0][:, [place[1].index(seed) for seed in shared]] for place in (first, second))
            found = against(mine, others, weights, args.mu)
            report.say(f"\n{name} - {other}, paired over {len(shared)} seeds:")
            report.say(*(f"  {key:7s} {text(one)} {verdict}" for key, (one, verdict) in found.items()))
            results.setdefault("paired", {})[f"{name} - {other}"] = {k: [*one, v] for k, (one, v) in found.items()}
    report.write(results)
    return results


if __name__ == "__main__":
    main(tyro.cli(Args))
