"""The plan of a sweep: its runs with stable ids, and the populations that train them."""

from __future__ import annotations

import hashlib
import heapq
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import torch

from morl_envs.plugin import Plugin
from morl_envs.source import EnvSource, find_source
from morl_recipes.common import checks
from morl_recipes.learning.networks import require_parameters
from morl_recipes.recipe.fields import blocks_of
from morl_recipes.recipe.recipe import Recipe
from morl_recipes.recipe.run import Run
from morl_recipes.recipe.selection import Row, explain, name_of, select_rows
from morl_recipes.recipe.settings import Settings
from morl_recipes.running.sweep import Sweep
from morl_recipes.store.manifest import EnvInfo, Manifest, make_run_id

LARGEST = 40
"""Default maximal number of runs per population: more runs are hardly faster per run, and need more memory."""

OVERHEAD = 4.0
"""Fixed cost of a population, in runs: the time of an iteration is about proportional to R + 4."""


@dataclass(frozen=True)
class Job:
    """Runs that are trained together; they differ only in numbers. The source is local to this process."""

    name: str
    runs: tuple[Run, ...]
    settings: Settings
    plugins: tuple[Plugin, ...] = ()
    source: EnvSource | None = field(default=None, compare=False, repr=False)

    def __getstate__(self) -> dict[str, Any]:
        """Drop live objects, because a job is sent as plain data and the text of the user's files."""
        return {
            **self.__dict__,
            "runs": tuple(run.described() for run in self.runs),
            "source": None,
        }

    def live(self) -> tuple[list[Run], EnvSource]:
        """Return the runs with live recipes, and the source of their environments."""
        if self.source is not None:
            return list(self.runs), self.source
        for plugin in self.plugins:
            plugin.load()
        runs = [replace(run, recipe=Recipe.from_dict(run.recipe)) for run in self.runs]
        return runs, find_source(self.env, self.settings.device, self.plugins)

    @property
    def env(self) -> str:
        """Name of the environment."""
        return self.runs[0].env

    @property
    def steps(self) -> int:
        """Environment steps, summed over all runs."""
        return sum(run.steps for run in self.runs)


