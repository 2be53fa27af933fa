"""Render the tables of a store or dataset as text."""

from collections.abc import Callable
from pathlib import Path
from typing import Literal, TypeAlias, get_args

from morl_recipes.analysis.datasets import Dataset
from morl_recipes.analysis.results.load import Results, load_results
from morl_recipes.analysis.results.study import Reading, Study
from morl_recipes.analysis.tables import following, preferences, summary
from morl_recipes.analysis.tables.cells import Table
from morl_recipes.analysis.tables.formats import Format, print_tables
from morl_recipes.common import checks
from morl_recipes.store.store import Store

Kind: TypeAlias = Literal["summary", "preferences", "following"]
_KINDS: dict[Kind, tuple[Callable[[Study], list[Table]], str]] = {
    "summary": (lambda study: [summary.summary_table(study)], summary.HOW),
    "preferences": (preferences.preference_tables, preferences.HOW),
    "following": (lambda study: [following.following_table(study)], following.HOW),
}


def render_table(
    store: str | Path | Store | Dataset,
    *,
    format: Format = "terminal",
    kind: Kind = "summary",
    score: Reading | None = None,
    against: str | None = None,
    width: int | None = None,
) -> str:
    """Print the paper's tables from results, with our numbers beside the paper's.

    It works on incomplete sweeps: a missing number is a dash, and a note below the table explains it. Environments
    without any finished run are named below the last table, and only CSV lists their rows.

    Args:
        store: A store, its folder, or a published :class:`~morl_recipes.analysis.datasets.Dataset`.
        format: ``"terminal"``, ``"markdown"``, ``"csv"`` or ``"latex"``.
        kind: ``"summary"`` tables (one per environment and group), appendix tables with one per preference
            (``"preferences"``), or how well each method follows its preference (``"following"``).
        score: The score of each run, also for rates and verdicts: its best validation (``"peak"``, as in the paper),
            the same policy on test episodes (``"test"``), its last validation (``"final"``) or its last policy on test
            episodes (``"test_final"``). By default the test score if all finished runs have one, else the peak.
        against: The row that the others are compared with; every table shows it. By default PASTA.
        width: Width of the terminal in columns; by default that of the current terminal.

    Returns:
        The text. A store without a finished run raises :class:`~morl_recipes.store.StoreError`.
    """
    checks.one_of("format", format, get_args(Format))
    checks.one_of("kind", kind, get_args(Kind))
    if width is not None:
        checks.at_least("width", width, 1)
    build, how = _KINDS[kind]
    results = load_results(store, score=score, against=against)
    absent = [] if format == "csv" else _untrained(results)
    if absent:
        finished = f"{int((results.runs['status'] == 'done').sum())} of {len(results.manifest.runs)} planned runs"
        how = f"Without a finished run, and left out here: {', '.join(absent)} ({finished} are finished). {how}"
    shown = [study for study in results.studies if study.env not in absent]
    return print_tables([table for study in shown for table in build(study)], format, width, how=how)


def _untrained(results: Results) -> list[str]:
    """Return the environments of which no run is finished."""
    done = set(results.runs.loc[results.runs["status"] == "done", "env"])
    return sorted({study.env for study in results.studies} - done)
