"""Plan, train, play, test and export. Depends on recipes, environments, learning, evaluation and the store."""

from morl_recipes.running.engines.inline import InlineEngine
from morl_recipes.running.engines.job import train_job
from morl_recipes.running.engines.local import LocalEngine
from morl_recipes.running.engines.ray import RayEngine
from morl_recipes.running.execute import Options, Outcome, run_sweep
from morl_recipes.running.plan import Job, Plan, make_plan
from morl_recipes.running.sweep import Sweep, find_sweep, read_sweep, shipped_sweeps, sweep_from

__all__ = [
    "InlineEngine",
    "Job",
    "LocalEngine",
    "Options",
    "Outcome",
    "Plan",
    "RayEngine",
    "Sweep",
    "find_sweep",
    "make_plan",
    "read_sweep",
    "run_sweep",
    "shipped_sweeps",
    "sweep_from",
    "train_job",
]
