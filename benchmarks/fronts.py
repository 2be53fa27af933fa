"""Who finds the better front in the same time, and in the same steps? Ours against morl-baselines.

Every contender trains alone, on one thread, on the same version of the same environment, and is measured twice: after a
number of environment steps, and when its time is up. The clock is the CPU time of the process, so that other load does
not count; measuring is off the clock. Everybody's policies are played in the same episodes for the same even grid of
preferences, or one by one where they take no preference; hypervolume and expected utility are those of the protocols.

Run ``python -m benchmarks.fronts`` (needs the extra ``bench``). Results go to ``fronts.jsonl``, one line each, and a
run that was stopped continues; ``--seconds 0`` only prints the tables of what is there, with ``fronts.json``.
"""

from __future__ import annotations

import dataclasses
import json
import multiprocessing
import warnings
from pathlib import Path
from typing import Any

import torch
import tyro

from benchmarks._front_ours import OURS, race_ours
from benchmarks._front_peers import CHANGES, PEERS, preload, race_peer, unable
from benchmarks._front_table import tables
from benchmarks._front_tasks import TASKS
from benchmarks._report import Report

CONTENDERS = ("Linear, conditioned", *PEERS, *(name for name in OURS if name != "Linear, conditioned"))


@dataclasses.dataclass(frozen=True)
class Args:
    """Train fronts side by side."""

    out: Path = Path("benchmarks/results/fronts.json")
    """Where to write the tables' figures; the lines of results lie beside it, as ``.jsonl``."""
    seconds: float = 60.0
    """CPU seconds per contender, task and seed; the two small tasks take three quarters of it."""
    seeds: int = 5
    """Seeds."""
    tasks: tuple[str, ...] = tuple(TASKS)
    """Environments."""
    contenders: tuple[str, ...] = CONTENDERS
    """Who trains, in this order; all tasks and contenders of a seed before the next seed."""


def main(args: Args) -> dict[str, Any]:
    """Train what is missing, print the tables, write the JSON and return it."""
    torch.set_num_threads(1)
    lines = args.out.with_suffix(".jsonl")
    results = [json.loads(line) for line in lines.read_text().splitlines()] if lines.exists() else []
    done = {(row["task"], row["contender"], row["seed"]) for row in results}
    turns = [(task, name, seed) for seed in range(args.seeds) for name in args.contenders for task in args.tasks]
    if args.seconds > 0 and not set(PEERS).isdisjoint(args.contenders):
        preload()
    for task, name, seed in turns if args.seconds > 0 else []:
        if (task, name, seed) in done or unable(name, TASKS[task]) is not None:
            continue
        row = {"task": task, "contender": name, "seed": seed, **_alone(task, name, seed, args.seconds)}
        results.append(row)
        with lines.open("a") as file:
            file.write(json.dumps(row) + "\n")
        print(task, name, seed, {key: _short(row[key]) for key in ("steps", "time") if row[key]}, flush=True)
    report = Report(args.out)
    figures = tables(results, list(args.tasks), list(args.contenders), report)
    report.say("", "morl-baselines with the defaults of its constructors, except:")
    report.say(*(f"  {name}: {text}" for name, text in CHANGES.items()))
    report.write(figures)
    return figures


def _short(mark: dict[str, Any]) -> str:
    return f"{mark['steps']} steps, {mark['seconds']:.1f} s: HV {mark['hv']:.6g}, EUM {mark['eum']:.4g}"


def _alone(task: str, name: str, seed: int, seconds: float) -> dict[str, Any]:
    """Race in a process of its own, forked after the imports: its clock and its memory are nobody else's."""
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe()
    process = context.Process(target=_race, args=(theirs, task, name, seed, seconds))
    process.start()
    theirs.close()
    try:
        outcome: dict[str, Any] = ours.recv()
    except EOFError:
        process.join()
        raise RuntimeError(f"{name} on {task}, seed {seed}, ended with code {process.exitcode}") from None
    process.join()
    return outcome


def _race(pipe: Any, task: str, name: str, seed: int, seconds: float) -> None:
    """Race and send the marks."""
    warnings.simplefilter("ignore")
    budget = seconds * TASKS[task].share
    race = (race_peer if name in PEERS else race_ours)(name, TASKS[task], seed, budget)
    pipe.send({"budget": budget, "steps": race.marks.get("steps"), "time": race.marks.get("time")})


if __name__ == "__main__":
    main(tyro.cli(Args))
