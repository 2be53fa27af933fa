"""Benchmarks made short: each runs and writes what it prints; and the committed figures hold what is asked."""

import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import torch

from benchmarks import (
    _plain_pasta,
    combiner_speed,
    concave_front,
    conditioned_cost,
    conditioned_steps,
    coverage,
    deep_sea_treasure,
    env_physics,
    env_speed,
    front_recipes,
    gradient_cost,
    import_cost,
    import_time,
    several_losses,
    sweep_throughput,
    training_speed,
)
from benchmarks._alone import alone
from benchmarks._dummy import DummyEnv
from morl_recipes import PPO, front_recipe

RESULTS = import_time.ROOT / "benchmarks/results"
SMALL = PPO(steps_per_iteration=64, epochs=1)
TREASURE = "deep-sea-treasure-v0"


@pytest.fixture
def out(tmp_path: Path) -> Iterator[Path]:
    """Return where a benchmark shall write its figures, and require that it does."""
    path = tmp_path / "figures.json"
    yield path
    assert path.read_text()[0] in "{["


def shorten(monkeypatch: pytest.MonkeyPatch, benchmark: ModuleType, name: str = "METHODS") -> None:
    """Give every method of a benchmark iterations of 64 steps and one epoch."""
    methods = getattr(benchmark, name).items()
    monkeypatch.setattr(benchmark, name, {method: replace(recipe, ppo=SMALL) for method, recipe in methods})


def test_combiner_speed(out: Path) -> None:
    results = combiner_speed.main(combiner_speed.Args(out=out, rounds=1))
    assert len(results) == 5
    assert all(row["ours_ms"] > 0 and row["peer_ms"] > 0 for row in results.values())


def test_concave_front_is_covered_by_tchebycheff_and_missed_by_a_weighted_sum(tmp_path: Path) -> None:
    fronts = concave_front.main(concave_front.Args(steps=500, out=tmp_path))
    assert {file.name for file in tmp_path.iterdir()} == {"concave_front.txt", "concave_front.png"}
    assert concave_front.interior_points(fronts["Linear"]) == 0
    assert (fronts["Linear"].min(-1).values < 0.05).all()
    for name in ("TCH", "STCH (0.01)", "STCH (0.1)"):
        assert concave_front.interior_points(fronts[name]) >= 8, name
    for name, front in fronts.items():
        assert (front[:, None] - concave_front.true_front()).norm(dim=-1).min(1).values.max() < 0.03, name


