"""From a sweep to its runs, with stable ids, and to the populations that train them."""

from __future__ import annotations

import hashlib
import heapq
import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import torch

from morl_envs.plugin import Plugin
from morl_envs.source import EnvSource, find_source
from morl_recipes.common import checks
from morl_recipes.learning.networks import require_parameters
from morl_recipes.recipe.fields import describe_recipe
from morl_recipes.recipe.recipe import Recipe
from morl_recipes.recipe.run import Run
from morl_recipes.recipe.same_training import blocks_of
from morl_recipes.recipe.selection import Row, name_of, select_rows
from morl_recipes.recipe.settings import Settings
from morl_recipes.recipe.user_code import explain
from morl_recipes.running.sweep import Sweep
from morl_recipes.store.manifest import EnvInfo, Manifest, PlannedRun, make_run_id

LARGEST = 40
"""Most runs per population unless the sweep says otherwise: more hardly train faster per run, and need more memory."""

OVERHEAD = 4.0
"""What a population costs whatever its size, in runs: the time of an iteration is about proportional to R + 4."""


@dataclass(frozen=True)
class Group:
    """Runs that could all share one population: one environment, one structure of recipe, in the order of the plan."""

    runs: tuple[PlannedRun, ...]
    plugins: tuple[Plugin, ...]
    recipes: tuple[Recipe, ...]
    source: EnvSource


@dataclass(frozen=True)
class Job:
    """Runs that train together.

    Args:
        name: A stable name that follows from the runs.
        runs: The runs; they differ in numbers alone.
        settings: How they are trained.
        plugins: Files of the user that their recipes and their environment need.
        recipes: The live recipes of the runs, in this process; another one makes them anew.
        source: Where the environments come from, in this process.
    """

    name: str
    runs: tuple[PlannedRun, ...]
    settings: Settings
    plugins: tuple[Plugin, ...] = ()
    recipes: tuple[Recipe, ...] = field(default=(), compare=False, repr=False)
    source: EnvSource | None = field(default=None, compare=False, repr=False)

    def __getstate__(self) -> dict[str, Any]:
        """Leave behind what is live: a job travels as plain data and the text of the user's files."""
        return {**self.__dict__, "recipes": (), "source": None}

    def live(self) -> tuple[list[Run], EnvSource]:
        """Return the runs with their recipes, and the source of their environments."""
        recipes, source = self.recipes, self.source
        if source is None:
            for plugin in self.plugins:
                plugin.load()
            recipes = tuple(Recipe.from_dict(run.recipe) for run in self.runs)
            source = find_source(self.env, self.settings.device, self.plugins)
        pairs = zip(recipes, self.runs, strict=True)
        return [Run(recipe, run.preference, run.seed) for recipe, run in pairs], source

    @property
    def env(self) -> str:
        """Name of the environment."""
        return self.runs[0].env

    @property
    def steps(self) -> int:
        """Environment steps of all runs together."""
        return sum(run.steps for run in self.runs)


