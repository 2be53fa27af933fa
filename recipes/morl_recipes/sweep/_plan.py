"""From a sweep to its runs, with stable ids, and to the populations that train them."""

from __future__ import annotations

import hashlib
import heapq
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass

import torch

from morl_envs.cards import CARDS, EnvCard
from morl_recipes import _checks
from morl_recipes.naming import unknown
from morl_recipes.plugins import Plugin, explain
from morl_recipes.recipe import Recipe
from morl_recipes.selection import Row, select_rows
from morl_recipes.specs import Choices
from morl_recipes.store import EnvInfo, Manifest, PlannedRun, make_run_id
from morl_recipes.sweep._definition import Sweep, Training

LARGEST = 16
"""Most runs per population unless the sweep says otherwise: more no longer train faster per run."""

OVERHEAD = 3.0
"""What a population costs whatever its size, in runs: the time per update is about proportional to R + 3."""


@dataclass(frozen=True)
class Group:
    """Runs that could all share one population: one environment, one structure of recipe, in the order of the plan."""

    runs: tuple[PlannedRun, ...]
    plugins: tuple[Plugin, ...]


@dataclass(frozen=True)
class Job:
    """Runs that train together.

    Args:
        name: A stable name that follows from the runs.
        runs: The runs; they differ in numbers alone.
        training: What they share.
        plugins: Files of the user that their recipes need.
    """

    name: str
    runs: tuple[PlannedRun, ...]
    training: Training
    plugins: tuple[Plugin, ...] = ()

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
        training: What all runs share.
        population: Largest population that the sweep asks for, if it does.
    """

    runs: tuple[PlannedRun, ...]
    groups: tuple[Group, ...]
    environments: dict[str, EnvInfo]
    training: Training
    population: int | None = None

    def manifest(self, command: str = "") -> Manifest:
        """Return what a store keeps of the plan: every run, and what all of them share.

        Args:
            command: What the user typed.
        """
        settings = {key: value for key, value in asdict(self.training).items() if key != "checkpoint_every"}
        files = dict.fromkeys(plugin for group in self.groups for plugin in group.plugins)
        plugins = tuple({"path": file.path, "sha256": file.digest, "source": file.source} for file in files)
        return Manifest(command, self.environments, self.runs, training=settings, plugins=plugins)

    def populations(self, size: int) -> list[Job]:
        """Cut every group into populations of nearly equal size, at most ``size``; always the same for one plan."""
        _checks.at_least("size", size, 1)
        found = []
        for group in self.groups:
            count = math.ceil(len(group.runs) / size)
            for part in range(count):
                first, last = (k * len(group.runs) // count for k in (part, part + 1))
                runs = group.runs[first:last]
                found.append(Job(_name(runs), runs, self.training, group.plugins))
        return found

    def suggest_size(self, workers: int) -> int:
        """Size populations to the machine: large ones cost less per run, small ones keep every worker busy.

        Args:
            workers: Processes that will train at the same time.
        """
        if self.population is not None:
            return self.population
        return min(range(LARGEST, 0, -1), key=lambda size: self._makespan(size, workers))

    def _makespan(self, size: int, workers: int) -> float:
        """Estimate the time of a sweep: the longest population first, each to the worker that is free first."""
        busy = [0.0] * workers
        for runs in sorted((len(population.runs) for population in self.populations(size)), reverse=True):
            heapq.heapreplace(busy, busy[0] + OVERHEAD + runs)
        return max(busy)


def make_plan(sweep: Sweep) -> Plan:
    """Multiply a sweep out.

    Returns:
        The plan. Unknown rows and environments, preferences of the wrong length, recipes that cannot be built and
        environments that need an extra that is not installed raise ``ValueError`` or ``ImportError``.
    """
    rows = select_rows(sweep.rows, sweep.folder)
    cards = [_find_card(name) for name in sweep.envs]
    for card in cards:
        check_available(card)
    runs: list[PlannedRun] = []
    groups: dict[object, list[tuple[PlannedRun, Plugin | None]]] = {}
    for card in cards:
        preferences = sweep.preferences if sweep.preferences is not None else card.preferences
        weights = [_checks.preference(item, len(card.objectives)) for item in dict.fromkeys(preferences)]
        for row in rows:
            recipe = sweep.adapt(row.recipe)
            check_recipe(row, recipe, card, sweep.training.num_envs)
            key = (card.name, recipe.structure())
            made = [_run(sweep, card, row, item, seed) for item in weights for seed in sweep.seeds]
            runs += made
            groups.setdefault(key, []).extend((run, row.plugin) for run in made)
    return Plan(
        runs=tuple(runs),
        groups=tuple(_group(members) for members in groups.values()),
        environments={card.name: EnvInfo(card.objectives, card.hv_low, card.hv_high) for card in cards},
        training=sweep.training,
        population=sweep.population,
    )


def check_available(card: EnvCard) -> None:
    """Require the optional packages of an environment."""
    card.check()


def check_recipe(row: Row, recipe: Recipe, card: EnvCard, num_envs: int) -> None:
    """Build the blocks of a recipe once, so that a mistake shows before anything is trained or written.

    Args:
        row: Where the recipe comes from.
        recipe: What will be trained.
        card: The environment.
        num_envs: Environments per run.
    """
    if recipe.ppo.steps_per_iteration % num_envs:
        rule = f"divide steps_per_iteration ({recipe.ppo.steps_per_iteration}) of {row.group}/{row.method}"
        _checks.fail("num_envs", rule, num_envs)
    objectives = len(card.objectives)
    try:
        with torch.random.fork_rng(devices=[]):
            recipe.critic.build(card.observation_dim, objectives)
            actions = card.action_dim if card.num_actions is None else Choices(card.num_actions)
            recipe.actor.build(card.observation_dim, objectives, actions)
    except Exception as error:
        reason = explain(error, [row.plugin] if row.plugin is not None else [])
        raise ValueError(f"{row.group}/{row.method} cannot be built: {reason}") from error


def _find_card(name: str) -> EnvCard:
    if name not in CARDS:
        raise unknown("environment", name, CARDS)
    return CARDS[name]


def _run(sweep: Sweep, card: EnvCard, row: Row, preference: tuple[float, ...], seed: int) -> PlannedRun:
    recipe = sweep.adapt(row.recipe).to_dict()
    source, digest = (row.plugin.source, row.plugin.digest) if row.plugin is not None else ("", "")
    everything = {"recipe": recipe, "training": sweep.settings(), "source": source}
    run_id = make_run_id(card.name, row.group, row.method, preference, seed, everything)
    steps = sweep.training.total_steps
    return PlannedRun(run_id, row.group, row.method, card.name, preference, seed, steps, recipe, digest)


def _group(members: Sequence[tuple[PlannedRun, Plugin | None]]) -> Group:
    plugins = dict.fromkeys(plugin for _, plugin in members if plugin is not None)
    return Group(tuple(run for run, _ in members), tuple(plugins))


def _name(runs: Sequence[PlannedRun]) -> str:
    mark = hashlib.sha256("\n".join(run.run_id for run in runs).encode()).hexdigest()[:12]
    return f"{runs[0].run_id.rsplit('.', 1)[0][:80]}.x{len(runs)}.{mark}"
