"""Synthetic stores with realistic histories, so that tables and reports can be tested without training."""

import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch

from morl_envs import CARDS
from morl_recipes import PASTA
from morl_recipes.analysis.results.load import load_results
from morl_recipes.analysis.results.study import Study
from morl_recipes.common import scores
from morl_recipes.recipe import paper
from morl_recipes.recipe.run import Run
from morl_recipes.store.manifest import EnvInfo, Manifest, make_run_id
from morl_recipes.store.record import RunRecord
from morl_recipes.store.store import Store

EIGHT = list(CARDS["stealth"].preferences)
EVERYTHING = frozenset(product(("PASTA (Ours)", "Linear"), range(2), range(3)))
"""Every run of a :class:`Sweep` with default fields."""
ALL_OF_LINEAR = frozenset(run for run in EVERYTHING if run[0] == "Linear")
NAMES = ("search", "stealth", "exploration", "energy", "comfort")


@dataclass(frozen=True)
class Sweep:
    """A sweep to make up; ``skip`` and ``fail`` and ``nan`` name runs as (method, preference index, seed)."""

    methods: Mapping[str, Sequence[str]] = field(default_factory=lambda: {"baselines": ["PASTA (Ours)", "Linear"]})
    preferences: Sequence[tuple[float, ...]] = (EIGHT[0], EIGHT[3])
    seeds: int = 3
    iterations: int = 20
    env: str = "stealth"
    bounds: bool = True
    skip: frozenset[tuple[str, int, int]] = frozenset()
    fail: frozenset[tuple[str, int, int]] = frozenset()
    nan: frozenset[tuple[str, int, int]] = frozenset()
    policy: bool = False
    untested: frozenset[tuple[str, int, int]] | None = None
    """Runs without a test score; ``None`` for all of them."""


def env_info(objectives: int, *, bounds: bool = True) -> EnvInfo:
    low = tuple([0.0] * objectives)  # with three objectives, bounds under which the paper scores what it prints
    high = (64.0, 400.0, 43.0) if objectives == 3 else tuple(50.0 * (1 + i) for i in range(objectives))
    return EnvInfo(NAMES[:objectives], low if bounds else None, high if bounds else None)


def recipe(method: str) -> dict[str, Any]:
    """PASTA's own under its names, as in a real sweep; anything else is only told apart."""
    return PASTA.to_dict() if paper.is_reference(method) else {"name": method}


def plan(sweep: Sweep) -> list[Run]:
    env, steps = sweep.env, sweep.iterations * 2048
    rows = [(group, method, recipe(method)) for group, methods in sweep.methods.items() for method in methods]
    return [
        Run(made, p, seed, make_run_id(env, group, method, p, seed, made), group, method, env, steps)
        for group, method, made in rows
        for p in sweep.preferences
        for seed in range(sweep.seeds)
    ]


def history(run: Run, info: EnvInfo, iterations: int) -> pd.DataFrame:
    """Saturating returns whose level depends on the method, with noise that depends on the run alone."""
    generator = np.random.default_rng(zlib.crc32(run.run_id.encode()))
    noise, ours = generator.normal, "Ours" in run.method or run.method == "PASTA"
    skill = 0.5 if ours else 0.3 + 0.1 * (zlib.crc32(run.method.encode()) % 100) / 100
    top = np.array(info.high if info.high is not None else [50.0] * len(run.preference))
    time = np.arange(1, iterations + 1) / iterations
    level = (skill + 0.25 * (np.array(run.preference) - 1 / len(top)) + 0.03 * noise(size=len(top))).clip(0.05)
    returns = top * (1 - np.exp(-4 * time))[:, None] * level + 0.02 * top * noise(size=(iterations, len(top)))
    columns: dict[str, object] = {
        "iteration": np.arange(iterations),
        "steps": 2048 * np.arange(1, iterations + 1),
        "mu": 10.0 - 9.95 * time + 0.3 * generator.random(iterations) if "Linear" not in run.method else np.nan,
        "conflict": np.clip(0.5 - 0.2 * time + 0.1 * noise(size=iterations), 0, 1),
        "loss_value": 2 * np.exp(-3 * time) + 0.1 * generator.random(iterations),
        "entropy": 1.4 - time,
    }
    columns |= {f"return_{i}": returns[:, i] for i in range(len(top))}
    unit = np.clip(returns / top, 0, 1)
    columns |= {"hv": unit.prod(-1) if info.high is not None else np.nan, "eu": returns @ np.array(run.preference)}
    return pd.DataFrame(columns)


def record(run: Run, info: EnvInfo, sweep: Sweep) -> RunRecord:
    key = (run.method, list(sweep.preferences).index(run.preference), run.seed)
    frame = history(run, info, sweep.iterations)
    if key in sweep.nan:
        frame.loc[:, "return_0"] = np.nan
    score = frame["hv"] if info.high is not None else frame["eu"]
    returns = [f"return_{i}" for i in range(len(run.preference))]
    rows, failed = (int(score.argmax()), len(frame) - 1), key in sweep.fail

    def point(row: int) -> dict[str, Any]:
        one = frame.iloc[row]
        names = {"iteration": int(one["iteration"]), "steps": int(one["steps"]), "hv": one["hv"], "eu": one["eu"]}
        return {**names, "returns": tuple(one[returns])}

    def test(row: int) -> dict[str, object] | None:
        """The point's own returns without a tenth of them: luck."""
        if failed or sweep.untested is None or key in sweep.untested:
            return None
        numbers = 0.9 * frame.iloc[row][returns].to_numpy(dtype=float)
        bounds = None if info.high is None else (info.low or (), info.high)
        return scores.summarise(numbers + np.array([[1.0], [-1.0]]), np.array(run.preference), bounds)

    fields: dict[str, Any] = {"status": "failed", "reason": "worker lost", "peak": None, "final": None}
    if not failed:
        fields = {"status": "done", "reason": "", "peak": point(rows[0]), "final": point(rows[1])}
    fields |= {"test_peak": test(rows[0]), "test_final": test(rows[1])}
    policy = {"actor.weight": torch.zeros(2, 3)} if sweep.policy else {}
    return RunRecord(*run.identity, **fields, steps=run.steps, recipe=run.recipe, history=frame, policy=policy)


def fill(path: Path, *sweeps: Sweep) -> Store:
    """Write the union of sweeps (one per environment) into one store."""
    infos = {sweep.env: env_info(len(sweep.preferences[0]), bounds=sweep.bounds) for sweep in sweeps}
    plans = {sweep.env: plan(sweep) for sweep in sweeps}
    runs = tuple(run for planned in plans.values() for run in planned)
    versions = {"python": "3.11.2", "morl-blocks": "0.1.0", "torch": "2.13.0"}
    store = Store.create(path, Manifest("morl-blocks sweep synthetic.toml", infos, runs, versions))
    for sweep in sweeps:
        for run in plans[sweep.env]:
            if (run.method, list(sweep.preferences).index(run.preference), run.seed) not in sweep.skip:
                store.write(record(run, infos[sweep.env], sweep))
    return store


@pytest.fixture
def make_store(tmp_path: Path) -> Callable[..., Store]:
    """Return a function from sweeps, or the fields of one, to a store in a new folder."""
    return lambda *sweeps, **fields: fill(tmp_path / "store", *(sweeps or (Sweep(**fields),)))


@pytest.fixture
def make_study(make_store: Callable[..., Store]) -> Callable[..., Study]:
    """Return a function from the fields of a sweep to its only study."""

    def make(*sweeps: Sweep, **fields: Any) -> Study:
        (study,) = load_results(make_store(*sweeps, **fields)).studies
        return study

    return make
