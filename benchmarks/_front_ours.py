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
from morl_envs.source import find_source
from morl_recipes import PASTA, ROWS, Recipe, front_recipe
from morl_recipes.learning.batch import Batch
from morl_recipes.recipe.run import Run
from morl_recipes.recipe.settings import Settings
from morl_recipes.running.fronts.train import adapted, evaluate_runs
from morl_recipes.running.plan import plan_runs
from morl_recipes.running.recorder import Recorder
from morl_recipes.store.record import RunRecord

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
    settings, source = SETTINGS.change(total_steps=iterations * each), find_source(task.env)
    recorder = Recorder(Batch(plan_runs(runs, source, settings).runs, source, settings))
    with closing(recorder):
        recorder.start()
        if race is not None:
            recorder.iterations = 10**9  # the clock ends it; the schedules keep the length that was measured
            race.points = lambda: _points(recorder, runs[0].recipe, task)
        stop, seconds = False, 0.0
        while not stop and not recorder.finished:
            start = process_time()
            recorder.record(recorder.batch.iterate())
            seconds = process_time() - start
            stop = race is not None and race.tick(each * len(runs), following=each * len(runs))
    return seconds


def _points(recorder: Recorder, recipe: Recipe, task: FrontTask) -> Any:
    """Return what the policies that are trained reach now."""
    settings = SETTINGS.change(eval_episodes=task.episodes)
    grid = task.preferences(task.asked)
    reason = "not done: the race goes on"  # nothing was validated
    runs = [
        RunRecord(
            *run.identity,
            status="failed",
            reason=reason,
            steps=recorder.batch.steps,
            peak=None,
            final=None,
            recipe=recipe,
            history=recorder.history.frame(index),
            policy=recorder.policy(index),
        )
        for index, run in enumerate(recorder.batch.runs)
    ]
    return evaluate_runs(runs, "", find_source(task.env), grid, settings, gamma=task.gamma).returns
