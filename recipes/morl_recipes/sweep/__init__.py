"""Sweeps: recipes x environments x preferences x seeds as data, trained by an engine, resumable at any time."""

from morl_recipes.sweep._definition import Sweep, find_sweep, read_sweep, shipped_sweeps, sweep_from
from morl_recipes.sweep._drive import Outcome, run_sweep
from morl_recipes.sweep._plan import Job, Plan, make_plan
from morl_recipes.sweep._work import train_job
from morl_recipes.sweep.engines import InlineEngine, LocalEngine, RayEngine

__all__ = [
    "InlineEngine",
    "Job",
    "LocalEngine",
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
