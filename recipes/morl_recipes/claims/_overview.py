"""All claims at a glance: by which training each is judged, and one line for each."""

import math
from collections.abc import Sequence
from typing import NamedTuple

from morl_recipes.claims._claims import CLAIMS, Claim
from morl_recipes.claims._findings import Finding, Lead
from morl_recipes.claims._judge import Verdict
from morl_recipes.claims._section import MISSING, Section
from morl_recipes.claims._words import pair_words, per_cent, shares, table
from morl_recipes.table._cells import GAP

HEADS = ("Claim of the paper", "The paper's lead", "Ours, with its 95 % interval", "Verdict", "Steps")


class Judged(NamedTuple):
    """A claim with the findings that it is counted by.

    Attributes:
        finding: What decides.
        last: The same by the runs' last policies.
        section: The dataset.
    """

    finding: Finding
    last: Finding
    section: Section

    @property
    def lead(self) -> Lead:
        """The lead that decides."""
        lead = self.finding.decisive
        if lead is None:
            raise ValueError(f"`finding` must be judged, got {self.finding.verdict!r}.")
        return lead

    @property
    def steps(self) -> int:
        """The steps of each run."""
        return self.section.steps[self.finding.claim.env]

    @property
    def printed_share(self) -> float:
        """The paper's smallest lead, as a share; NaN where it prints none, or has another scale."""
        printed, rows = self.finding.printed, self.section.rows[self.finding.claim.env]
        return math.nan if printed is None or not rows.same_scale else printed.printed_share


def deciding(sections: Sequence[Section]) -> dict[Claim, Judged]:
    """Return what every claim is counted by: the dataset with most of its rows, the longer one of two.

    Claims that nothing judges are left out.
    """
    found: dict[Claim, Judged] = {}
    for claim in CLAIMS:
        own = [
            Judged(one, last, section)
            for section in sections
            for one, last in zip(section.findings, section.by_last, strict=True)
            if one.claim == claim and one.decisive is not None
        ]
        if own:
            found[claim] = max(own, key=lambda one: (one.finding.rows[0], max(one.section.steps.values())))
    return found


def verdicts(sections: Sequence[Section]) -> dict[Claim, Verdict]:
    """Return what became of every claim of the paper."""
    found = deciding(sections)
    return {claim: found[claim].finding.verdict if claim in found else "not trained here" for claim in CLAIMS}


def overview(sections: Sequence[Section]) -> str:
    """Return one line per claim, in per cent of the row behind."""
    found = deciding(sections)
    return table(HEADS, [[claim.text, *_cells(found.get(claim))] for claim in CLAIMS])


def _cells(one: Judged | None) -> list[str]:
    if one is None:
        return [GAP, GAP, MISSING, GAP]
    ours = f"{shares(one.lead.share)} {pair_words(one.lead)}"
    return [per_cent(one.printed_share), ours, _verdict(one), f"{one.steps:,}"]


def _verdict(one: Judged) -> str:
    """Say what was found, and what the last policies say where that is something else."""
    other = "" if one.last.verdict == one.finding.verdict else f"; by last policies: {one.last.verdict}"
    return f"**{one.finding.verdict}**{other}"
