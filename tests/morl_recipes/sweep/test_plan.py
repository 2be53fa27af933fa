from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from morl_recipes import ROWS, Recipe
from morl_recipes.sweep import make_plan, read_sweep, sweep_from
from tests.morl_recipes.sweep.fakes import tiny_plan

RECIPES = Path(__file__).parents[3] / "recipes"
FILES = sorted(RECIPES.glob("*.toml"))
COUNTS = {
    "paper_ablations": (1 + 2 + 2 + 3 + 6) * 8 * 5,
    "paper_baselines": 9 * 8 * 5,
    "paper_mujoco": 9 * 4 * 5,
    "paper_quadrotor": 9 * 2 * 5,
    "paper_sensitivity": (1 + 3 + 2 + 4 + 5) * 8 * 5,
    "smoke": 40,
}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_ready_files_have_the_runs_of_the_paper(path: Path) -> None:
    assert len(make_plan(read_sweep(path)).runs) == COUNTS[path.stem]


def test_every_count_has_its_file() -> None:
    assert {path.stem for path in FILES} == set(COUNTS)


def test_pasta_is_trained_once_for_all_groups() -> None:
    plan = make_plan(sweep_from({"rows": ["all"], "seeds": 1, "preferences": [[0.2, 0.2, 0.6]]}))
    assert len(plan.runs) == 40
    assert [run.method for run in plan.runs].count("PASTA (Ours)") == 1
    distinct = {recipe.to_json() for rows in ROWS.values() for recipe in rows.values()}
    assert {Recipe.from_dict(run.recipe).to_json() for run in plan.runs} == distinct


def test_ids_follow_from_everything_that_changes_numbers_and_nothing_else() -> None:
    def ids(**changes: object) -> set[str]:
        return {run.run_id for run in tiny_plan(**changes).runs}

    assert ids() == ids()
    assert ids(checkpoint_every=5, population=1) == ids()
    for change in ({"total_steps": 512}, {"num_envs": 4}, {"eval_every": 1}, {"eval_episodes": 3}, {"compile": True}):
        assert not ids(**change) & ids()
    assert not ids(ppo={"epochs": 2}) & ids()
    assert ids(seeds=3) > ids()


@given(st.integers(1, 20))
def test_populations_are_a_partition_into_nearly_equal_parts_of_one_structure(size: int) -> None:
    plan = tiny_plan(seeds=7)
    populations = plan.populations(size)
    assert sorted(run.run_id for p in populations for run in p.runs) == sorted(run.run_id for run in plan.runs)
    assert len({p.name for p in populations}) == len(populations)
    for population in populations:
        assert len(population.runs) <= size
        assert len({(run.env, Recipe.from_dict(run.recipe).structure()) for run in population.runs}) == 1
    fixed = [len(p.runs) for p in populations if "mu=" in p.runs[0].method]
    assert sum(fixed) == 14  # the two smoothnesses differ in a number alone, so their 14 runs share populations
    assert max(fixed) - min(fixed) <= 1


def test_sizes_follow_the_machine() -> None:
    plan = tiny_plan(rows=["PASTA"], seeds=16)
    assert plan.suggest_size(1) == 16
    assert [len(p.runs) for p in plan.populations(plan.suggest_size(2))] == [8, 8]
    assert [len(p.runs) for p in plan.populations(plan.suggest_size(16))] == [1] * 16
    assert tiny_plan(rows=["PASTA"], seeds=16, population=5).suggest_size(2) == 5
    big = tiny_plan(rows=["PASTA"], seeds=40)
    assert [len(p.runs) for p in big.populations(big.suggest_size(2))] == [10] * 4  # not 13, 13 and 14 on two workers


def test_unknown_environments_and_wrong_preferences_are_refused() -> None:
    with pytest.raises(ValueError, match=r"unknown environment 'steelth'. Nearest: stealth"):
        tiny_plan(envs=["steelth"])
    with pytest.raises(ValueError, match="`preferences` must hold 2 numbers each"):
        tiny_plan(preferences=[[0.2, 0.3, 0.5]])


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r"mo-ant-v5 needs the mujoco extra: pip install 'morl-blocks\[mujoco\]'"):
        tiny_plan(envs=["mo-ant-v5"])
