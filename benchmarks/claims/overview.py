"""All claims at a glance: by which training each is judged, and one line for each."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from benchmarks.claims.claim_tables import CLAIM, rows_words
from benchmarks.claims.claims import CLAIMS, Claim
from benchmarks.claims.course import Course
from benchmarks.claims.findings import Finding, Lead, untrained
from benchmarks.claims.judge import Verdict
from benchmarks.claims.section import Section
from benchmarks.claims.words import digits_of, pair_words, per_cent, shares, signed, table
from morl_recipes.analysis.tables.cells import GAP
from morl_recipes.common.scores import HYPERVOLUME, UTILITY, Score

HEADS = (CLAIM, "Verdict", "Our lead", "The paper's", "Steps", "Otherwise")
FULL_HEADS = (
    CLAIM,
    "Verdict by HV",
    "Our lead in HV",
    "Verdict by EU",
    "Our lead in EU",
    "Along the training",
    "Otherwise",
)


@dataclass(frozen=True)
class Judged:
    """A claim with what it is counted by.

    Attributes:
        finding: What decides.
        peak: The same by best validations.
        last: The same by the runs' last policies.
        section: The dataset.
        course: The claim along the training.
        score: The score that judges.
        elsewhere: What other datasets say, by the steps of their runs.
    """

    finding: Finding
    peak: Finding
    last: Finding
    section: Section
    course: Course = field(default_factory=Course)
    score: Score = HYPERVOLUME
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

    @property
    def words(self) -> str:
        """The lead that decides: in per cent of a hypervolume, in the units of a utility."""
        done, every = self.finding.rows
        partly = f" ({done} of {every} rows)" if done < every else ""
        own = shares(self.lead.share) if self.score is HYPERVOLUME else signed(self.lead.ours, digits_of(self.score))
        return f"{own} {pair_words(self.lead)}{partly}"


def deciding(sections: Sequence[Section], score: Score = HYPERVOLUME) -> dict[Claim, Judged]:
    """Return what every claim is counted by: the dataset with most of its rows, the longer one of two.

    Claims that nothing judges are left out.
    """
    found: dict[Claim, Judged] = {}
    every = [one for section in sections for one in _judged(section, score)]
    for claim in CLAIMS:
        own = [one for one in every if one.finding.claim == claim and one.finding.judged]
        if own:
            *others, best = sorted(own, key=lambda one: (one.finding.rows[0], one.steps))
            elsewhere = tuple((one.steps, one.finding.verdict) for one in others)
            found[claim] = replace(best, elsewhere=elsewhere)
    return found


def _judged(section: Section, score: Score) -> list[Judged]:
    return [
        Judged(test, peak, last, section, course, score)
        for one, courses in zip(section.judgements, section.courses, strict=True)
        if one.score is score
        for test, peak, last, course in zip(one.findings, one.by_peak, one.by_last, courses, strict=True)
    ]


def verdicts(sections: Sequence[Section], score: Score = HYPERVOLUME) -> dict[Claim, Verdict]:
    """Return what became of every claim of the paper."""
    found = deciding(sections, score)
    return {claim: found[claim].finding.verdict if claim in found else untrained(claim) for claim in CLAIMS}


def overview(sections: Sequence[Section]) -> str:
    """Return one line per claim on stealth, in per cent of the second row's score."""
    found = deciding(sections)
    return table(HEADS, [[c.text, *_cells(c, found.get(c))] for c in CLAIMS if not c.at_full_length])


def _cells(claim: Claim, one: Judged | None) -> list[str]:
    if one is None:
        return [f"**{untrained(claim)}**", *[GAP] * 4]
    other = _otherwise(one, [(f"at {steps:,} steps", verdict) for steps, verdict in one.elsewhere])
    return [f"**{one.finding.verdict}**", one.words, per_cent(one.printed_share), f"{one.steps:,}", other or GAP]


def full_overview(sections: Sequence[Section]) -> str:
    """Return one line per claim that is judged at full length: by hypervolume, and by expected utility."""
    lines, both = [], [deciding(sections, score) for score in (HYPERVOLUME, UTILITY)]
    planned = {finding.claim: finding for section in sections for finding in section.findings}
    for claim in (claim for claim in CLAIMS if claim.at_full_length):
        own = [found[claim] for found in both if claim in found]
        if len(own) < len(both):
            words = rows_words(planned[claim]) if claim in planned else GAP
            lines.append([claim.text, f"**{untrained(claim)}**", words, *[GAP] * 4])
            continue
        cells = [cell for one in own for cell in (f"**{one.finding.verdict}**", one.words)]
        course = [f"{one.score.label} {_course_words(one.course)}" for one in own]
        said = [f"{one.score.label} {other}" for one in own if (other := _otherwise(one, []))]
        lines.append([claim.text, *cells, ", ".join(course), "; ".join(said) or GAP])
    return table(FULL_HEADS, lines)


def _course_words(course: Course) -> str:
    """Say in a word whether a verdict still changes."""
    return "**still changing**" if course.changes else "settled" if course.verdicts else "without curves"


def _otherwise(one: Judged, elsewhere: Sequence[tuple[str, Verdict]]) -> str:
    """Say which other readings of the runs, and which other trainings, give another verdict."""
    found = [("by best validations", one.peak.verdict), ("by last policies", one.last.verdict), *elsewhere]
    others: dict[Verdict, list[str]] = {}
    for where, verdict in found:
        if verdict != one.finding.verdict:
            others.setdefault(verdict, []).append(where)
    said = [f"{', '.join(places)}: {verdict}" for verdict, places in others.items()]
    alone = ["below 0 before it is widened"] * one.only_alone
    return "; ".join([*alone, *said])
