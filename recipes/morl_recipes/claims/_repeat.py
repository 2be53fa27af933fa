"""What a repeat on other seeds says: of every row, and of PASTA's leads."""

from dataclasses import dataclass, replace

import numpy as np

from morl_blocks.metrics import Interval, compare
from morl_recipes.claims._findings import find_lead
from morl_recipes.claims._rows import PASTA, Row, Rows
from morl_recipes.claims._section import Section, facts
from morl_recipes.claims._words import paragraph, shares, signed, table, unsigned
from morl_recipes.differences import compare_results
from morl_recipes.panels import Results, load_results
from morl_recipes.paper import REFERENCE

MISSED = (
    "Code and settings are the same and the seeds alone differ. So *better* or *worse* means that an interval missed, "
    "and that so few seeds can mislead."
)


@dataclass(frozen=True)
class RepeatedLead:
    """PASTA's lead over a row that was trained on other seeds too.

    Attributes:
        row: The row behind.
        published: The lead on the seeds of the table.
        repeated: On those of the repeat.
        together: On all seeds.
        level: Score of the row behind on all seeds.
        seeds: Number of all seeds.
    """

    row: Row
    published: Interval
    repeated: Interval
    together: Interval
    level: float
    seeds: int

    @property
    def share(self) -> Interval:
        """The lead on all seeds, as a share of the score of the row behind."""
        return Interval(*(number / self.level for number in self.together))


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
    rows = compare_results(section.results, load_results(section.repeat, score="test"))
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
    parts = [facts(Section.of(section.repeat))]
    parts += [table(("Row", "published", "repeat", "repeat minus published", "verdict"), lines)]
    if any(row.verdict in ("better", "worse") for row in rows):
        parts.append(paragraph(MISSED))
    found = leads(section)
    if found:
        heads = ("Lead of PASTA", "published", "repeat", "all seeds together", "of the row behind")
        parts += [paragraph("PASTA's leads, compared within seeds:"), table(heads, map(_line, found))]
    return "\n\n".join(parts)


def _line(lead: RepeatedLead) -> list[str]:
    intervals = (lead.published, lead.repeated, lead.together)
    return [f"over {lead.row.method}", *map(signed, intervals), shares(lead.share)]


def _like(own: Rows, results: Results, env: str) -> Rows:
    """Take the rows of an environment, scored with the bounds of the rows that they repeat."""
    rows = Rows.of(results, env)
    panels = {group: replace(p, info=own.panels[group].info) for group, p in rows.panels.items() if group in own.panels}
    return Rows(env, panels)


def _leads(own: Rows, again: Rows) -> list[RepeatedLead]:
    (preferences, seeds), (same, others) = own.axes, again.axes
    if preferences != same or set(seeds) & set(others):
        return []
    rows = [Row(group, method) for group, panel in again.panels.items() for method in panel.methods]
    found = []
    for row in rows:
        if row.method == REFERENCE or not all(rows.complete(r) for rows in (own, again) for r in (PASTA, row)):
            continue
        joined = [np.concatenate([own.values(r), again.values(r)], axis=1) for r in (PASTA, row)]
        published, repeated = (find_lead(rows, PASTA, row).ours for rows in (own, again))
        together = compare(*joined, present=np.isfinite(joined).all(0)).difference
        level, number = float(joined[1].mean()), len(seeds) + len(others)
        found.append(RepeatedLead(row, published, repeated, together, level, number))
    return found
