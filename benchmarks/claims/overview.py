"""All claims at a glance: by which training each is judged, and one line for each."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from benchmarks.claims.claims import CLAIMS, Claim
from benchmarks.claims.findings import Finding, Lead
from benchmarks.claims.judge import Verdict
from benchmarks.claims.section import MISSING, Section
from benchmarks.claims.words import pair_words, per_cent, shares, table
from morl_recipes.analysis.tables.cells import GAP

HEADS = ("Claim of the paper", "Verdict", "Our lead", "The paper's", "Steps", "Otherwise")


@dataclass(frozen=True)
class Judged:
    """A claim with what it is counted by.

    Attributes:
        finding: What decides.
        peak: The same by best validations.
        last: The same by the runs' last policies.
        section: The dataset.
        elsewhere: What other datasets say, by the steps of their runs.
    """

    finding: Finding
    peak: Finding
    last: Finding
    section: Section
    elsewhere: tuple[tuple[int, Verdict], ...] = ()

    @property
    def lead(self) -> Lead:
        """The lead that decides."""
        lead = self.finding.decisive
        if lead is None:
            raise ValueError(f"`finding` must be judged, got {self.finding.verdict!r}.")
        return lead

    @property
    def only_alone(self) -> bool:
        """The lead lies below 0, but not when its interval is widened for the number of leads in the claim."""
        return self.finding.verdict == "cannot be told apart" and self.lead.ours.high < 0

    @property
    def steps(self) -> int:
        """The steps of each run."""
        return self.section.steps[self.finding.claim.env]

    @property
    def printed_share(self) -> float:
        """The paper's lead of the same two rows, as a share; NaN where it prints none, or has another scale."""
        return self.lead.printed_share if self.section.rows[self.finding.claim.env].same_scale else math.nan


def deciding(sections: Sequence[Section]) -> dict[Claim, Judged]:
    """Return what every claim is counted by: the dataset with most of its rows, the longer one of two.

    Claims that nothing judges are left out.
    """
    found: dict[Claim, Judged] = {}
    for claim in CLAIMS:
        own = [
            Judged(one, peak, last, section)
            for section in sections
            for one, peak, last in zip(section.findings, section.by_peak, section.by_last, strict=True)
            if one.claim == claim and one.decisive is not None
        ]
        if own:
            *others, best = sorted(own, key=lambda one: (one.finding.rows[0], one.steps))
            elsewhere = tuple((one.steps, one.finding.verdict) for one in others)
            found[claim] = replace(best, elsewhere=elsewhere)
    return found


def verdicts(sections: Sequence[Section]) -> dict[Claim, Verdict]:
    """Return what became of every claim of the paper."""
    found = deciding(sections)
    return {claim: found[claim].finding.verdict if claim in found else "not trained here" for claim in CLAIMS}


def overview(sections: Sequence[Section]) -> str:
    """Return one line per claim, in per cent of the second row's score."""
    found = deciding(sections)
    return table(HEADS, [[claim.text, *_cells(found.get(claim))] for claim in CLAIMS])


def _cells(one: Judged | None) -> list[str]:
    if one is None:
        return [MISSING, *[GAP] * 4]
    done, every = one.finding.rows
    partly = f" ({done} of {every} rows)" if done < every else ""
    ours = f"{shares(one.lead.share)} {pair_words(one.lead)}{partly}"
    return [f"**{one.finding.verdict}**", ours, per_cent(one.printed_share), f"{one.steps:,}", _otherwise(one)]


def _otherwise(one: Judged) -> str:
    """Say which other readings of the runs, and which other trainings, give another verdict."""
    found = [("by best validations", one.peak.verdict), ("by last policies", one.last.verdict)]
    found += [(f"at {steps:,} steps", verdict) for steps, verdict in one.elsewhere]
    others: dict[Verdict, list[str]] = {}
    for where, verdict in found:
        if verdict != one.finding.verdict:
            others.setdefault(verdict, []).append(where)
    said = [f"{', '.join(places)}: {verdict}" for verdict, places in others.items()]
    alone = ["below 0 before it is widened"] * one.only_alone
    return "; ".join([*alone, *said]) or GAP
