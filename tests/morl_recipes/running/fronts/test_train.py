import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from morl_envs.source import find_source
from morl_envs.toy import toy
from morl_recipes import PASTA, ROWS, EnvSource, Front, Recipe, front_recipe, train_front
from morl_recipes.evaluation.episodes import front_returns
from morl_recipes.evaluation.saved_policy import make_policy
from morl_recipes.recipe import specs
from morl_recipes.recipe.selection import name_of
from morl_recipes.recipe.specs import Fixed
from morl_recipes.running.fronts.train import adapted, scaled_source
from morl_recipes.store.store import Store
from tests.morl_recipes.running.fronts.conftest import RECIPE
from tests.morl_recipes.worlds import Scripts
from tests.refusals import refused

QUICK: dict[str, Any] = {"num_envs": 4, "eval_episodes": 2, "progress": False}


def test_one_policy_per_seed_or_one_per_preference(conditioned: Front, decomposed: Front) -> None:
    assert (conditioned.conditioned, len(conditioned.policies), conditioned.seeds) == (True, 2, (3, 4))
    assert conditioned.asked[:5, 0].tolist() == [0.0, 0.25, 0.5, 0.75, 1.0]
    assert (decomposed.conditioned, len(decomposed.policies), decomposed.gamma) == (False, 5, 0.9)
    assert decomposed.asked[:, 0].tolist() == [0.0, 0.25, 0.5, 0.75, 1.0]
    assert decomposed.member.tolist() == [0, 1, 2, 3, 4]


def test_recipe_is_adapted_to_one_policy_for_all_or_one_per_preference() -> None:
    assert adapted(PASTA, conditioned=True).preferences == specs.Uniform()
    drawn = replace(PASTA, preferences=specs.Grid(5))
    assert adapted(drawn, conditioned=True) is drawn
    assert adapted(drawn, conditioned=False) == PASTA


def test_preferences_may_be_given() -> None:
    front = train_front(RECIPE, toy(), [[0.2, 0.8], [0.6, 0.4]], total_steps=64, **QUICK)
    np.testing.assert_allclose(front.asked, [[0.2, 0.8], [0.6, 0.4]], rtol=1e-6)
    with pytest.raises(ValueError, match=r"`preferences` must hold 2 numbers each, got \[0.2, 0.3, 0.5\]"):
        train_front(RECIPE, toy(), [[0.2, 0.3, 0.5]], total_steps=64, **QUICK)
    with pytest.raises(ValueError, match="`preferences` must be a whole number >= 2, got 1"):
        train_front(RECIPE, toy(), 1, total_steps=64, **QUICK)
    refused("`gamma` must lie in", train_front, RECIPE, toy(), 2, total_steps=64, gamma=1.5, **QUICK)


def test_observations_are_scaled_as_a_card_says_and_without_a_card_where_actions_are_numbers() -> None:
    card, own, treasure = (find_source(env) for env in ("mo-hopper-v5", "mo-hopper-2d-v4", "deep-sea-treasure-v0"))
    assert [scaled_source(source, normalize=None).normalize_observations for source in (card, own, treasure)] == [
        *(True, True, False)
    ]
    assert not scaled_source(own, normalize=False).normalize_observations
    assert scaled_source(treasure, normalize=True).normalize_observations
    refused("`normalize_observations` must be true, false or None, got 1", scaled_source, own, normalize=1)
    front = train_front(RECIPE, toy(), 2, total_steps=64, normalize_observations=False, **QUICK)
    assert "observation_mean" not in front.policies[0]
    front = train_front(RECIPE, toy(), 2, total_steps=64, **QUICK)
    assert "observation_mean" in front.policies[0]


def test_front_of_a_short_training_is_evaluated_on_full_episodes() -> None:
    short, long = (train_front(RECIPE, toy(), 2, total_steps=64, horizon=steps, **QUICK) for steps in (1, None))
    assert short.returns.shape == long.returns.shape
    source = toy().complete()
    module = make_policy(short.policies[0], 2, short.network)
    played = front_returns([module], [0], torch.tensor(short.asked)[None].float(), source, episodes=2)
    np.testing.assert_allclose(short.returns, played.mean(2)[0], rtol=1e-5)


