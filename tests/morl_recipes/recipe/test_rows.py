from dataclasses import replace
from importlib import resources

import pandas as pd
import pytest

from morl_envs.cards import CARDS
from morl_recipes import PASTA, ROWS, Recipe, Run, Settings, by_batch, train_runs
from morl_recipes.recipe.specs import Branched
from tests.morl_recipes.worlds import tiny

SLOT: dict[str, str | dict[str, str]] = {
    "pcgrad": {"No PCGrad": "advantage", "Weighted PCGrad": "combiner"},
    "controller": "mu",
    "critic": "critic",
    "fixed_mu": "mu",
    "kappa": "mu",
    "lambda": "mu",
    "rho": "scalarizer",
    "utopia": "scalarizer",
    "readings": {
        "Advantages per minibatch": "ppo",
        "Time limit as terminal": "ppo",
        "Mask of the next step": "ppo",
        "PCGrad by position": "combiner",
        "Conflict of projections": "combiner",
    },
}


def test_there_are_36_recipes() -> None:
    paper = [group for group in ROWS if group not in ("ours", "readings")]
    assert len({recipe.to_json() for group in paper for recipe in ROWS[group].values()}) == 36


def test_groups_and_names_are_those_of_the_paper() -> None:
    with (resources.files("morl_recipes") / "data" / "paper" / "summary.csv").open(encoding="utf-8") as file:
        summary = pd.read_csv(file)
    for group, rows in summary.groupby("group"):
        assert set(rows["method"]) == set(ROWS[str(group)]), group
    assert set(ROWS) == {*summary["group"], "utopia", "ours", "readings"}


@pytest.mark.parametrize("group", SLOT)
def test_every_ablation_changes_the_slot_it_is_named_after(group: str) -> None:
    ours, *rest = ROWS[group]
    assert ROWS[group][ours] == PASTA
    for name in rest:
        if name == "All readings":
            continue
        slots = SLOT[group]
        expected = slots if isinstance(slots, str) else slots[name]
        assert ROWS[group][name].differences(PASTA) == (expected,), name


def test_baselines_collapse_the_objectives_and_do_not_weigh_the_critic() -> None:
    for name, recipe in ROWS["baselines"].items():
        if name != "PASTA (Ours)":
            assert recipe.differences(PASTA) == ("scalarizer", "mu", "advantage", "critic"), name
            assert recipe.critic == Branched()


def test_numbers_in_names_are_the_numbers_of_the_recipes() -> None:
    for group, slot, field in (
        ("fixed_mu", "mu", "mu"),
        ("kappa", "mu", "threshold"),
        ("lambda", "mu", "smoothing"),
        ("rho", "scalarizer", "maintenance"),
        ("utopia", "scalarizer", "utopia"),
    ):
        for name, recipe in list(ROWS[group].items())[1:]:
            assert getattr(getattr(recipe, slot), field) == float(name.split("=")[1]), name


@pytest.mark.parametrize("group", ROWS)
def test_rows_survive_json_and_toml(group: str) -> None:
    for recipe in ROWS[group].values():
        assert Recipe.from_json(recipe.to_json()) == recipe
        assert Recipe.from_toml(recipe.to_toml()) == recipe


def _small(recipe: Recipe) -> Recipe:
    return tiny(recipe, steps_per_iteration=16, epochs=1, minibatch_size=8)


@pytest.mark.parametrize("env", ["stealth", "frogger", "formation", "mo-halfcheetah-v5", "deep-sea-treasure-v0"])
def test_every_row_trains_for_two_iterations(env: str) -> None:
    recipes = {recipe.to_json(): _small(recipe) for rows in ROWS.values() for recipe in rows.values()}
    preference = CARDS[env].preferences[0]
    groups = by_batch([Run(recipe, preference, 0) for recipe in recipes.values()])
    assert len(groups) < 24
    settings = Settings(32, num_envs=2, eval_every=10, eval_episodes=1, test_episodes=1)
    for runs in groups:
        result = train_runs(runs, _short(env), settings, progress=False)
        assert all(run.status == "done" and len(run.history) == 2 for run in result.runs), runs[0].recipe


def _short(env: str) -> object:
    from morl_envs.source import find_source

    source = find_source(env)

    def make(num_envs: int, seeds: object) -> object:
        batch = source.make(num_envs, seeds)  # type: ignore[arg-type]
        batch.horizon = min(batch.horizon, 4)
        return batch

    return replace(source, make=make)  # type: ignore[arg-type]
