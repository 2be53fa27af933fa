"""A sweep as data: recipes x environments x preferences x seeds, from a TOML file or from flags."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, TypeGuard

from morl_recipes import _checks
from morl_recipes.naming import unknown
from morl_recipes.recipe import PPO, Recipe

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

PAPER_STEPS = 488 * 2048
"""Environment steps per run at the paper's scale; the paper does not print its own number."""


@dataclass(frozen=True)
class Training:
    """Settings that all runs of a sweep share.

    Args:
        total_steps: Environment steps per run.
        num_envs: Environments per run.
        eval_every: Iterations between validations.
        eval_episodes: Episodes per validation.
        compile: Fuse the update with ``torch.compile``: faster, after some seconds per population.
        checkpoint_every: Iterations between checkpoints; results do not depend on it.
    """

    total_steps: int = PAPER_STEPS
    num_envs: int = 8
    eval_every: int = 10
    eval_episodes: int = 10
    compile: bool = False
    checkpoint_every: int = 10

    def __post_init__(self) -> None:
        """Check every number."""
        for name in ("total_steps", "num_envs", "eval_every", "eval_episodes", "checkpoint_every"):
            _checks.at_least(name, getattr(self, name), 1)
        if not isinstance(self.compile, bool):
            _checks.fail("compile", "be true or false", repr(self.compile))


@dataclass(frozen=True)
class Sweep:
    """A product of recipes, environments, preferences and seeds.

    Args:
        rows: Names for :func:`~morl_recipes.selection.select_rows`.
        envs: Names of environments; case does not matter.
        preferences: Weights on the simplex; ``None`` takes each environment's own.
        seeds: Seeds; a number n means ``0 .. n - 1``.
        training: What all runs share.
        ppo: Numbers of PPO to change in every recipe, by name.
        population: Most runs that train together; ``None`` sizes populations to the machine.
        folder: Where the paths of a user's own files begin.

    Example:
        >>> sweep = Sweep(rows=("PASTA", "Linear"), seeds=2, ppo={"epochs": 2})
        >>> sweep.seeds
        (0, 1)
    """

    rows: tuple[str, ...]
    envs: tuple[str, ...] = ("stealth",)
    preferences: tuple[tuple[float, ...], ...] | None = None
    seeds: tuple[int, ...] = (0, 1, 2, 3, 4)
    training: Training = field(default_factory=Training)
    ppo: Mapping[str, Any] = field(default_factory=dict)
    population: int | None = None
    folder: Path = Path()

    def __post_init__(self) -> None:
        """Turn lists into tuples, and check everything that needs no environment."""
        _set(self, "rows", _words("rows", self.rows))
        _set(self, "envs", tuple(dict.fromkeys(_spell(name) for name in _words("envs", self.envs))))
        _set(self, "seeds", _seeds(self.seeds))
        if self.preferences is not None:
            _set(self, "preferences", _preferences(self.preferences))
        if self.population is not None:
            _checks.at_least("population", self.population, 1)
        PPO.from_dict(self.ppo)

    def adapt(self, recipe: Recipe) -> Recipe:
        """Return the recipe with the sweep's own PPO numbers."""
        return replace(recipe, ppo=replace(recipe.ppo, **self.ppo)) if self.ppo else recipe

    def settings(self) -> dict[str, Any]:
        """Return what a run depends on besides its recipe, environment, preference and seed."""
        return {key: value for key, value in asdict(self.training).items() if key != "checkpoint_every"}


def read_sweep(path: str | Path, **changes: Any) -> Sweep:
    """Read a sweep from a TOML file.

    The keys are the arguments of :class:`Sweep`, those of :class:`Training` beside them, and a table ``[ppo]``.

    Rows of a user's own files (``my_rows.py:MyRow``) are looked for beside the file when it names them, and in the
    current folder when ``changes`` does.

    Args:
        path: The file.
        **changes: Keys that replace those of the file.

    Returns:
        The sweep; a file that is missing, damaged or has unknown keys raises ``ValueError`` with its name.
    """
    path = Path(path)
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
        return sweep_from(content, folder=Path() if "rows" in changes else path.parent, **changes)
    except OSError as error:
        raise ValueError(f"{path}: cannot be read ({error.strerror}).") from error
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error


def sweep_from(content: Mapping[str, Any], folder: Path = Path(), **changes: Any) -> Sweep:
    """Build a sweep from flat keys, as in a TOML file.

    Example:
        >>> sweep_from({"rows": ["PASTA"], "seeds": 1, "total_steps": 4096}).training.total_steps
        4096
    """
    merged = {**content, **changes}
    training = {f.name for f in fields(Training)}
    own = {f.name for f in fields(Sweep)} - {"training", "folder"}
    for key in merged:
        if key not in training | own:
            raise unknown("key", key, sorted(training | own))
    missing = [f.name for f in fields(Sweep) if f.default is MISSING and f.default_factory is MISSING]
    for key in missing:
        if key not in merged:
            _checks.fail(key, "be given", "nothing")
    settings = Training(**{key: merged.pop(key) for key in training & set(merged)})
    return Sweep(**merged, training=settings, folder=folder)


def _set(sweep: Sweep, name: str, value: object) -> None:
    object.__setattr__(sweep, name, value)


def _words(name: str, value: object) -> tuple[str, ...]:
    words = (value,) if isinstance(value, str) else value
    if not isinstance(words, Sequence) or not words or not all(isinstance(word, str) for word in words):
        _checks.fail(name, "be a list of names", repr(value))
    return tuple(dict.fromkeys(words))


def _spell(name: str) -> str:
    """Return the name of an environment as its card spells it; an unknown one is refused by the plan."""
    from morl_envs.cards import CARDS

    return {card.lower(): card for card in CARDS}.get(name.lower(), name)


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _preferences(value: object) -> tuple[tuple[float, ...], ...]:
    if not _is_list(value) or not all(_is_list(weights) and all(map(_is_number, weights)) for weights in value):
        _checks.fail("preferences", "be a list of lists of numbers", repr(value))
    if not value:
        _checks.fail("preferences", "hold at least one preference", "none")
    return tuple(_checks.preference(weights) for weights in value)


def _is_list(value: object) -> TypeGuard[Sequence[Any]]:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _seeds(value: object) -> tuple[int, ...]:
    if isinstance(value, int) and not isinstance(value, bool):
        _checks.at_least("seeds", value, 1)
        return tuple(range(value))
    if not _is_list(value) or not value:
        _checks.fail("seeds", "be a number of seeds or a list of them", repr(value))
    for seed in value:
        _checks.at_least("seeds", seed, 0)
    return tuple(dict.fromkeys(value))
