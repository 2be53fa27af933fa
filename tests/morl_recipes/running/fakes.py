"""Small sweeps, and trainers that train nothing: importable by name, so that worker processes find them."""

import math
import multiprocessing
import os
import signal
import time
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from multiprocessing import forkserver
from multiprocessing.context import ForkProcess
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch

from morl_blocks.ppo import UnitBoxGaussianActor
from morl_envs import CARDS
from morl_recipes.recipe.run import Run
from morl_recipes.running.engines.job import train_job
from morl_recipes.running.plan import Job, Plan, make_plan
from morl_recipes.running.sweep import sweep_from
from morl_recipes.store.manifest import EnvInfo, Manifest
from morl_recipes.store.record import RunRecord
from morl_recipes.store.store import Store

TINY: dict[str, Any] = {
    "rows": ["PASTA", "Linear", "fixed_mu/mu=1.0", "fixed_mu/mu=5.0"],
    "envs": ["deep-sea-treasure-v0"],
    "seeds": 2,
    "total_steps": 256,
    "num_envs": 2,
    "eval_every": 2,
    "eval_episodes": 2,
    "checkpoint_every": 1,
    "ppo": {"steps_per_iteration": 64, "minibatch_size": 32, "epochs": 1, "hidden": 8},
}

CARD = CARDS["frogger"]
WEIGHTS = CARD.preferences[0]


def make_store(path: Path, method: str = "M", *, seeds: int = 2, test: bool = True) -> Path:
    """Return a store with one untrained policy per seed, which scales its observations."""
    runs = [Run({}, WEIGHTS, seed, f"r{seed}", "g", method, "frogger", 64) for seed in range(seeds)]
    store = Store.create(path, Manifest("c", {"frogger": EnvInfo(CARD.objectives)}, tuple(runs)))
    history = pd.DataFrame({"iteration": [1], "steps": [64]})
    for run in runs:
        torch.manual_seed(run.seed)
        tensors = UnitBoxGaussianActor(CARD.observation_dim, 3, CARD.action_dim).state_dict()
        tensors |= {"observation_mean": torch.randn(20), "observation_variance": torch.rand(20) + 0.1}
        tensors = {f"peak.{name}": tensor for name, tensor in tensors.items()}
        score = 0.25 + run.seed / 2
        point = {"iteration": 1, "steps": 64, "returns": (1.0, 2.0, 3.0), "hv": score, "eu": score}
        tested = {"episodes": 5, "returns": (4.0, 5.0, 6.0), "returns_se": (0.1, 0.2, 0.3), "hv": score, "eu": score}
        tested |= {"hv_se": 0.01, "eu_se": 0.02}
        store.write(
            RunRecord(
                *run.identity, "done", "", 64, point, point, {}, history, tensors, {"morl-blocks": "1", "torch": "2"},
                tested if test else None, tested if test else None,
            )
        )  # fmt: skip
    return path


def contents(folder: Path) -> dict[str, bytes]:
    """Return the content of every file below a folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def same_runs(ones: Sequence[RunRecord], others: Sequence[RunRecord]) -> None:
    """Require the same runs, to the last bit."""
    for one, other in zip(ones, others, strict=True):
        pd.testing.assert_frame_equal(one.history, other.history, check_exact=True)
        for name in ("preference", "seed", "status", "reason", "peak", "final"):
            assert getattr(one, name) == getattr(other, name), name
        for first, second in ((one.policy, other.policy), (one.peak_policy, other.peak_policy)):
            assert first.keys() == second.keys()
            assert all(torch.equal(first[name], second[name]) for name in first)


def start_driver(target: Callable[..., object], *args: object) -> ForkProcess:
    """Run a function in a fork of this process, so that nothing has to be imported again.

    The fork shares the server of this process that workers are forked from, which multiprocessing does not foresee:
    it looks for a server among its own children.
    """

    def run() -> None:
        forkserver.ensure_running = forkserver._forkserver.ensure_running = lambda: None  # type: ignore[method-assign]
        target(*args)

    process = multiprocessing.get_context("fork").Process(target=run)
    process.start()
    return process


def tiny_plan(**changes: Any) -> Plan:
    """A plan whose every run trains for some tens of milliseconds."""
    return make_plan(sweep_from({**TINY, **changes}))


class Press:
    """A logger that calls a function once it gets the numbers of an iteration of 64 steps."""

    def __init__(self, act: Callable[[], object], iteration: int) -> None:
        self.act, self.iteration = act, iteration

    def log_scalar(self, name: str, value: float, step: int) -> None:
        """Log nothing."""
        if step == 64 * self.iteration and name == "mu/run0":
            self.act()


def fake_record(run: Run, status: str = "done") -> RunRecord:
    """A record whose numbers follow from the run's id."""
    value = zlib.crc32(run.run_id.encode()) / 2**32
    point = {"iteration": 1, "steps": run.steps, "returns": (10 * value, -50.0), "hv": value, "eu": value}
    history = pd.DataFrame({"iteration": [1], "steps": [run.steps], "return_0": [10 * value], "return_1": [-50.0]})
    good = status == "done"
    return RunRecord(
        *run.identity,
        "done" if good else "failed",
        "" if good else "loss not finite in iteration 1",
        run.steps,
        point if good else None,
        point if good else None,
        run.recipe,
        history,
        {"w": torch.full((3,), float(np.float32(value)))},
    )


