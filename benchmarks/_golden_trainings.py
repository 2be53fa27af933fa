"""Short trainings whose numbers must stay what they are, and the digests that tell whether they did."""

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from morl_envs.toy import ToyBatch, toy
from morl_recipes import PPO, ROWS, EnvSource, Front, Recipe, TrainResult, train, train_front

METHODS = {
    "PASTA": ROWS["baselines"]["PASTA (Ours)"],
    "Linear": ROWS["baselines"]["Linear"],
    "No PCGrad": ROWS["pcgrad"]["No PCGrad"],
    "Weighted PCGrad": ROWS["pcgrad"]["Weighted PCGrad"],
}
WORLDS: dict[str, tuple[Any, list[list[float]]]] = {
    "toy": (toy(), [[0.3, 0.7], [0.8, 0.2]]),
    "stealth": ("stealth", [[0.2, 0.2, 0.6], [0.1, 0.7, 0.2]]),
}
PPO_NUMBERS = PPO(steps_per_iteration=64, epochs=2, minibatch_size=16)
ITERATIONS = 4
HOW: dict[str, Any] = {
    "total_steps": ITERATIONS * PPO_NUMBERS.steps_per_iteration,
    "num_envs": 2,
    "eval_every": 2,
    "eval_episodes": 2,
    "test_episodes": 2,
    "compile": False,
    "progress": False,
}
LASTS = ("steps", "mu", "conflict", "loss_value", "entropy", "return_0", "return_1", "hv", "eu")
"""Columns whose last values are kept beside the digests, for machines that round differently."""

Update = Literal["generic", "fast"]
Values = dict[str, Any]


def digest(parts: Iterable[bytes]) -> str:
    """Return the beginning of a SHA-256."""
    whole = hashlib.sha256()
    for part in parts:
        whole.update(part)
    return whole.hexdigest()[:16]


def of_tensors(policies: Sequence[dict[str, Tensor]]) -> str:
    """Return the digest of parameters, in the order of their names."""
    named = [(name, own[name]) for own in policies for name in sorted(own)]
    return digest(part for name, tensor in named for part in (name.encode(), tensor.numpy().tobytes()))


def of_result(result: TrainResult) -> Values:
    """Return the digest of every history column and of all parameters, and the last value of some columns."""
    frames = [run.history for run in result.runs]
    if any(run.status != "done" for run in result.runs):
        raise RuntimeError(f"A run of a golden training failed: {[run.reason for run in result.runs]}.")
    columns = {name: digest(_bytes(frame[name]) for frame in frames) for name in frames[0]}
    last = {name: [float(frame[name].iloc[-1]) for frame in frames] for name in LASTS}
    return {
        "columns": columns,
        "policy": of_tensors([run.policy for run in result.runs]),
        "peak policy": of_tensors([run.peak_policy for run in result.runs]),
        "test": [[*run.test_peak["returns"], *run.test_final["returns"]] for run in result.runs],  # type: ignore[index]
        "last": {name: [None if value != value else value for value in values] for name, values in last.items()},
    }


def of_front(front: Front) -> Values:
    """Return the digests of a front's policies and returns, and the mean return per objective."""
    return {
        "policy": of_tensors(front.policies),
        "asked": digest([front.asked.tobytes()]),
        "returns": digest([front.returns.tobytes()]),
        "last": {"returns": front.returns.mean(0).tolist()},
    }


def _bytes(column: "pd.Series[Any]") -> bytes:
    numbers = column.to_numpy(dtype=np.float64).copy()
    numbers[np.isnan(numbers)] = np.nan  # all NaN alike
    return numbers.tobytes()


def front_recipe(hidden: int = 64) -> Recipe:
    """Return what version 0.2 recommended for fronts, as its store has it."""
    manifest = Path(__file__).parents[1] / "tests" / "golden" / "stores" / "front" / "store" / "manifest.json"
    slots = json.loads(manifest.read_text())["runs"][0]["recipe"]
    sizes = {name: {**slots[name], "hidden": hidden} for name in ("actor", "critic")}
    return Recipe.from_dict({**slots, **sizes})


def small(recipe: Recipe) -> Recipe:
    """Return the recipe with short iterations."""
    return replace(recipe, ppo=replace(PPO_NUMBERS, learning_rate=recipe.ppo.learning_rate))


