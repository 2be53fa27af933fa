"""Names of planned runs in a table: PASTA as published, a row's own name, or a second name of the same row."""

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from morl_recipes.common.naming import unknown
from morl_recipes.recipe import paper
from morl_recipes.recipe.fields import blocks_of
from morl_recipes.recipe.rows import PASTA, ROWS
from morl_recipes.recipe.run import Run


class TableRow(NamedTuple):
    """A planned run, whether it is PASTA as published, and its recipe as text without the settings of PPO.

    PASTA as published is a row of this package with PASTA's name and PASTA's blocks.
    """

    run: Run
    is_reference: bool
    blocks: str

    @property
    def name(self) -> str:
        """Return the name in tables; another row with the name PASTA is shown with its group."""
        run = self.run
        if self.is_reference:
            return paper.REFERENCE
        if run.method.lower() in ("pasta", paper.REFERENCE.lower()):
            return f"{run.method} of {run.group}"
        return run.method if run.plugin or paper.is_reference(run.method) else paper.method_name(run.method)

    def name_in(self, group: str) -> str | None:
        """Return the name of the row of another group with the same training; ``None`` if there is none.

        PASTA belongs to every group. *No Decay* (controller) equals *mu=10.0* (fixed_mu): trained once, shown twice.
        """
        if self.is_reference:
            return paper.REFERENCE
        return None if self.run.plugin else _rows_of(group).get(self.blocks)


def with_name(run: Run) -> TableRow:
    """Compare the blocks of a run with PASTA's."""
    blocks = blocks_of(run.recipe)
    pasta = not run.plugin and paper.is_reference(run.method) and blocks == blocks_of(PASTA.to_dict())
    return TableRow(run, pasta, blocks)


@cache
def _rows_of(group: str) -> dict[str, str]:
    """Return the names of a group's rows by their blocks, without PASTA."""
    rows = {name: recipe for name, recipe in ROWS.get(group, {}).items() if not paper.is_reference(name)}
    return {blocks_of(recipe.to_dict()): paper.method_name(name) for name, recipe in rows.items()}


def find_reference(against: str, runs: Sequence[TableRow]) -> str:
    """Return the table name of the row to compare with, from any of its spellings in any case.

    If PASTA was trained with other blocks, ``"pasta"`` means that row.
    """
    names = {_spelling(one.run.method): one.name for one in runs}
    names |= {name.lower(): name for name in names.values()}
    if _spelling(against) not in names:
        raise unknown("row of these results", against, names.values())
    return names[_spelling(against)]


def _spelling(method: str) -> str:
    return "pasta" if paper.is_reference(method) else method.lower()
