"""Who a planned run is in a table: PASTA as published, a row under its own name, or under a second name."""

import json
from functools import cache
from typing import Any

from morl_recipes import paper
from morl_recipes.rows import PASTA, ROWS
from morl_recipes.store import PlannedRun
from morl_recipes.twins import blocks_of


@cache
def _reference() -> object:
    return blocks_of(PASTA.to_dict())


def is_reference(run: PlannedRun) -> bool:
    """Tell whether a run is PASTA as published: a row of this package, under PASTA's name, with PASTA's blocks.

    The numbers of PPO are the sweep's own, the same for all of its rows.
    """
    return not run.plugin and paper.is_reference(run.method) and blocks_of(run.recipe) == _reference()


def shown_name(run: PlannedRun) -> str:
    """Return the name that tables print; a row that calls itself PASTA and is not says where it comes from."""
    if is_reference(run):
        return paper.REFERENCE
    if run.method.lower() in ("pasta", paper.REFERENCE.lower()):
        return f"{run.method} of {run.group}"
    return run.method if run.plugin or paper.is_reference(run.method) else paper.method_name(run.method)


def second_name(run: PlannedRun, group: str) -> str | None:
    """Return the name of a run of another group in this one, whose row trains the same; ``None`` for no such row.

    PASTA stands in every group. *No Decay* (controller) is *mu=10.0* (fixed_mu): trained once, shown twice.
    """
    if is_reference(run):
        return paper.REFERENCE
    return None if run.plugin else _rows_of(group).get(_key(blocks_of(run.recipe)))


@cache
def _rows_of(group: str) -> dict[str, str]:
    """Return the shown names of a group's rows by what they train; PASTA is known by more than that."""
    rows = {name: recipe for name, recipe in ROWS.get(group, {}).items() if not paper.is_reference(name)}
    return {_key(blocks_of(recipe.to_dict())): paper.method_name(name) for name, recipe in rows.items()}


def _key(blocks: dict[str, Any]) -> str:
    return json.dumps(blocks, sort_keys=True, default=repr)
