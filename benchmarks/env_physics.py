"""How much does a step of a MuJoCo task cost beside MuJoCo's own part?

A batch steps with random actions; then MuJoCo alone makes the same steps: ``mj_step`` from the same states. The
two take turns. Processor time of the thread counts, and the best turn of each, so that others on the machine disturb
little. Resets of ended episodes count for the batch and not for MuJoCo.

Run ``python -m benchmarks.env_physics`` (extra ``mujoco``); it prints a table and writes it next to the figures as
JSON.
"""

import dataclasses
import os
import time
import warnings
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import torch
import tyro
from gymnasium.spaces import Box

import morl_envs
from benchmarks._report import Report
from benchmarks.env_speed import MUJOCO, action_bank

CALLS = 20
"""Steps per turn: some robots fall and are reset."""


@dataclasses.dataclass(frozen=True)
class Args:
    """Time steps of MuJoCo tasks against MuJoCo alone."""

    out: Path = Path("benchmarks/results/env_physics.json")
    """Where to write the figures; the printed table goes next to it."""
    batch: int = 40
    """Environments: five runs with eight each, as the published tables were trained."""
    rounds: int = 40
    """Turns of each."""
    envs: tuple[str, ...] = (*MUJOCO, "mo-hopper-v5")
    """Ids of MO-Gymnasium's robots."""


def over_physics(name: str, batch: int, rounds: int) -> dict[str, float]:
    """Return microseconds per environment step of a batch and of MuJoCo's part alone, in alternation."""
    mujoco: Any = import_module("mujoco")
    env, twin = (morl_envs.make_batch(name, batch) for _ in range(2))
    simulators = [each.unwrapped for each in twin.envs]  # type: ignore[attr-defined]
    env.reset_tensors()
    twin.reset_tensors()
    bank = action_bank(Box(np.asarray(env.action_low), np.asarray(env.action_high)), batch)
    spans: dict[str, list[float]] = {"batch": [], "physics": []}
    for _ in range(rounds):
        actions, ended = list(islice(bank, CALLS)), []
        spent = {"batch": 0.0, "physics": 0.0}
        for action in actions:
            start = time.thread_time()
            _, _, terminated, truncated = env.step_tensors(torch.from_numpy(action))
            spent["batch"] += time.thread_time() - start
            ended.append(terminated | truncated)
            if bool(ended[-1].any()):
                start = time.thread_time()
                env.reset_tensors(ended[-1])
                spent["batch"] += time.thread_time() - start
        for action, done in zip(actions, ended, strict=True):
            start = time.thread_time()
            for one, control in zip(simulators, action, strict=True):
                one.data.ctrl[:] = control
                mujoco.mj_step(one.model, one.data, one.frame_skip)
            spent["physics"] += time.thread_time() - start
            twin.reset_tensors(done)
        for way, seconds in spent.items():
            spans[way].append(1e6 * seconds / CALLS / batch)
    row = {way: min(times) for way, times in spans.items()}
    return {**row, "ratio": row["batch"] / row["physics"]}


def main(args: Args) -> dict[str, Any]:
    """Time everything, print the table, write it and the JSON, and return the figures."""
    torch.set_num_threads(1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        steps = {name: over_physics(name, args.batch, args.rounds) for name in args.envs}
    report = Report(args.out)
    report.say(f"microseconds of processor time per environment step, best of {args.rounds} turns of {CALLS} steps", "")
    report.say(f"{'MuJoCo':<20}{f'batch of {args.batch}':>12}{'mj_step alone':>16}{'ratio':>8}")
    for name, row in steps.items():
        report.say(f"{name:<20}{row['batch']:>12.1f}{row['physics']:>16.1f}{row['ratio']:>7.2f}x")
    results = {"microseconds": steps, "load_average": os.getloadavg()[0], "torch": torch.__version__}
    report.write(results)
    return results


if __name__ == "__main__":
    main(tyro.cli(Args))