@dataclass(frozen=True)
class Plan:
    """Everything that a sweep will do.

    Args:
        runs: All runs, recipe by recipe.
        groups: The same runs, sorted by what can train together.
        environments: What tables need to know about the environments.
        settings: How all of them are trained.
        population: Largest population that the sweep asks for, if it does.
    """

    runs: tuple[PlannedRun, ...]
    groups: tuple[Group, ...]
    environments: dict[str, EnvInfo]
    settings: Settings
    population: int | None = None

    def manifest(self, command: str = "") -> Manifest:
        """Return what a store keeps of the plan: every run, and what all of them share.

        Args:
            command: What the user typed.
        """
        files = dict.fromkeys(plugin for group in self.groups for plugin in group.plugins)
        plugins = tuple({"path": file.path, "sha256": file.digest, "source": file.source} for file in files)
        return Manifest(command, self.environments, self.runs, training=self.settings.decisive(), plugins=plugins)

    def populations(self, size: int) -> list[Job]:
        """Cut every group into populations of nearly equal size, at most ``size``; always the same for one plan."""
        checks.at_least("size", size, 1)
        found = []
        for group in self.groups:
            count = math.ceil(len(group.runs) / size)
            for part in range(count):
                first, last = (k * len(group.runs) // count for k in (part, part + 1))
                runs, recipes = group.runs[first:last], group.recipes[first:last]
                found.append(Job(_name(runs), runs, self.settings, group.plugins, recipes, group.source))
        return found

    def suggest_size(self, workers: int) -> int:
        """Size populations to the machine: large ones cost less per run, small ones keep every worker busy.

        Args:
            workers: Processes that will train at the same time.
        """
        if self.population is not None:
            return self.population
        return min(
            range(LARGEST, 0, -1),
            key=lambda size: makespan((OVERHEAD + len(job.runs) for job in self.populations(size)), workers),
        )


def makespan(costs: Iterable[float], workers: int) -> float:
    """Return how long jobs take together: the longest first, each to the worker that is free first."""
    busy = [0.0] * workers
    for cost in sorted(costs, reverse=True):
        heapq.heapreplace(busy, busy[0] + cost)
    return max(busy)


def make_plan(sweep: Sweep) -> Plan:
    """Multiply a sweep out.

    Returns:
        The plan. Unknown rows and environments, preferences of the wrong length, recipes that cannot be built and
        environments that need an extra that is not installed raise ``ValueError`` or ``ImportError``.
    """
    adapted = _distinct([(row, sweep.adapt(row.recipe)) for row in select_rows(sweep.rows)])
    sources = _by_name([find_source(name, sweep.settings.device) for name in sweep.envs])
    for source in sources:
        source.check()
    runs: list[PlannedRun] = []
    groups: dict[object, tuple[EnvSource, list[tuple[PlannedRun, Recipe]], dict[Plugin, None]]] = {}
    for source in sources:
        preferences = sweep.preferences if sweep.preferences is not None else source.preferences
        weights = [checks.preference(item, len(source.objectives)) for item in dict.fromkeys(preferences)]
        pairs = [(item, seed) for item in weights for seed in sweep.seeds]
        for row, recipe in adapted:
            check_recipe(row, recipe, source, sweep.settings.num_envs)
            named = (source, row.group, row.method)
            made = [plan_run(*named, Run(recipe, *pair), sweep.settings, row.plugin) for pair in pairs]
            runs += made
            _, members, files = groups.setdefault((source.name, recipe.structure()), (source, [], {}))
            members += [(run, recipe) for run in made]
            files |= {plugin: None for plugin in (row.plugin, source.plugin) if plugin is not None}
    return Plan(
        runs=tuple(runs),
        groups=tuple(_group(source, members, files) for source, members, files in groups.values()),
        environments={s.name: EnvInfo(s.objectives, s.hv_low, s.hv_high) for s in sources},
        settings=sweep.settings,
        population=sweep.population,
    )


def _group(source: EnvSource, members: Sequence[tuple[PlannedRun, Recipe]], files: Iterable[Plugin]) -> Group:
    runs, recipes = zip(*members, strict=True)
    return Group(runs, tuple(files), recipes, source)


def plan_runs(
    runs: Sequence[Run], source: EnvSource, settings: Settings, plugin: Plugin | None = None, *, stored: bool = True
) -> Plan:
    """Give runs of one structure the names that a sweep would give them.

    The ids are a sweep's too if they are ``stored``. Others are numbered: a recipe of theirs need not fit into JSON.
    """
    if stored:
        planned = tuple(plan_run(source, *name_of(run.recipe), run, settings, plugin) for run in runs)
    else:
        steps, digest = settings.total_steps, "" if plugin is None else plugin.digest
        identities = [(f"run{i}", *name_of(run.recipe), source.name, run.preference) for i, run in enumerate(runs)]
        planned = tuple(
            PlannedRun(*identity, run.seed, steps, describe_recipe(run.recipe), digest)
            for identity, run in zip(identities, runs, strict=True)
        )
    info = EnvInfo(source.objectives, source.hv_low, source.hv_high)
    files = tuple(file for file in (plugin, source.plugin) if file is not None)
    group = Group(planned, files, tuple(run.recipe for run in runs), source)
    return Plan(planned, (group,), {source.name: info}, settings)


def _by_name(sources: Sequence[EnvSource]) -> list[EnvSource]:
    """Keep each environment once; runs and tables know it by its name, so two of one name are refused."""
    found: dict[str, EnvSource] = {}
    for source in sources:
        known = found.setdefault(source.name, source).plugin
        if known is not None and source.plugin is not None and known.digest != source.plugin.digest:
            both = f"{source.name} of {known.path} and of {source.plugin.path}"
            checks.fail("envs", "come from files of different names", f"{both}: rename one of them")
    return list(found.values())


def _distinct(rows: Sequence[tuple[Row, Recipe]]) -> list[tuple[Row, Recipe]]:
    """Keep the first of the package's rows that train the same runs; tables show them under each name.

    A user's own rows are all trained: their file decides their runs too.
    """
    found: dict[str, tuple[Row, Recipe]] = {}
    for row, recipe in rows:
        trained = recipe.to_dict()
        same = json.dumps([blocks_of(trained), trained["ppo"]])
        own = same if row.plugin is None else f"{row.group}/{row.method}"
        found.setdefault(own, (row, recipe))
    return list(found.values())


def check_recipe(row: Row, recipe: Recipe, source: EnvSource, num_envs: int) -> None:
    """Build the blocks of a recipe once, so that a mistake shows before anything is trained or written."""
    if recipe.ppo.steps_per_iteration % num_envs:
        rule = f"divide steps_per_iteration ({recipe.ppo.steps_per_iteration}) of {row.group}/{row.method}"
        checks.fail("num_envs", rule, num_envs)
    objectives = len(source.objectives)
    try:
        with torch.random.fork_rng(devices=[]):
            recipe.combiner.build()
            critic = partial(recipe.critic.build, source.observation_dim, objectives)
            actor = partial(recipe.actor.build, source.observation_dim, objectives, 2)  # any number of actions will do
            require_parameters("critic", critic(), critic)
            require_parameters("actor", actor(), actor)
    except Exception as error:
        reason = explain(error, [row.plugin] if row.plugin is not None else [])
        raise ValueError(f"{row.group}/{row.method} cannot be built: {reason}") from error


def plan_run(
    source: EnvSource, group: str, method: str, run: Run, settings: Settings, plugin: Plugin | None = None
) -> PlannedRun:
    """Give a run its id, which follows from everything that decides its numbers.

    Args:
        source: The environment.
        group: Group of the recipe.
        method: Name of the recipe.
        run: The run; a recipe with live modules, which JSON cannot hold, is kept as its text and digests.
        settings: How it is trained.
        plugin: The user's file that defines the recipe, if one does.
    """
    recipe = describe_recipe(run.recipe)
    text, digest = (plugin.source, plugin.digest) if plugin is not None else ("", "")
    everything: dict[str, object] = {"recipe": recipe, "training": settings.decisive(), "source": text}
    if source.plugin is not None:
        everything["environment"] = source.plugin.source
    run_id = make_run_id(source.name, group, method, run.preference, run.seed, everything)
    identity = (run_id, group, method, source.name, run.preference, run.seed)
    return PlannedRun(*identity, settings.total_steps, recipe, digest)


def _name(runs: Sequence[PlannedRun]) -> str:
    mark = hashlib.sha256("\n".join(run.run_id for run in runs).encode()).hexdigest()[:12]
    return f"{runs[0].run_id.rsplit('.', 1)[0][:80]}.x{len(runs)}.{mark}"
