"""Recipes with two names that train the same runs, bit for bit."""

from collections.abc import Mapping
from typing import Any

from morl_recipes.recipe import SLOTS


def blocks_of(recipe: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a recipe trains, as JSON: its slots without PPO's numbers, in one form for all of its spellings.

    A brake can raise the smoothness to its maximum and no further. Over a base that is fixed at this maximum it does
    nothing, and the paper's *No Decay* is its *mu=10.0*.

    Args:
        recipe: A recipe as JSON, as in a manifest.

    Returns:
        The slots; equal for recipes that train the same runs.

    Example:
        >>> braked = {"type": "ConflictBraked", "base": {"type": "Fixed", "mu": 10.0}, "maximum": 10.0}
        >>> blocks_of({"mu": braked})["mu"]
        {'type': 'Fixed', 'mu': 10.0}
    """
    blocks = {slot: recipe.get(slot) for slot in SLOTS}
    mu = blocks.get("mu")
    if isinstance(mu, Mapping) and mu.get("type") == "ConflictBraked":
        base = mu.get("base")
        if isinstance(base, Mapping) and base.get("type") == "Fixed" and base.get("mu") == mu.get("maximum"):
            blocks["mu"] = dict(base)
    return blocks
