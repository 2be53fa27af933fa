"""Our contenders for a front: one conditioned policy, or one policy per preference, of four recipes.

All have the numbers of :func:`~morl_recipes.front_recipe`, the same on all tasks of one kind of action.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from time import process_time
from typing import Any

from benchmarks._front_tasks import FrontTask, Race
from morl_recipes import PASTA, ROWS, Recipe, front_recipe
from morl_recipes.environments.source import find_source
from morl_recipes.learning.runs import Run
from morl_recipes.recipe.settings import Settings
from morl_recipes.running.fronts.train import adapted, evaluate_runs
from morl_recipes.running.session import Session

RECIPES: dict[str, Recipe] = {
    "Linear": ROWS["ours"]["Linear, raw returns"],
    "STCH": ROWS["ours"]["Conditioned STCH"],
    "PASTA": PASTA,
    "Exact PCGrad": ROWS["ours"]["Exact PCGrad"],
}
OURS = tuple(f"{name}, {kind}" for kind in ("conditioned", "decomposed") for name in RECIPES)
SETTINGS = Settings(test_episodes=0, eval_every=10**9, checkpoint_every=10**9, compile=False)


def race_ours(contender: str, task: FrontTask, seed: int, seconds: float) -> Race:
    """Train a contender until its time is up.

    Schedules need to know the length of a training beforehand: two iterations, thrown away and on the clock, tell how
    many fit.
    """
    name, _, kind = contender.rpartition(", ")
    conditioned = kind == "conditioned"
    recipe = adapted(front_recipe(task.env, RECIPES[name]), conditioned=conditioned)
    recipe = replace(recipe, ppo=replace(recipe.ppo, gamma=task.training_gamma))
    m = len(task.reference)
    preferences = [[1 / m] * m] if conditioned else task.preferences(task.members).tolist()
    runs = [Run(recipe, tuple(own), seed) for own in preferences]
    race = Race(task, seconds, list)
    each = _trained(runs, task, 2, None)
    _trained(runs, task, max(1, round((seconds - race.clock()) / each)), race)
    return race


def _trained(runs: Sequence[Run], task: FrontTask, iterations: int, race: Race | None) -> float:
    """Train for a number of iterations, or until the race is over; return the seconds of the last iteration."""
    each = runs[0].recipe.ppo.steps_per_iteration
    session = Session(runs, task.env, SETTINGS.change(total_steps=iterations * each), progress=False)
    with closing(session):
        session.start()
        if race is not None:
            session.iterations = 10**9  # the clock ends it; the schedules keep the length that was measured
            race.points = lambda: _points(session, task)
        stop, seconds = False, 0.0
        while not stop and not session.finished:
            start = process_time()
            session.take(session.batch.iterate())
            seconds = process_time() - start
            stop = race is not None and race.tick(each * len(runs), following=each * len(runs))
    return seconds


def _points(session: Session, task: FrontTask) -> Any:
    """Return what the policies of a session reach now."""
    settings = SETTINGS.change(eval_episodes=task.episodes)
    runs, grid = session.result().runs, task.preferences(task.asked)
    return evaluate_runs(runs, "", find_source(task.env), grid, settings, gamma=task.gamma).returns
