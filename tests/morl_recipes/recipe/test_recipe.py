from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from morl_recipes import PASTA, PPO, Recipe
from morl_recipes.recipe import specs
from morl_recipes.recipe.fields import change_recipe
from morl_recipes.recipe.specs import Actor, AdaptiveSmoothTchebycheff, Fixed, SmoothTchebycheff, WeightedSum
from tests.refusals import refused


def test_defaults_are_pasta_and_a_file_by_hand_names_what_differs() -> None:
    assert Recipe() == PASTA
    text = '[mu]\ntype = "Fixed"\nmu = 2\n[ppo]\nlearning_rate = 1e-3\n'
    assert Recipe.from_toml(text) == replace(PASTA, mu=Fixed(2.0), ppo=PPO(learning_rate=1e-3))


@pytest.mark.parametrize(
    ("numbers", "message"),
    [
        ({"learning_rate": 0.0}, "`learning_rate` must be > 0, got 0.0"),
        ({"gamma": 1.1}, "`gamma` must lie in \\[0, 1\\], got 1.1"),
        ({"epochs": 0}, "`epochs` must be a whole number >= 1, got 0"),
        ({"minibatch_size": 100}, "`minibatch_size` must divide steps_per_iteration \\(2048\\), got 100"),
        ({"entropy_coefficient": -1.0}, "`entropy_coefficient` must lie in"),
        ({"gamma": "0.9"}, "`gamma` must lie in \\[0, 1\\], got '0.9'"),
        ({"clip": None}, "`clip` must be > 0, got None"),
        ({"learning_rate": True}, "`learning_rate` must be > 0, got True"),
        ({"steps_per_iteration": 64.0}, "`steps_per_iteration` must be a whole number >= 1, got 64.0"),
        ({"learning_rate_decay": 1.5}, "`learning_rate_decay` must lie in"),
        ({"mask": "last"}, "`mask` must be 'step' or 'next', got 'last'"),
    ],
)
def test_bad_numbers_are_named(numbers: dict[str, Any], message: str) -> None:
    refused(message, replace, PPO(), **numbers)


def test_numbers_become_plain_ones() -> None:
    ppo = PPO(gamma=1, clip=np.float32(0.5), steps_per_iteration=np.int64(128))  # type: ignore[arg-type]
    assert (repr(ppo.gamma), repr(ppo.clip), repr(ppo.steps_per_iteration)) == ("1.0", "0.5", "128")
    assert replace(PASTA, ppo=PPO(gamma=1)).structure() == PASTA.structure()


def test_structure_separates_what_cannot_share_a_population() -> None:
    same = [replace(PASTA, ppo=PPO(clip=0.1)), replace(PASTA, mu=Fixed(1.0), scalarizer=SmoothTchebycheff(0.1))]
    sums = [replace(PASTA, combiner=WeightedSum(rescale=rescale)) for rescale in (True, False)]
    assert {recipe.structure() for recipe in same} == {PASTA.structure()}
    assert len({recipe.structure() for recipe in (PASTA, replace(PASTA, ppo=PPO(epochs=5)), *sums)}) == 4


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[smoothness]", "`recipe` must have the slots .* got 'smoothness'"),
        ('[mu]\ntype = "Fxied"', "unknown type of block 'Fxied'. Nearest: Fixed"),
        ('[mu]\ntype = "Fixed"\nnu = 1.0', "unknown argument of Fixed 'nu'. Nearest: mu"),
        ("mu = 3.0", "`mu` must be a spec or a module of the kind mu, got 3.0"),
        ('scalarizer = "none"', "`scalarizer` must be a spec or a module of the kind scalarizer, got None"),
        ("ppo = 3", "`ppo` must be a table of names and values, got 3"),
        ("[ppo]\nlearning_rat = 1.0", r"unknown number of \[ppo\] 'learning_rat'. Nearest: learning_rate"),
        ('[mu]\ntype = "Fixed"\nmu = "a"', "`mu` must be a number, got 'a'"),
        ('[mu]\ntype = "PCGrad"', r"`mu` must be .* of the kind mu, got PCGrad\(.*\), which is a combiner"),
        ('[critic]\ntype = "AttentionWeighted"\ncritic = {type = "PCGrad"}', "`critic` must be .* which is a combiner"),
        ('[mu]\ntype = "ConflictBraked"\nbase = {type = "PCGrad"}', "`base` must be .* which is a combiner"),
        ('[preferences]\ntype = "Dirichlet"\nalpha = 0.0', "`alpha` must be > 0"),
    ],
)
def test_a_file_with_the_wrong_thing_in_a_slot_is_refused(text: str, message: str) -> None:
    refused(message, Recipe.from_toml, text)
    refused("`ppo` must be a PPO, got 3", replace, PASTA, ppo=3)


def test_recipes_of_version_0_1_are_read() -> None:
    old = {"scalarizer": {"type": "SmoothTchebycheff", "utopia": 1.1}, "mu": {"type": "Fixed", "mu": 0.5}}
    stch = Recipe.from_dict({**old, "ppo": {"hidden": 32}})
    assert stch.scalarizer == SmoothTchebycheff(0.5, utopia=1.1)
    assert stch.mu is None
    assert stch.actor == Actor(hidden=32)
    decayed = Recipe.from_dict({**old, "mu": {"type": "LinearDecay"}})
    assert decayed.scalarizer == AdaptiveSmoothTchebycheff(utopia=1.1, maintenance=0.0)


@pytest.mark.parametrize(
    ("slot", "name", "changed", "value"),
    [
        ("preferences", "preferences", {"preferences": specs.Dirichlet(0.5)}, {"type": "Dirichlet", "alpha": 0.5}),
        ("actor", "log_std", {"actor": Actor(log_std=-1.5)}, -1.5),
        ("ppo", "learning_rate_decay", {"ppo": PPO(learning_rate_decay=0.5)}, 0.5),
    ],
)
def test_what_came_later_leaves_no_trace_in_files_while_it_has_its_default(
    slot: str, name: str, changed: dict[str, Any], value: object
) -> None:
    assert name not in PASTA.to_json()
    recipe = replace(PASTA, **changed)
    assert recipe.to_dict()[slot] == value or recipe.to_dict()[slot][name] == value
    assert Recipe.from_json(recipe.to_json()) == Recipe.from_toml(recipe.to_toml()) == recipe
    assert recipe.differences(PASTA) == (slot,)
    assert recipe.conditioned is (slot == "preferences")
    if slot != "preferences":
        assert change_recipe(PASTA, {f"{slot}.{name}": value}) == recipe
