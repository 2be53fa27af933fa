"""How many environment steps per second, in one process, on one thread?

1. The three torch worlds as a batch of 320 (tensor interface; and through TorchRL's ``step``) against the same world
   stepped one by one through Gymnasium.
2. The MuJoCo tasks: a batch of 16 against a loop of 16 environments from ``mo_gymnasium.make``, and against
   MO-Gymnasium's own synchronous vector environment.

Every call of a rival is one step of all its environments, with a reset of those that ended. Run ``python -m
benchmarks.env_speed`` (extra ``mujoco``); it prints a table and writes it next to the figures as JSON.
"""

import dataclasses
import os
import warnings
from collections.abc import Callable, Iterator
from importlib import import_module
from itertools import cycle
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import torch
import tyro
from gymnasium.spaces import Box
from numpy.typing import NDArray

import morl_envs
from benchmarks._report import Report
from benchmarks._timing import interleaved
from morl_envs.counter_rng import episode_key
from morl_envs.protocol import TensorEnv
from morl_envs.worlds import create_world

BATCH, MUJOCO_BATCH = 320, 16
WORLDS = {
    "stealth": "StealthVisualSearch",
    "frogger": "CrazyflieFrogger",
    "formation": "CrazyflieFormation",
}
MUJOCO = ("mo-halfcheetah-v5", "mo-walker2d-v5", "mo-ant-v5", "mo-humanoid-v5")


@dataclasses.dataclass(frozen=True)
class Args:
    """Time the environments as batches against one by one."""

    out: Path = Path("benchmarks/results/env_speed.json")
    """Where to write the figures; the printed table goes next to it."""
    rounds: int = 80
    """Turns per rival; the best one counts."""
    calls: int = 5
    """Steps per turn."""


def action_bank(space: Box, count: int) -> Iterator[NDArray[np.float32]]:
    """Repeat the same 64 random actions ``[count, a]`` for ever: all rivals drive the same way."""
    shape = (64, count, *space.shape)
    return cycle(np.random.default_rng(0).uniform(space.low, space.high, shape).astype(np.float32))


def first_seeds(count: int) -> list[int]:
    """Return the seeds of the first episodes of a Gymnasium batch: all rivals simulate the same motion."""
    keys = episode_key(torch.arange(count), torch.zeros(count, dtype=torch.int64))
    return [key & (2**62 - 1) for key in keys.tolist()]


def tensor_step(env: TensorEnv) -> Callable[[], object]:
    """Return one step of a batch through the tensor interface, with reset by mask."""
    env.reset_tensors()
    low, high = np.asarray(env.action_low), np.asarray(env.action_high)
    actions = action_bank(Box(low, high), env.num_envs)

    def step() -> None:
        _, _, terminated, truncated = env.step_tensors(torch.from_numpy(next(actions)))
        done = terminated | truncated
        if bool(done.any()):
            env.reset_tensors(done)

    return step


def torchrl_step(world: str) -> Callable[[], object]:
    """Return one step of a batch through TorchRL, with reset by mask."""
    env = create_world(world, batch_size=[BATCH])
    current = env.reset()
    actions = action_bank(Box(np.asarray(env.action_low), np.asarray(env.action_high)), BATCH)

    def step() -> None:
        nonlocal current
        current = env.step_and_maybe_reset(current.set("action", torch.from_numpy(next(actions))))[1]

    return step


def gymnasium_steps(envs: list[Any]) -> Callable[[], object]:
    """Return one step of each environment of a list, one after the other, gathered as a trainer needs it."""
    for env, seed in zip(envs, first_seeds(len(envs)), strict=True):
        env.reset(seed=seed)
    actions = action_bank(envs[0].action_space, len(envs))

    def step() -> None:
        gathered = []
        for env, action in zip(envs, next(actions), strict=True):
            observation, reward, terminated, truncated, _ = env.step(action)
            gathered.append((observation, reward, [terminated], [truncated]))
            if terminated or truncated:
                env.reset()
        for part in zip(*gathered, strict=True):
            torch.from_numpy(np.stack(part))

    return step


