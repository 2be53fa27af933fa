"""Who a planned run is in a table: PASTA as published, a row under its own name, or under a second name."""

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from morl_recipes.common.naming import unknown
from morl_recipes.recipe import paper
from morl_recipes.recipe.rows import PASTA, ROWS
from morl_recipes.recipe.same_training import blocks_of
from morl_recipes.store.manifest import PlannedRun


class Who(NamedTuple):
    """A planned run and what it trains, worked out once: a sweep has thousands of runs and a dozen studies.

    Attributes:
        run: The run.
        is_reference: Whether it is PASTA as published: a row of this package, under PASTA's name, with PASTA's blocks.
            The numbers of PPO are the sweep's own, the same for all of its rows.
        key: What it trains, as text.
    """

    run: PlannedRun
    is_reference: bool
    key: str


def identify(run: PlannedRun) -> Who:
    """Work out who a run is."""
    key = blocks_of(run.recipe)
    pasta = not run.plugin and paper.is_reference(run.method) and key == blocks_of(PASTA.to_dict())
    return Who(run, pasta, key)


def shown_name(who: Who) -> str:
    """Return the name that tables print; a row that calls itself PASTA and is not says where it comes from."""
    run = who.run
    if who.is_reference:
        return paper.REFERENCE
    if run.method.lower() in ("pasta", paper.REFERENCE.lower()):
        return f"{run.method} of {run.group}"
    return run.method if run.plugin or paper.is_reference(run.method) else paper.method_name(run.method)


def second_name(who: Who, group: str) -> str | None:
    """Return the name of a run of another group in this one, whose row trains the same; ``None`` for no such row.

    PASTA stands in every group. *No Decay* (controller) is *mu=10.0* (fixed_mu): trained once, shown twice.
    """
    if who.is_reference:
        return paper.REFERENCE
    return None if who.run.plugin else _rows_of(group).get(who.key)


@cache
def _rows_of(group: str) -> dict[str, str]:
    """Return the shown names of a group's rows by what they train; PASTA is known by more than that."""
    rows = {name: recipe for name, recipe in ROWS.get(group, {}).items() if not paper.is_reference(name)}
    return {blocks_of(recipe.to_dict()): paper.method_name(name) for name, recipe in rows.items()}


def find_reference(against: str, everyone: Sequence[Who]) -> str:
    """Return the shown name of the row to compare with, by any of its spellings in any case.

    Where PASTA was trained with other blocks, ``"pasta"`` means that row.
    """
    names = {_spelling(who.run.method): shown_name(who) for who in everyone}
    names |= {name.lower(): name for name in names.values()}
    if _spelling(against) not in names:
        raise unknown("row of these results", against, names.values())
    return names[_spelling(against)]


def _spelling(method: str) -> str:
    return "pasta" if paper.is_reference(method) else method.lower()