def test_conditioned_cost(out: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    shorten(monkeypatch, conditioned_cost, "RECIPES")
    results = conditioned_cost.main(conditioned_cost.Args(out=out, envs=(TREASURE,), runs=(1,), rounds=1))
    assert [row["recipe"] for row in results["rows"]] == list(conditioned_cost.RECIPES)
    assert results["largest"] == max(row["conditioned"] / row["ordinary"] for row in results["rows"])
    assert "Largest ratio" in capsys.readouterr().out


def test_conditioned_steps(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recipe = replace(front_recipe(TREASURE), ppo=SMALL)
    monkeypatch.setattr(conditioned_steps, "front_recipe", lambda env: recipe)
    args = conditioned_steps.Args(out=out, envs=(TREASURE,), members=3, steps=64, seeds=1, episodes=1)
    (row,) = conditioned_steps.main(args)["rows"]
    assert row["share"] == pytest.approx(row["one"] / row["separate"])


def test_coverage(out: Path) -> None:
    results = coverage.main(coverage.Args(out=out, trials=2, truth=2000, skewed=5))
    assert len(results.pop("skewed")) == 30
    assert len(results) == 12
    assert all(0 <= rate <= 100 for rates in results.values() for row in rates.values() for rate in row)
    committed = json.loads((RESULTS / "coverage.json").read_text())
    skewed = committed.pop("skewed")
    assert min(skewed[f"1x5, 0.0, {kind}"]["coverage"]["ours"] for kind in ("normal", "gamma 2", "exponential")) >= 92
    for rates in committed.values():
        for name in coverage.INTERVALS:
            assert 92 <= sum(rates[name]) / len(rates[name]) <= 98, name
    assert min(committed["8x5, 0.6"]["per preference"]) < 70


def test_deep_sea_treasure(out: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    shorten(monkeypatch, deep_sea_treasure)
    args = deep_sea_treasure.Args(out=out, iterations=2, seeds=2, preferences=3, methods=("Linear", "PASTA"))
    results = deep_sea_treasure.main(args)
    for table in results["maps"].values():
        for row in table.values():
            assert [len(own) for own in row["points"]] == [3, 3]  # seeds x preferences
            assert len(row["treasures"]) == len(row["hypervolume"]) == 2
    assert "weight of treasure" in capsys.readouterr().out


def test_env_physics(out: Path) -> None:
    results = env_physics.main(env_physics.Args(out=out, batch=16, rounds=3, envs=("mo-halfcheetah-v5",)))
    assert results["microseconds"]["mo-halfcheetah-v5"]["ratio"] > 1


def test_env_speed(out: Path) -> None:
    results = env_speed.main(env_speed.Args(out=out, rounds=1, calls=2))
    assert results["worlds"].keys() == env_speed.WORLDS.keys()
    assert results["mujoco"].keys() == set(env_speed.MUJOCO)
    assert all(row["batch"] > 0 for row in results["worlds"].values())
    assert "steps per second" in out.with_suffix(".txt").read_text()


def test_front_recipes(out: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    shorten(monkeypatch, front_recipes)
    results = front_recipes.main(front_recipes.Args(out=out, steps=64, seeds=2, preferences=3))
    for table in results["maps"].values():
        assert list(table) == list(front_recipes.METHODS)
        for rows in table.values():
            assert len(rows) == 2
            assert all(0 <= row["share"] <= 1 and row["on_the_front"] <= len(row["points"]) for row in rows)
    assert "share of the hypervolume" in capsys.readouterr().out


def test_gradients_in_low_memory_keep_two_gradients(out: Path) -> None:
    results = gradient_cost.main(gradient_cost.Args(out=out, rounds=1, width=300, objectives=(2, 5)))
    assert len(results) == 12
    assert all(row["ms"] > 0 for row in results.values())
    assert results["m = 5, ours, low memory"]["memory"] < 3 < 5 < results["m = 5, ours"]["memory"]


def test_import_cost(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    figures = json.loads((RESULTS / "import_cost.json").read_text())
    assert set(figures) == set(import_cost.MODULES)
    assert figures["morl_blocks.scalarizers"] < 60
    page = (import_time.ROOT / "docs/install.md").read_text()
    assert all(f"| `{module}` | {taken:.0f} |" in page for module, taken in figures.items())
    monkeypatch.setattr(import_cost, "MODULES", ("morl_blocks",))
    assert import_cost.main(import_cost.Args(out=out, rounds=1))["morl_blocks"] >= 0


def test_import_time(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    figures = json.loads((RESULTS / "import_time.json").read_text())
    assert set(figures) == set(import_time.STARTS)
    now = {name: figure["now"] for name, figure in figures.items()}  # of one machine: compare those of the same run
    assert now["morl_blocks.combine_gradients"] <= 1.15 * now["import torch"]
    assert now["from morl_recipes import train"] <= figures["from morl_recipes import train"]["before"] / 2
    assert now["morl-blocks list"] <= 1.5
    monkeypatch.setattr(import_time, "STARTS", {"nothing": "pass"})
    results = import_time.main(import_time.Args(out=out, before=import_time.ROOT, rounds=1))
    assert min(results["nothing"].values()) > 0
    assert "1.00x" in out.with_suffix(".txt").read_text()


def test_stch_reaches_a_concave_front_where_a_weighted_sum_finds_its_ends(
    out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    concave = {name: problem for name, problem in several_losses.PROBLEMS.items() if "concave" in name}
    monkeypatch.setattr(several_losses, "PROBLEMS", concave)
    results = several_losses.main(several_losses.Args(out=out, steps=400, seeds=1))
    for name in concave:
        stch, linear = results[f"{name}, STCH (0.01)"], results[f"{name}, Linear"]
        assert stch["farthest"] < 0.02
        assert stch["igd"] < 1.5 * results[f"{name}, ten even points"]["igd"]
        assert linear["igd"] > 4 * stch["igd"]
        assert linear["inside"] == 0


def test_sweep_throughput(out: Path) -> None:
    tiny = sweep_throughput.Args(out, rounds=1, runs=1, iterations=2, steps_per_iteration=64, env=TREASURE)
    results: Any = sweep_throughput.main(tiny)
    assert [ratio > 0 for ratio in results["ratios"]] == [True]


def test_training_speed(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_plain_pasta, "EPOCHS", 1)
    monkeypatch.setattr(training_speed, "memory", lambda args, world: 0.5)
    quick = training_speed.Args(out=out, rounds=1, runs=(1,), sizes=(1,), scaling=(1,), worlds=("dummy",))
    results = training_speed.main(replace(quick, peers=False, compiled=False))
    assert results["steps_per_second"]["dummy"]["ours R=1 eager"] > 0
    assert results["update"]["ours R=1 m=3 eager"]["ms_per_run"] > 0
    assert 0 < results["update"]["ours R=1 m=3 eager"]["share_of_sgemm"] < 1
    assert results["update_ratios"]["m=8 / m=2, arithmetic: ours R=1 eager"] > 1.9  # one head per objective
    assert results["update_ratios"]["m=8 / m=2, arithmetic: ours R=1 eager, shared critic"] < 1.2
    torch.manual_seed(0)
    plain = _plain_pasta.PlainPasta(DummyEnv(2), 33, 2, 2)  # the peer learns something
    before = [param.detach().clone() for param in plain.actor.parameters()]
    plain.update(_plain_pasta.random_batch(33, 2, 2))
    assert all(not torch.equal(old, new) for old, new in zip(before, plain.actor.parameters(), strict=True))


def test_memory_is_the_command_s_own_and_a_command_that_fails_is_no_measurement() -> None:
    python = [sys.executable, "-I", "-S", "-c"]
    held = np.ones(30_000_000)  # 240 MB
    little, much = alone([*python, "pass"]), alone([*python, "held = bytearray(b'x' * 100_000_000)"])
    assert held[-1] == 1
    assert little.megabytes < 60
    assert 90 < much.megabytes - little.megabytes < 220
    with pytest.raises(RuntimeError, match="ended with 3"):
        alone([*python, "raise SystemExit(3)"])
