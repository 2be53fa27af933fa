"""A planned run: its recipe, preference and seed, and its name in a plan."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from morl_recipes.common import checks
from morl_recipes.recipe.fields import describe_recipe
from morl_recipes.recipe.recipe import Recipe

IDENTITY = ("run_id", "group", "method", "env", "preference", "seed")
"""Fields that identify a run in a store; its plan, its record and its files have the same values."""


@dataclass(frozen=True)
class Run:
    """One run: a recipe, a preference on the simplex and a seed. A plan adds the other fields.

    Args:
        recipe: The recipe. In a plan that was read from a file or sent to another process, the recipe as JSON.
        preference: Weights on the simplex.
        seed: Seed of the run.
        run_id: Name of the run's folder; see :func:`~morl_recipes.store.make_run_id`.
        group: Group of recipes, as in ``ROWS``.
        method: Name of the recipe within its group.
        env: Name of the environment, a key of the manifest's ``environments``.
        steps: Environment steps to train.
        plugin: SHA-256 of the user's file that defines the recipe; empty for a row of morl-blocks.

    Example:
        >>> Run(Recipe(), (0.5, 0.5), 0).seed
        0
    """

    recipe: Any
    preference: tuple[float, ...]
    seed: int
    run_id: str = ""
    group: str = ""
    method: str = ""
    env: str = ""
    steps: int = 0
    plugin: str = ""

    def __post_init__(self) -> None:
        """Check the recipe, the preference and the seed."""
        if not isinstance(self.recipe, Recipe | Mapping):
            checks.fail("recipe", "be a Recipe, such as morl_recipes.PASTA", repr(self.recipe))
        for name in ("run_id", "group", "method", "env", "plugin"):
            checks.text(name, getattr(self, name))
        checks.at_least("steps", self.steps, 0)
        object.__setattr__(self, "preference", checks.preference(self.preference))
        object.__setattr__(self, "seed", checks.at_least("seed", self.seed, 0))

    @property
    def identity(self) -> tuple[str, str, str, str, tuple[float, ...], int]:
        """The fields of ``IDENTITY`` in their order."""
        return self.run_id, self.group, self.method, self.env, self.preference, self.seed

    @cached_property
    def description(self) -> Mapping[str, Any]:
        """The recipe as JSON."""
        return self.recipe if isinstance(self.recipe, Mapping) else describe_recipe(self.recipe)

    def described(self) -> "Run":
        """Return the run with its recipe as JSON."""
        return replace(self, recipe=self.description)

    def to_dict(self) -> dict[str, Any]:
        """Return the fields of a manifest, in their order."""
        more = {"steps": self.steps, "recipe": self.description, "plugin": self.plugin}
        return dict(zip(IDENTITY, self.identity, strict=True)) | more


def by_batch(runs: Iterable[Run]) -> list[list[Run]]:
    """Group runs that can be trained together: recipes of one structure, in the order of their first run.

    Example:
        >>> from morl_recipes.recipe.rows import ROWS
        >>> runs = [Run(recipe, (0.5, 0.5), 0) for recipe in ROWS["baselines"].values()]
        >>> [len(group) for group in by_batch(runs)]  # PASTA; the scalarised baselines
        [1, 8]
    """
    groups: dict[object, list[Run]] = {}
    for run in _runs(runs):
        groups.setdefault((run.recipe.structure(), len(run.preference)), []).append(run)
    return list(groups.values())


def _runs(runs: Iterable[Run]) -> list[Run]:
    """Require runs."""
    found = list(runs) if isinstance(runs, Iterable) else [runs]
    for run in found:
        checks.instance("runs", run, Run, "be a list of Run")
    return found


def check_batch(runs: Sequence[Run]) -> None:
    """Require at least one run, and that all of them can be trained together."""
    if not _runs(runs):
        checks.fail("runs", "hold at least one run", "none")
    checks.one_length([run.preference for run in runs])
    if (count := len(by_batch(runs))) > 1:
        rule = "differ in scalarizer, mu, preference, seed and the floats of PPO alone"
        checks.fail("runs", rule, f"{count} different structures")
