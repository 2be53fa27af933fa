from pathlib import Path

import pytest

from benchmarks.train_table import missing, part, train_table
from morl_recipes.analysis.datasets import cells_of, read_dataset
from morl_recipes.running.engines.inline import InlineEngine
from morl_recipes.running.plan import make_plan
from morl_recipes.running.sweep import sweep_from

SWEEP = {
    "rows": ["PASTA", "Linear"],
    "envs": ["deep-sea-treasure-v0"],
    "seeds": 2,
    "total_steps": 64,
    "num_envs": 2,
    "eval_episodes": 1,
    "test_episodes": 2,
    "ppo": {"steps_per_iteration": 64, "epochs": 1},
}


def test_second_call_trains_only_the_rows_that_the_table_lacks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = make_plan(sweep_from(SWEEP))
    linear = part(plan, lambda run: run.method == "Linear")
    how = {"progress": False, "say": None}

    train_table(linear, plan.manifest(), "small", tmp_path, tmp_path / "first", InlineEngine(), **how)
    done = set(cells_of(read_dataset(tmp_path / "small.csv").done))
    assert {method for _, _, method in missing(plan, done)} == {"PASTA (Ours)"}

    with pytest.raises(SystemExit, match="store"):  # that store is finished, and PASTA would never be trained there
        train_table(plan, plan.manifest(), "small", tmp_path, tmp_path / "first", InlineEngine(), **how)
    train_table(plan, plan.manifest(), "small", tmp_path, tmp_path / "second", InlineEngine(), **how)
    table = read_dataset(tmp_path / "small.csv")
    assert len(table.done) == 4
    assert len(list((tmp_path / "second/runs").iterdir())) == 2  # PASTA alone
    assert (tmp_path / "curves/small.csv").exists()

    train_table(plan, plan.manifest(), "small", tmp_path, tmp_path / "third", InlineEngine(), **how)
    assert "nothing is missing" in capsys.readouterr().out
    assert not (tmp_path / "third").exists()
