"""A sweep as data: recipes x environments x preferences x seeds, from a TOML file or from options."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, TypeGuard

from morl_envs.plugin import named_file
from morl_recipes.common import checks, toml
from morl_recipes.common.naming import unknown
from morl_recipes.recipe.fields import change_recipe
from morl_recipes.recipe.ppo import PPO
from morl_recipes.recipe.recipe import Recipe
from morl_recipes.recipe.settings import NAMES, Settings, require_known

MOST_SEEDS = 10_000
"""The largest number of seeds; a larger number probably means ``[0, 1, 2]`` or a single seed."""


@dataclass(frozen=True)
class Sweep:
    """A product of recipes, environments, preferences and seeds.

    Args:
        rows: Names for :func:`~morl_recipes.recipe.selection.select_rows`.
        envs: Names for :func:`~morl_envs.source.find_source`.
        preferences: Weights on the simplex; ``None`` takes each environment's own.
        seeds: Seeds; a number n means ``0 .. n - 1``.
        settings: Settings of all trainings.
        ppo: Settings of PPO to change in every recipe, by name.
        set: Anything to change in every recipe, by dotted name: see :func:`~morl_recipes.recipe.fields.change_recipe`.
        population: Maximal number of runs that are trained together; ``None`` chooses it for the machine.

    Example:
        >>> sweep = Sweep(rows=("PASTA", "Linear"), seeds=2, ppo={"epochs": 2})
        >>> sweep.seeds
        (0, 1)
    """

    rows: tuple[str, ...]
    envs: tuple[str, ...] = ("stealth",)
    preferences: tuple[tuple[float, ...], ...] | None = None
    seeds: tuple[int, ...] = (0, 1, 2, 3, 4)
    settings: Settings = field(default_factory=Settings)
    ppo: Mapping[str, Any] = field(default_factory=dict)
    set: Mapping[str, Any] = field(default_factory=dict)
    population: int | None = None

    def __post_init__(self) -> None:
        """Convert lists to tuples, and check everything that needs no environment."""
        own: dict[str, Any] = {name: checks.names(name, getattr(self, name)) for name in ("rows", "envs")}
        own["seeds"] = _seeds(self.seeds)
        if self.preferences is not None:
            own["preferences"] = _preferences(self.preferences)
        if self.population is not None:
            checks.at_least("population", self.population, 1)
        checks.instance("settings", self.settings, Settings, "be Settings")
        checks.table("set", self.set)
        if isinstance(self.ppo, Mapping) and "hidden" in self.ppo:  # where version 0.1 had the actor's width
            own["set"] = {"actor.hidden": self.ppo["hidden"], **self.set}
            own["ppo"] = {name: value for name, value in self.ppo.items() if name != "hidden"}
        for name, value in own.items():
            object.__setattr__(self, name, value)
        PPO.from_dict(self.ppo)

    def adapt(self, recipe: Recipe) -> Recipe:
        """Return the recipe with the sweep's own changes."""
        recipe = replace(recipe, ppo=replace(recipe.ppo, **self.ppo)) if self.ppo else recipe
        return change_recipe(recipe, self.set)


def shipped_sweeps() -> dict[str, Path]:
    """Return the sweep files of the package, by name."""
    folder = Path(__file__).parents[1] / "data" / "sweeps"
    return {path.stem: path for path in sorted(folder.glob("*.toml"))}


def find_sweep(name: str | Path) -> Path:
    """Return the file for a name: a path, or a sweep of the package."""
    path, shipped = checks.path("name", name), shipped_sweeps()
    if not path.exists() and path.name == str(name) and not path.suffix:
        if path.name not in shipped:
            raise unknown("sweep", path.name, shipped)
        return shipped[path.name]
    return path


def read_sweep(path: str | Path, **changes: Any) -> Sweep:
    """Read a sweep from a TOML file.

    The keys are the arguments of :class:`Sweep`, those of :class:`~morl_recipes.Settings`, and the tables ``[ppo]`` and
    ``[set]``.

    The user's own files (``my_rows.py:MyRow``, ``my_env.py:make_env``) are searched beside the sweep file if it names
    them, and in the current folder if ``changes`` does.

    Args:
        path: The file, or the name of one of the package, such as ``"smoke"``.
        **changes: Keys that replace those of the file.

    Returns:
        The sweep; a file that is missing, damaged or has unknown keys raises ``ValueError`` with its name.
    """
    path = find_sweep(checks.path("path", path))
    try:
        content = toml.loads(path.read_text(encoding="utf-8"))
        return sweep_from(content, folder=path.parent, **changes)
    except OSError as error:
        raise ValueError(f"{path}: cannot be read ({error.strerror}).") from error
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error


def sweep_from(content: Mapping[str, Any], folder: Path = Path(), **changes: Any) -> Sweep:
    """Build a sweep from flat keys, as in a TOML file.

    Args:
        content: The keys.
        folder: Folder that paths of the user's files in ``content`` are relative to; those in ``changes`` are relative
            to the current one.
        **changes: Keys that replace others.

    Example:
        >>> sweep_from({"rows": ["PASTA"], "seeds": 1, "total_steps": 4096}).settings.total_steps
        4096
    """
    content, folder = checks.table("content", content), checks.path("folder", folder)
    beside = {key: _below(folder, content[key]) for key in ("rows", "envs") if key in content}
    merged = {**content, **beside, **changes}
    require_known(merged, [f.name for f in fields(Sweep) if f.name != "settings"], kind="key")
    if "rows" not in merged:
        checks.fail("rows", "be given, or be a key of a sweep file that is named", "nothing")
    settings = Settings(**{key: merged.pop(key) for key in NAMES if key in merged})
    return Sweep(**merged, settings=settings)


def _below(folder: Path, names: object) -> object:
    """Make the paths of a user's own files relative to a folder."""
    if isinstance(names, str):
        return names if named_file(names) is None else str(folder / names)
    return [_below(folder, name) for name in names] if _is_list(names) else names


def _is_list(value: object) -> TypeGuard[Sequence[Any]]:
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


def _preferences(value: Any) -> tuple[tuple[float, ...], ...]:
    nested = _is_list(value) and all(map(_is_list, value))
    if not nested or any(isinstance(n, bool) or not isinstance(n, int | float) for row in value for n in row):
        checks.fail("preferences", "be a list of lists of numbers", repr(value))
    if not value:
        checks.fail("preferences", "hold at least one preference", "none")
    return tuple(checks.preference(weights) for weights in value)


def _seeds(value: object) -> tuple[int, ...]:
    if isinstance(value, int) and not isinstance(value, bool):
        if checks.at_least("seeds", value, 1) > MOST_SEEDS:
            checks.fail("seeds", f"be a number of seeds, {MOST_SEEDS:,} at most, or a list of them", f"{value:,}")
        return tuple(range(value))
    if not _is_list(value) or not value:
        checks.fail("seeds", "be a number of seeds or a list of them", repr(value))
    for seed in value:
        checks.at_least("seeds", seed, 0)
    return tuple(dict.fromkeys(value))
