"""What a repeat on other seeds says: of every row, and of PASTA's leads."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from benchmarks.claims.findings import find_lead
from benchmarks.claims.rows import PASTA, Row, Rows
from benchmarks.claims.section import Section, facts
from benchmarks.claims.words import paragraph, shares, signed, table, unsigned
from morl_blocks.metrics import Interval
from morl_recipes.analysis.datasets import Dataset
from morl_recipes.analysis.differences import compare_results
from morl_recipes.analysis.results.load import Results, load_results
from morl_recipes.analysis.results.statistics import compare_runs
from morl_recipes.recipe.paper import REFERENCE

SAME = "Code and settings are the same; only the seeds differ."
MISSED = "*Better* or *worse* means that an interval missed: so few seeds can mislead."

SHARED = 0.2
"""A correlation of rows over seeds that is worth a word."""


@dataclass(frozen=True)
class RepeatedLead:
    """PASTA's lead over a row that was trained on other seeds too.

    Attributes:
        env: The environment.
        row: The other row.
        published: The lead on the seeds of the table.
        repeated: On those of the repeat.
        share: The same as a share of the other row's score.
        seeds: Number of the repeat's seeds.
        together: The lead on all seeds.
        luck: Correlation of the two rows' scores over all seeds.
    """

    env: str
    row: Row
    published: Interval
    repeated: Interval
    share: Interval
    seeds: int
    together: Interval
    luck: float


def leads(section: Section) -> list[RepeatedLead]:
    """Return PASTA's leads over the rows of a dataset's repeat; none without one, or where it has the same seeds."""
    if section.repeat is None:
        return []
    results = load_results(section.repeat, score="test")
    return [lead for env, own in section.rows.items() for lead in _leads(own, _like(own, results, env))]


def repeat(section: Section) -> str | None:
    """Return how the rows of a repeat on other seeds compare, and PASTA's leads there and on all seeds together."""
    if section.repeat is None:
        return None
    again = Section.of(section.repeat)
    rows = compare_results(section.results, again.results)
    lines = [
        [
            f"{row.group}/{row.method}",
            unsigned(row.first),
            unsigned(row.second),
            signed(row.difference),
            row.verdict or row.how,
        ]
        for row in rows
    ]
    parts = [facts(again), table(("Row", "published", "repeat", "repeat minus published", "verdict"), lines)]
    said = [SAME] * _same(section.dataset, section.repeat)
    said += [MISSED] * any(row.verdict in ("better", "worse") for row in rows)
    parts += [paragraph(*said, "No verdict above counts these seeds.")]
    found = leads(section)
    if found:
        heads = ("Lead of PASTA", "published", "repeat", "of the other row", "all seeds together")
        parts += [paragraph(*_luck(found), "PASTA's leads, compared within seeds:"), table(heads, map(_line, found))]
    return "\n\n".join(parts)


def _same(first: Dataset, second: Dataset) -> bool:
    """Tell whether two datasets were trained by the same code with the same settings."""
    commits = {*first.done["commit"], *second.done["commit"]}
    return len(commits) == 1 and first.manifest.training == second.manifest.training


def _luck(found: Sequence[RepeatedLead]) -> list[str]:
    """Say how much of a seed's luck the rows share, where they do."""
    least = min(one.luck for one in found)
    if not least > SHARED:
        return []
    return [
        f"Over all seeds, PASTA's score and that of each other row have a correlation of {least:.2f} or more.",
        "So a lucky set of seeds raises all rows, and their leads less.",
    ]


def _line(lead: RepeatedLead) -> list[str]:
    published, repeated, together = map(signed, (lead.published, lead.repeated, lead.together))
    return [f"over {lead.row.method}", published, repeated, shares(lead.share), together]


def _like(own: Rows, results: Results, env: str) -> Rows:
    """Take the rows of an environment, scored with the bounds of the rows that they repeat."""
    rows = Rows.of(results, env)
    studies = {
        group: replace(p, info=own.studies[group].info) for group, p in rows.studies.items() if group in own.studies
    }
    return Rows(env, studies)


def _leads(own: Rows, again: Rows) -> list[RepeatedLead]:
    (preferences, seeds), (same, others) = own.axes, again.axes
    if preferences != same or set(seeds) & set(others):
        return []
    found = []
    for row in (Row(group, method) for group, study in again.studies.items() for method in study.methods):
        if row.method == REFERENCE or not all(rows.complete(r) for rows in (own, again) for r in (PASTA, row)):
            continue
        published, repeated = (find_lead(rows, PASTA, row) for rows in (own, again))
        pasta, other = (np.concatenate([own.values(r), again.values(r)], axis=1) for r in (PASTA, row))
        joined = compare_runs(pasta, other)
        if joined is not None:
            intervals = published.ours, repeated.ours, repeated.share
            luck = float(np.corrcoef(pasta.mean(0), other.mean(0))[0, 1])
            found.append(RepeatedLead(own.env, row, *intervals, len(others), joined.difference, luck))
    return found
