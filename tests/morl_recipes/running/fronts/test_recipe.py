from dataclasses import replace

from morl_envs.toy import toy
from morl_recipes import PASTA, ROWS, Recipe, front_recipe
from morl_recipes.recipe.selection import name_of
from morl_recipes.recipe.specs import Fixed
from morl_recipes.running.fronts.train import adapted


def test_the_kind_of_action_decides_the_numbers() -> None:
    treasure, hopper = front_recipe("deep-sea-treasure-v0"), front_recipe("mo-hopper-2obj-v5")
    assert treasure.ppo.entropy_coefficient > 0.1
    assert hopper.ppo.entropy_coefficient == 0.0
    assert treasure.ppo.learning_rate > hopper.ppo.learning_rate
    assert (treasure.actor, treasure.preferences) == (hopper.actor, hopper.preferences)
    assert front_recipe("fruit-tree-v0") == front_recipe("minecart-v0") == treasure
    assert front_recipe("mo-halfcheetah-v5") == hopper


def test_without_a_card_an_environment_is_asked() -> None:
    assert front_recipe(toy()) == front_recipe("mo-hopper-2obj-v5")
    assert front_recipe("mo-mountaincar-v0") == front_recipe("minecart-v0")


def test_the_blocks_of_a_recipe_are_kept() -> None:
    row = ROWS["ours"]["Exact PCGrad"]
    made = front_recipe("minecart-v0", row)
    assert made.differences(row) == ("actor", "ppo", "preferences")
    assert made.conditioned
    assert Recipe.from_json(made.to_json()) == made


def test_names_are_those_of_the_rows() -> None:
    made = front_recipe("minecart-v0", ROWS["ours"]["Exact PCGrad"])
    for recipe in (made, adapted(made, conditioned=False)):
        assert name_of(recipe) == ("fronts", "Exact PCGrad, for fronts")
    assert name_of(front_recipe("minecart-v0", replace(PASTA, mu=Fixed(3.0))))[1] == "custom (mu), for fronts"
    assert name_of(ROWS["ours"]["Exact PCGrad"]) == ("ours", "Exact PCGrad")
