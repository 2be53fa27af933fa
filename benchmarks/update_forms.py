"""What does it cost that the public blocks train? The generic update, the fast one, and another checkout's.

1. The update alone, generic against fast, taken in turns on one thread: R = 1 and 8, eager and compiled.
2. With ``--before FOLDER``: whole iterations of another checkout of this project, in turns with this one, in processor
   time.
3. With ``--defaults``: what a user gets who types ``train`` and nothing else: 40 runs of stealth for 200,704 steps,
   compiling, validation and test episodes included, beside Stable-Baselines3 (extra ``bench``).

Run ``python -m benchmarks.update_forms``; it prints tables and writes ``update_forms.json``.
"""

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import tyro

from benchmarks._before import Checkout
from benchmarks._peers import stable_baselines
from benchmarks._report import Report
from benchmarks._timing import interleaved
from benchmarks.training_speed import STEPS, stealth_env, update_call
from morl_envs.source import find_source
from morl_recipes import PASTA, train


@dataclass(frozen=True)
class Args:
    """Time the forms of the update."""

    out: Path = Path("benchmarks/results/update_forms.json")
    """Where to write the figures."""
    runs: tuple[int, ...] = (1, 8)
    """Sizes of a batch."""
    rounds: int = 20
    """Turns per contender; the best one counts."""
    compiled: bool = True
    """Measure the compiled updates too."""
    before: Path | None = None
    """Another checkout to train in turns with this one."""
    worlds: tuple[str, ...] = ("dummy", "stealth")
    """Environments on which the other checkout is compared."""
    defaults: bool = False
    """Train 40 runs of stealth with all defaults."""


def forms(args: Args) -> dict[str, float]:
    """Return how many times as long as the fast update the generic one takes."""
    result = {}
    for mode in ("eager", "compiled") if args.compiled else ("eager",):
        for runs in args.runs:
            calls = {
                form: update_call(runs, 3, compiled=mode == "compiled", form=form)[0] for form in ("fast", "generic")
            }
            seconds = interleaved(calls, rounds=args.rounds, calls=5)
            result[f"generic / fast, R={runs}, {mode}"] = seconds["generic"] / seconds["fast"]
    return result


def against(args: Args, folder: Path) -> dict[str, float]:
    """Return our processor time per iteration over the other checkout's, taken in turns; the best turns count."""
    result = {}
    for world in args.worlds:
        for runs in args.runs:
            with (
                Checkout(folder, world, runs, compiled=args.compiled) as other,
                Checkout(Path(), world, runs, compiled=args.compiled) as ours,
            ):
                for one in (other, ours):
                    one.iterate()  # compiles
                turns = [(other.iterate(), ours.iterate()) for _ in range(args.rounds // 2)]
            before, now = (min(column) for column in zip(*turns, strict=True))
            result[f"now / before, {world}, R={runs}"] = now / before
    return result


def by_default(rounds: int = 3) -> dict[str, float]:
    """Return the speed of a training with all defaults, and as a ratio to SB3's PPO on the same world."""
    peer, best = stable_baselines(stealth_env, 1), float("inf")
    for _ in range(rounds):
        start = time.perf_counter()
        peer()
        best = min(best, time.perf_counter() - start)
    preferences = find_source("stealth").preferences
    start = time.perf_counter()
    train(PASTA, "stealth", preferences, range(5), 200_704, progress=False)
    rate = 200_704 * 5 * len(preferences) / (time.perf_counter() - start)
    return {"steps per second": rate, "times SB3 PPO, 1 env": rate / (STEPS / best)}


def main(args: Args) -> dict[str, Any]:
    """Time, print, write and return."""
    torch.set_num_threads(1)
    report, results = Report(args.out), {"update": forms(args)}
    if args.before is not None:
        results["processor time of an iteration, this checkout / the other"] = against(args, args.before)
    if args.defaults:
        results["40 runs of stealth with all defaults"] = by_default()
    for title, table in results.items():
        report.say(f"\n{title}")
        for name, value in table.items():
            report.say(f"  {name:48s} {value:10.2f}")
    report.write(results)
    return results


if __name__ == "__main__":
    main(tyro.cli(Args))
