"""What a repeat on other seeds says: of every row, and of PASTA's leads."""

from dataclasses import replace

import numpy as np

from morl_blocks.metrics import compare
from morl_recipes.claims._rows import PASTA, Row, Rows
from morl_recipes.claims._section import Section
from morl_recipes.claims._words import paragraph, signed, table, unsigned
from morl_recipes.dataset import Dataset
from morl_recipes.differences import compare_results
from morl_recipes.panels import Results, load_results
from morl_recipes.paper import REFERENCE

MISSED = (
    "Code and settings are the same and the seeds alone differ. So *better* or *worse* means that an interval missed, "
    "and that so few seeds can mislead."
)


def repeat(section: Section, other: Dataset) -> str:
    """Return how the rows of a repeat on other seeds compare, and PASTA's leads there and on all seeds together."""
    results = load_results(other, score="test")
    rows = compare_results(section.results, results)
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
    parts = [table(("Row", "published", "repeat", "repeat minus published", "verdict"), lines)]
    if any(row.verdict in ("better", "worse") for row in rows):
        parts.append(paragraph(MISSED))
    leads = [line for env, own in section.rows.items() for line in _leads(own, _like(own, results, env))]
    if leads:
        parts += [paragraph("PASTA's leads, compared within seeds:")]
        parts += [table(("Lead of PASTA", "published", "repeat", "all seeds together"), leads)]
    return "\n\n".join(parts)


def _like(own: Rows, results: Results, env: str) -> Rows:
    """Take the rows of an environment, scored with the bounds of the rows that they repeat."""
    rows = Rows.of(results, env)
    panels = {group: replace(p, info=own.panels[group].info) for group, p in rows.panels.items() if group in own.panels}
    return Rows(env, panels)


def _leads(own: Rows, again: Rows) -> list[list[str]]:
    """Return PASTA's lead over every other row of the repeat: published, repeated, and from the seeds of both."""
    (preferences, seeds), (same, others) = own.axes, again.axes
    if preferences != same or set(seeds) & set(others):
        return []
    rows = [Row(group, method) for group, panel in again.panels.items() for method in panel.methods]
    lines = []
    for row in rows:
        if row.method == REFERENCE or not all(rows.complete(r) for rows in (own, again) for r in (PASTA, row)):
            continue
        joined = [np.concatenate([own.values(r), again.values(r)], axis=1) for r in (PASTA, row)]
        leads = [found.difference for rows in (own, again) if (found := rows.compare(PASTA, row)) is not None]
        leads.append(compare(*joined, present=np.isfinite(joined).all(0)).difference)
        lines.append([f"over {row.method}", *map(signed, leads)])
    return lines
