from dataclasses import replace

import pytest

from morl_envs.cards import CARDS
from morl_envs.source import find_source
from morl_recipes import PASTA, ROWS, Recipe, Run, Settings, by_batch, train_runs
from morl_recipes.recipe import paper
from morl_recipes.recipe.specs import Branched
from tests.morl_recipes.worlds import tiny

SLOTS = {
    "pcgrad": "advantage combiner",
    **dict.fromkeys(("controller", "fixed_mu", "kappa", "lambda"), "mu"),
    "critic": "critic",
    **dict.fromkeys(("rho", "utopia"), "scalarizer"),
    "readings": "ppo ppo ppo combiner combiner combiner,ppo",
}
"""The slots that each row of a group changes, in their order; one word where all change the same."""


def test_groups_are_those_of_the_paper_with_36_recipes_and_our_own() -> None:
    printed = {*paper.summary()["group"], "utopia"}
    assert set(ROWS) == {*printed, "ours", "readings"}
    assert len({recipe.to_json() for group in printed for recipe in ROWS[group].values()}) == 36


@pytest.mark.parametrize("group", SLOTS)
def test_every_ablation_changes_the_slot_it_is_named_after(group: str) -> None:
    ours, *rest = ROWS[group].values()
    assert ours == PASTA
    slots = SLOTS[group].split() if " " in SLOTS[group] else [SLOTS[group]] * len(rest)
    assert [",".join(recipe.differences(PASTA)) for recipe in rest] == slots


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


@pytest.mark.parametrize("env", ["stealth", "frogger", "formation", "mo-halfcheetah-v5", "deep-sea-treasure-v0"])
def test_every_row_trains_for_two_iterations(env: str) -> None:
    recipes = {recipe.to_json(): recipe for rows in ROWS.values() for recipe in rows.values()}
    preference = CARDS[env].preferences[0]
    small = [tiny(recipe, steps_per_iteration=16, epochs=1, minibatch_size=8) for recipe in recipes.values()]
    groups = by_batch([Run(recipe, preference, 0) for recipe in small])
    assert len(groups) < 24
    settings = Settings(32, num_envs=2, eval_every=10, eval_episodes=1, test_episodes=1)
    for runs in groups:
        result = train_runs(runs, _short(env), settings, progress=False)
        assert all(run.status == "done" and len(run.history) == 2 for run in result.runs), runs[0].recipe


def _short(env: str) -> object:
    source = find_source(env)

    def make(num_envs: int, seeds: object) -> object:
        batch = source.make(num_envs, seeds)  # type: ignore[arg-type]
        batch.horizon = min(batch.horizon, 4)
        return batch

    return replace(source, make=make)  # type: ignore[arg-type]
