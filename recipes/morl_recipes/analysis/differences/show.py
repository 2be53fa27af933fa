"""The differences between two sets of results, as tables."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from morl_recipes.analysis.datasets import Dataset, find_dataset, names
from morl_recipes.analysis.differences.compare import RowDifference, compare_results
from morl_recipes.analysis.results.load import Results, load_results
from morl_recipes.analysis.results.study import Reading
from morl_recipes.analysis.tables.cells import Cell, Table, interval_text, number
from morl_recipes.analysis.tables.readings import WORDS
from morl_recipes.analysis.tables.render import Format, print_tables
from morl_recipes.common.errors import StoreError
from morl_recipes.common.naming import some
from morl_recipes.store.store import Store

COLUMNS = ("Row", "First", "Second", "Second - first", "Verdict", "Runs: first, second, both")
HOW = (
    "Paired by preference and seed where both have two seeds or more in common; otherwise the means of both are "
    "compared (Welch). 'same': every run has the same score. Each interval is for one comparison: of twenty, about one "
    "misses 0 where nothing differs."
)


def open_results(name: str | Path) -> Store | Dataset:
    """Open the folder of a result store, or results that were published, by name or by file.

    Args:
        name: A folder, a name of :func:`~morl_recipes.published`, or a ``.csv`` file.
    """
    if Path(name).is_dir():
        return Store.open(name)
    if Path(name).suffix == ".csv" or str(name) in names():
        return find_dataset(name)
    raise StoreError(
        f"{name}: neither a folder of results nor published ones ({', '.join(names()) or 'there are none'})."
    )


def difference_tables(
    rows: list[RowDifference],
    first: str,
    second: str,
    reading: Reading,
    notes: Mapping[str, Sequence[str]],
) -> list[Table]:
    """Lay out rows as one table per environment and score.

    Args:
        rows: The rows.
        first: Name of the first results.
        second: Name of the second.
        reading: Which score of each run was compared.
        notes: More notes on each environment.
    """
    tables = []
    for env, score in dict.fromkeys((row.env, row.score) for row in rows):
        block = [row for row in rows if row.env == env]
        cells = tuple(_cells(row) for row in block)
        numbers = tuple(_numbers(row) for row in block)
        title = f"{env}, {score.upper()}: first {first}, second {second}"
        tables.append(Table(title, COLUMNS, cells, (WORDS[reading], *notes.get(env, ())), numbers))
    return tables


def _cells(row: RowDifference) -> tuple[Cell, ...]:
    runs = ", ".join(map(str, row.runs))
    means = [Cell(number(mean.estimate), interval_text(mean)) for mean in (row.first, row.second)]
    gap = row.difference.estimate
    difference = Cell(number(gap) if gap != gap else f"{gap:+.3f}", interval_text(row.difference))
    return Cell(f"{row.group}/{row.method}"), *means, difference, Cell(row.verdict or row.how), Cell(runs)


def _numbers(row: RowDifference) -> dict[str, object]:
    out: dict[str, object] = {"env": row.env, "group": row.group, "method": row.method, "score": row.score}
    for name, interval in (("first", row.first), ("second", row.second), ("difference", row.difference)):
        out |= {name: interval.estimate, f"{name}_low": interval.low, f"{name}_high": interval.high}
    out |= dict(zip(("runs_first", "runs_second", "runs_both"), row.runs, strict=True))
    return {**out, "how": row.how, "verdict": row.verdict}


def render_difference(
    first: str | Path, second: str | Path, *, score: Reading | None = None, format: Format = "terminal"
) -> str:
    """Print how the rows of one set of results differ from those of another.

    Args:
        first: A folder of results or the name of published ones.
        second: What is compared with it.
        score: What counts of each run; by default the test score where all runs of both have one, else the peak.
        format: As for :func:`~morl_recipes.analysis.tables.render_table`.

    Returns:
        The text. Results without a common row raise :class:`~morl_recipes.store.StoreError`.
    """
    found = [load_results(open_results(name), score=score) for name in (first, second)]
    if len({results.reading for results in found}) > 1:
        found = [load_results(open_results(name), score="peak") for name in (first, second)]
    rows = compare_results(*found)
    if not rows:
        have = [some(list(dict.fromkeys(f"{p.env}, {m}" for p in r.studies for m in p.methods))) for r in found]
        raise StoreError(
            f"{first} and {second} have no row in common. Nothing to compare: {have[0]} in one; {have[1]} in the other."
        )
    tables = difference_tables(rows, str(first), str(second), found[0].reading, _gaps(found, rows))
    return print_tables(tables, format, how=HOW)


def _gaps(found: Sequence[Results], rows: list[RowDifference]) -> dict[str, list[str]]:
    """Return by environment which runs of the compared rows were left out, of both results."""
    notes: dict[str, list[str]] = {}
    for which, results in zip(("First", "Second"), found, strict=True):
        for study in results.studies:
            compared = {f"{row.method}:" for row in rows if (row.env, row.group) == (study.env, study.group)}
            gaps = [f"{which}, {gap}" for gap in study.gaps if any(gap.startswith(method) for method in compared)]
            notes[study.env] = [*notes.get(study.env, ()), *gaps]
    return notes
