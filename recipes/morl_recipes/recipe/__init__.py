"""The definition of a training as frozen data: recipes, their slots and rows, settings, and the identity of a run.

Depends neither on training code nor on result files.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from morl_recipes.recipe.recipe import Recipe as Recipe

if not TYPE_CHECKING:
    __all__ = ["Recipe"]


def __getattr__(name: str) -> Any:
    """Load the class on first use, because the settings beside it do not need torch."""
    if name != "Recipe":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from morl_recipes.recipe.recipe import Recipe

    return Recipe
