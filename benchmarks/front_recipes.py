"""Which recipes turn one conditioned training into a front? Deep-sea treasure, both maps, against the exact front.

Every recipe trains one policy per seed for all preferences, with the same numbers of PPO, and is then asked for 200
preferences. The table counts the points of the exact front that it reached, seed by seed, and the hypervolume as a
share of the exact front's (undiscounted, above (0, -50)).

Run ``python -m benchmarks.front_recipes``; it prints tables and writes ``front_recipes.json``.
"""

import dataclasses
from dataclasses import replace
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import torch
import tyro

from benchmarks._report import Report
from morl_blocks.metrics import hypervolume
from morl_envs import exact_front
from morl_recipes import PASTA, ROWS, Front, Recipe, train_front
from morl_recipes.recipe.rows import FRONT
from morl_recipes.recipe.specs import GroupedPCGrad

REFERENCE = (0.0, -50.0)
EXACT = replace(ROWS["ours"]["Exact PCGrad"], ppo=FRONT)
METHODS: dict[str, Recipe] = {
    "Conditioned Linear": ROWS["ours"]["Conditioned Linear"],
    "Conditioned STCH": ROWS["ours"]["Conditioned STCH"],
    "Exact PCGrad": EXACT,
    "Exact PCGrad, 8 groups": replace(EXACT, combiner=GroupedPCGrad()),
    "PASTA": replace(PASTA, ppo=FRONT),
}


@dataclasses.dataclass(frozen=True)
class Args:
    """Train conditioned policies on deep-sea-treasure and compare their fronts with the exact ones."""

    out: Path = Path("benchmarks/results/front_recipes.json")
    """Where to write the figures."""
    steps: int = 153_600
    """Environment steps per run."""
    seeds: int = 3
    """Seeds."""
    preferences: int = 200
    """Preferences to evaluate."""
    maps: tuple[str, ...] = ("deep-sea-treasure-v0", "deep-sea-treasure-concave-v0")
    """Maps to train on."""
    methods: tuple[str, ...] = tuple(METHODS)
    """Recipes to train."""


def measured(front: Front, known: np.ndarray, seed: int) -> dict[str, Any]:
    """Return the points of one seed, how many are on the exact front, and the share of its hypervolume."""
    own = front.of(seed)
    there = [bool((np.abs(known - point) < 1e-3).all(1).any()) for point in own.points]
    share = own.hypervolume(REFERENCE, allow_empty=True) / hypervolume(known, REFERENCE)
    return {"points": own.points.tolist(), "on_the_front": sum(there), "share": share}


def main(args: Args) -> dict[str, Any]:
    """Train everything, print the tables, write the JSON and return it."""
    torch.set_num_threads(1)
    report, results = Report(args.out), dict[str, Any](steps=args.steps, maps={})
    for env in args.maps:
        known, table = exact_front(env), dict[str, Any]()
        results["maps"][env] = table
        report.say(f"\n{env}: {len(known)} points on the exact front, {args.steps} steps, {args.seeds} seeds")
        report.say(f"  {'recipe':24s} {'points reached':>16s}  share of the hypervolume  CPU s a seed")
        for method in args.methods:
            start = process_time()
            front = train_front(
                *(METHODS[method], env, args.preferences, range(args.seeds), args.steps),
                eval_episodes=1,
                eval_every=10**6,
                progress=False,
            )
            seconds = (process_time() - start) / args.seeds
            rows = table[method] = [measured(front, known, seed) for seed in range(args.seeds)]
            reached = ", ".join(str(row["on_the_front"]) for row in rows)
            shares = " ".join(f"{row['share']:7.3f}" for row in rows)
            report.say(f"  {method:24s} {reached:>16s}  {shares:>24s}  {seconds:14.0f}")
            report.write(results)
    return results


if __name__ == "__main__":
    main(tyro.cli(Args))
