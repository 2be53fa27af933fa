"""What became of each claim, in numbers."""

import math
from dataclasses import dataclass, replace

from benchmarks.claims.claims import Claim
from benchmarks.claims.judge import ORDER, UNTRAINED, Verdict, judge
from benchmarks.claims.rows import Row, Rows
from benchmarks.claims.share import lead_share
from morl_blocks.metrics import Interval
from morl_recipes.analysis.results.statistics import NOTHING


@dataclass(frozen=True)
class Lead:
    """How far one row is ahead of another.

    Attributes:
        pair: The rows.
        ours: The paired difference of their scores, with its interval; NaN where a row is not fully trained.
        share: The same as a share of our score of the second row.
        level: That score.
        printed: The paper's difference; NaN where it prints none.
        printed_level: The paper's score of the second row.
        verdict: What the rule says.
    """

    pair: tuple[Row, Row]
    ours: Interval
    share: Interval
    level: float
    printed: float
    printed_level: float
    verdict: Verdict = "not trained here"

    @property
    def names(self) -> tuple[str, str]:
        """The names of the rows, as one says them."""
        first, second = (row.method.removesuffix(" (Ours)") for row in self.pair)
        return first, second

    @property
    def printed_share(self) -> float:
        """The paper's lead as a share of the second row's score."""
        return self.printed / self.printed_level if self.printed_level > 0 else math.nan


@dataclass(frozen=True)
class Finding:
    """What became of a claim.

    Attributes:
        claim: The claim.
        leads: One per pair of rows that are fully trained.
        printed: The pair for which the paper's own lead is the smallest; ``None`` where it prints nothing.
        rows: Rows of the claim that are fully trained, and all of them.
        waiting: Rows that are planned and not fully trained yet.
    """

    claim: Claim
    leads: tuple[Lead, ...]
    printed: Lead | None
    rows: tuple[int, int]
    waiting: int = 0

    @property
    def judged(self) -> bool:
        """Tell whether there is a verdict; at full length that needs every planned row."""
        return bool(self.leads) and not (self.claim.at_full_length and self.waiting)

    @property
    def decisive(self) -> Lead | None:
        """Return the lead that decides: the worst verdict, then the smallest lead; ``None`` without any."""
        return min(self.leads, key=lambda lead: (ORDER.index(lead.verdict), lead.ours.estimate), default=None)

    @property
    def above(self) -> int:
        """Return how many leads lie above 0 with their whole interval."""
        return sum(lead.ours.low > 0 for lead in self.leads)

    @property
    def verdict(self) -> Verdict:
        """Return the verdict of the lead that decides, or why there is none."""
        if not self.judged:
            return untrained(self.claim)
        return "not trained here" if self.decisive is None else self.decisive.verdict


def untrained(claim: Claim) -> Verdict:
    """Return what is said of a claim that nothing judges."""
    return UNTRAINED if claim.at_full_length else "not trained here"


def find_lead(rows: Rows, first: Row, second: Row, among: int = 1) -> Lead:
    """Compare two rows and judge the lead of the first.

    Args:
        rows: The rows of an environment.
        first: The row that shall be ahead.
        second: The row behind.
        among: Number of leads in the claim. The more there are, the likelier one of them lies below 0 by chance.
    """
    both = rows.complete(first) and rows.complete(second)
    ours, wide = (
        NOTHING if comparison is None else comparison.difference
        for comparison in (rows.compare(first, second, level) if both else None for level in (0.95, 1 - 0.05 / among))
    )
    share = lead_share(rows.values(first), rows.values(second)) if both else NOTHING
    level, printed_level = rows.mean(second).estimate, rows.printed(second)
    lead = Lead((first, second), ours, share, level, rows.printed(first) - printed_level, printed_level)
    printed = lead.printed_share if rows.same_scale else math.nan
    return replace(lead, verdict=judge(ours, share, printed, wide.high))


def examine(claim: Claim, rows: Rows) -> Finding:
    """Hold a claim against the runs of its environment."""
    among = sum(rows.complete(first) and rows.complete(second) for first, second in claim.pairs)
    every = [find_lead(rows, *pair, max(among, 1)) for pair in claim.pairs]
    complete = [rows.complete(row) for row in claim.members]
    known = [lead for lead in every if not math.isnan(lead.printed)]
    return Finding(
        claim=claim,
        leads=tuple(lead for lead in every if lead.verdict != "not trained here"),
        printed=min(known, key=lambda lead: lead.printed, default=None),
        rows=(sum(complete), len(complete)),
        waiting=sum(rows.runs(row)[1] > 0 for row in claim.members) - sum(complete),
    )
