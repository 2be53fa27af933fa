"""Fronts of the toy world, trained once for all tests that read them."""

from dataclasses import replace

import pytest

from morl_envs.toy import toy
from morl_recipes import ROWS, Front, Recipe, train_front
from morl_recipes.recipe.specs import Uniform
from tests.morl_recipes.worlds import tiny

RECIPE: Recipe = replace(tiny(ROWS["ours"]["Linear, vector advantages"], learning_rate=3e-3), preferences=Uniform())


@pytest.fixture(scope="session")
def conditioned() -> Front:
    """Two seeds, five preferences."""
    return train_front(RECIPE, toy(), 5, [3, 4], 640, num_envs=4, eval_episodes=3, progress=False)


@pytest.fixture(scope="session")
def decomposed() -> Front:
    """One seed, five preferences, five policies."""
    return train_front(
        RECIPE, toy(), 5, [3], 320, conditioned=False, num_envs=4, eval_episodes=1, gamma=0.9, progress=False
    )
