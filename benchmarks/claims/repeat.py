"""What a repeat on other seeds says: of every row, and of PASTA's leads."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from benchmarks.claims.findings import find_lead
from benchmarks.claims.judgement import Judgement
from benchmarks.claims.rows import PASTA, Row, Rows
from benchmarks.claims.section import Section, facts
from benchmarks.claims.words import digits_of, listed, paragraph, shares, signed, table, unsigned
from morl_blocks.metrics import Interval
from morl_recipes.analysis.datasets import Dataset
from morl_recipes.analysis.differences import unpaired
from morl_recipes.analysis.results.load import Results, load_results
from morl_recipes.analysis.results.statistics import NOTHING, compare_runs
from morl_recipes.analysis.tables.cells import GAP
from morl_recipes.common.scores import HYPERVOLUME, Score
from morl_recipes.recipe.paper import REFERENCE
from morl_recipes.running.sweep import read_sweep, shipped_sweeps

REPEAT = "-repeat"
"""End of the name of a dataset that repeats another one on other seeds."""
SAME = "Code and settings are the same; only the seeds differ."
AGREES = "A repeat *agrees* if the interval of the difference holds 0."
MISSED = "Where one *does not agree*, an interval missed: so few seeds can mislead."
NOT_YET = "not repeated yet"

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
        change: The repeated lead minus the published one.
        luck: Correlation of the two rows' scores over all seeds.
        score: What is compared.
    """

    env: str
    row: Row
    published: Interval
    repeated: Interval
    share: Interval
    seeds: int
    together: Interval
    change: Interval
    luck: float
    score: Score = HYPERVOLUME


def leads(section: Section, score: Score = HYPERVOLUME) -> list[RepeatedLead]:
    """Return PASTA's leads over the rows of a dataset's repeat; none without one, or where it has the same seeds."""
    if section.repeat is None:
        return []
    results = load_results(section.repeat, score="test")
    pairs = [_pair(judgement, results) for judgement in section.judgements if judgement.score is score]
    return [lead for both in pairs for own, again in both for lead in _leads(own, again)]


def repeat(section: Section) -> str | None:
    """Return how the rows of a repeat on other seeds compare, and PASTA's leads there and on all seeds together."""
    if section.repeat is None:
        return _not_yet(section)
    again, several = Section.of(section.repeat), len(section.judgements) > 1
    lines = [line for judgement in section.judgements for line in _rows(judgement, again, named=several)]
    parts = [facts(again), table(("Row", "published", "repeat", "repeat minus published", "verdict"), lines)]
    said = [SAME] * _same(section.dataset, section.repeat)
    said += [AGREES, *[MISSED] * any(line[-1] == "does not agree" for line in lines)]
    parts += [paragraph(*said, "No verdict above counts these seeds.")]
    found = [lead for judgement in section.judgements for lead in leads(section, judgement.score)]
    if found:
        heads = ("Lead of PASTA", "published", "repeat", "of the other row", "all seeds together", "verdict")
        shown = table(heads, [_line(lead, named=several) for lead in found])
        luck = [] if several else _luck(found)
        parts += [paragraph(*luck, "PASTA's leads, compared within seeds:"), shown]
    return "\n\n".join(parts)


def _not_yet(section: Section) -> str | None:
    """Name what shall be repeated and is not trained yet; ``None`` where no repeat is planned."""
    file = f"{section.dataset.name}{REPEAT}".replace("-", "_")
    if file not in shipped_sweeps():
        return None
    sweep = read_sweep(file)
    planned = f"{listed(sweep.rows)} on seeds {min(sweep.seeds)} to {max(sweep.seeds)}"
    return paragraph(f"Planned for {planned} (the sweep `{file}`), and {NOT_YET}.")


def agreement(change: Interval) -> str:
    """Say whether an interval of a repeat minus the published value holds 0."""
    if math.isnan(change.low):
        return NOT_YET
    return "agrees" if change.low <= 0 <= change.high else "does not agree"


def _rows(judgement: Judgement, again: Section, *, named: bool) -> list[list[str]]:
    """Return a line per row of the repeat: its score on the seeds of the table, on the others, and the difference."""
    lines, digits = [], digits_of(judgement.score)
    label = f", {judgement.score.label}" * named
    for own, other in _pair(judgement, again.results):
        for row in dict.fromkeys(Row(r.group, r.method) for r in again.dataset.manifest.runs if r.env == own.env):
            change = _change(own, other, row)
            means = unsigned(own.mean(row), digits), unsigned(other.mean(row), digits)
            where = f"{own.env}, " * named
            told = signed(change, digits) if not math.isnan(change.low) else GAP
            lines.append([f"{where}{row.group}/{row.method}{label}", *means, told, agreement(change)])
    return lines


def _change(own: Rows, again: Rows, row: Row) -> Interval:
    """Return a row's score on the repeat's seeds minus that on the table's; NaN where one is not fully trained."""
    if not (own.complete(row) and again.complete(row)):
        return NOTHING
    both = [preference in again.axes[0] for preference in own.axes[0]]
    place = [again.axes[0].index(one) for one, there in zip(own.axes[0], both, strict=True) if there]
    return unpaired(own.values(row)[both], again.values(row)[place])


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


def _line(lead: RepeatedLead, *, named: bool) -> list[str]:
    digits = digits_of(lead.score)
    published, repeated, together = (signed(one, digits) for one in (lead.published, lead.repeated, lead.together))
    share = shares(lead.share) if lead.score.needs_bounds else GAP
    name = f"{lead.env}, over {lead.row.method}, {lead.score.label}" if named else f"over {lead.row.method}"
    return [name, published, repeated, share, together, agreement(lead.change)]


def _pair(judgement: Judgement, results: Results) -> list[tuple[Rows, Rows]]:
    """Return the rows of each environment that is repeated, and those of the repeat."""
    repeated = {study.env for study in results.studies}
    return [(own, _like(own, results, env)) for env, own in judgement.rows.items() if env in repeated]


def _like(own: Rows, results: Results, env: str) -> Rows:
    """Take the rows of an environment, scored as the rows that they repeat, with their bounds."""
    rows = Rows.of(results, env)
    studies = {
        group: replace(p, info=own.studies[group].info) for group, p in rows.studies.items() if group in own.studies
    }
    return Rows(env, studies, own.asked)


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
            change = unpaired(*(rows.values(PASTA) - rows.values(row) for rows in (own, again)))
            luck = float(np.corrcoef(pasta.mean(0), other.mean(0))[0, 1])
            lead = RepeatedLead(own.env, row, *intervals, len(others), joined.difference, change, luck, own.score)
            found.append(lead)
    return found