def test_folder_holds_front_and_store_and_resuming_trains_nothing_anew(tmp_path: Path) -> None:
    first = train_front(RECIPE, toy(), 3, [0], 64, out=tmp_path, **QUICK)
    assert len(Store.open(tmp_path / "store").run_ids()) == 1
    again = train_front(RECIPE, toy(), 5, [0], 64, out=tmp_path, resume=True, **QUICK)
    np.testing.assert_allclose(again.returns[[0, 2, 4]], first.returns, rtol=1e-6)
    np.testing.assert_array_equal(Front.load(tmp_path).returns, again.returns)
    shutil.rmtree(tmp_path / "store")
    refused(r"`out` must hold no earlier training \(resume it", train_front, RECIPE, toy(), 3, [0], 64, out=tmp_path)
    assert not (tmp_path / "store").exists()


@pytest.mark.parametrize("resume", [False, True])
@pytest.mark.parametrize("first", [0.0, 0.5])
def test_folder_of_a_training_of_the_other_kind_is_refused(first: float, resume: bool, tmp_path: Path) -> None:
    way: dict[str, Any] = {"conditioned": False, "out": tmp_path, **QUICK}
    train_front(RECIPE, toy(), 3, [0], 64, warm_start=first, **way)
    before = (tmp_path / "front.json").read_bytes()
    has = "warm" if first else "store"
    message = rf"`out` must hold no other training \(it has a folder {has}; choose"
    refused(message, train_front, RECIPE, toy(), 4, [0], 64, warm_start=0.5 - first, resume=resume, **way)
    assert (tmp_path / "front.json").read_bytes() == before
    assert not (tmp_path / ("store" if first else "warm")).exists()


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_front_without_a_finished_run_is_an_error() -> None:
    def spoil(step: int, reward: Tensor) -> None:
        reward.fill_(float("nan"))

    scripts = Scripts(spoil, lambda *_: None)
    source = EnvSource("broken", scripts, objectives=("a", "b"))
    source = replace(source, preferences=((0.5, 0.5),), horizon=16, observation_dim=4)
    with pytest.raises(ValueError, match="`train_front` must have at least one run that does not fail, got reward"):
        train_front(RECIPE, source, 3, [0], 64, normalize_observations=False, **QUICK)


@pytest.mark.parametrize("name", ["PASTA (Ours)", "Linear, vector advantages"])
def test_pasta_follows_no_preference_and_linear_does(name: str) -> None:
    """Widen the spread of the returns between the two ends of the simplex."""
    recipe = ROWS["ours"][name]
    recipe = replace(recipe, ppo=replace(recipe.ppo, steps_per_iteration=512, minibatch_size=64, learning_rate=3e-3))
    front = train_front(recipe, toy(), 2, [0], 512 * 20, num_envs=8, eval_episodes=2, progress=False)
    spread = front.returns[1, 0] - front.returns[0, 0]
    assert spread > 4 if name.startswith("Linear") else abs(spread) < 3


def test_front_recipe_depends_on_the_kind_of_action_and_keeps_the_blocks() -> None:
    treasure, hopper = front_recipe("deep-sea-treasure-v0"), front_recipe("mo-hopper-2obj-v5")
    assert treasure.ppo.entropy_coefficient > 0.1
    assert hopper.ppo.entropy_coefficient == 0.0
    assert treasure.ppo.learning_rate > hopper.ppo.learning_rate
    assert (treasure.actor, treasure.preferences) == (hopper.actor, hopper.preferences)
    for env, expected in (("minecart-v0", treasure), ("mo-mountaincar-v0", treasure), (toy(), hopper)):
        assert front_recipe(env) == expected
    row = ROWS["ours"]["Exact PCGrad"]
    made = front_recipe("minecart-v0", row)
    assert made.differences(row) == ("actor", "ppo", "preferences")
    assert made.conditioned
    assert Recipe.from_json(made.to_json()) == made
    for recipe in (made, adapted(made, conditioned=False)):
        assert name_of(recipe) == ("fronts", "Exact PCGrad, for fronts")
    assert name_of(front_recipe("minecart-v0", replace(PASTA, mu=Fixed(3.0))))[1] == "custom (mu), for fronts"
