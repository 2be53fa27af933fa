"""Recipes that assemble the blocks into PASTA, its baselines and its ablations.

Importing the package is cheap: torch and the trainer are loaded when one of the names below is first used, so that
``morl-blocks --help`` answers at once.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from morl_recipes.dataset import published as published
    from morl_recipes.envs import EnvSource as EnvSource
    from morl_recipes.exact_distance import distance_to_exact as distance_to_exact
    from morl_recipes.fronts import Front as Front
    from morl_recipes.fronts import front_recipe as front_recipe
    from morl_recipes.fronts import train_front as train_front
    from morl_recipes.learning.runs import Run as Run
    from morl_recipes.learning.runs import by_batch as by_batch
    from morl_recipes.ppo import PPO as PPO
    from morl_recipes.protocols import protocol as protocol
    from morl_recipes.protocols import published_fronts as published_fronts
    from morl_recipes.recipe import Recipe as Recipe
    from morl_recipes.result import RunResult as RunResult
    from morl_recipes.result import TrainResult as TrainResult
    from morl_recipes.returns import play_returns as play_returns
    from morl_recipes.rows import PASTA as PASTA
    from morl_recipes.rows import ROWS as ROWS
    from morl_recipes.settings import Settings as Settings
    from morl_recipes.trainer import train as train
    from morl_recipes.trainer import train_runs as train_runs

_HOME = {
    "PASTA": "morl_recipes.rows",
    "PPO": "morl_recipes.ppo",
    "ROWS": "morl_recipes.rows",
    "EnvSource": "morl_recipes.envs",
    "Front": "morl_recipes.fronts",
    "Recipe": "morl_recipes.recipe",
    "Run": "morl_recipes.learning.runs",
    "RunResult": "morl_recipes.result",
    "Settings": "morl_recipes.settings",
    "TrainResult": "morl_recipes.result",
    "by_batch": "morl_recipes.learning.runs",
    "distance_to_exact": "morl_recipes.exact_distance",
    "front_recipe": "morl_recipes.fronts",
    "play_returns": "morl_recipes.returns",
    "protocol": "morl_recipes.protocols",
    "published": "morl_recipes.dataset",
    "published_fronts": "morl_recipes.protocols",
    "train": "morl_recipes.trainer",
    "train_front": "morl_recipes.fronts",
    "train_runs": "morl_recipes.trainer",
}

if not TYPE_CHECKING:  # type checkers read the imports above
    __all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    """Load a public name on first use."""
    if name not in _HOME:
        raise AttributeError(f"module 'morl_recipes' has no attribute {name!r}")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names, loaded or not."""
    return sorted({*globals(), *_HOME})
