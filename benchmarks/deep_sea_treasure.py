"""Which treasures do Linear, TCH, STCH and PASTA find on the two deep-sea-treasure maps, over 11 preferences?

A submarine trades treasure against time. On the concave map only the two ends of the front lie on its convex hull, so a
linear scalarization should find no treasure between them; on the default map most treasures lie on the hull. Every
method trains all preferences x seeds at once; the table shows the treasure that the final policy (most likely actions)
collects, the median over seeds, and how many different ones each seed found. Minibatches are larger and steps longer
than the paper's (256 and 1e-3), which this small world tolerates.

Run ``python -m benchmarks.deep_sea_treasure``; it prints tables and writes ``deep_sea_treasure.json``.
"""

import dataclasses
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
import tyro

from benchmarks._report import Report
from morl_blocks.metrics import hypervolume
from morl_recipes import PASTA, PPO, ROWS, Recipe, train

MAPS = {
    "deep-sea-treasure-concave-v0": (1.0, 2.0, 3.0, 5.0, 8.0, 16.0, 24.0, 50.0, 74.0, 124.0),
    "deep-sea-treasure-v0": (0.7, 8.2, 11.5, 14.0, 15.1, 16.1, 19.6, 20.3, 22.4, 23.7),
}
NUMBERS = PPO(minibatch_size=256, learning_rate=1e-3)
METHODS: dict[str, Recipe] = {
    name: replace(recipe, ppo=NUMBERS)
    for name, recipe in {
        "Linear": ROWS["baselines"]["Linear"],
        "Tchebycheff": ROWS["baselines"]["Tchebycheff"],
        "STCH (0.1)": ROWS["baselines"]["STCH (0.1)"],
        "PASTA": PASTA,
        "Exact PCGrad": ROWS["ours"]["Exact PCGrad"],
    }.items()
}


@dataclasses.dataclass(frozen=True)
class Args:
    """Train on deep-sea-treasure and count treasures."""

    out: Path = Path("benchmarks/results/deep_sea_treasure.json")
    """Where to write the figures."""
    iterations: int = 40
    """Iterations of 2048 steps per run."""
    seeds: int = 3
    """Seeds per preference."""
    preferences: int = 11
    """Preferences between (0, 1) and (1, 0)."""
    maps: tuple[str, ...] = tuple(MAPS)
    """Maps to train on."""
    methods: tuple[str, ...] = tuple(METHODS)
    """Methods to train."""
    compile: bool = False
    """Compile the update."""
    progress: bool = False
    """Show a progress bar per method."""


def treasures(args: Args, env: str, method: str) -> dict[str, Any]:
    """Train one method on one map; return, seed by seed, what each preference collects."""
    first = np.linspace(0.0, 1.0, args.preferences)
    preferences = [[float(w), float(1 - w)] for w in first]
    steps = args.iterations * METHODS[method].ppo.steps_per_iteration
    result = train(
        METHODS[method],
        env,
        preferences,
        list(range(args.seeds)),
        steps,
        compile=args.compile,
        progress=args.progress,
        eval_every=args.iterations,
        eval_episodes=1,
    )
    if failed := [run.reason for run in result.runs if run.status == "failed"]:
        raise RuntimeError(f"{method} on {env}: {failed}")
    ends = [list(run.final["returns"]) for run in result.runs if run.final is not None]
    points = [ends[seed :: args.seeds] for seed in range(args.seeds)]
    found = [sorted({round(point[0], 1) for point in own} & set(MAPS[env])) for own in points]
    volumes = [float(hypervolume(np.array(own), reference=[0.0, -100.0])) for own in points]
    return {"points": points, "treasures": found, "hypervolume": volumes}


def main(args: Args) -> dict[str, Any]:
    """Train everything, print the tables, write the JSON and return it."""
    torch.set_num_threads(1)
    report = Report(args.out)
    weights = [round(float(w), 3) for w in np.linspace(0.0, 1.0, args.preferences)]
    results: dict[str, Any] = {"iterations": args.iterations, "weight_of_treasure": weights, "maps": {}}
    for env in args.maps:
        table: dict[str, Any] = {}
        results["maps"][env] = table
        report.say(
            f"\n{env}: treasure of the final policy, median of {args.seeds} seeds, {args.iterations * 2048} steps a run"
        )
        cells = " ".join(f"{w:5.1f}" for w in weights)
        report.say(f"  {'weight of treasure':18s} {cells}  distinct per seed  hypervolume")
        for method in args.methods:
            row = table[method] = treasures(args, env, method)
            medians = np.median(np.array(row["points"])[..., 0], axis=0)
            cells = " ".join(f"{treasure:5.1f}" for treasure in medians)
            distinct = ", ".join(str(len(found)) for found in row["treasures"])
            report.say(f"  {method:18s} {cells}  {distinct:>17s}  {np.mean(row['hypervolume']):11.1f}")
    report.write(results)
    return results


if __name__ == "__main__":
    main(tyro.cli(Args))
