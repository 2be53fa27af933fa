"""Recipes that assemble the blocks into PASTA, its baselines and its ablations.

Importing the package is cheap: torch and the trainer are loaded on first use of one of the names below, so that
``morl-blocks --help`` is fast.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from morl_recipes._moved import answer_old_names
from morl_recipes.common.extras import without_train

if TYPE_CHECKING:
    from morl_envs.source import EnvSource as EnvSource
    from morl_recipes.analysis.datasets import published as published
    from morl_recipes.evaluation.episodes import play_returns as play_returns
    from morl_recipes.evaluation.exact_distance import distance_to_exact as distance_to_exact
    from morl_recipes.recipe.ppo import PPO as PPO
    from morl_recipes.recipe.protocols import protocol as protocol
    from morl_recipes.recipe.protocols import published_fronts as published_fronts
    from morl_recipes.recipe.recipe import Recipe as Recipe
    from morl_recipes.recipe.rows import PASTA as PASTA
    from morl_recipes.recipe.rows import ROWS as ROWS
    from morl_recipes.recipe.run import Run as Run
    from morl_recipes.recipe.run import by_batch as by_batch
    from morl_recipes.recipe.settings import Settings as Settings
    from morl_recipes.running.fronts.front import Front as Front
    from morl_recipes.running.fronts.recipe import front_recipe as front_recipe
    from morl_recipes.running.fronts.train import train_front as train_front
    from morl_recipes.running.hub import load_hub as load_hub
    from morl_recipes.running.result import RunResult as RunResult
    from morl_recipes.running.result import TrainResult as TrainResult
    from morl_recipes.running.train import train as train
    from morl_recipes.running.train import train_runs as train_runs

_HOME = {
    name: module
    for module, names in {
        "morl_envs.source": "EnvSource",
        "morl_recipes.analysis.datasets": "published",
        "morl_recipes.evaluation.episodes": "play_returns",
        "morl_recipes.evaluation.exact_distance": "distance_to_exact",
        "morl_recipes.recipe": "Recipe",
        "morl_recipes.recipe.ppo": "PPO",
        "morl_recipes.recipe.protocols": "protocol published_fronts",
        "morl_recipes.recipe.rows": "PASTA ROWS",
        "morl_recipes.recipe.run": "Run by_batch",
        "morl_recipes.recipe.settings": "Settings",
        "morl_recipes.running.fronts": "Front front_recipe train_front",
        "morl_recipes.running.hub": "load_hub",
        "morl_recipes.running.result": "RunResult TrainResult",
        "morl_recipes.running.train": "train train_runs",
    }.items()
    for name in names.split()
}

answer_old_names()

if not TYPE_CHECKING:  # type checkers read the imports above
    __all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    """Load a public name on first use."""
    if name not in _HOME:
        raise AttributeError(f"module 'morl_recipes' has no attribute {name!r}")
    try:
        value = getattr(import_module(_HOME[name]), name)
    except ModuleNotFoundError as error:
        raise without_train(f"`{name}`", error) from error
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names, loaded or not."""
    return sorted({*globals(), *_HOME})
