"""Each benchmark made short: it runs and writes its figures. And the committed figures hold what is asked."""

import json
import sys
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks import _plain_pasta, concave_front, coverage, import_cost, import_time, several_losses
from benchmarks._alone import alone
from morl_recipes import PPO, front_recipe

RESULTS = import_time.ROOT / "benchmarks/results"
SMALL = PPO(steps_per_iteration=64, epochs=1)
TREASURE = "deep-sea-treasure-v0"
CONCAVE = {name: problem for name, problem in several_losses.PROBLEMS.items() if "concave" in name}
ARGS: dict[str, dict[str, Any]] = {
    "combiner_speed": {"rounds": 1},
    "conditioned_cost": {"envs": (TREASURE,), "runs": (1,), "rounds": 1},
    "conditioned_steps": {"envs": (TREASURE,), "members": 3, "steps": 64, "seeds": 1, "episodes": 1},
    "coverage": {"trials": 2, "truth": 2000, "skewed": 5},
    "deep_sea_treasure": {"iterations": 2, "seeds": 2, "preferences": 3, "methods": ("Linear", "PASTA")},
    "env_physics": {"batch": 16, "rounds": 3, "envs": ("mo-halfcheetah-v5",)},
    "env_speed": {"rounds": 1, "calls": 2},
    "front_recipes": {"steps": 64, "seeds": 2, "preferences": 3},
    "gradient_cost": {"rounds": 1, "width": 300, "objectives": (2, 5)},
    "import_cost": {"rounds": 1},
    "import_time": {"before": import_time.ROOT, "rounds": 1},
    "several_losses": {"steps": 400, "seeds": 1},
    "sweep_throughput": {"rounds": 1, "runs": 1, "iterations": 2, "steps_per_iteration": 64, "env": TREASURE},
    "training_speed": {
        **{"rounds": 1, "runs": (1,), "sizes": (1,), "scaling": (1,), "worlds": ("dummy",)},
        **{"peers": False, "compiled": False},
    },
}
SHORTER: dict[str, dict[str, Any]] = {
    "conditioned_steps": {"front_recipe": lambda env: replace(front_recipe(env), ppo=SMALL)},
    "import_cost": {"MODULES": ("morl_blocks",)},
    "import_time": {"STARTS": {"nothing": "pass"}},
    "several_losses": {"PROBLEMS": CONCAVE},
    "training_speed": {"memory": lambda args, world: 0.5},
}


def growth(found: dict[str, Any], critic: str) -> float:
    ratio: float = found["update_ratios"][f"m=8 / m=2, arithmetic: ours R=1 eager{critic}"]
    return ratio


FORMULAS: dict[str, Callable[[Any], bool]] = {
    "conditioned_cost": lambda found: (
        found["largest"] == max(row["conditioned"] / row["ordinary"] for row in found["rows"])
    ),
    "conditioned_steps": lambda found: all(row["share"] == row["one"] / row["separate"] for row in found["rows"]),
    "env_physics": lambda found: found["microseconds"]["mo-halfcheetah-v5"]["ratio"] > 1,
    "gradient_cost": lambda found: (
        found["m = 5, ours, low memory"]["memory"] < 3 < 5 < found["m = 5, ours"]["memory"]  # in gradients
    ),
    "several_losses": lambda found: all(
        4 * found[f"{name}, STCH (0.01)"]["igd"] < found[f"{name}, Linear"]["igd"] for name in CONCAVE
    ),
    # The branched critic has a head per objective, the shared critic has not.
    "training_speed": lambda found: growth(found, "") > 1.9 and growth(found, ", shared critic") < 1.2,
}


@pytest.mark.parametrize("name", ARGS)
def test_short_benchmark_writes_its_figures(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    benchmark, out = import_module(f"benchmarks.{name}"), tmp_path / "figures.json"
    for methods in ("METHODS", "RECIPES"):
        recipes = getattr(benchmark, methods, {}).items()
        monkeypatch.setattr(benchmark, methods, {row: replace(recipe, ppo=SMALL) for row, recipe in recipes}, False)
    for what, shorter in SHORTER.get(name, {}).items():
        monkeypatch.setattr(benchmark, what, shorter)
    monkeypatch.setattr(_plain_pasta, "EPOCHS", 1)
    results = benchmark.main(benchmark.Args(out=out, **ARGS[name]))
    assert results
    assert FORMULAS.get(name, bool)(results)
    assert out.read_text()[0] in "{["


def test_concave_front_is_covered_by_tchebycheff_and_missed_by_a_weighted_sum(tmp_path: Path) -> None:
    fronts = concave_front.main(concave_front.Args(steps=500, out=tmp_path))
    assert {file.name for file in tmp_path.iterdir()} == {"concave_front.txt", "concave_front.png"}
    assert concave_front.interior_points(fronts["Linear"]) == 0
    for name in ("TCH", "STCH (0.01)", "STCH (0.1)"):
        assert concave_front.interior_points(fronts[name]) >= 8, name
    for name, front in fronts.items():
        assert (front[:, None] - concave_front.true_front()).norm(dim=-1).min(1).values.max() < 0.03, name


def _committed(name: str) -> Any:
    return json.loads((RESULTS / f"{name}.json").read_text())


def test_committed_intervals_cover_as_often_as_they_say() -> None:
    figures = _committed("coverage")
    skewed = figures.pop("skewed")
    assert min(skewed[f"1x5, 0.0, {kind}"]["coverage"]["ours"] for kind in ("normal", "gamma 2", "exponential")) >= 92
    for rates in figures.values():
        for name in coverage.INTERVALS:
            assert 92 <= sum(rates[name]) / len(rates[name]) <= 98, name


def test_committed_imports_are_as_fast_as_the_page_says() -> None:
    figures, page = _committed("import_cost"), (import_time.ROOT / "docs/install.md").read_text()
    assert set(figures) == set(import_cost.MODULES)
    assert figures["morl_blocks.scalarizers"] < 60
    assert all(f"| `{module}` | {taken:.0f} |" in page for module, taken in figures.items())
    figures = _committed("import_time")
    assert set(figures) == set(import_time.STARTS)
    now = {name: figure["now"] for name, figure in figures.items()}  # of one machine: compare those of the same run
    assert now["morl_blocks.combine_gradients"] <= 1.15 * now["import torch"]
    assert now["from morl_recipes import train"] <= figures["from morl_recipes import train"]["before"] / 2
    assert now["morl-blocks list"] <= 1.5


def test_memory_is_the_command_s_own_and_a_command_that_fails_is_no_measurement() -> None:
    python = [sys.executable, "-I", "-S", "-c"]
    held = np.ones(30_000_000)  # 240 MB
    little, much = alone([*python, "pass"]), alone([*python, "held = bytearray(b'x' * 100_000_000)"])
    assert held[-1] == 1
    assert little.megabytes < 60
    assert 90 < much.megabytes - little.megabytes < 220
    with pytest.raises(RuntimeError, match="ended with 3"):
        alone([*python, "raise SystemExit(3)"])