def training(method: str, world: str, update: Update, **changes: Any) -> Values:
    """Train one method for a few iterations."""
    env, preferences = WORLDS[world]
    return of_result(train(small(METHODS[method]), env, preferences, [0], **{**HOW, "update": update, **changes}))


def conditioned(world: str, update: Update) -> Values:
    """Train one policy for all preferences."""
    how = {name: value for name, value in HOW.items() if name != "test_episodes"} | {"update": update}
    return of_front(train_front(small(front_recipe()), WORLDS[world][0], 5, normalize_observations=False, **how))


class StoppedError(Exception):
    """Raised by a logger, as an interruption in the middle of a training."""


class StopAfter:
    """A logger that raises at the first number after some steps."""

    def __init__(self, steps: int) -> None:
        self.steps = steps

    def log_scalar(self, name: str, value: float, step: int) -> None:
        """Raise when the steps are done."""
        if step >= self.steps:
            raise StoppedError


def resumed(world: str, update: Update) -> Values:
    """Interrupt a training of PASTA that writes a store, and continue it."""
    env, preferences = WORLDS[world]
    with TemporaryDirectory() as folder:
        given = (small(METHODS["PASTA"]), env, preferences, [0])
        how = HOW | {"update": update, "out": Path(folder) / "store", "checkpoint_every": 1}
        try:
            train(*given, **how, loggers=[StopAfter(2 * PPO_NUMBERS.steps_per_iteration)])
        except StoppedError:
            return of_result(train(*given, **how, resume=True))
    raise RuntimeError("The training was not interrupted.")


def trainings() -> dict[str, Callable[[], Values]]:
    """Return every training by name."""
    found: dict[str, Callable[[], Values]] = {}
    update: Update
    for world in WORLDS:
        for update in ("generic", "fast"):
            for method in METHODS:
                found[f"{method}, {world}, {update}"] = partial(training, method, world, update)
            found[f"front, {world}, {update}"] = partial(conditioned, world, update)
            found[f"PASTA resumed, {world}, {update}"] = partial(resumed, world, update)
    return found


class _Never(ToyBatch):
    """A world without a first step: whoever trains on it has planned, and does no more."""

    def step_tensors(self, action: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """End the training."""
        raise StoppedError


def run_ids(env: str) -> list[str]:
    """Return the id of every row's run on an environment, under the settings that a user gets without asking."""
    objectives = len(WORLDS[env][1][0])
    source = EnvSource(env, lambda count, seeds: _Never(count, seeds, objectives, action_dim=objectives))
    found = []
    for group, rows in ROWS.items():
        for name, recipe in rows.items():
            found += [f"{group}/{name}: {run_id}" for run_id in _planned(recipe, source, WORLDS[env][1][0])]
    return found


def _planned(recipe: Recipe, source: EnvSource, preference: list[float]) -> list[str]:
    """Begin a training, and read from the store which run it has planned."""
    with TemporaryDirectory() as folder:
        try:
            train(recipe, source, [preference], [0], 2048, out=folder, progress=False)
        except StoppedError:
            manifest = json.loads((Path(folder) / "manifest.json").read_text())
            return [run["run_id"] for run in manifest["runs"]]
    raise RuntimeError("The training was not interrupted.")


def machine() -> Values:
    """Return what decides how numbers are rounded: PyTorch, its instruction set and the bits of one computation."""
    generator = torch.Generator().manual_seed(0)
    a, b = (torch.randn(64, 64, generator=generator) for _ in range(2))
    # One product of each kind of shape in an update: processors of one capability choose different kernels for them.
    stacks = [torch.randn(2, *shape, generator=generator) for shape in ((64, 6), (64, 64), (64, 1), (3, 64))]
    products = [torch.bmm(one.mT, other) for one in stacks[:3] for other in stacks[:3]]
    products += [torch.bmm(stacks[3], other) for other in stacks[:3]]
    parts = [torch.tanh(a @ b).exp().log1p().sum(0), *products]
    bits = digest([part.numpy().tobytes() for part in parts])
    return {"torch": torch.__version__, "capability": torch.backends.cpu.get_cpu_capability(), "bits": bits}
