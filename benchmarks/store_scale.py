"""How long does a store of 5,500 runs take to read, to take up again, to check and to report on?

All recipes x 8 preferences x 13 seeds on stealth visual search, with made-up numbers in histories of 98 iterations.
Times are those of the processor, so that others on the machine do not count. The report is that of a process of its
own, imports included, because memory is measured at its largest.

Run ``python -m benchmarks.store_scale``; it prints a table and writes it as JSON.
"""

import dataclasses
import os
import resource
import sys
import tempfile
import time
import zlib
from collections.abc import Callable
from pathlib import Path
from unittest import mock

import numpy as np
import pandas as pd
import torch
import tyro

from benchmarks._alone import UNIT, alone
from benchmarks._report import Report
from morl_recipes.recipe.run import Run
from morl_recipes.running.engines.inline import InlineEngine
from morl_recipes.running.execute import run_sweep
from morl_recipes.running.plan import Plan, make_plan
from morl_recipes.running.sweep import sweep_from
from morl_recipes.store.frames import load_history, load_runs
from morl_recipes.store.record import RunRecord
from morl_recipes.store.store import Store
from morl_recipes.store.verify import verify

COLUMNS = ("mu", "conflict", "actor_gradient", "critic_gradient", "loss_value", "kl", "clip_fraction", "entropy")
PER_OBJECTIVE = ("loss_objective", "explained_variance", "attention", "episode", "return")


@dataclasses.dataclass(frozen=True)
class Args:
    """Time the store."""

    out: Path = Path("benchmarks/results/store_scale.json")
    """Where to write the figures."""
    seeds: int = 13
    """Seeds; all recipes x 8 preferences x 13 are 5,500 runs."""
    rows: tuple[str, ...] = ("all",)
    """Recipes."""
    iterations: int = 98
    """Rows of a history."""
    folder: Path | None = None
    """Where to keep the store; by default it is removed."""


def plan_of(args: Args) -> Plan:
    """Return what the store sets out to do."""
    keys = {"rows": list(args.rows), "envs": ["stealth"], "seeds": args.seeds, "total_steps": args.iterations * 2048}
    return make_plan(sweep_from(keys))


def made_up(run: Run, iterations: int) -> RunRecord:
    """Return a record whose numbers follow from the run's id."""
    generator = np.random.default_rng(zlib.crc32(run.run_id.encode()))
    names = [*COLUMNS, *(f"{name}_{i}" for name in PER_OBJECTIVE for i in range(len(run.preference))), "hv", "eu"]
    numbers = generator.random((iterations, len(names)))
    numbers[np.arange(iterations) % 10 != 9, -5:] = np.nan  # validated at every tenth iteration
    count = np.arange(1, iterations + 1)
    history = pd.DataFrame(numbers, columns=names).assign(iteration=count, steps=2048 * count)
    point = {"iteration": iterations, "steps": run.steps, "returns": tuple(generator.random(len(run.preference)))}
    point |= {"hv": float(generator.random()), "eu": float(generator.random())}
    policy = {f"{name}.mean.bias": torch.zeros(2) for name in ("peak", "final")}
    return RunRecord(*run.identity, "done", "", run.steps, point, point, run.recipe, history, policy)


def fill(folder: Path, plan: Plan, iterations: int) -> Store:
    """Write every run of a plan; nothing waits for the disk, which would take most of the time."""
    store = Store.create(folder, plan.manifest("benchmarks.store_scale"))
    with mock.patch.object(os, "fsync"):
        for run in plan.runs:
            store.write(made_up(run, iterations))
    return store


def timed(what: Callable[[], object]) -> float:
    """Return the seconds of the processor that something takes."""
    start = time.process_time()
    what()
    return time.process_time() - start


def resume(args: Args, folder: Path) -> None:
    """Take up a sweep that is complete, as the command does after its imports."""
    outcome = run_sweep(plan_of(args), folder, InlineEngine(), progress=False, say=lambda text: None)
    if outcome.ran:
        raise RuntimeError(f"nothing was to do, and {len(outcome.ran)} runs were trained")


def report_of(folder: Path) -> dict[str, float]:
    """Return what ``morl-blocks report`` takes: seconds of the processor, megabytes, and those of the page."""
    page = folder.parent / "report.html"
    command = [sys.executable, "-m", "morl_recipes", "report", str(folder), "--out", str(page)]
    used = alone(command)
    return {**used._asdict(), "page": page.stat().st_size / 2**20}


def main(args: Args) -> dict[str, object]:
    """Make a store, and time what is done with it."""
    report = Report(args.out)
    with tempfile.TemporaryDirectory() as temporary:
        folder = args.folder or Path(temporary) / "store"
        plan = plan_of(args)
        fill(folder, plan, args.iterations)
        acts: dict[str, Callable[[], object]] = {
            "open": lambda: Store.open(folder),
            "load_runs": lambda: load_runs(folder),
            "load_history": lambda: load_history(folder),
            "take up again, nothing to do": lambda: resume(args, folder),
            "verify": lambda: verify(folder),
        }
        report.say(f"{len(plan.runs):,} runs, histories of {args.iterations} rows", "", f"{'what':<32} seconds")
        seconds = {}
        for name, act in acts.items():
            seconds[name] = timed(act)
            report.say(f"{name:<32} {seconds[name]:7.2f}")
        page = report_of(folder)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * UNIT / 2**20
    report.say("", f"Largest memory of the process: {peak:,.0f} MB (torch alone takes about 300).")
    report.say(
        f"Report, a process of its own: {page['seconds']:.1f} s, {page['megabytes']:,.0f} MB at most, "
        f"a page of {page['page']:.1f} MB."
    )
    results: dict[str, object] = {"runs": len(plan.runs), "seconds": seconds, "megabytes": peak, "report": page}
    report.write(results)
    return results


if __name__ == "__main__":
    main(tyro.cli(Args, description=__doc__))
