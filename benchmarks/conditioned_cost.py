"""What does a step cost when the preference is drawn anew for every episode, against a run of one preference?

The same recipe trains ordinary and conditioned, iteration by iteration in turn, on one thread. The clock is the CPU
time of the process, so that other load does not count, and the fastest iteration of each speaks.

Run ``python -m benchmarks.conditioned_cost``; it prints a table and writes ``conditioned_cost.json``.
"""

import dataclasses
from pathlib import Path
from time import process_time
from typing import Any

import torch
import tyro

from benchmarks._report import Report
from morl_envs import CARDS
from morl_envs.source import find_source
from morl_recipes import ROWS, Recipe
from morl_recipes.learning.batch import Batch
from morl_recipes.recipe.run import Run
from morl_recipes.recipe.settings import Settings
from morl_recipes.running.fronts.train import adapted

RECIPES: dict[str, Recipe] = {name: ROWS["ours"][name] for name in ("Conditioned Linear", "Exact PCGrad")}


@dataclasses.dataclass(frozen=True)
class Args:
    """Time conditioned training."""

    out: Path = Path("benchmarks/results/conditioned_cost.json")
    """Where to write the figures."""
    envs: tuple[str, ...] = ("deep-sea-treasure-v0", "stealth")
    """Environments."""
    runs: tuple[int, ...] = (1, 8)
    """Runs that train at once."""
    rounds: int = 4
    """Iterations of each, after a first one that does not count."""
    compile: bool = False
    """Compile the update."""


def seconds(recipe: Recipe, env: str, runs: int, args: Args) -> dict[str, float]:
    """Return the seconds of the fastest iteration, ordinary and conditioned, taken in turn."""
    m = len(CARDS[env].objectives)
    settings = Settings(total_steps=10**7, compile=args.compile)
    batches = {
        kind: Batch(
            [Run(adapted(recipe, conditioned=kind == "conditioned"), (1 / m,) * m, seed) for seed in range(runs)],
            find_source(env),
            settings,
        )
        for kind in ("ordinary", "conditioned")
    }
    best = dict.fromkeys(batches, float("inf"))
    for turn in range(args.rounds + 1):
        for kind, batch in batches.items():
            start = process_time()
            batch.iterate()
            if turn:
                best[kind] = min(best[kind], process_time() - start)
    return best


def main(args: Args) -> dict[str, Any]:
    """Time everything, print the table, write the JSON and return it."""
    torch.set_num_threads(1)
    report, results = Report(args.out), dict[str, Any](compile=args.compile, rows=[])
    update = "compiled" if args.compile else "eager"
    report.say(f"CPU seconds of an iteration of 2,048 steps per run, {update}, one thread")
    report.say(f"  {'environment':22s} {'recipe':20s} {'runs':>4s} {'ordinary':>9s} {'conditioned':>12s} {'ratio':>6s}")
    for env in args.envs:
        for name, recipe in RECIPES.items():
            for runs in args.runs:
                best = seconds(recipe, env, runs, args)
                ratio = best["conditioned"] / best["ordinary"]
                results["rows"].append({"env": env, "recipe": name, "runs": runs, **best, "ratio": ratio})
                figures = f"{best['ordinary']:9.3f} {best['conditioned']:12.3f} {ratio:6.2f}"
                report.say(f"  {env:22s} {name:20s} {runs:4d} {figures}")
                report.write(results)
    results["largest"] = max(row["ratio"] for row in results["rows"])
    report.say(f"Largest ratio: {results['largest']:.2f}")
    report.write(results)
    return results


if __name__ == "__main__":
    main(tyro.cli(Args))
