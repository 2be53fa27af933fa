"""Recipes with two names that train the same runs, bit for bit."""

import json
from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache
from typing import Any

from morl_recipes.recipe.recipe import SLOTS, Recipe


def blocks_of(recipe: Recipe | Mapping[str, Any]) -> str:
    """Return what a recipe trains, as text: its slots without PPO's numbers, in one form for all of its spellings.

    Recipes of older stores get the slots that came later. A brake can raise the smoothness to its maximum and no
    further: over a base that is fixed at this maximum it does nothing, and the paper's *No Decay* is its *mu=10.0*.

    Args:
        recipe: A recipe, or its JSON as in a manifest; JSON that this version cannot read is taken as it stands.

    Returns:
        The slots; equal for recipes that train the same runs.

    Example:
        >>> braked = {"type": "ConflictBraked", "base": {"type": "Fixed", "mu": 10.0}, "maximum": 10.0}
        >>> blocks_of({"mu": braked}) == blocks_of({"mu": {"type": "Fixed", "mu": 10.0}})
        True
    """
    if isinstance(recipe, Recipe):
        return _text_of(recipe.to_dict())
    return _blocks(json.dumps(recipe, sort_keys=True, default=repr))


@lru_cache(maxsize=4096)
def _blocks(text: str) -> str:
    """Work on text, which can be remembered: a sweep has few recipes and many runs."""
    recipe = json.loads(text)
    with suppress(KeyError, TypeError, ValueError):  # of another version, or of a user's file that is not loaded
        recipe = Recipe.from_dict(recipe).to_dict()
    return _text_of(recipe)


def _text_of(recipe: Mapping[str, Any]) -> str:
    blocks = {slot: recipe.get(slot) for slot in SLOTS}
    mu = blocks.get("mu")
    if isinstance(mu, Mapping) and mu.get("type") == "ConflictBraked":
        base = mu.get("base")
        if isinstance(base, Mapping) and base.get("type") == "Fixed" and base.get("mu") == mu.get("maximum"):
            blocks["mu"] = dict(base)
    return json.dumps(blocks, sort_keys=True)
