"""The claims about the environments of one dataset, judged by one score."""

from collections.abc import Mapping
from dataclasses import dataclass

from benchmarks.claims.claims import CLAIMS, FULL_LENGTH, Claim
from benchmarks.claims.findings import Finding, examine
from benchmarks.claims.rows import Rows
from morl_recipes.analysis.datasets import Dataset
from morl_recipes.analysis.results.load import Results
from morl_recipes.analysis.results.study import Reading
from morl_recipes.common.scores import HYPERVOLUME, UTILITY, Score

JUDGED_BY: tuple[Reading, ...] = ("test", "peak", "test_final")
"""What counts, the paper's own reading, and the last policies."""


@dataclass(frozen=True)
class Judgement:
    """What one score says of the claims about a dataset's environments.

    Attributes:
        score: The score.
        rows: All rows by environment, test scores.
        findings: The claims.
        by_peak: The same by best validations, which the paper reports.
        by_last: The same by the runs' last policies, on fresh episodes.
    """

    score: Score
    rows: Mapping[str, Rows]
    findings: tuple[Finding, ...]
    by_peak: tuple[Finding, ...]
    by_last: tuple[Finding, ...]

    @classmethod
    def of(cls, dataset: Dataset, score: Score, by: Mapping[Reading, Results]) -> "Judgement":
        """Judge the claims that a dataset may judge; one outside stealth needs trainings of full length."""
        asked = None if score is HYPERVOLUME else score
        rows = {
            reading: {env: Rows.of(results, env, asked) for env in dataset.manifest.environments}
            for reading, results in by.items()
        }
        own = claims_of(dataset)
        test, peak, last = (tuple(examine(claim, rows[how][claim.env]) for claim in own) for how in JUDGED_BY)
        return cls(score, rows["test"], test, peak, last)


def claims_of(dataset: Dataset) -> list[Claim]:
    """Return the claims about the environments of a dataset that its trainings are long enough to judge."""
    steps = {run.env: run.steps for run in dataset.manifest.runs}
    return [c for c in CLAIMS if steps.get(c.env, 0) >= (FULL_LENGTH if c.at_full_length else 1)]


def scores_of(dataset: Dataset) -> tuple[Score, ...]:
    """Return the scores by which a dataset is judged: the paper's, and at full length the utility that was asked for.

    Both are about serving a preference, and outside stealth they may disagree.
    """
    both = any(claim.at_full_length for claim in claims_of(dataset))
    return (HYPERVOLUME, UTILITY) if both else (HYPERVOLUME,)