def fake_work(population: Job, folder: Path | None, report: Callable[[int], None]) -> list[RunRecord]:
    """Train nothing."""
    report(population.steps // 2)
    return [fake_record(run) for run in population.runs]


def one_fails(population: Job, folder: Path | None, report: Callable[[int], None]) -> list[RunRecord]:
    """Let the first seed of Linear fail alone."""
    failed = [run.method == "Linear" and run.seed == 0 for run in population.runs]
    return [fake_record(run, "failed" if bad else "done") for run, bad in zip(population.runs, failed, strict=True)]


@dataclass(frozen=True)
class InLinear:
    """Do something in the population of Linear, always or in its first attempts; the folder counts these."""

    act: Callable[[], object]
    attempts: float = math.inf

    def __call__(self, population: Job, folder: Path | None, report: Callable[[int], None]) -> list[RunRecord]:
        if any(run.method == "Linear" for run in population.runs):
            tried = 0
            if folder is not None:
                folder.mkdir(parents=True, exist_ok=True)
                tried = len(list(folder.glob("tried*")))
                (folder / f"tried{tried}").touch()
            if tried < self.attempts:
                self.act()
        return fake_work(population, folder, report)


def _raise_error() -> None:
    raise ArithmeticError("no luck today")


def _run_out_of_memory() -> None:
    raise MemoryError


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _freeze() -> None:
    os.kill(os.getpid(), signal.SIGSTOP)


def _sleep() -> None:
    time.sleep(600)


raises, no_memory = InLinear(_raise_error), InLinear(_run_out_of_memory)
dies_twice, dies_always = InLinear(_die, 2), InLinear(_die)
hangs_once, hangs_always = InLinear(_freeze, 1), InLinear(_sleep)


def full_disk(population: Job, folder: Path | None, report: Callable[[int], None]) -> list[RunRecord]:
    """Meet a full disk while writing a checkpoint."""
    raise OSError(28, "No space left on device", "checkpoint.safetensors")


def full_disk_inside(population: Job, folder: Path | None, report: Callable[[int], None]) -> list[RunRecord]:
    """Meet a full disk in a package that hides it behind an error of its own."""
    try:
        raise OSError(28, "No space left on device", "cache")
    except OSError as error:
        raise RuntimeError("cannot compile") from error


def sleeps(population: Job, folder: Path | None, report: Callable[[int], None]) -> list[RunRecord]:
    """Write who works, then work for ever."""
    if folder is not None:
        folder.parent.mkdir(parents=True, exist_ok=True)
        (folder.parent / f"{os.getpid()}.pid").touch()
    time.sleep(600)
    return []


def slow_but_alive(population: Job, folder: Path | None, report: Callable[[int], None]) -> list[RunRecord]:
    """Take a while, and report progress."""
    for step in range(8):
        time.sleep(0.25)
        report(step)
    return fake_work(population, folder, report)


def hangs_on_node(
    place: Path, victim: str, population: Job, folder: Path | None, report: Callable[[int], None]
) -> list[RunRecord]:
    """Train, except on one node of a cluster, where it says so and waits for the end."""
    import ray

    node = ray.get_runtime_context().get_node_id()
    (place / f"{population.name}@{node}").touch()
    if node == victim:
        time.sleep(600)
    return train_job(population, folder, report)
