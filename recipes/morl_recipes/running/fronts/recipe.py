"""The default recipe of a front, and its hyperparameters."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from morl_envs.source import find_source
from morl_recipes.common import checks
from morl_recipes.recipe.recipe import Recipe
from morl_recipes.recipe.rows import FRONT, FRONT_ACTOR, FRONT_PREFERENCES, ROWS

CONTINUOUS = replace(FRONT, entropy_coefficient=0.0, normalize_targets=True)
DISCRETE = replace(FRONT, learning_rate=3e-3, entropy_coefficient=0.2)
"""PPO's settings for fronts, by kind of action. For discrete actions an entropy bonus is bounded, and keeps a policy
from converging too early. For continuous actions it is not bounded and would widen the Gaussian without limit. A critic
of a robot's returns, which are some hundreds and differ in scale between objectives, learns faster when they are
normalised."""


def front_recipe(env: Any, recipe: Recipe | None = None) -> Recipe:
    """Return a recipe with settings for fronts: PPO, the actor's initial distribution, and the preferences.

    The settings depend only on whether actions are discrete or continuous. They were chosen for short trainings on
    deep-sea treasure, fruit tree, mine cart, hopper and half-cheetah; for other tasks they are a starting point.

    Args:
        env: As for :func:`~morl_recipes.train`.
        recipe: Recipe whose blocks are kept; by default *Linear, raw returns*, the weighted sum of raw returns, which
            is the utility by which fronts are compared.

    Example:
        >>> front_recipe("minecart-v0").ppo.entropy_coefficient, front_recipe("mo-hopper-2obj-v5").actor.log_std
        (0.2, -1.5)
    """
    given = ROWS["ours"]["Linear, raw returns"] if recipe is None else recipe
    blocks = checks.instance("recipe", given, Recipe, "be a Recipe, such as morl_recipes.PASTA")
    ppo = DISCRETE if find_source(env).is_discrete() else CONTINUOUS
    return replace(blocks, ppo=ppo, actor=FRONT_ACTOR, preferences=FRONT_PREFERENCES)
