from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks import conditioned_cost, conditioned_steps
from morl_recipes import PPO, front_recipe

SMALL = PPO(steps_per_iteration=64, epochs=1)


def test_the_cost_is_timed_and_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    recipes = {name: replace(recipe, ppo=SMALL) for name, recipe in conditioned_cost.RECIPES.items()}
    monkeypatch.setattr(conditioned_cost, "RECIPES", recipes)
    args = conditioned_cost.Args(out=tmp_path / "c.json", envs=("deep-sea-treasure-v0",), runs=(1,), rounds=1)
    results = conditioned_cost.main(args)
    assert [row["recipe"] for row in results["rows"]] == list(recipes)
    assert results["largest"] == max(row["conditioned"] / row["ordinary"] for row in results["rows"])
    assert "Largest ratio" in capsys.readouterr().out
    assert (tmp_path / "c.txt").exists()


def test_one_policy_is_compared_with_many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recipe = replace(front_recipe("deep-sea-treasure-v0"), ppo=SMALL)
    monkeypatch.setattr(conditioned_steps, "front_recipe", lambda env: recipe)
    args = conditioned_steps.Args(
        out=tmp_path / "s.json", envs=("deep-sea-treasure-v0",), members=3, steps=64, seeds=1, episodes=1
    )
    (row,) = conditioned_steps.main(args)["rows"]
    assert row["share"] == pytest.approx(row["one"] / row["separate"])
    assert (tmp_path / "s.json").exists()
