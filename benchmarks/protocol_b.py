"""The default recipe by the protocol that C-MORL and D3PO print their tables by, beside what they print.

Every seed of every task trains in a process's turn, keeps checkpoints in ``--runs``, and is written to the JSON as soon
as it is finished: the command can be stopped at any time, and started again it goes on where it was. Steps are those of
the protocol (1.5 million for two objectives, 2 million for three), all of them counted; the last policy plays five
episodes with its most likely actions for each of 101 or 66 preferences, discounted by 0.99.
``--only`` names tasks, ``--table`` prints what is there without training.
"""

from __future__ import annotations

import dataclasses
import json
from importlib.metadata import version
from pathlib import Path
from time import process_time
from typing import Any

import pandas as pd
import torch
import tyro

from benchmarks._report import Report
from morl_recipes import front_recipe, train_front
from morl_recipes.running.fronts.protocol import (
    as_text,
    beside_published,
    front_scores,
    protocol_settings,
    protocol_task,
)

TASKS = ("mo-hopper-2d-v4", "mo-hopper-v4", "mo-ant-2d-v4", "mo-ant-v4", "mo-humanoid-v4")
COMMAND = "python -m benchmarks.protocol_b"


@dataclasses.dataclass(frozen=True)
class Args:
    """Train fronts by protocol B and print them beside the published ones."""

    out: Path = Path("benchmarks/results/protocol_b.json")
    """Where to write the figures of every seed; the tables go beside them, as ``.txt``."""
    runs: Path = Path("runs/protocol_b")
    """Where trainings keep their checkpoints and fronts."""
    seeds: tuple[int, ...] = (0, 1, 2)
    """Seeds; all tasks of a seed before the next seed."""
    only: tuple[str, ...] = TASKS
    """Tasks."""
    table: bool = False
    """Train nothing."""


def main(args: Args) -> dict[str, Any]:
    """Train what is missing, print the tables, write the JSON and return it."""
    torch.set_num_threads(1)
    for env in args.only:
        protocol_task("B", env)
    results = json.loads(args.out.read_text())["seeds"] if args.out.exists() else []
    done = {(row["env"], row["seed"]) for row in results}
    turns = [(env, seed) for seed in args.seeds for env in args.only if (env, seed) not in done]
    for env, seed in [] if args.table else turns:
        results.append(trained(env, seed, args.runs / f"{env}-{seed}"))
        write(results, args.out)
    return write(results, args.out)


def trained(env: str, seed: int, folder: Path, steps: int | None = None) -> dict[str, Any]:
    """Train and evaluate one seed of a task; return its figures.

    Args:
        env: The task.
        seed: The seed.
        folder: Where the training keeps its checkpoint, to be continued.
        steps: Fewer steps than the protocol's, for a try.
    """
    task, recipe = protocol_task("B", env), front_recipe(env)
    how = protocol_settings(task, recipe)
    if steps is not None:
        how["total_steps"] = steps
    start = process_time()
    front = train_front(recipe, seeds=[seed], out=folder, resume=True, checkpoint_every=50, **how)
    scores = front_scores(front, task).iloc[0]
    return {
        "env": env,
        "seed": seed,
        "steps": how["total_steps"],
        "HV": float(scores["HV"]),
        "EUM": float(scores["EUM"]),
        "sparsity": float(scores["sparsity"]),
        "cpu_seconds_of_the_last_start": round(process_time() - start, 1),
        "version": version("morl-blocks"),
        "points": front.points.round(3).tolist(),
    }


def write(results: list[dict[str, Any]], out: Path) -> dict[str, Any]:
    """Print and write the tables and the figures of every seed."""
    report = Report(out)
    for env in TASKS:
        rows = [row for row in results if row["env"] == env]
        if not rows:
            report.say("", f"{env}: not yet trained")
            continue
        task = protocol_task("B", env)
        table = beside_published(pd.DataFrame(rows), task, "morl-blocks, default", rows[0]["steps"])
        seeds = ", ".join(str(row["seed"]) for row in rows)
        report.say("", f"{env} (seeds {seeds}; {verdict(table)})", as_text(table))
    figures = {"command": COMMAND, "protocol": "B", "seeds": results}
    report.write(figures)
    return figures


def verdict(table: pd.DataFrame) -> str:
    """Say in which of the two metrics our mean is ahead of every published one; what is marked as suspect is left out.

    Example:
        >>> rows = {"method": ["ours", "other", "odd"], "HV": [2.0, 1.0, 1.0], "EUM": [1.0, 2.0, 9.0]}
        >>> verdict(pd.DataFrame(rows | {"source": ["", "page", "page (suspect EUM: ...)"]}))
        'ahead of all in HV, not in EUM'
    """
    ahead = {}
    for name in ("HV", "EUM"):
        others = table[~table["source"].str.contains(f"suspect {name}")].iloc[1:]
        ahead[name] = bool(table[name].iloc[0] > others[name].max())
    if all(ahead.values()):
        return "ahead of all in HV and EUM"
    if not any(ahead.values()):
        return "ahead of all in neither HV nor EUM"
    best, other = ("HV", "EUM") if ahead["HV"] else ("EUM", "HV")
    return f"ahead of all in {best}, not in {other}"


if __name__ == "__main__":
    main(tyro.cli(Args))
