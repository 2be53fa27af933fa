"""The default recipe of a front, and its numbers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from morl_envs.source import find_source
from morl_recipes.recipe.recipe import Recipe
from morl_recipes.recipe.rows import FRONT, FRONT_ACTOR, FRONT_PREFERENCES, ROWS

CONTINUOUS = replace(FRONT, entropy_coefficient=0.0, normalize_targets=True)
DISCRETE = replace(FRONT, learning_rate=3e-3, entropy_coefficient=0.2)
"""PPO's numbers for fronts, by kind of action. For choices a bonus for entropy is bounded, and keeps a policy from
settling too early. In a box it is not: it widens the Gaussian without end. A critic of a robot's returns, some hundreds
and of another size for each objective, learns faster when they are normalised."""


def front_recipe(env: Any, recipe: Recipe | None = None) -> Recipe:
    """Return a recipe with the numbers for fronts: those of PPO, the actor's first actions, and the preferences.

    The numbers follow from one fact about the environment, whether actions are choices or numbers. They were chosen for
    short trainings on deep-sea treasure, fruit tree, mine cart, hopper and half-cheetah; elsewhere they are a start.

    Args:
        env: As for :func:`~morl_recipes.train`.
        recipe: Whose blocks to keep; by default *Linear, raw returns*, the weighted sum of returns as they are, which
            is the utility by which fronts are compared.

    Example:
        >>> front_recipe("minecart-v0").ppo.entropy_coefficient, front_recipe("mo-hopper-2obj-v5").actor.log_std
        (0.2, -1.5)
    """
    blocks = ROWS["ours"]["Linear, raw returns"] if recipe is None else recipe
    ppo = DISCRETE if find_source(env).is_discrete() else CONTINUOUS
    return replace(blocks, ppo=ppo, actor=FRONT_ACTOR, preferences=FRONT_PREFERENCES)
