from dataclasses import replace

import pytest

from morl_envs.cards import CARDS
from morl_envs.source import find_source
from morl_recipes import ROWS, Recipe, Run, Settings, by_batch, train_runs
from morl_recipes.recipe import paper
from tests.morl_recipes.worlds import tiny


# Every row is pinned by its recorded run id in tests/golden.
def test_groups_are_those_of_the_paper_with_36_recipes_and_our_own() -> None:
    printed = {*paper.summary()["group"], "utopia"}
    assert set(ROWS) == {*printed, "ours", "readings"}
    assert len({recipe.to_json() for group in printed for recipe in ROWS[group].values()}) == 36


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
