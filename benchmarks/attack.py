"""Attack the package in every way that we know, and print what was lost, what went wrong unsaid, what was obscure.

- *kills*: :mod:`benchmarks.kill_campaign`, ``sweep``, ``train`` and ``front`` killed at random moments;
- *faults of a store*: :mod:`benchmarks.damage_campaign`, files that are cut, flipped, exchanged, forged or linked;
- *load*: :mod:`benchmarks.endurance`, two sweeps at once, a reader, a clock, a full disk, a history without end;
- *bad inputs*: :mod:`benchmarks.fuzz`, every public callable of the three packages with spoilt arguments;
- *bad files*: tests of rows that exit, TOML without end, seeds without end, words for truth values;
- *names*: the walk over all commands with a hostile store, ``tests/morl_recipes/cli/test_hostile_names.py``.

*Lost* counts results that are missing or differ, *silent* wrong numbers, NaN and commands to a terminal, a spreadsheet
or a browser that nobody was told of, *obscure* tracebacks and errors that name no argument or no rule.

Run ``python -m benchmarks.attack --workers 2`` (less than half an hour); it prints a table and writes it as JSON.
``benchmarks.soak`` takes an hour and is run by itself.
"""

import dataclasses
import itertools
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import tyro

from benchmarks import endurance
from benchmarks._report import Report

FILES = (
    "tests/morl_recipes/recipe/test_selection.py",
    "tests/morl_recipes/running/test_sweep.py",
    "tests/morl_recipes/common/test_text.py",
    "tests/morl_envs/test_gymnasium_batch.py",
)
NAMES = ("tests/morl_recipes/cli/test_hostile_names.py",)
Row = tuple[str, int, int, int, int]


@dataclasses.dataclass(frozen=True)
class Args:
    """Attack the package."""

    out: Path = Path("benchmarks/results/attack.json")
    """Where to write the figures."""
    kills: int = 30
    """How often to kill a command."""
    cases: int | None = None
    """Damaged stores; by default all."""
    only: tuple[str, ...] = ()
    """Attacks to run again: load, kills, faults, inputs, tests. The other rows are those of the file."""
    workers: int = 1
    """Attacks at the same time."""
    inputs: int = 60
    """Calls per public name of ``morl_blocks``, at most."""
    longest: float = 1500.0
    """Seconds after which a campaign counts as one that never ends."""
    load: endurance.Args = dataclasses.field(default_factory=endurance.Args)
    """Sizes of the campaign under load."""


def campaign(args: "Args", name: str, out: Path, *sizes: str) -> dict[str, Any]:
    """Run a campaign in a process of its own and return its figures."""
    command = [sys.executable, "-m", f"benchmarks.{name}", f"--out={out}", *sizes]
    subprocess.run(command, check=True, timeout=args.longest)
    figures: dict[str, Any] = json.loads(out.read_text())
    return figures


def kills(args: Args, out: Path) -> Iterator[Row]:
    """Kill commands."""
    made = campaign(args, "kill_campaign", out, f"--kills={args.kills}")
    lost = made["different"] + made["rewritten"] + made["damaged"]
    yield "kills (-9)", made["kills"], lost, 0, made["tracebacks"]


def faults(args: Args, out: Path) -> Iterator[Row]:
    """Damage stores."""
    made = campaign(args, "damage_campaign", out, *([] if args.cases is None else [f"--most={args.cases}"]))
    wrong = len(made["wrong_numbers"]) + len(made["unnoticed"])
    yield "faults of a store", made["cases"], len(made["foreign"]), wrong, len(made["tracebacks"])


def load(args: Args, out: Path) -> Iterator[Row]:
    """Disturb sweeps."""
    sizes = [f"--{key}={value}" for key, value in vars(args.load).items() if key != "out"]
    for name, row in campaign(args, "endurance", out, *sizes).items():
        yield f"load: {name}", row["tried"], row["lost"], row["silent"], row["obscure"]


def inputs(args: Args, out: Path) -> Iterator[Row]:
    """Call everything with bad arguments."""
    total = campaign(args, "fuzz", out, f"--inputs={args.inputs}")["total"]
    yield "bad inputs", sum(total.values()), 0, total["silent"] + total["nan"], total["obscure"] + total["unnamed"]


def tests(args: Args, out: Path) -> Iterator[Row]:
    """Run the tests of bad files and of hostile names; one that fails counts."""
    for name, files in (("bad files and settings", FILES), ("hostile names", NAMES)):
        command = [sys.executable, "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", *files]
        last = subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip().rpartition("\n")[2]
        words = last.replace(",", "").split()
        counts = {word: int(number) for number, word in itertools.pairwise(words) if number.isdigit()}
        failed = counts.get("failed", 0) + counts.get("error", 0) + counts.get("errors", 0) + (not counts.get("passed"))
        yield name, counts.get("passed", 0) + failed, 0, failed, 0


ATTACKS: tuple[Callable[[Args, Path], Iterator[Row]], ...] = (load, kills, faults, inputs, tests)


def main(args: Args) -> dict[str, Any]:
    """Run every attack, print the table, write the JSON and return it."""
    report, rows, begun = Report(args.out), list[Row](), time.monotonic()
    chosen = [attack for attack in ATTACKS if not args.only or attack.__name__ in args.only]
    with tempfile.TemporaryDirectory() as temporary, ThreadPoolExecutor(args.workers) as pool:
        places = [Path(temporary, f"{number}.json") for number in range(len(chosen))]
        for found in pool.map(lambda attack, place: list(attack(args, place)), chosen, places):
            rows += found
    known = json.loads(args.out.read_text()) if args.only and args.out.exists() else {}
    old = {name: (name, *row.values()) for name, row in known.items() if name != "all"}
    rows = list({**old, **{row[0]: row for row in rows}}.values())
    tried, lost, silent, obscure = (sum(column) for column in zip(*(row[1:] for row in rows), strict=True))
    rows.append(("all", tried, lost, silent, obscure))
    report.say("", f"{'what':<34}{'tried':>12}{'lost':>8}{'silent':>8}{'obscure':>9}")
    for name, tried, lost, silent, obscure in rows:
        report.say(f"{name:<34}{tried:>12,}{lost:>8}{silent:>8}{obscure:>9}")
    minutes = f"{(time.monotonic() - begun) / 60:.0f} minutes with {args.workers} at a time"
    report.say("", f"Only {', '.join(args.only)} now, in {minutes}." if args.only else f"All in one run of {minutes}.")
    results = {name: dict(zip(("tried", "lost", "silent", "obscure"), row, strict=True)) for name, *row in rows}
    report.write(results)
    return results


if __name__ == "__main__":
    main(tyro.cli(Args, description=__doc__))