@dataclass(frozen=True)
class Plan:
    """All runs of a sweep, recipe by recipe, and the same runs in the largest possible jobs."""

    runs: tuple[Run, ...]
    groups: tuple[Job, ...]
    environments: dict[str, EnvInfo]
    settings: Settings
    population: int | None = None

    def manifest(self, command: str = "") -> Manifest:
        """Return the part of the plan that a store keeps: every run, and the settings that all runs share."""
        files = dict.fromkeys(plugin for group in self.groups for plugin in group.plugins)
        plugins = tuple({"path": file.path, "sha256": file.digest, "source": file.source} for file in files)
        return Manifest(command, self.environments, self.runs, training=self.settings.decisive(), plugins=plugins)

    def populations(self, size: int) -> list[Job]:
        """Split every group into populations of nearly equal size, at most ``size``; deterministic for a plan."""
        checks.at_least("size", size, 1)
        found = []
        for group in self.groups:
            count = math.ceil(len(group.runs) / size)
            for part in range(count):
                first, last = (k * len(group.runs) // count for k in (part, part + 1))
                runs = group.runs[first:last]
                mark = hashlib.sha256("\n".join(run.run_id for run in runs).encode()).hexdigest()[:12]
                name = f"{runs[0].run_id.rsplit('.', 1)[0][:80]}.x{len(runs)}.{mark}"
                found.append(replace(group, name=name, runs=runs))
        return found

    def suggest_size(self, workers: int) -> int:
        """Choose the size for the machine: large populations cost less per run, small ones keep workers busy."""
        if self.population is not None:
            return self.population
        return min(
            range(LARGEST, 0, -1),
            key=lambda size: makespan((OVERHEAD + len(job.runs) for job in self.populations(size)), workers),
        )


def makespan(costs: Iterable[float], workers: int) -> float:
    """Return the total time of jobs: the longest first, each on the worker that is free first."""
    busy = [0.0] * workers
    for cost in sorted(costs, reverse=True):
        heapq.heapreplace(busy, busy[0] + cost)
    return max(busy)


def make_plan(sweep: Sweep) -> Plan:
    """Expand a sweep into its runs."""
    checks.instance("sweep", sweep, Sweep, "be a Sweep")
    rows = _distinct([(row, sweep.adapt(row.recipe)) for row in select_rows(sweep.rows)])
    sources = _by_name([find_source(name, sweep.settings.device) for name in sweep.envs])
    for source in sources:
        source.check()
    runs: list[Run] = []
    groups: dict[object, Job] = {}
    for source in sources:
        preferences = sweep.preferences if sweep.preferences is not None else source.preferences
        weights = [checks.preference(item, len(source.objectives)) for item in dict.fromkeys(preferences)]
        pairs = [(item, seed) for item in weights for seed in sweep.seeds]
        for row, recipe in rows:
            check_recipe(row, recipe, source, sweep.settings.num_envs)
            name = (row.group, row.method)
            made = [plan_run(source, name, Run(recipe, *pair), sweep.settings, row.plugin) for pair in pairs]
            runs += made
            key = (source.name, recipe.structure())
            group = groups.get(key) or Job("", (), sweep.settings, source=source)
            files = dict.fromkeys((*group.plugins, *_files(row.plugin, source)))
            groups[key] = replace(group, runs=(*group.runs, *made), plugins=tuple(files))
    return Plan(tuple(runs), tuple(groups.values()), _infos(sources), sweep.settings, sweep.population)


def plan_runs(
    runs: Sequence[Run], source: EnvSource, settings: Settings, plugin: Plugin | None = None, *, stored: bool = True
) -> Plan:
    """Plan runs of one structure under the names of a sweep, and under its ids if they are ``stored``.

    Others are numbered, because their recipes may not fit into JSON.
    """
    planned = tuple(
        plan_run(source, name_of(run.recipe), run, settings, plugin, run_id="" if stored else f"run{index}")
        for index, run in enumerate(runs)
    )
    group = Job("", planned, settings, _files(plugin, source), source)
    return Plan(planned, (group,), _infos([source]), settings)


def plan_run(
    source: EnvSource,
    name: tuple[str, str],
    run: Run,
    settings: Settings,
    plugin: Plugin | None = None,
    run_id: str = "",
) -> Run:
    """Give a run its id, computed from everything that determines its numbers, unless it is given."""
    text, digest = (plugin.source, plugin.digest) if plugin is not None else ("", "")
    if not run_id:
        everything = {"recipe": run.description, "training": settings.decisive(), "source": text}
        if source.plugin is not None:
            everything["environment"] = source.plugin.source
        run_id = make_run_id(source.name, *name, run.preference, run.seed, everything)
    own = {"run_id": run_id, "group": name[0], "method": name[1], "env": source.name, "plugin": digest}
    return replace(run, steps=settings.total_steps, **own)  # type: ignore[arg-type]


def check_recipe(row: Row, recipe: Recipe, source: EnvSource, num_envs: int) -> None:
    """Build the blocks of a recipe once, so that mistakes are found before anything is trained or written."""
    if recipe.ppo.steps_per_iteration % num_envs:
        rule = f"divide steps_per_iteration ({recipe.ppo.steps_per_iteration}) of {row.group}/{row.method}"
        checks.fail("num_envs", rule, num_envs)
    sizes = source.observation_dim, len(source.objectives)
    try:
        with torch.random.fork_rng(devices=[]):
            recipe.combiner.build()
            for slot, build in (
                ("critic", partial(recipe.critic.build, *sizes)),
                ("actor", partial(recipe.actor.build, *sizes, 2)),  # any number of actions
            ):
                require_parameters(slot, build(), build)
    except Exception as error:
        reason = explain(error, () if row.plugin is None else (row.plugin,))
        raise ValueError(f"{row.group}/{row.method} cannot be built: {reason}") from error


def _files(plugin: Plugin | None, source: EnvSource) -> tuple[Plugin, ...]:
    """Return the user's files that define a recipe and an environment."""
    return tuple(file for file in (plugin, source.plugin) if file is not None)


def _infos(sources: Iterable[EnvSource]) -> dict[str, EnvInfo]:
    return {source.name: EnvInfo(source.objectives, source.hv_low, source.hv_high) for source in sources}


def _by_name(sources: Sequence[EnvSource]) -> list[EnvSource]:
    """Keep each environment once; they are identified by name, so two with one name raise an error."""
    found: dict[str, EnvSource] = {}
    for source in sources:
        known, own = found.setdefault(source.name, source).plugin, source.plugin
        if known is not None and own is not None and known.digest != own.digest:
            both = f"{source.name} of {known.path} and of {own.path}"
            checks.fail("envs", "come from files of different names", f"{both}: rename one of them")
    return list(found.values())


def _distinct(rows: Sequence[tuple[Row, Recipe]]) -> list[tuple[Row, Recipe]]:
    """Keep the first of the package's rows with the same training; tables show it under each name.

    A user's own rows are all trained, because their file is part of the identity of their runs.
    """
    found: dict[str, tuple[Row, Recipe]] = {}
    for row, recipe in rows:
        own = f"{blocks_of(recipe)} {recipe.ppo}" if row.plugin is None else f"{row.group}/{row.method}"
        found.setdefault(own, (row, recipe))
    return list(found.values())
