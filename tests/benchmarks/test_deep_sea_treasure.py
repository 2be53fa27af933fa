from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks import deep_sea_treasure
from benchmarks.deep_sea_treasure import METHODS, Args, main
from morl_recipes import PPO


def test_runs_and_writes_what_it_prints(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    small = PPO(steps_per_iteration=64, epochs=1)
    monkeypatch.setattr(
        deep_sea_treasure, "METHODS", {name: replace(recipe, ppo=small) for name, recipe in METHODS.items()}
    )
    args = Args(out=tmp_path / "dst.json", iterations=2, seeds=2, preferences=3, methods=("Linear", "PASTA"))
    results = main(args)
    for table in results["maps"].values():
        for row in table.values():
            assert [len(own) for own in row["points"]] == [3, 3]  # seeds x preferences
            assert len(row["treasures"]) == len(row["hypervolume"]) == 2
    assert "weight of treasure" in capsys.readouterr().out
    assert (tmp_path / "dst.json").exists()
