"""Is training as fast as in an earlier checkout of this project? Both train in turns, in one run, on one thread.

Run ``python -m benchmarks.speed_guard FOLDER`` with a clone of the earlier commit. A ratio above 1 means that this
checkout is faster. The order changes with every turn, so a busy machine slows both alike.
"""

from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import tyro

from benchmarks._before import Checkout
from benchmarks._report import Report

HERE = Path(__file__).parents[1]


@dataclass(frozen=True)
class Args:
    """Compare with an earlier checkout."""

    folder: tyro.conf.Positional[Path]
    """A clone of the earlier commit."""
    turns: int = 8
    """Iterations of each checkout that are measured."""
    worlds: tuple[str, ...] = ("dummy", "stealth")
    """Environments."""
    out: Path = Path("benchmarks/results/speed_guard.json")
    """Where to write the figures."""


def main(args: Args) -> dict[str, Any]:
    """Print and write the processor time of the earlier checkout per that of this one."""
    report, figures = Report(args.out), dict[str, Any]()
    report.say(f"{'training of PASTA':<32}{'ratio of the best':>18}{'of the medians':>16}")
    for world in args.worlds:
        for runs, compiled in ((1, False), (8, False), (1, True), (8, True)):
            name = f"{world}, R={runs}, {'compiled' if compiled else 'eager'}"
            new, old = measured(args, world, runs, compiled=compiled)
            figures[name] = {"best": min(old) / min(new), "median": median(old) / median(new)}
            report.say(f"{name:<32}{figures[name]['best']:>18.3f}{figures[name]['median']:>16.3f}")
    report.write(figures)
    return figures


def measured(args: Args, world: str, runs: int, *, compiled: bool) -> tuple[list[float], list[float]]:
    """Return the processor seconds of each turn: of this checkout, and of the earlier one."""
    with (
        Checkout(HERE, world, runs, compiled=compiled) as new,
        Checkout(args.folder, world, runs, compiled=compiled) as old,
    ):
        times: dict[Checkout, list[float]] = {new: [], old: []}
        for turn in range(args.turns + 1):  # the first one warms up and compiles
            for checkout in (new, old) if turn % 2 else (old, new):
                seconds = checkout.iterate()
                times[checkout] += [seconds] if turn else []
        return times[new], times[old]


if __name__ == "__main__":
    main(tyro.cli(Args))
