"""Render the tables of a store or dataset as text."""

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, TypeAlias, get_args

from morl_recipes.analysis.datasets import Dataset
from morl_recipes.analysis.results.load import load_results
from morl_recipes.analysis.results.study import Reading
from morl_recipes.analysis.tables import formats
from morl_recipes.analysis.tables.cells import Table
from morl_recipes.analysis.tables.following import HOW, following_table
from morl_recipes.analysis.tables.preferences import preference_tables
from morl_recipes.analysis.tables.summary import summary_table
from morl_recipes.common import checks
from morl_recipes.store.store import Store

Format: TypeAlias = Literal["terminal", "markdown", "csv", "latex"]
Kind: TypeAlias = Literal["summary", "preferences", "following"]


def render_table(
    store: str | Path | Store | Dataset,
    *,
    format: Format = "terminal",
    kind: Kind = "summary",
    score: Reading | None = None,
    against: str | None = None,
    width: int | None = None,
) -> str:
    """Print the paper's tables from results, ours beside the paper's.

    Works on sweeps that are not complete: a missing number is a dash, and a note below the table names it.

    Args:
        store: A store, its folder, or a published :class:`~morl_recipes.analysis.datasets.Dataset`.
        format: ``"terminal"``, ``"markdown"``, ``"csv"`` or ``"latex"``.
        kind: The ``"summary"`` tables (one per environment and group), the appendix tables per ``"preferences"``, or
            whether each method serves the preference asked for (``"following"``).
        score: What counts of each run, also for rates and verdicts: its best validation (``"peak"``, as in the paper),
            the same policy on fresh episodes (``"test"``), its last validation (``"final"``) or its last policy on
            fresh episodes (``"test_final"``). By default the test score where all finished runs have one, else the
            peak.
        against: The row that the others are compared with; every table shows it. By default PASTA.
        width: Columns of the terminal; by default those of the present one.

    Returns:
        The text. A store without a finished run raises :class:`~morl_recipes.store.StoreError`.
    """
    checks.one_of("format", format, get_args(Format))
    checks.one_of("kind", kind, get_args(Kind))
    results = load_results(store, score=score, against=against)
    how = {"summary": formats.READING, "preferences": formats.PREFERENCE_READING, "following": HOW}[kind]
    if kind != "preferences":
        build = summary_table if kind == "summary" else following_table
        tables = [build(study) for study in results.studies]
    else:
        tables = [table for study in results.studies for table in preference_tables(study)]
    return print_tables(tables, format, width, how=how)


def print_tables(tables: Sequence[Table], format: Format, width: int | None = None, *, how: str) -> str:
    """Print tables in a format.

    Args:
        tables: The tables.
        format: ``"terminal"``, ``"markdown"``, ``"csv"`` or ``"latex"``.
        width: Columns of the terminal; by default those of the present one.
        how: One sentence below the last table on how to read them.
    """
    checks.one_of("format", format, get_args(Format))
    if format == "terminal":
        return formats.terminal(tables, width or shutil.get_terminal_size((160, 24)).columns, how)
    if format == "csv":
        return formats.comma_separated(tables)
    return formats.markdown(tables, how) if format == "markdown" else formats.latex(tables, how)