def vector_step(envs: Any) -> Callable[[], object]:
    """Return one step of a Gymnasium vector environment."""
    envs.reset(seed=first_seeds(envs.num_envs))
    actions = action_bank(envs.single_action_space, envs.num_envs)
    return lambda: envs.step(next(actions))


def world_rivals() -> dict[str, tuple[Callable[[], object], int]]:
    """Return the rivals of point 1, with the number of environments that each steps per call."""
    rivals = {}
    for name, world in WORLDS.items():
        rivals[f"{name} batch"] = tensor_step(morl_envs.make_batch(name, BATCH)), BATCH
        rivals[f"{name} torchrl"] = torchrl_step(world), BATCH
        rivals[f"{name} one by one"] = gymnasium_steps([gymnasium.make(f"morl_envs/{world}-v0")]), 1
    return rivals


def mujoco_rivals(name: str) -> dict[str, tuple[Callable[[], object], int]]:
    """Return the rivals of point 2, with the number of environments that each steps per call."""
    mo: Any = import_module("mo_gymnasium")
    vector: Any = import_module("mo_gymnasium.wrappers.vector").MOSyncVectorEnv
    count = MUJOCO_BATCH
    return {
        f"{name} batch": (tensor_step(morl_envs.make_batch(name, count)), count),
        f"{name} vector": (vector_step(vector([lambda: mo.make(name) for _ in range(count)])), count),
        f"{name} one by one": (gymnasium_steps([mo.make(name) for _ in range(count)]), count),
    }


def measure(rivals: dict[str, tuple[Callable[[], object], int]], args: Args) -> dict[str, dict[str, float]]:
    """Time all rivals in alternation; return steps per second, environment -> way of stepping -> figure."""
    times = interleaved({name: step for name, (step, _) in rivals.items()}, rounds=args.rounds, calls=args.calls)
    table: dict[str, dict[str, float]] = {}
    for name, (_, count) in rivals.items():
        env, way = name.split(" ", 1)
        table.setdefault(env, {})[way] = count / times[name]
    return {env: {**row, "speed-up": row["batch"] / row["one by one"]} for env, row in table.items()}


def main(args: Args) -> dict[str, Any]:
    """Time everything, print the table, write it and the JSON, and return the figures."""
    torch.set_num_threads(1)
    lines = [f"steps per second, one thread, best of {args.rounds} turns of {args.calls} calls"]
    worlds = measure(world_rivals(), args)
    lines += ["", f"{'world':<12}{f'batch of {BATCH}':>14}{'through TorchRL':>17}{'one by one':>12}{'speed-up':>10}"]
    lines += [
        f"{name:<12}{row['batch']:>14,.0f}{row['torchrl']:>17,.0f}{row['one by one']:>12,.0f}{row['speed-up']:>9.0f}x"
        for name, row in worlds.items()
    ]
    for name in ("frogger", "formation"):
        lines.append(f"{name} / stealth, as batches: {worlds[name]['batch'] / worlds['stealth']['batch']:.1f}x")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mujoco: dict[str, dict[str, float]] = {}
        for name in MUJOCO:
            mujoco |= measure(mujoco_rivals(name), args)
    lines += ["", f"{'MuJoCo':<20}{f'batch of {MUJOCO_BATCH}':>12}{'MOSyncVectorEnv':>17}{'loop':>8}{'speed-up':>10}"]
    lines += [
        f"{name:<20}{row['batch']:>12,.0f}{row['vector']:>17,.0f}{row['one by one']:>8,.0f}{row['speed-up']:>9.2f}x"
        for name, row in mujoco.items()
    ]
    results = {"worlds": worlds, "mujoco": mujoco, "load_average": os.getloadavg()[0], "torch": torch.__version__}
    report = Report(args.out)
    report.say(*lines)
    report.write(results)
    return results


if __name__ == "__main__":
    main(tyro.cli(Args))
