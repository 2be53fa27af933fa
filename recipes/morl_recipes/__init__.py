"""Recipes that assemble the blocks into PASTA, its baselines and its ablations."""

from morl_recipes.envs import EnvBatch, EnvSource
from morl_recipes.population.runs import Run, by_population
from morl_recipes.recipe import PPO, Recipe
from morl_recipes.result import RunResult, TrainResult
from morl_recipes.rows import PASTA, ROWS
from morl_recipes.trainer import train, train_runs
from morl_recipes.training import Options

__all__ = [
    "PASTA",
    "PPO",
    "ROWS",
    "EnvBatch",
    "EnvSource",
    "Options",
    "Recipe",
    "Run",
    "RunResult",
    "TrainResult",
    "by_population",
    "train",
    "train_runs",
]
