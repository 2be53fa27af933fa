"""A run that is still to train: a recipe, a preference and a seed."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from morl_recipes.common import checks
from morl_recipes.recipe.recipe import Recipe


@dataclass(frozen=True)
class Run:
    """One run: a recipe, a preference on the simplex and a seed.

    Example:
        >>> Run(Recipe(), (0.5, 0.5), 0).seed
        0
    """

    recipe: Recipe
    preference: tuple[float, ...]
    seed: int

    def __post_init__(self) -> None:
        """Check the recipe, the preference and the seed."""
        if not isinstance(self.recipe, Recipe):
            checks.fail("recipe", "be a Recipe, such as morl_recipes.PASTA", repr(self.recipe))
        object.__setattr__(self, "preference", checks.preference(self.preference))
        object.__setattr__(self, "seed", checks.at_least("seed", self.seed, 0))


def by_batch(runs: Iterable[Run]) -> list[list[Run]]:
    """Group runs that can train together: recipes of one structure, in the order of their first run.

    Example:
        >>> from morl_recipes.recipe.rows import ROWS
        >>> runs = [Run(recipe, (0.5, 0.5), 0) for recipe in ROWS["baselines"].values()]
        >>> [len(group) for group in by_batch(runs)]  # PASTA; the scalarised baselines
        [1, 8]
    """
    groups: dict[object, list[Run]] = {}
    for run in runs:
        groups.setdefault((run.recipe.structure(), len(run.preference)), []).append(run)
    return list(groups.values())


def check_batch(runs: Sequence[Run]) -> None:
    """Require at least one run, and that all of them can train together."""
    if not runs:
        checks.fail("runs", "hold at least one run", "none")
    checks.one_length([run.preference for run in runs])
    if (count := len(by_batch(runs))) > 1:
        rule = "differ in scalarizer, mu, preference, seed and the floats of PPO alone"
        checks.fail("runs", rule, f"{count} different structures")
